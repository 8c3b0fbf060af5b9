"""What the window shows of the context: what takes it up, and the summaries that stand for messages. Plain data."""

from __future__ import annotations

from dataclasses import dataclass

NEARLY_FULL = 0.85


@dataclass(frozen=True, slots=True)
class ContextParts:
    """Tokens of what the model is sent, of ``size``; 0 where no model is loaded. ``counted``: none is waited for.

    ``refused``: what the last question would have taken with all before it, where that was too much; else 0.
    ``has_tools``: ``system`` has the definitions of tools in it as well.
    """

    system: int = 0
    conversation: int = 0
    last_answer: int = 0
    size: int = 0
    counted: bool = True
    refused: int = 0
    has_tools: bool = False

    @property
    def used(self) -> int:
        """All of them."""
        return self.system + self.conversation + self.last_answer

    @property
    def share(self) -> float:
        """Of the context; 0 where its size is not known."""
        return min(1.0, self.used / self.size) if self.size else 0.0

    @property
    def nearly_full(self) -> bool:
        """Whether it is time to think of what happens then."""
        return self.share >= NEARLY_FULL

    @property
    def full(self) -> bool:
        """Whether it holds no more: the messages alone take all of it, or more."""
        return self.share >= 1.0


@dataclass(frozen=True, slots=True)
class SummaryView:
    """A summary of all messages above its line. ``writing``: it is in the making, ``done`` of ``total`` tokens read."""

    text: str
    writing: bool = False
    num_messages: int = 0
    done: int = 0
    total: int = 0
