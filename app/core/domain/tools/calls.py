"""A tool call as it is stored and shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum


class CallStatus(StrEnum):
    WAITING = "waiting"  # for an earlier call
    ASKED = "asked"  # the user is asked for permission
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    STOPPED = "stopped"  # before or during the call
    UNKNOWN = "unknown"  # the app ended during the call: it may have had an effect


UNREADABLE = "unreadable"  # the name of a call without one
OPEN = frozenset({CallStatus.WAITING, CallStatus.ASKED, CallStatus.RUNNING})
REPEATABLE = frozenset({CallStatus.STOPPED, CallStatus.UNKNOWN})
# Results of calls that will not run any more.
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
    """The number of tokens of a call; all 0 if unknown.

    ``drafted`` are accepted drafted tokens; ``forced`` are those for which the form of calls allows only one token.
    ``passes`` are the target's passes for them; 0 if only tokens were counted.
    """

    tokens: int = 0
    drafted: int = 0
    forced: int = 0
    passes: int = 0


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call, stored as a message of the role `tool` whose text is the result; the message before it is its answer.

    ``arguments`` are JSON, or the model's text if that is invalid. ``cut`` counts the characters left out of the
    result. ``took_ms`` is its duration, if known. ``written`` are its tokens.
    """

    call_id: str
    name: str
    server: str
    arguments: str
    status: CallStatus = CallStatus.WAITING
    title: str = ""  # for display instead of the name
    cut: int = 0
    took_ms: int | None = None
    written: CallTokens = CallTokens()


def settled(call: StoredCall) -> StoredCall:
    """The call with its final status, when it will not run any more."""
    return replace(call, status=SETTLED.get(call.status, call.status))


# Some templates put plain tags around a result, inside a user turn. A result must not seem to end there: its control
# tokens are already text (`engine.prompt.typed_text`).
_WRAPPERS = re.compile(
    r"<\s*(/?\s*(?:tool_(?:response|result|output)s?|function_(?:response|result)s?)\s*>)", re.IGNORECASE
)


def harmless(text: str) -> str:
    """A result without the closing tags of some templates."""
    return _WRAPPERS.sub(r"< \1", text)


def result_for_model(call: StoredCall, text: str) -> str:
    """The text for the model: the result, or why there is none."""
    words = harmless(text) or _WITHOUT_RESULT.get(call.status, "")
    return f"{words}\n[{call.cut:,} more characters were left out]" if call.cut else words
