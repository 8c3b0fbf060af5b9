"""Helpers for the stylesheet: properties that it selects by, and the line that it draws for a name."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget


def set_style_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the stylesheet selects by, and have it applied: Qt does not by itself."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def rule() -> QFrame:
    """A thin line across."""
    made = QFrame()
    made.setObjectName("rule")
    return made
