"""The base of settings pages made by hand, beside those generated from the table of fields."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class SettingsPage(QWidget):
    """The dialog's interface to such a page.

    Signals:
        changed: something was edited.
    """

    changed = Signal()
    title = ""

    def problem(self) -> str:
        """Why it cannot be saved; empty if it can."""
        return ""

    def save(self) -> None:
        """Emit the edits."""
