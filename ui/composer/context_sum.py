"""The tokens of the next message in words: the sum, its parts, and what happens if it is too much.

Pure: counts come from the app.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.records import LEAST_ROOM
from ui.text.formatting import count
from ui.text.language import mark, translate

_TOO_LONG = mark(
    "ContextSum",
    "This message alone does not fit in the context. Remove an attachment, shorten the text, or choose a "
    "larger context in the settings.",
)
_POLICIES = {
    "stop": mark(
        "ContextSum",
        "This does not fit in the context. Remove an attachment, start a new chat, or choose a larger "
        "context in the settings.",
    ),
    "drop": mark(
        "ContextSum", "This does not fit in the context: the oldest messages will be left out, and the answer says so."
    ),
    "summarise": mark(
        "ContextSum",
        "This does not fit in the context: the oldest messages will be summarised first, and the answer says so.",
    ),
}


@dataclass(frozen=True, slots=True)
class ContextSum:
    """Tokens of the next prompt. ``complete`` is False while a part is not counted."""

    conversation: int
    attached: int
    typed: int
    size: int
    complete: bool = True

    @property
    def total(self) -> int:
        return self.conversation + self.attached + self.typed

    @property
    def fits(self) -> bool:
        """Whether it leaves room for an answer; True if the context size is unknown."""
        return self.size <= 0 or self.total <= self.size - LEAST_ROOM


def sum_words(context_sum: ContextSum) -> str:
    """The sum in short: ``2,310 of 4,096 tokens``."""
    words = translate("ContextSum", "{total} of {size} tokens")
    if not context_sum.size:
        total = context_sum.total
        words = translate("ContextSum", "{total} tokens", None, total)
    words = words.format(total=count(context_sum.total), size=count(context_sum.size))
    return words if context_sum.complete else translate("ContextSum", "at least {sum}").format(sum=words)


def parts_words(context_sum: ContextSum) -> str:
    typed = context_sum.typed
    words = translate(
        "ContextSum", "Conversation {conversation}, attachments {attached}, this message {typed} tokens.", None, typed
    )
    return words.format(
        conversation=count(context_sum.conversation), attached=count(context_sum.attached), typed=count(typed)
    )


def warning(context_sum: ContextSum, policy: str) -> str:
    if context_sum.fits:
        return ""
    alone = ContextSum(0, context_sum.attached, context_sum.typed, context_sum.size)
    if not alone.fits and policy != "stop":
        return translate("ContextSum", _TOO_LONG)
    return translate("ContextSum", _POLICIES.get(policy, _POLICIES["stop"]))
