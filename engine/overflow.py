"""Which messages still fit where a conversation has outgrown the context. Pure: counts come as a function.

Whole turns go, oldest first, and several at once: if every answer dropped one more turn, no answer could use the cache
of the one before. The system prompt and the last question always stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.records import Message

_PARTS = 4  # the context is given up in so many parts


@dataclass(frozen=True, slots=True)
class Kept:
    """What is left of a conversation, and how many messages were left out in front of it."""

    messages: tuple[Message, ...]
    num_left_out: int


def without_oldest(messages: Sequence[Message], count: Callable[[str], int], n_ctx: int) -> list[Kept]:
    """Shorter and shorter conversations, a quarter of the context less each time, down to the last question alone.

    Args:
        messages: at most one system prompt in front, then questions and answers in turns.
        count: tokens of a text; the template's own tokens need not be in it.
        n_ctx: tokens that the context holds.
    """
    first = 1 if messages and messages[0].role == "system" else 0
    head = tuple(messages[:first])
    starts = [i for i in range(first, len(messages)) if messages[i].role == "user"]
    result: list[Kept] = []
    seen, part = 0, max(n_ctx // _PARTS, 1)
    threshold, done = part, first
    for start in starts[1:]:
        seen += sum(count(message.content) for message in messages[done:start])
        done = start
        if seen >= threshold:
            result.append(Kept((*head, *messages[start:]), start - first))
            threshold = (seen // part + 1) * part
    if len(starts) > 1 and (not result or result[-1].num_left_out != starts[-1] - first):
        result.append(Kept((*head, *messages[starts[-1] :]), starts[-1] - first))
    return result


def without_unanswered(messages: Sequence[Message]) -> list[Kept]:
    """The last question alone, without one more of those each time that it was joined with because they had no answer.

    A question too long for the context would else stand in the way of all that come after it.
    """
    first = 1 if messages and messages[0].role == "system" else 0
    last = messages[-1] if messages else None
    if last is None or len(messages) == first:
        return []
    head, num_before = tuple(messages[:first]), len(messages) - 1 - first
    return [
        Kept((*head, replace(last, content="\n\n".join(last.questions[start:]))), num_before + start)
        for start in range(1, len(last.questions))
    ]
