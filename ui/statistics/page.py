"""What the pages of the statistics share: a column that scrolls, headings, and one Tab stop with arrows inside."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QScrollArea, QWidget

from ui.theme.theme import Theme
from ui.widgets.building import hbox, vbox
from ui.widgets.figure_widget import FigureWidget, figure_widgets_in
from ui.widgets.figures import INSET_PX, LegendRow, LineFigure
from ui.widgets.gutter import reserve_scroll_bar

_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}


class _Background(QWidget):
    """What the figures stand on: for one that is drawn anew, nothing below it has to be drawn."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("statsContent")
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(event.rect(), self._theme.paint_cache.color(self._theme.tokens.pane))


class StatsPage(QScrollArea):
    """Sections of figures below one another. Tab enters the figures once; Up, Down, Home and End go through them."""

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self.theme = theme
        self.content = _Background(theme)
        self.column = vbox(
            parent=self.content,
            margins=(12, 6, 0, 10),  # the scroll bar keeps the right side free
            spacing=4,
        )
        self.setWidget(self.content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        reserve_scroll_bar(self)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)

    def add_section(self, title: str, widgets: Sequence[QWidget]) -> QLabel:
        """Add a heading and what stands below it."""
        label = heading(title)
        label.setContentsMargins(0, 10, 0, 2)  # its own, so that they are hidden with it
        self.column.addLayout(inset(label))
        self.add(widgets)
        return label

    def add(self, widgets: Sequence[QWidget]) -> None:
        """Add lines below one another."""
        for widget in widgets:
            if isinstance(widget, FigureWidget):
                widget.set_navigator(self)
            if isinstance(widget, LegendRow | LineFigure):  # these keep their distance themselves
                self.column.addWidget(widget)
            else:
                self.column.addLayout(inset(widget))

    def add_to_navigation(self, widgets: Sequence[FigureWidget]) -> None:
        """Let the arrows reach figures that were laid out elsewhere."""
        for widget in widgets:
            widget.set_navigator(self)

    def ensure_tab_stop(self) -> None:
        """Give the first figure the Tab stop, where none has it."""
        found = figure_widgets_in(self.content)
        if found and not any(each.focusPolicy() is Qt.FocusPolicy.StrongFocus for each in found):
            found[0].setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def move_tab_stop(self, figure: FigureWidget) -> None:
        """Give a figure the Tab stop, where none has the focus: after others were shown or hidden."""
        figures = self.content.findChildren(FigureWidget)
        if not any(each.hasFocus() for each in figures):
            for each in figures:
                each.setFocusPolicy(Qt.FocusPolicy.StrongFocus if each is figure else Qt.FocusPolicy.ClickFocus)

    def on_focused(self, figure: FigureWidget) -> None:
        """The one that has the focus keeps the Tab stop."""
        for other in self.content.findChildren(FigureWidget):
            other.setFocusPolicy(Qt.FocusPolicy.StrongFocus if other is figure else Qt.FocusPolicy.ClickFocus)
        self.ensureWidgetVisible(figure, 0, 24)

    def step_from(self, figure: FigureWidget, key: Qt.Key) -> bool:
        """Arrows go from figure to figure; False where another key was pressed."""
        found = figure_widgets_in(self.content)
        if key in _STEPS and figure in found:
            wanted = min(max(found.index(figure) + _STEPS[key], 0), len(found) - 1)
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            wanted = 0 if key is Qt.Key.Key_Home else len(found) - 1
        else:
            return False
        found[wanted].setFocus(Qt.FocusReason.TabFocusReason)
        return True


def heading(text: str) -> QLabel:
    """The small heading of a section."""
    label = QLabel(text)
    label.setWordWrap(True)  # a long word of another language must not widen the pane
    label.setProperty("kind", "section")
    return label


def inset(widget: QWidget) -> QHBoxLayout:
    """A line as far from the edge as what stands on a ground that can be clicked."""
    return hbox(widget, margins=(INSET_PX, 0, INSET_PX, 0))
