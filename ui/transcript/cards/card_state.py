"""The state of a recycled message card. No widgets."""

from __future__ import annotations

from dataclasses import dataclass

from app.core.domain.messages import MessageView


@dataclass(frozen=True, slots=True)
class CodeBlockState:
    """A code block that the user wrapped or scrolled: widget ``number`` of the answer or its reasoning.

    ``scroll_x``: how far it is scrolled sideways, in pixels.
    """

    in_reasoning: bool
    number: int
    wraps: bool
    scroll_x: int


@dataclass(frozen=True, slots=True, eq=False)
class CardState:
    """A message, the height of its card in pixels, and the user's changes to the card.

    ``wrapping``: the part of the height that wraps at the card's width.
    """

    view: MessageView
    height: int
    wrapping: int = 0
    unfolded: bool = False  # its reasoning
    codes: tuple[CodeBlockState, ...] = ()

    @property
    def message_id(self) -> int:
        return self.view.id
