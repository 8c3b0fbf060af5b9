"""A conversation in any export format, and the limits for reading files."""

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
from app.core.storage.chats.options import NOTHING_OWN
from engine.records import Mode, RunStats, TokenSpan
from engine.sentences import said

# For files of other programs; our own exports may have as much as the chats.
MAX_CHATS = 50_000
MAX_MESSAGES = 50_000  # of one conversation
MAX_ATTACHMENTS = 100  # of one message
MAX_TEXT_CHARS = 4_000_000  # of one message
PICTURE = "[picture]"  # the text in place of a picture: a question may consist of it alone
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PortableMessage:
    """One message; ``key`` and ``parent`` form the tree of a conversation. Parents precede their children."""

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
    call: StoredCall | None = None  # in a message of the role `tool`, whose text is the result
    drawn: SamplingRecord | None = None
    summary: str = ""  # replaces all messages up to and including this one


@dataclass(frozen=True, slots=True)
class PortableChat:
    """One conversation. ``shown``: the keys of messages on shown branches, in any order.

    ``options`` are its own settings, as JSON; empty if it has none and keeps its mode.
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
    options: str = NOTHING_OWN

    @property
    def digest(self) -> str:
        """Equal for the same texts in the same tree, from any source."""
        places: dict[int | None, int] = {message.key: place for place, message in enumerate(self.messages)}
        content = [(places.get(each.parent), each.role, each.text, *_parts_beside_text(each)) for each in self.messages]
        return hashlib.sha256(json.dumps([self.title, content]).encode()).hexdigest()[:32]

    def holds(self, other: PortableChat) -> bool:
        """True if every message of ``other`` is here after the same messages: it may be a branch of this chat."""
        return other._lines() <= self._lines()

    def _lines(self) -> Counter[bytes]:
        """A digest of each message with its ancestors; duplicates are counted."""
        lines: dict[int | None, bytes] = {None: b""}
        for each in self.messages:
            content = [each.role, each.text, *_parts_beside_text(each)]
            lines[each.key] = hashlib.sha256(lines.get(each.parent, b"") + json.dumps(content).encode()).digest()
        return Counter(line for key, line in lines.items() if key is not None)


def _parts_beside_text(message: PortableMessage) -> list[tuple[str, str]]:
    """The parts of a message beside its text."""
    call = message.call
    files = [(file.name, file.text) for file in message.attachments]
    return files if call is None else [*files, (call.name, call.arguments)]


def clean_text(value: object, limit: int = MAX_TEXT_CHARS) -> str:
    """A text that can be stored; empty for other types.

    Raises:
        ChatsImportError: it is longer than any message.
    """
    if isinstance(value, str) and len(value) > limit:
        raise ChatsImportError(said("A message has more than {limit:,} characters.", limit=limit))
    return whole_text(value)


def whole_text(value: object) -> str:
    """A text that can be stored, of any length; empty for other types."""
    return value.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", "") if isinstance(value, str) else ""


def with_thinking(text: str, thought: str) -> str:
    """An answer with its reasoning, in the format of models (see `app.core.domain.thinking`)."""
    inside = thought.replace("</think>", "").strip()
    return f"<think>\n{inside}\n</think>\n\n{text}" if inside else text


def clean_title(value: object) -> str:
    """One line of limited length."""
    return one_line(clean_text(value[: 10 * MAX_TITLE_CHARS])) if isinstance(value, str) else ""


def clean_time(value: object, scale: float = 1.0) -> datetime:
    """Seconds (times ``scale``) since 1970; the epoch for an invalid value."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return EPOCH
    if not 0 <= value <= (LATEST - EPOCH).total_seconds() / scale:  # excludes nan
        return EPOCH
    return datetime.fromtimestamp(value * scale, UTC)
