"""A call of a tool as it is stored and shown: what was called, and what became of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum


class CallStatus(StrEnum):
    """What became of a call."""

    WAITING = "waiting"  # for the call before it
    ASKED = "asked"  # a person is asked whether it may run
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    STOPPED = "stopped"  # before it began, or while it ran
    UNKNOWN = "unknown"  # the app went away while it ran: it may have had an effect


UNREADABLE = "unreadable"  # the name of a call that has none
OPEN = frozenset({CallStatus.WAITING, CallStatus.ASKED, CallStatus.RUNNING})
REPEATABLE = frozenset({CallStatus.STOPPED, CallStatus.UNKNOWN})
# Calls that nobody waits for any more: what is known of them.
SETTLED = {
    CallStatus.WAITING: CallStatus.STOPPED,
    CallStatus.ASKED: CallStatus.STOPPED,
    CallStatus.RUNNING: CallStatus.UNKNOWN,
}
_WITHOUT_RESULT = {
    CallStatus.WAITING: "The user stopped this call.",
    CallStatus.ASKED: "The user stopped this call.",
    CallStatus.RUNNING: "The call was interrupted. Whether it had an effect is not known.",
    CallStatus.STOPPED: "The user stopped this call.",
    CallStatus.UNKNOWN: "The call was interrupted. Whether it had an effect is not known.",
}


@dataclass(frozen=True, slots=True)
class CallTokens:
    """The tokens that a call was written with; all 0 where that is not known.

    ``drafted`` are those that were drafted, and kept; ``forced`` those of them that the form of calls left no choice
    about. ``passes`` are those of the target that gave its tokens; 0 where only tokens were counted.
    """

    tokens: int = 0
    drafted: int = 0
    forced: int = 0
    passes: int = 0


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call, stored as a message of the role `tool` whose text is the result; its answer is the message before.

    ``arguments`` are JSON, or what the model wrote where that cannot be read. ``cut`` counts the characters that were
    left out of the result. ``took_ms`` is how long it ran, where that is known. ``written`` is what it was written
    with.
    """

    call_id: str
    name: str
    server: str
    arguments: str
    status: CallStatus = CallStatus.WAITING
    title: str = ""  # what people read instead of the name
    cut: int = 0
    took_ms: int | None = None
    written: CallTokens = CallTokens()


def settled(call: StoredCall) -> StoredCall:
    """The call as it is where nobody waits for it."""
    return replace(call, status=SETTLED.get(call.status, call.status))


# What some templates put around a result as plain text, inside a turn of the user. A result must not seem to end there:
# its control tokens are text already (`engine.prompt.typed_text`).
_WRAPPERS = re.compile(
    r"<\s*(/?\s*(?:tool_(?:response|result|output)s?|function_(?:response|result)s?)\s*>)", re.IGNORECASE
)


def harmless(text: str) -> str:
    """A result's text without what would end it in some templates."""
    return _WRAPPERS.sub(r"< \1", text)


def result_for_model(call: StoredCall, text: str) -> str:
    """What the model reads of a call: its result, or that there is none."""
    words = harmless(text) or _WITHOUT_RESULT.get(call.status, "")
    return f"{words}\n[{call.cut:,} more characters were left out]" if call.cut else words
