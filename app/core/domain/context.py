"""The use of the context for the window, and the summaries that replace messages."""

from dataclasses import dataclass

NEARLY_FULL = 0.85
BYTES_PER_TOKEN = 4  # of UTF-8: 4 for English, 3 to 5 for other languages and code with today's vocabularies
PIXELS_PER_TOKEN = 28 * 28  # as Qwen2.5-VL and its successors divide pictures


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has; the engine reports exact numbers with each answer."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN)


def estimated_picture_tokens(width: int, height: int) -> int:
    return -(-width * height // PIXELS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class ContextParts:
    """The prompt's tokens by part. ``size``: the context size, 0 without a model. ``is_estimate``: no answer told them.

    ``refused``: tokens of the last question with all earlier messages, if they did not fit; else 0.
    ``has_tools``: ``system`` includes tool definitions.
    """

    system: int = 0
    conversation: int = 0
    last_answer: int = 0
    size: int = 0
    is_estimate: bool = False
    refused: int = 0
    has_tools: bool = False

    @property
    def used(self) -> int:
        return self.system + self.conversation + self.last_answer

    @property
    def share(self) -> float:
        """Share of the context; 0 if its size is unknown."""
        return min(1.0, self.used / self.size) if self.size else 0.0

    @property
    def nearly_full(self) -> bool:
        return self.share >= NEARLY_FULL

    @property
    def full(self) -> bool:
        """True if the messages alone fill the context."""
        return self.share >= 1.0


@dataclass(frozen=True, slots=True)
class SummaryView:
    """A summary of the messages above its line in the transcript.

    ``writing``: it is being generated; ``done`` of ``total`` prompt tokens are processed.
    """

    text: str
    writing: bool = False
    num_messages: int = 0
    done: int = 0
    total: int = 0
