"""LM Studio's conversations: ``*.conversation.json``, a list of messages, each with versions and the one that is shown.

The format is not documented by its maker; this reads what files of 0.3 and 0.4 have in common. Text is taken;
reasoning, tools and pictures are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from app.chats.exchange.records import (
    MAX_MESSAGES,
    OutsideChat,
    OutsideMessage,
    clean_text,
    clean_time,
    clean_title,
)
from app.errors import ChatsImportError


def is_lm_studio(data: object) -> bool:
    """Whether parsed JSON looks like one conversation of LM Studio."""
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        return False
    return all(isinstance(each, dict) and isinstance(each.get("versions"), list) for each in data["messages"])


def from_data(data: Mapping[str, Any]) -> OutsideChat:
    """Read one conversation: what follows a message belongs to the version of it that is shown.

    Raises:
        ChatsImportError: it is too large.
    """
    messages: list[OutsideMessage] = []
    shown: set[int] = set()
    parent: int | None = None
    for entry in data["messages"]:
        chosen = parent
        for is_shown, version in _versions(entry):
            role, text = version.get("role"), clean_text(_text(version))
            if role not in ("user", "assistant") or not text.strip():
                continue
            if len(messages) >= MAX_MESSAGES:
                raise ChatsImportError("A conversation of this file has more messages than any real one.")
            messages.append(OutsideMessage(len(messages) + 1, parent, str(role), text))
            if is_shown or chosen == parent:
                chosen = len(messages)
        if chosen is not None and chosen != parent:
            shown.add(chosen)
        parent = chosen
    created = clean_time(data.get("createdAt"), 0.001)
    return OutsideChat(
        title=clean_title(data.get("name")),
        messages=tuple(messages),
        created_at=created,
        updated_at=created,
        pinned=data.get("pinned") is True,
        shown=frozenset(shown),
    )


def _versions(entry: Mapping[str, Any]) -> Iterator[tuple[bool, Mapping[str, Any]]]:
    for place, version in enumerate(entry["versions"]):
        if isinstance(version, dict):
            yield place == entry.get("currentlySelected"), version


def _text(version: Mapping[str, Any]) -> str:
    """The text of a question, or of an answer's steps."""
    steps = version.get("steps") if version.get("type") == "multiStep" else [version]
    pieces: list[str] = []
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict) or step.get("type") not in ("contentBlock", "singleStep", None):
            continue
        style = step.get("style")
        if isinstance(style, dict) and style.get("type") == "thinking":
            continue
        pieces += _pieces(step.get("content"))
    return "\n\n".join(pieces)


def _pieces(content: object) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
