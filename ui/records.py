"""What the window shows, as plain data filled by the app. Knows nothing of where it is stored or computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from engine.records import Mode, ModelInfo, RunStats, TokenSpan


class MessageState(StrEnum):
    """What became of a message."""

    COMPLETE = "complete"
    STREAMING = "streaming"
    STOPPED = "stopped"  # by the user
    INTERRUPTED = "interrupted"  # the app or the machine went away in the middle
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One line of the conversation list. ``place`` orders the pinned ones and those of a folder, by hand."""

    id: int
    title: str
    updated_at: datetime
    pinned: bool = False
    archived: bool = False
    folder_id: int | None = None
    place: int = 0


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder of the conversation list; ``folded``: its conversations are out of sight."""

    id: int
    name: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A place where the words of a search were found: a message, or a title where ``message_id`` is None.

    ``parts`` are pieces of text, each with whether it matches; ``source`` are the pieces as they were written, markup
    included, where they are shown in another way.
    """

    conversation_id: int
    title: str
    message_id: int | None
    role: str
    parts: tuple[tuple[str, bool], ...]
    archived: bool = False
    source: tuple[tuple[str, bool], ...] = ()


class AttachmentKind(StrEnum):
    """What an attached file is."""

    TEXT = "text"
    CODE = "code"
    MARKDOWN = "markdown"
    CSV = "csv"
    PDF = "pdf"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file's text that goes along with a message.

    ``text`` is empty where only what is shown of it is needed. ``num_tokens``: what it takes of the context, None
    where nobody has counted.
    """

    id: int
    name: str
    kind: AttachmentKind
    num_bytes: int
    text: str = ""
    num_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class MessageView:
    """One message of the transcript. ``notice`` is a line below it: why it failed, or what was interrupted.

    ``versions``: the ids of all versions of the message, itself among them, where there are several. ``cut``: it
    ended at the longest allowed length, or because the context was full. ``thinking_ms``: how long it reasoned before
    its words, where that is known. ``target``: the model that gave it.
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

    @property
    def can_go_on(self) -> bool:
        """Whether this is an answer that did not end by itself and has a beginning."""
        unfinished = (MessageState.STOPPED, MessageState.INTERRUPTED, MessageState.FAILED)
        return self.role == "assistant" and bool(self.text.strip()) and (self.cut or self.state in unfinished)


@dataclass(frozen=True, slots=True)
class TargetChoice:
    """A model that an answer can be given by. ``loaded``: it is the one in use."""

    path: str
    name: str
    loaded: bool = False


class EngineState(StrEnum):
    """What the engine is doing."""

    EMPTY = "empty"  # no model
    LOADING = "loading"
    READY = "ready"
    READING = "reading"  # the prompt
    ANSWERING = "answering"


@dataclass(frozen=True, slots=True)
class EngineView:
    """The engine's state for the status line and the mode switch. ``progress`` is 0 to 1, or None where unknown."""

    state: EngineState = EngineState.EMPTY
    target: ModelInfo | None = None
    draft: ModelInfo | None = None
    unavailable: dict[Mode, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    progress: float | None = None


class FieldKind(StrEnum):
    """How a setting is edited."""

    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    CHOICE = "choice"
    MODE = "mode"  # a choice whose values are modes, each explained
    SWITCH = "switch"
    MODEL_FILE = "model_file"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class SettingField:
    """One setting: a row of the settings dialog and a key of the settings file.

    ``default`` None together with ``automatic`` means that the app chooses; the dialog offers ``automatic`` as a word.
    """

    key: str
    section: str
    label: str
    kind: FieldKind
    default: bool | int | float | str | None
    help: str
    minimum: float | None = None
    maximum: float | None = None
    step: float | None = None
    choices: tuple[tuple[str, str], ...] = ()  # (value, label)
    automatic: str = ""
    unit: str = ""


SettingValue = bool | int | float | str | None
