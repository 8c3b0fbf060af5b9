"""The overview of keyboard shortcuts, drawn from the commands that answer them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ui.commands import CommandRow
from ui.enter_key import EnterInDialog
from ui.language import translate


class ShortcutsDialog(QDialog):
    """Every shortcut and what it does, by group."""

    def __init__(self, parent: QWidget, rows: Sequence[CommandRow]) -> None:
        super().__init__(parent)
        EnterInDialog(self)
        title = translate("ShortcutsDialog", "Keyboard shortcuts")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        heading = QLabel(title)
        heading.setProperty("kind", "strong")
        close = QPushButton(translate("ShortcutsDialog", "Close"))
        close.setAccessibleName(close.text())
        close.clicked.connect(self.accept)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(heading)
        layout.addLayout(self._columns(rows))
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)

    def _columns(self, rows: Sequence[CommandRow]) -> QHBoxLayout:
        """The first group at the left, the others at the right: all fits on a small screen."""
        groups = list(dict.fromkeys(row.group for row in rows))
        columns = QHBoxLayout()
        columns.setSpacing(48)
        for wanted in (groups[:1], groups[1:]):
            column = QVBoxLayout()
            column.setSpacing(20)
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
