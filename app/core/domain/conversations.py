"""The rows of the conversation list: conversations, folders, search results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation. ``place`` is the user's order among pinned ones and in a folder.

    ``left_machine``: a remote server answered in it.
    """

    id: int
    title: str
    updated_at: datetime
    pinned: bool = False
    archived: bool = False
    folder_id: int | None = None
    place: int = 0
    left_machine: bool = False


@dataclass(frozen=True, slots=True)
class FolderRow:
    """One folder; ``folded``: its conversations are hidden."""

    id: int
    name: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search result: a message, or a title if ``message_id`` is None.

    ``parts`` are pieces of text, each with whether it matches; ``source`` are the pieces with markup, if they are shown
    without it.
    """

    conversation_id: int
    title: str
    message_id: int | None
    role: str
    parts: tuple[tuple[str, bool], ...]
    archived: bool = False
    source: tuple[tuple[str, bool], ...] = ()
