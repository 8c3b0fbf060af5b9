"""A conversation as it is exported and imported, in whatever format; and the limits of what is read from a file."""

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
from app.core.domain.seeds import Drawn
from app.core.domain.tools.calls import StoredCall
from app.core.storage.chats.options import NOTHING_OWN
from engine.records import Mode, RunStats, TokenSpan
from engine.sentences import said

# Of what other programs write; our own exports hold what the chats held.
MAX_CHATS = 50_000
MAX_MESSAGES = 50_000  # of one conversation
MAX_ATTACHMENTS = 100  # of one message
MAX_TEXT_CHARS = 4_000_000  # of one message
PICTURE = "[picture]"  # where one was: a question may be nothing else, and its answer must not follow another answer
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class PortableMessage:
    """One message; ``key`` and ``parent`` tie the tree within its conversation. A parent stands before its children."""

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
    drawn: Drawn | None = None
    summary: str = ""  # what stands for all messages up to and with this one


@dataclass(frozen=True, slots=True)
class PortableChat:
    """One conversation. ``shown``: the keys of the messages whose branches are shown, in any order.

    ``options``: what it has of its own, as JSON; empty where it was written without any, and stays in its mode.
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
        """The same for the same words in the same tree, wherever they come from."""
        places: dict[int | None, int] = {message.key: place for place, message in enumerate(self.messages)}
        content = [(places.get(each.parent), each.role, each.text, *_beside(each)) for each in self.messages]
        return hashlib.sha256(json.dumps([self.title, content]).encode()).hexdigest()[:32]

    def holds(self, other: PortableChat) -> bool:
        """Whether every message of ``other`` is here after the same words: it is a branch of this chat, say."""
        return other._lines() <= self._lines()

    def _lines(self) -> Counter[bytes]:
        """Each message with all that it follows, as digests; the same words twice in one place count twice."""
        lines: dict[int | None, bytes] = {None: b""}
        for each in self.messages:
            content = [each.role, each.text, *_beside(each)]
            lines[each.key] = hashlib.sha256(lines.get(each.parent, b"") + json.dumps(content).encode()).digest()
        return Counter(line for key, line in lines.items() if key is not None)


def _beside(message: PortableMessage) -> list[tuple[str, str]]:
    """What a message has beside its text."""
    call = message.call
    files = [(file.name, file.text) for file in message.attachments]
    return files if call is None else [*files, (call.name, call.arguments)]


def clean_text(value: object, limit: int = MAX_TEXT_CHARS) -> str:
    """Take a text as it can be stored; empty for anything else.

    Raises:
        ChatsImportError: it is longer than any message.
    """
    if isinstance(value, str) and len(value) > limit:
        raise ChatsImportError(said("A message has more than {limit:,} characters.", limit=limit))
    return whole_text(value)


def whole_text(value: object) -> str:
    """Take a text as it can be stored, however long; empty for anything else."""
    return value.encode("utf-8", errors="replace").decode("utf-8").replace("\x00", "") if isinstance(value, str) else ""


def with_thinking(text: str, thought: str) -> str:
    """An answer with the reasoning before it, as models write both (see `app.core.domain.thinking`)."""
    inside = thought.replace("</think>", "").strip()
    return f"<think>\n{inside}\n</think>\n\n{text}" if inside else text


def clean_title(value: object) -> str:
    """Take a title as one line of sensible length."""
    return one_line(clean_text(value[: 10 * MAX_TITLE_CHARS])) if isinstance(value, str) else ""


def clean_time(value: object, scale: float = 1.0) -> datetime:
    """Take seconds (times ``scale``) since 1970; the beginning of time for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return EPOCH
    if not 0 <= value <= (LATEST - EPOCH).total_seconds() / scale:  # NaN fails this too
        return EPOCH
    return datetime.fromtimestamp(value * scale, UTC)
