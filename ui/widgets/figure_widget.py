"""Widgets that show a number with an explanation: on hover, on focus, and for screen readers."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QPainter
from PySide6.QtWidgets import QLabel, QToolTip, QWidget

from ui.text.formatting import hover
from ui.theme.theme import Theme

_BY_KEYS = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason)


class FigureNavigator(Protocol):
    """Moves the focus between statistics. They call it: an event filter would also get all paint events."""

    def on_focused(self, figure: FigureWidget) -> None:
        """The figure got the focus."""

    def step_from(self, figure: FigureWidget, key: Qt.Key) -> bool:
        """A key was pressed; returns whether it moved the focus."""


class FigureWidget(QLabel):
    """Paints itself, so that a new number moves nothing else; a label, which screen readers read."""

    def __init__(self, theme: Theme, name: str, help_text: str) -> None:
        super().__init__()
        self.theme = theme
        self.name = name
        self.help_text = help_text
        self._navigator: FigureNavigator | None = None
        self._is_ringed = False
        self.setToolTip(hover(help_text))
        self.setAccessibleName(name)
        self.setAccessibleDescription(help_text)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        theme.changed.connect(self.fit)

    def fit(self) -> None:
        """Set the height for the text size."""
        self.update()

    @property
    def words(self) -> str:
        return self.accessibleName()

    def paint_focus_ring(self, painter: QPainter) -> None:
        if self._is_ringed:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(self.theme.paint_cache.color(self.theme.tokens.focus))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)

    def set_navigator(self, navigator: FigureNavigator) -> None:
        """Call this navigator for keys and focus."""
        self._navigator = navigator

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._navigator is None or not self._navigator.step_from(self, Qt.Key(event.key())):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._is_ringed = True
        if self._navigator is not None:
            self._navigator.on_focused(self)
        super().focusInEvent(event)
        self.update()
        if event.reason() in _BY_KEYS:
            QToolTip.showText(self.mapToGlobal(QPoint(0, self.height() - 12)), self.toolTip(), self)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._is_ringed = False
        super().focusOutEvent(event)
        QToolTip.hideText()
        self.update()


def figure_widgets_in(widget: QWidget) -> list[FigureWidget]:
    """All visible statistics in a widget, from top to bottom."""
    found = [each for each in widget.findChildren(FigureWidget) if each.isVisibleTo(widget)]
    return sorted(found, key=lambda each: (each.mapTo(widget, QPoint(0, 0)).y(), each.mapTo(widget, QPoint(0, 0)).x()))
