"""The messages of a conversation, as they are stored and shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from app.core.domain.attachments import Attachment
from app.core.domain.seeds import Drawn
from app.core.domain.tools.calls import StoredCall
from engine.records import RunStats, TokenSpan


class MessageState(StrEnum):
    """What became of a message."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user
    INTERRUPTED = "interrupted"  # the app or the machine went away in the middle
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of the transcript. ``notice`` is a line below it: why it failed, or what was interrupted.

    ``versions``: the ids of all versions of the message, itself among them, where there are several. ``cut``: it
    ended at the longest allowed length, or because the context was full. ``thinking_ms``: how long it reasoned before
    its words, where that is known. ``target``: the model that gave it. ``call``: the call of a tool whose result is the
    text, in a message of the role `tool`. ``drawn``: how it was drawn, where that is known. ``follows_calls``: an
    answer that goes on after the results of calls that the same model made. ``cites``: passages were given with it, and
    a number in brackets in it is that of one.
    """

    id: int
    role: str
    text: str
    state: MessageState = MessageState.COMPLETE
    stats: RunStats | None = None
    spans: tuple[TokenSpan, ...] = ()
    notice: str = ""
    versions: tuple[int, ...] = ()
    cut: bool = False
    attachments: tuple[Attachment, ...] = ()
    thinking_ms: int | None = None
    target: str = ""
    call: StoredCall | None = None
    drawn: Drawn | None = None
    follows_calls: bool = False
    cites: bool = False

    @property
    def can_continue(self) -> bool:
        """Whether this is an answer that did not end by itself and has a beginning."""
        unfinished = (MessageState.STOPPED, MessageState.INTERRUPTED, MessageState.FAILED)
        return self.role == "assistant" and bool(self.text.strip()) and (self.cut or self.state in unfinished)
