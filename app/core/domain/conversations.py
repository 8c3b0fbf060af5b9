"""Conversations, their folders, and what a search found in them, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One line of the conversation list. ``place`` orders the pinned ones and those of a folder, by hand.

    ``left_machine``: an engine on another machine answered in it.
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
