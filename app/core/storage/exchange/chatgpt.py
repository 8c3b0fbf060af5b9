"""ChatGPT's exports: ``conversations.json``, each conversation a ``mapping`` of nodes that form a tree.

The format is undocumented; this reads the common part of exports of 2023 to 2026: text of the user and the assistant,
typed or spoken, with reasoning and the model's name; tool results and hidden messages are ignored. Pictures are in
other files, named by their ids; for a missing one the text is `PICTURE_PLACEHOLDER`, since a question may consist of it
alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from app.core.domain.attachments import Attachment
from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import MessageView
from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange.pictures import NO_FILES, PictureFiles
from app.core.storage.exchange.records import (
    MAX_ATTACHMENTS,
    MAX_MESSAGES,
    PICTURE_PLACEHOLDER,
    clean_text,
    clean_time,
    clean_title,
    with_reasoning,
)

# Marks of search results in an answer: private-use characters of Unicode, and older ones.
_CITATION = re.compile(
    "(?P<gap>[ \t]*)(?P<mark>\ue200[^\ue200\ue201\n]{0,2000}\ue201|【\\d{1,6}(?::\\d{1,6})?†[^【】\n]{0,200}】)"
)
_SEPARATOR = "\ue202"
_POINTER = re.compile(r"[a-z-]{1,40}://(file[-_][\w-]{4,200})")
_MAX_LISTED = 10_000  # attachments in one message
_MAX_DURATION_S = 7 * 24 * 3600


def is_chatgpt(data: object) -> bool:
    """True for parsed JSON of a ChatGPT conversation."""
    return isinstance(data, dict) and isinstance(data.get("mapping"), dict)


def from_data(data: Mapping[str, Any], files: PictureFiles = NO_FILES) -> PortableChat:
    """Read one conversation; its pictures are among ``files``.

    Raises:
        ChatsImportError: it is too large.
    """
    nodes: dict[str, Any] = data["mapping"]
    if len(nodes) > 4 * MAX_MESSAGES:
        raise ChatsImportError("A conversation in this file has too many messages.")
    keys: dict[str | None, int | None] = {}  # key of the message, or of its nearest imported ancestor
    waiting: dict[str | None, _Reasoning] = {}  # reasoning since the nearest imported ancestor, by the last node of it
    usual_model = clean_title(data.get("default_model_slug"))
    messages: list[MessageView] = []
    for node_id, parent_id in _walk(nodes):
        above, thought = keys.get(parent_id), waiting.pop(parent_id, _Reasoning())
        message = _message(nodes[node_id], len(messages) + 1, above, thought, files)
        keys[node_id] = message.id if message else above
        if message:
            is_unnamed = message.role == "assistant" and not message.target
            messages.append(replace(message, target=usual_model) if is_unnamed else message)
        else:
            waiting[node_id] = thought.with_node(nodes[node_id])
    created, updated = clean_time(data.get("create_time")), clean_time(data.get("update_time"))
    return PortableChat(
        title=clean_title(data.get("title")),
        messages=tuple(messages),
        created_at=created,
        updated_at=max(created, updated),
        pinned=data.get("is_starred") is True,
        archived=data.get("is_archived") is True,
        shown=frozenset(_shown(nodes, data.get("current_node"), keys)),
    )


def _walk(nodes: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield every node once, parents first, even if links are missing or circular.

    A node's listed children come first, then nodes that name it as their parent. In a circle of links, the file's first
    node is the start.
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


@dataclass(slots=True)
class _Reasoning:
    """The reasoning before an answer: the first answer below it gets it."""

    paragraphs: list[str] = field(default_factory=list)
    seconds: float | None = None

    def with_node(self, node: Mapping[str, Any]) -> _Reasoning:
        """Add the part or the duration of a node."""
        message = node.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not isinstance(message, dict) or not isinstance(content, dict):
            return self
        if content.get("content_type") == "reasoning_recap":
            found = _metadata(message).get("finished_duration_sec")
            if isinstance(found, int | float) and not isinstance(found, bool) and 0 <= found <= _MAX_DURATION_S:
                self.seconds = found
        parts = content.get("thoughts") if content.get("content_type") == "thoughts" else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict):
                summary, words = clean_text(part.get("summary")).strip(), clean_text(part.get("content")).strip()
                self.paragraphs += [text for text in (f"**{summary}**" if summary else "", words) if text]
        return self


def _message(
    node: Mapping[str, Any], key: int, parent: int | None, thought: _Reasoning, files: PictureFiles
) -> MessageView | None:
    message = node.get("message")
    if not isinstance(message, dict) or message.get("recipient") not in (None, "all"):
        return None
    author, metadata = message.get("author"), _metadata(message)
    role = author.get("role") if isinstance(author, dict) else None
    if role not in ("user", "assistant") or metadata.get("is_visually_hidden_from_conversation") is True:
        return None
    text, pictures = _text(message.get("content"), metadata, files)
    if not text.strip() and not pictures:
        return None
    created = clean_time(message.get("create_time"))
    result = MessageView(key, str(role), text, parent=parent, created_at=created, attachments=pictures)
    if role == "user":
        return result
    text = with_reasoning(_CITATION.sub(_citation_text, text), "\n\n".join(thought.paragraphs))
    took = round(1000 * thought.seconds) if thought.seconds is not None and thought.paragraphs else None
    return replace(result, text=clean_text(text), thinking_ms=took, target=clean_title(metadata.get("model_slug")))


def _metadata(message: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = message.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _text(content: object, metadata: Mapping[str, Any], files: PictureFiles) -> tuple[str, tuple[Attachment, ...]]:
    """The typed or transcribed text, and the pictures whose files exist."""
    if not isinstance(content, dict) or content.get("content_type") not in ("text", "multimodal_text"):
        return "", ()
    listed = metadata.get("attachments")
    names = {
        str(each.get("id")): each.get("name")
        for each in (listed[:_MAX_LISTED] if isinstance(listed, list) else ())
        if isinstance(each, dict)
    }
    parts, pieces, pictures = content.get("parts"), list[str](), list[Attachment]()
    for part in parts if isinstance(parts, list) else ():
        piece = part
        if isinstance(part, dict) and part.get("content_type") == "image_asset_pointer":
            piece = PICTURE_PLACEHOLDER
            # Such as ``file-service://file-AbC`` or ``sediment://file_0123``.
            found = _POINTER.fullmatch(str(part.get("asset_pointer"))) if len(pictures) < MAX_ATTACHMENTS else None
            name = names.get(found[1]) if found else None
            if found and (picture := files.with_id(found[1], name if isinstance(name, str) else "")):
                pictures.append(picture)
                continue
        elif isinstance(part, dict) and part.get("content_type") == "audio_transcription":
            piece = part.get("text")
        if isinstance(piece, str) and piece:
            pieces.append(piece)
    return clean_text("\n\n".join(pieces)), tuple(pictures)


def _citation_text(mark: re.Match[str]) -> str:
    """The text in a mark, if it is a name or the title of a page; marks of search results are removed."""
    kind, *rest = mark["mark"].strip("\ue200\ue201").split(_SEPARATOR)
    words: object = rest[0] if kind == "url" and rest else ""
    if kind == "entity" and rest:
        try:
            words = json.loads(rest[0])[1]
        except (ValueError, RecursionError, LookupError, TypeError):
            words = ""
    return f"{mark['gap']}{words}" if isinstance(words, str) and words else ""


def _shown(nodes: Mapping[str, Any], current: object, keys: Mapping[str | None, int | None]) -> Iterator[int]:
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        key = keys.get(current)
        if key is not None:
            yield key
        node = nodes[current]
        current = node.get("parent") if isinstance(node, dict) else None
