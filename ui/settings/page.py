"""A page of the settings that is made by hand, beside those that come from the table of fields."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget


class SettingsPage(QWidget):
    """What the dialog asks of such a page.

    Signals:
        changed: something on it was edited.
    """

    changed = Signal()
    title = ""

    def problem(self) -> str:
        """Why it cannot be saved; empty where it can."""
        return ""

    def save(self) -> None:
        """Tell what was edited."""
