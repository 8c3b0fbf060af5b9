"""The rows of the conversation list (conversations, folders, search results), and functions for titles."""

import re
from dataclasses import dataclass
from datetime import datetime

MAX_CHARS = 48
MAX_TITLE_CHARS = 200
# Invisible characters, and those that reverse the text direction. Joiners (U+200C, U+200D) and direction marks (U+200E,
# U+200F) are needed in some scripts and stay.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)
_MARKDOWN_MARKS = "#>*-`~= \t"


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """One conversation. ``place``: its position among pinned conversations, or in its folder.

    ``used_remote_server``: it has answers of a remote server.
    """

    id: int
    title: str
    updated_at: datetime
    pinned: bool = False
    archived: bool = False
    folder_id: int | None = None
    place: int = 0
    used_remote_server: bool = False


@dataclass(frozen=True, slots=True)
class FolderRow:
    """A folder. ``folded``: its conversations are hidden."""

    id: int
    name: str
    folded: bool = False


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A search result: a message, or a title if ``message_id`` is None.

    ``parts`` are pieces of text, each with True if it matches. ``source``: the same pieces with Markdown, if ``parts``
    are without it.
    """

    conversation_id: int
    title: str
    message_id: int | None
    role: str
    parts: tuple[tuple[str, bool], ...]
    archived: bool = False
    source: tuple[tuple[str, bool], ...] = ()


def one_line(text: str, limit: int = MAX_TITLE_CHARS) -> str:
    """The text as one line of limited length, without invisible characters; may be empty."""
    return " ".join(_INVISIBLE.sub("", text[: 10 * limit]).split())[:limit].strip()


def title_from(text: str) -> str:
    """Make a title of a text: its first line, without Markdown, cut at a word."""
    lines = (one_line(line.replace("**", "").strip(_MARKDOWN_MARKS)) for line in text.splitlines())
    line = next((line for line in lines if line), "")
    if not line:
        return "New chat"
    if len(line) <= MAX_CHARS:
        return line
    cut = line[: MAX_CHARS - 1]
    word_end = cut.rfind(" ")
    return (cut[:word_end] if word_end > MAX_CHARS // 2 else cut).rstrip(" ,.;:") + "…"
