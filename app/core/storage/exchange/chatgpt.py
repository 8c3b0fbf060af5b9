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
from dataclasses import dataclass, replace
from typing import Any

from app.core.domain.attachments import Attachment
from app.core.domain.errors import ChatsImportError
from app.core.storage.exchange.pictures import NO_FILES, PictureFiles
from app.core.storage.exchange.records import (
    MAX_ATTACHMENTS,
    MAX_MESSAGES,
    MAX_TEXT_CHARS,
    PICTURE_PLACEHOLDER,
    PortableChat,
    PortableMessage,
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
_MAX_CITATIONS = 10_000  # marks in one message
_MAX_LINK_CHARS = 4000
_MAX_DURATION_S = 7 * 24 * 3600
_MAX_COPIES = 4  # maximum copies of one text of the file: a small file must not become gigabytes of text


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
    keys: dict[str, int | None] = {}  # key of the message, or of its nearest imported ancestor
    thoughts: dict[str, _ReasoningPart] = {}  # reasoning since the nearest imported ancestor
    room = 0  # characters left for reasoning
    usual_model = clean_title(data.get("default_model_slug"))
    messages: list[PortableMessage] = []
    for node_id, parent_id in _walk(nodes):
        above = keys.get(parent_id) if parent_id is not None else None
        thought = thoughts.get(parent_id, _ReasoningPart()) if parent_id is not None else _ReasoningPart()
        thought = thought if thought.num_chars <= room else _ReasoningPart()
        message = _message(nodes[node_id], len(messages) + 1, above, thought, files)
        keys[node_id] = message.key if message else above
        if message:
            is_unnamed = message.role == "assistant" and not message.target
            messages.append(replace(message, target=usual_model) if is_unnamed else message)
            room -= thought.num_chars
        else:
            thoughts[node_id] = more = _with_reasoning_of(thought, nodes[node_id])
            room += _MAX_COPIES * (more.num_chars - thought.num_chars)
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


@dataclass(frozen=True, slots=True)
class _ReasoningPart:
    """The last part of the reasoning before an answer, with a link to the part before, and the duration so far."""

    part: str = ""
    before: _ReasoningPart | None = None
    num_chars: int = 0  # characters of all parts
    seconds: float | None = None

    @property
    def text(self) -> str:
        """Joined only when an answer needs it: each node of a file may add a part."""
        parts: list[str] = []
        at: _ReasoningPart | None = self
        while at is not None:
            parts += [at.part] if at.part else []
            at = at.before
        return "\n\n".join(reversed(parts))


def _with_reasoning_of(thought: _ReasoningPart, node: Mapping[str, Any]) -> _ReasoningPart:
    """The reasoning with the part or the duration of this node."""
    message = node.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, dict):
        return thought
    if content.get("content_type") == "reasoning_recap":
        seconds = _metadata(message).get("finished_duration_sec")
        is_time = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= _MAX_DURATION_S
        return replace(thought, seconds=seconds) if is_time else thought
    parts = content.get("thoughts") if content.get("content_type") == "thoughts" else None
    paragraphs: list[str] = []
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            summary, words = clean_text(part.get("summary")).strip(), clean_text(part.get("content")).strip()
            paragraphs += [text for text in (f"**{summary}**" if summary else "", words) if text]
    text = "\n\n".join(paragraphs)
    num_chars = thought.num_chars + len(text)
    if not text or num_chars > MAX_TEXT_CHARS:
        return thought
    return _ReasoningPart(text, thought, num_chars, thought.seconds)


def _message(
    node: Mapping[str, Any], key: int, parent: int | None, thought: _ReasoningPart, files: PictureFiles
) -> PortableMessage | None:
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
    result = PortableMessage(key, parent, str(role), text, created_at=created, attachments=pictures)
    if role == "user":
        return result
    text = with_reasoning(_with_links(text, metadata.get("content_references")), thought.text)
    took = round(1000 * thought.seconds) if thought.seconds is not None and thought.num_chars else None
    return replace(result, text=clean_text(text), thinking_ms=took, target=clean_title(metadata.get("model_slug")))


def _metadata(message: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = message.get("metadata")
    return metadata if isinstance(metadata, dict) else {}


def _text(content: object, metadata: Mapping[str, Any], files: PictureFiles) -> tuple[str, tuple[Attachment, ...]]:
    """The text, and the pictures whose files exist."""
    if not isinstance(content, dict) or content.get("content_type") not in ("text", "multimodal_text"):
        return "", ()
    parts, pieces, pictures = content.get("parts"), list[str](), list[Attachment]()
    for part in parts if isinstance(parts, list) else ():
        found = _picture(part, metadata, files) if len(pictures) < MAX_ATTACHMENTS else None
        if found is not None:
            pictures.append(found)
        else:
            pieces.append(_part_text(part))
    return clean_text("\n\n".join(piece for piece in pieces if piece)), tuple(pictures)


def _picture(part: object, metadata: Mapping[str, Any], files: PictureFiles) -> Attachment | None:
    """The picture of a part: ``file-service://file-AbC``, ``sediment://file_0123``."""
    pointer = part.get("asset_pointer") if isinstance(part, dict) and _is_picture(part) else None
    if not isinstance(pointer, str) or not (found := _POINTER.fullmatch(pointer)):
        return None
    listed = metadata.get("attachments")
    names = {
        str(each.get("id")): each.get("name")
        for each in (listed[:_MAX_CITATIONS] if isinstance(listed, list) else ())
        if isinstance(each, dict)
    }
    name = names.get(found[1])
    return files.with_id(found[1], name if isinstance(name, str) else "")


def _is_picture(part: Mapping[str, Any]) -> bool:
    return part.get("content_type") == "image_asset_pointer"


def _part_text(part: object) -> str:
    """Typed text, or transcribed speech."""
    if isinstance(part, dict) and _is_picture(part):
        return PICTURE_PLACEHOLDER
    if isinstance(part, dict) and part.get("content_type") == "audio_transcription":
        part = part.get("text")
    return part if isinstance(part, str) else ""


def _with_links(text: str, references: object) -> str:
    """An answer with links or words in place of its marks; marks without either are removed."""
    if not _CITATION.search(text):
        return text
    links: dict[str, str] = {}
    for reference in references[:_MAX_CITATIONS] if isinstance(references, list) else ():
        mark, link = (reference.get("matched_text"), reference.get("alt")) if isinstance(reference, dict) else ("", "")
        if isinstance(mark, str) and isinstance(link, str) and len(link) <= _MAX_LINK_CHARS:
            links[mark.strip()] = link.strip()
    room = min(MAX_TEXT_CHARS, _MAX_COPIES * (len(text) + sum(map(len, links.values()))))

    def replacement(place: re.Match[str]) -> str:
        nonlocal room
        words = links.get(place["mark"]) or _citation_text(place["mark"])
        room -= len(words)
        return f"{place['gap']}{words}" if words and room > 0 else ""

    return _CITATION.sub(replacement, text)


def _citation_text(mark: str) -> str:
    """The text in a mark: a name or a page's title."""
    kind, *rest = mark.strip("\ue200\ue201").split(_SEPARATOR)
    if kind == "url" and rest:
        return rest[0]
    try:
        entity = json.loads(rest[0]) if kind == "entity" and rest else None
    except (ValueError, RecursionError):
        return ""
    return entity[1] if isinstance(entity, list) and len(entity) > 1 and isinstance(entity[1], str) else ""


def _shown(nodes: Mapping[str, Any], current: object, keys: Mapping[str, int | None]) -> Iterator[int]:
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        key = keys.get(current)
        if key is not None:
            yield key
        node = nodes[current]
        current = node.get("parent") if isinstance(node, dict) else None
