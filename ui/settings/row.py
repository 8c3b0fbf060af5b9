"""The base of setting rows: text at the left, a control at the right, an error below."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.core.domain.settings.fields import SettingField, SettingValue
from ui.text.setting_words import in_words
from ui.widgets.building import Stretch, hbox, label, show_text, vbox

CONTROL_PX = 240


class SettingRow(QWidget):
    """Label and help at the left, the control at the right, an error below.

    Signals:
        changed: the value was edited.
    """

    changed = Signal()
    is_wide = False  # a wide control goes below its words

    def __init__(self, field: SettingField, *, stacked: bool = False) -> None:
        """``stacked``: the control goes below the text, for a narrow panel."""
        super().__init__()
        self.is_stacked = stacked
        self.field = in_words(field)
        self.label = QLabel(self.field.label)
        self.help = label(self.field.help, "caption", wrap=True)
        self.complaint = label("", "error", wrap=True)
        self.complaint.hide()
        self.control = self.make_control()
        self.words = words = vbox(self.label, self.help, Stretch(), spacing=2)
        right = vbox(self.control, self.complaint, Stretch(), spacing=4)
        self._arrange(words, right)
        self.changed.connect(self.show_complaint)

    def _arrange(self, words: QVBoxLayout, right: QVBoxLayout) -> None:
        if self.is_wide or self.is_stacked:
            vbox(words, right, parent=self, margins=0, spacing=8)
            return
        self.set_control_px(CONTROL_PX)
        hbox((words, 1), right, parent=self, margins=0, spacing=24)

    def set_control_px(self, width: int) -> None:
        """Set the width of a control beside its text."""
        self.control.setFixedWidth(width)
        self.complaint.setFixedWidth(width)

    def make_control(self) -> QWidget:
        raise NotImplementedError

    def value(self) -> SettingValue:
        raise NotImplementedError

    def set_value(self, value: SettingValue) -> None:
        raise NotImplementedError

    def problem(self) -> str:
        """Why the value is invalid; empty if it is valid."""
        return ""

    def show_complaint(self) -> None:
        """Show the error, if there is one."""
        text = self.problem()
        show_text(self.complaint, text)

    def add_note(self, text: str) -> None:
        self.help.setText(f"{self.field.help} {text}".strip())
        self.control.setAccessibleDescription(self.help.text())

    def name(self, widget: QWidget, suffix: str = "") -> None:
        """Set a control's accessible name, description and hover."""
        widget.setAccessibleName(f"{self.field.label}{suffix}")
        widget.setAccessibleDescription(self.field.help)
