"""Owns the widgets of an answer that show nothing just now, to be used again. Knows neither text nor places."""

from __future__ import annotations

from ui.code_block import CodeBlock
from ui.prose_view import ProseView

MOST_IDLE = 8  # of prose, and of code


class IdleParts:
    """Making a widget and having it styled takes longer than filling it."""

    def __init__(self) -> None:
        self._parts: list[ProseView | CodeBlock] = []

    def __len__(self) -> int:
        return len(self._parts)

    def has(self, kind: type) -> bool:
        """Whether one of this kind is there."""
        return any(isinstance(one, kind) for one in self._parts)

    def add(self, part: ProseView | CodeBlock) -> None:
        """Take in one that was just made."""
        part.hide()
        self._parts.append(part)

    def keep(self, part: ProseView | CodeBlock) -> None:
        """Take in one that is not shown any more, as if made anew; delete it where it cannot be, or is one too many."""
        part.hide()
        num_alike = sum(type(one) is type(part) for one in self._parts)
        if num_alike < MOST_IDLE and part.let_go():
            self._parts.append(part)
        else:
            part.deleteLater()

    def take(self, kind: type) -> ProseView | CodeBlock | None:
        """One of this kind, which is hidden; None where there is none."""
        found = next((one for one in self._parts if isinstance(one, kind)), None)
        if found is not None:
            self._parts.remove(found)
        return found

    def drop(self) -> None:
        """Keep none any more."""
        for part in self._parts:
            part.deleteLater()
        self._parts = []
