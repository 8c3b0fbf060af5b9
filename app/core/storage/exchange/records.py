"""The record of a conversation that all export formats share, and limits for reading files."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from app.core.domain.attachments import Attachment
from app.core.domain.conversations import MAX_TITLE_CHARS, one_line
from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import MessageState
from app.core.domain.seeds import SamplingRecord
from app.core.domain.tools.calls import StoredCall
from app.core.storage.chats.options import NO_OPTIONS
from engine.records import Mode, RunStats, TokenSpan
from engine.sentences import i18n

# Limits for files of other programs; our own exports are not limited.
MAX_CHATS = 50_000
MAX_MESSAGES = 50_000  # maximum in one conversation
MAX_ATTACHMENTS = 100  # maximum in one message
MAX_TEXT_CHARS = 4_000_000  # maximum in one message
PICTURE_PLACEHOLDER = "[picture]"  # replaces a missing picture, which may be the whole question
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PortableMessage:
    """One message. ``key`` and ``parent`` form the tree of a conversation; parents precede their children."""

    key: int
    parent: int | None
    role: str
    text: str
    state: MessageState = MessageState.COMPLETE
    created_at: datetime = EPOCH
    stats: RunStats | None = None
    spans: tuple[TokenSpan, ...] = ()
    notice: str = ""
    cut: bool = False
    target: str = ""
    draft: str = ""
    attachments: tuple[Attachment, ...] = ()
    thinking_ms: int | None = None
    call: StoredCall | None = None  # for the role `tool`; the text is the call's result
    drawn: SamplingRecord | None = None
    summary: str = ""  # summarises all messages up to and including this one


@dataclass(frozen=True, slots=True)
class PortableChat:
    """One conversation. ``shown``: the keys of messages on shown branches, in any order.

    ``options``: its own settings as JSON; empty if the file has none, so that the chat keeps its mode.
    """

    title: str
    messages: tuple[PortableMessage, ...]
    created_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    mode: Mode = Mode.OFF
    depth: int | None = None
    pinned: bool = False
    archived: bool = False
    folder: str = ""
    shown: frozenset[int] = frozenset()
    options: str = NO_OPTIONS

    @property
    def digest(self) -> str:
        """A digest that is equal for the same texts in the same tree, from any source."""
        places: dict[int | None, int] = {message.key: place for place, message in enumerate(self.messages)}
        content = [(places.get(each.parent), each.role, each.text, *_other_parts(each)) for each in self.messages]
        return hashlib.sha256(json.dumps([self.title, content]).encode()).hexdigest()[:32]

    def contains(self, other: PortableChat) -> bool:
        """True if this chat contains every message of ``other``, with the same ancestors."""
        return other._lines() <= self._lines()

    def _lines(self) -> Counter[bytes]:
        """Digests of all messages with their ancestors, with their counts."""
        lines: dict[int | None, bytes] = {None: b""}
        for each in self.messages:
            content = [each.role, each.text, *_other_parts(each)]
            lines[each.key] = hashlib.sha256(lines.get(each.parent, b"") + json.dumps(content).encode()).digest()
        return Counter(line for key, line in lines.items() if key is not None)


def _other_parts(message: PortableMessage) -> list[tuple[str, str]]:
    """The parts of a message besides its text."""
    call = message.call
    files = [(file.name, file.text) for file in message.attachments]
    return files if call is None else [*files, (call.name, call.arguments)]


def clean_text(value: object, limit: int = MAX_TEXT_CHARS) -> str:
    """A text that can be stored; empty if ``value`` is not a text.

    Raises:
        ChatsImportError: the text is longer than ``limit``.
    """
    if isinstance(value, str) and len(value) > limit:
        raise ChatsImportError(i18n("A message has more than {limit:,} characters.", limit=limit))
    return whole_text(value)


def whole_text(value: object) -> str:
    """A text of any length that can be stored; empty if ``value`` is not a text."""
    return value.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", "") if isinstance(value, str) else ""


def with_reasoning(text: str, thought: str) -> str:
    """Combine an answer and its reasoning in the format of models (see `app.core.domain.thinking`)."""
    inside = thought.replace("</think>", "").strip()
    return f"<think>\n{inside}\n</think>\n\n{text}" if inside else text


def clean_title(value: object) -> str:
    """A title as one line of limited length."""
    return one_line(clean_text(value[: 10 * MAX_TITLE_CHARS])) if isinstance(value, str) else ""


def clean_time(value: object, scale: float = 1.0) -> datetime:
    """Convert ``value`` times ``scale`` seconds since 1970; the epoch for an invalid value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return EPOCH
    if not 0 <= value <= (LATEST - EPOCH).total_seconds() / scale:  # false for NaN
        return EPOCH
    return datetime.fromtimestamp(value * scale, UTC)
