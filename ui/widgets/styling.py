"""Stylesheet helpers: properties and rules."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget


def set_style_property(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the stylesheet selects by, and restyle."""
    widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def rule() -> QFrame:
    made = QFrame()
    made.setObjectName("rule")
    return made
