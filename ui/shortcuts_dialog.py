"""The overview of keyboard shortcuts, drawn from the commands that answer them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QGridLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from ui.commands import CommandRow
from ui.language import translate


class ShortcutsDialog(QDialog):
    """Every shortcut and what it does, by group."""

    def __init__(self, parent: QWidget, rows: Sequence[CommandRow]) -> None:
        super().__init__(parent)
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
        layout.addLayout(self._grid(rows))
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)

    def _grid(self, rows: Sequence[CommandRow]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(32)
        grid.setVerticalSpacing(8)
        line, group = 0, ""
        for row in rows:
            if row.group != group:
                group = row.group
                caption = QLabel(group)
                caption.setProperty("kind", "caption")
                grid.addWidget(caption, line, 0)
                line += 1
            keys = QLabel(row.keys)
            keys.setProperty("kind", "key")
            grid.addWidget(QLabel(row.words), line, 0)
            grid.addWidget(keys, line, 1, Qt.AlignmentFlag.AlignRight)
            line += 1
        return grid
