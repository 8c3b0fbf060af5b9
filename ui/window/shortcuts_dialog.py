"""The overview of keyboard shortcuts, drawn from the commands that answer them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QGridLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from ui.text.language import translate
from ui.widgets.commands import CommandRow
from ui.widgets.enter_key import EnterInDialog

AROUND_PX = 64  # what is left of the screen around a window that fills it: frame, title, panels
MARGINS_PX, GROUPS_PX = 24, 20
BORDER_PX = 1  # that shows the focus


class ShortcutsDialog(QDialog):
    """Every shortcut and what it does, by group. What the screen has no room for is reached by scrolling."""

    def __init__(self, parent: QWidget, rows: Sequence[CommandRow]) -> None:
        super().__init__(parent)
        EnterInDialog(self)
        title = translate("ShortcutsDialog", "Keyboard shortcuts")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = QLabel(title)
        heading.setProperty("kind", "heading")
        close = QPushButton(translate("ShortcutsDialog", "Close"))
        close.setAccessibleName(close.text())
        close.clicked.connect(self.accept)
        self.content = QWidget()
        self.content.setObjectName("page")
        self.columns = self._columns(rows)
        self.content.setLayout(self.columns)
        self.area = QScrollArea()
        self.area.setObjectName("keyScrolled")
        self.area.setWidget(self.content)
        self.area.setWidgetResizable(True)
        self.area.setAccessibleName(title)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGINS_PX, 20, MARGINS_PX, 20)
        layout.setSpacing(16)
        layout.addWidget(heading)
        layout.addWidget(self.area, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        close.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Its words have their fonts now, which tell how large all is."""
        room, parent = self.screen().availableSize(), self.parentWidget()
        if parent is not None:
            room = room.expandedTo(parent.window().size())  # a window may span two screens
        self._fit(room - QSize(AROUND_PX, AROUND_PX))
        super().showEvent(event)

    def _fit(self, most: QSize) -> None:
        """Be as large as all of it, or as the screen lets it; narrow screens have one column."""
        sides, bar = 2 * (MARGINS_PX + BORDER_PX), self._bar_px(most)
        if self.content.sizeHint().width() + sides + bar > most.width():
            self.columns.setDirection(QBoxLayout.Direction.TopToBottom)
            self.columns.setSpacing(GROUPS_PX)
            bar = self._bar_px(most)
        wanted, chrome = self.content.sizeHint(), self.sizeHint() - self.area.sizeHint()
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus if bar else Qt.FocusPolicy.NoFocus)
        for layout in (self.columns, *self.columns.findChildren(QLayout)):
            layout.invalidate()  # they were laid out before their words had their fonts
        self.resize((wanted + QSize(sides + bar, chrome.height() + 2 * BORDER_PX)).boundedTo(most))

    def _bar_px(self, most: QSize) -> int:
        """The width of the scroll bar that its height then needs; 0 where it needs none."""
        around = self.sizeHint().height() - self.area.sizeHint().height() + 2 * BORDER_PX
        if self.content.sizeHint().height() + around <= most.height():
            return 0
        return self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent)

    def _columns(self, rows: Sequence[CommandRow]) -> QBoxLayout:
        """The first group at the left, the others at the right: all fits on a small screen."""
        groups = list(dict.fromkeys(row.group for row in rows))
        columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        columns.setContentsMargins(0, 0, 0, 0)
        columns.setSpacing(48)
        for wanted in (groups[:1], groups[1:]):
            column = QVBoxLayout()
            column.setSpacing(GROUPS_PX)
            for group in wanted:
                column.addLayout(self._grid(group, [row for row in rows if row.group == group]))
            column.addStretch(1)
            columns.addLayout(column)
        return columns

    def _grid(self, group: str, rows: Sequence[CommandRow]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(32)
        grid.setVerticalSpacing(6)
        caption = QLabel(group)
        caption.setProperty("kind", "section")
        grid.addWidget(caption, 0, 0)
        for line, row in enumerate(rows, start=1):
            keys = QLabel(row.keys)
            keys.setProperty("kind", "key")
            grid.addWidget(QLabel(row.words), line, 0)
            grid.addWidget(keys, line, 1, Qt.AlignmentFlag.AlignRight)
        return grid
