"""The messages of a conversation, as they are stored and shown."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from app.core.domain.attachments import Attachment
from app.core.domain.seeds import SamplingRecord
from app.core.domain.tools.calls import StoredCall
from engine.records import RunStats, TokenSpan

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MessageState(StrEnum):
    COMPLETE = "complete"
    STREAMING = "streaming"
    STOPPED = "stopped"  # the user stopped it
    INTERRUPTED = "interrupted"  # the app or the machine crashed
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of the transcript. ``notice``: a line below it, for example why it failed.

    ``versions``: the ids of all versions, including this one, if there are several. ``cut``: it ended at the token
    limit or with a full context. ``thinking_ms``: the time of reasoning, if known. ``target``: the model. ``call``: the
    tool call whose result is the text, for the role `tool`. ``drawn``: how the answer was sampled, if known.
    ``follows_calls``: it follows results of tool calls by the same model. ``cites``: the prompt had passages, so
    numbers in brackets refer to them.

    In a whole conversation also: ``parent``: the id of the message before it. ``draft``: the draft model. ``summary``:
    summarises all messages up to and including this one.
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
    drawn: SamplingRecord | None = None
    follows_calls: bool = False
    cites: bool = False
    parent: int | None = None
    created_at: datetime = EPOCH
    draft: str = ""
    summary: str = ""

    @property
    def can_continue(self) -> bool:
        """True for an answer with text that the model did not end itself."""
        unfinished = (MessageState.STOPPED, MessageState.INTERRUPTED, MessageState.FAILED)
        return self.role == "assistant" and bool(self.text.strip()) and (self.cut or self.state in unfinished)
