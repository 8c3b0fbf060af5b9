"""What every row of the settings dialog shares: words at the left, a control at the right, a complaint below it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.core.domain.settings.fields import SettingField, SettingValue
from ui.text.setting_words import in_words

CONTROL_PX = 240


class SettingRow(QWidget):
    """Label and help at the left, the control at the right, a complaint below it.

    Signals:
        changed: the value was edited.
    """

    changed = Signal()
    is_wide = False  # a wide control goes below its words

    def __init__(self, field: SettingField, *, stacked: bool = False) -> None:
        """``stacked``: any control goes below its words, in a narrow panel."""
        super().__init__()
        self.is_stacked = stacked
        self.field = in_words(field)
        self.label = QLabel(self.field.label)
        self.help = QLabel(self.field.help)
        self.help.setProperty("kind", "caption")
        self.help.setWordWrap(True)
        self.complaint = QLabel()
        self.complaint.setTextFormat(Qt.TextFormat.PlainText)  # it may quote what was typed
        self.complaint.setProperty("kind", "error")
        self.complaint.setWordWrap(True)
        self.complaint.hide()
        self.control = self.make_control()
        self.words = words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.label)
        words.addWidget(self.help)
        words.addStretch(1)
        right = QVBoxLayout()
        right.setSpacing(4)
        right.addWidget(self.control)
        right.addWidget(self.complaint)
        right.addStretch(1)
        self._arrange(words, right)
        self.changed.connect(self.show_complaint)

    def _arrange(self, words: QVBoxLayout, right: QVBoxLayout) -> None:
        if self.is_wide or self.is_stacked:
            column = QVBoxLayout(self)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(8)
            column.addLayout(words)
            column.addLayout(right)
            return
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        self.set_control_px(CONTROL_PX)
        row.addLayout(words, 1)
        row.addLayout(right)

    def set_control_px(self, width: int) -> None:
        """Give a control beside its words another width in pixels."""
        self.control.setFixedWidth(width)
        self.complaint.setFixedWidth(width)

    def make_control(self) -> QWidget:
        """The widget that edits the value."""
        raise NotImplementedError

    def value(self) -> SettingValue:
        """The value as edited."""
        raise NotImplementedError

    def set_value(self, value: SettingValue) -> None:
        """Show a value."""
        raise NotImplementedError

    def problem(self) -> str:
        """Why the value cannot be saved; empty where it can."""
        return ""

    def show_complaint(self) -> None:
        """Say why the value cannot be saved, if it cannot."""
        text = self.problem()
        self.complaint.setText(text)
        self.complaint.setVisible(bool(text))

    def add_note(self, text: str) -> None:
        """Say one sentence more, of what holds here and now."""
        self.help.setText(f"{self.field.help} {text}".strip())
        self.control.setAccessibleDescription(self.help.text())

    def name(self, widget: QWidget, suffix: str = "") -> None:
        """Give a control its name and its help for screen readers and the pointer."""
        widget.setAccessibleName(f"{self.field.label}{suffix}")
        widget.setAccessibleDescription(self.field.help)
