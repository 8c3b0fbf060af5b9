"""What is kept of a message card that is far from sight: enough to make it again as it was. No widgets."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.messages import MessageView


@dataclass(frozen=True, slots=True)
class CodeBlockState:
    """A code block that was changed by hand: part ``number`` of the words, or of the reasoning.

    ``scroll_x``: how far it is scrolled, in pixels.
    """

    in_reasoning: bool
    number: int
    wraps: bool
    scroll_x: int


@dataclass(frozen=True, slots=True, eq=False)
class CardState:
    """A message as it is by now, the height of its card in pixels, and what was done to the card.

    ``wrapping``: how much of the height is text that wraps at the width of the card.
    """

    view: MessageView
    height: int
    wrapping: int = 0
    unfolded: bool = False  # its reasoning
    codes: tuple[CodeBlockState, ...] = ()

    @property
    def message_id(self) -> int:
        """Of the message."""
        return self.view.id
