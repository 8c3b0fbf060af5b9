"""The messages sent to the model, with a summary in place of the oldest ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.domain.messages import MessageView
from app.core.domain.requests import Decode, prompt_parts
from engine.records import Message
from engine.session.summarising import with_summary


@dataclass(frozen=True, slots=True)
class CondensedMessages:
    """Messages without a system prompt, and for each the id of the last stored message it contains.

    ``summary_at``: the last stored message that the summary covers; None without a summary.
    """

    messages: tuple[Message, ...]
    last_ids: tuple[int, ...]
    summary_at: int | None = None
    summary: str = ""


def condensed_messages(
    views: Sequence[MessageView], summaries: Mapping[int, str], decode: Decode | None = None
) -> CondensedMessages:
    """Replace the messages that the latest summary covers with the summary.

    ``summaries`` may hold those of other branches: they end with messages that are not on this path.
    """
    parts = prompt_parts(views, decode)
    messages, ids = tuple(message for message, _ in parts), tuple(number for _, number in parts)
    for place in range(len(parts) - 2, -1, -1):
        if ids[place] in summaries and messages[place + 1].role == "user":
            text = summaries[ids[place]]
            return CondensedMessages(with_summary(messages, place + 1, text), ids[place + 1 :], ids[place], text)
    return CondensedMessages(messages, ids)
