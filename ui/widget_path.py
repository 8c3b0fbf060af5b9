"""The way from a window down to one of its widgets, to be walked again when all of them have been made anew."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


@dataclass(frozen=True, slots=True)
class WidgetPath:
    """At each step the class of the child, and which one of that class it is."""

    steps: tuple[tuple[type[QWidget], int], ...]

    @classmethod
    def of(cls, widget: QWidget, window: QWidget) -> WidgetPath:
        """The way to a widget below ``window``."""
        steps: list[tuple[type[QWidget], int]] = []
        child = widget
        while child is not window:
            parent = child.parentWidget()
            if parent is None:
                return cls(())
            steps.insert(0, (type(child), _alike(parent, type(child)).index(child)))
            child = parent
        return cls(tuple(steps))

    def find(self, window: QWidget) -> QWidget | None:
        """The widget at the end of the way; None where a step is missing or the keyboard cannot go there."""
        widget = window
        for kind, place in self.steps:
            found = _alike(widget, kind)
            if place >= len(found):
                return None
            widget = found[place]
        reachable = widget is not window and widget.focusPolicy() != Qt.FocusPolicy.NoFocus and widget.isVisible()
        return widget if reachable else None


def _alike(parent: QWidget, kind: type[QWidget]) -> list[QWidget]:
    return [child for child in parent.children() if isinstance(child, QWidget) and type(child) is kind]
