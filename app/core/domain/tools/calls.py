"""Tool calls as they are stored and shown."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum


class CallStatus(StrEnum):
    WAITING = "waiting"  # an earlier call has to finish first
    ASKED = "asked"  # the user is asked for permission
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    STOPPED = "stopped"  # the user stopped it before or during the call
    UNKNOWN = "unknown"  # the app ended during the call, which may have had an effect


UNREADABLE = "unreadable"  # the name for a call whose name cannot be parsed
OPEN_STATUSES = frozenset({CallStatus.WAITING, CallStatus.ASKED, CallStatus.RUNNING})
REPEATABLE_STATUSES = frozenset({CallStatus.STOPPED, CallStatus.UNKNOWN})
# Final status of calls that were interrupted, by their last status.
FINAL_STATUS = {
    CallStatus.WAITING: CallStatus.STOPPED,
    CallStatus.ASKED: CallStatus.STOPPED,
    CallStatus.RUNNING: CallStatus.UNKNOWN,
}
_STATUS_RESULTS = {
    CallStatus.STOPPED: "The user stopped this call.",
    CallStatus.UNKNOWN: "The call was interrupted. Whether it had an effect is not known.",
}


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A call. It is stored as a message of the role `tool` with the result as text, after the answer with the call.

    ``arguments``: JSON, or the model's text if it is invalid JSON. ``cut``: number of characters left out of the
    result. ``took_ms``: duration, if known.
    """

    call_id: str
    name: str
    server: str
    arguments: str
    status: CallStatus = CallStatus.WAITING
    title: str = ""  # shown instead of the name
    cut: int = 0
    took_ms: int | None = None


def with_final_status(call: StoredCall) -> StoredCall:
    """The call with a final status, for a call that was interrupted and will not run."""
    return replace(call, status=FINAL_STATUS.get(call.status, call.status))


# Some templates enclose a result in plain tags. A result must not contain such a closing tag. Its control tokens are
# already text (`engine.prompt.typed_text`).
_CLOSING_TAGS = re.compile(
    r"<\s*(/?\s*(?:tool_(?:response|result|output)s?|function_(?:response|result)s?)\s*>)", re.IGNORECASE
)


def result_for_model(call: StoredCall, text: str) -> str:
    """The text for the model: the result, or why the call has none."""
    words = _CLOSING_TAGS.sub(r"< \1", text) or _STATUS_RESULTS.get(with_final_status(call).status, "")
    return f"{words}\n[{call.cut:,} more characters were left out]" if call.cut else words
