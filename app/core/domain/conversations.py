"""Conversations, their folders, and what a search found in them, as rows; and the names of both, as one line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

MAX_CHARS = 48
MAX_TITLE_CHARS = 200
# What turns the words after it around, or is not seen: a name stands within sentences and beside other names. What
# joins letters (U+200C, U+200D) and tells the direction of a neighbour only (U+200E, U+200F) is part of writing.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_MARKS = "#>*-`~= \t"


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


def one_line(text: str, limit: int = MAX_TITLE_CHARS) -> str:
    """Take a name as one line of sensible length, without what is not seen; empty where nothing is left."""
    return " ".join(_UNSEEN.sub("", text[: 10 * limit]).split())[:limit].strip()


def title_from(text: str) -> str:
    """Take the first line that says something, without Markdown's marks, cut at a word."""
    lines = (one_line(line.replace("**", "").strip(_MARKS)) for line in text.splitlines())
    line = next((line for line in lines if line), "")
    if not line:
        return "New chat"
    if len(line) <= MAX_CHARS:
        return line
    cut = line[: MAX_CHARS - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > MAX_CHARS // 2 else cut).rstrip(" ,.;:") + "…"
