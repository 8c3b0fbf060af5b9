"""ChatGPT's exports: ``conversations.json``, each conversation a ``mapping`` of nodes that form a tree.

The format is not documented by its maker; this reads what exports of 2023 to 2026 have in common. Words of the user
and of the assistant are taken; what tools said, hidden messages and pictures are not.
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


def is_chatgpt(data: object) -> bool:
    """Whether parsed JSON looks like one conversation of ChatGPT."""
    return isinstance(data, dict) and isinstance(data.get("mapping"), dict)


def from_data(data: Mapping[str, Any]) -> OutsideChat:
    """Read one conversation.

    Raises:
        ChatsImportError: it is too large.
    """
    nodes: dict[str, Any] = data["mapping"]
    if len(nodes) > 4 * MAX_MESSAGES:
        raise ChatsImportError("A conversation of this file has more messages than any real one.")
    keys: dict[str, int | None] = {}  # of the message itself, or of the nearest one above it that is taken
    messages: list[OutsideMessage] = []
    for node_id, parent_id in _walk(nodes):
        above = keys.get(parent_id) if parent_id is not None else None
        message = _message(nodes[node_id], len(messages) + 1, above)
        keys[node_id] = message.key if message else above
        if message:
            messages.append(message)
    created, updated = clean_time(data.get("create_time")), clean_time(data.get("update_time"))
    return OutsideChat(
        title=clean_title(data.get("title")),
        messages=tuple(messages),
        created_at=created,
        updated_at=max(created, updated),
        archived=data.get("is_archived") is True,
        shown=frozenset(_shown(nodes, data.get("current_node"), keys)),
    )


def _walk(nodes: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Every node, parents first, each once: whatever the links say, this ends and leaves none out.

    Of a node's children those come first that it names, then those that only name it. Where links go in a circle, the
    first node of the file counts as a beginning.
    """
    seen: set[str] = set()
    named_by: dict[str, list[str]] = {}
    for key, node in nodes.items():
        if isinstance(node, dict) and _has_parent(node, nodes):
            named_by.setdefault(node["parent"], []).append(key)
    roots = [key for key, node in nodes.items() if isinstance(node, dict) and not _has_parent(node, nodes)]
    waiting: list[tuple[str, str | None]] = [(key, None) for key in reversed([*roots, *nodes])]
    while waiting:
        node_id, parent_id = waiting.pop()
        node = nodes.get(node_id)
        if node_id in seen or not isinstance(node, dict):
            continue
        seen.add(node_id)
        yield node_id, parent_id
        children = node.get("children")
        named = [child for child in children if isinstance(child, str)] if isinstance(children, list) else []
        waiting += [(child, node_id) for child in reversed([*named, *named_by.get(node_id, ())])]


def _has_parent(node: Mapping[str, Any], nodes: Mapping[str, Any]) -> bool:
    parent = node.get("parent")
    return isinstance(parent, str) and parent in nodes


def _message(node: Mapping[str, Any], key: int, parent: int | None) -> OutsideMessage | None:
    message = node.get("message")
    if not isinstance(message, dict) or message.get("recipient") not in (None, "all"):
        return None
    author, hidden = message.get("author"), message.get("metadata")
    role = author.get("role") if isinstance(author, dict) else None
    if role not in ("user", "assistant"):
        return None
    if isinstance(hidden, dict) and hidden.get("is_visually_hidden_from_conversation") is True:
        return None
    text = _text(message.get("content"))
    if not text.strip():
        return None
    return OutsideMessage(key, parent, str(role), text, created_at=clean_time(message.get("create_time")))


def _text(content: object) -> str:
    if not isinstance(content, dict) or content.get("content_type") not in ("text", "multimodal_text"):
        return ""
    parts = content.get("parts")
    pieces = [part for part in parts if isinstance(part, str) and part] if isinstance(parts, list) else []
    return clean_text("\n\n".join(pieces))


def _shown(nodes: Mapping[str, Any], current: object, keys: Mapping[str, int | None]) -> Iterator[int]:
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        key = keys.get(current)
        if key is not None:
            yield key
        node = nodes[current]
        current = node.get("parent") if isinstance(node, dict) else None
