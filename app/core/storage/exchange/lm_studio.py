"""Reads LM Studio's ``*.conversation.json``: a list of messages, each with versions and the shown version.

The format is undocumented. This module reads what files of 0.3 and 0.4 have in common: text with reasoning, the model's
name and the system prompt. Tools are ignored. Pictures are in the folder ``user-files``; `PICTURE_PLACEHOLDER` replaces
a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from app.core.domain.attachments import Attachment
from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import MessageView
from app.core.storage.chats.codec import MAX_OPTIONS_CHARS
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

# Matches "Thought for 3.20 seconds" and "Thought for 1 minute 3 seconds".
_DURATION = re.compile(r"(?:(\d{1,4}) ?m(?:in\w*)?[ ,]+)?(\d{1,6}(?:\.\d{1,6})?) ?s(?:ec|$)")
_SYSTEM_PROMPT = "llm.prediction.systemPrompt"


def is_lm_studio(data: object) -> bool:
    """True for parsed JSON of an LM Studio conversation."""
    if not isinstance(data, dict) or not isinstance(data.get("messages"), list):
        return False
    return all(isinstance(each, dict) and isinstance(each.get("versions"), list) for each in data["messages"])


def from_data(data: Mapping[str, Any], files: PictureFiles = NO_FILES) -> PortableChat:
    """Read one conversation. Each message follows the shown version of the message before.

    ``files``: the files that contain its pictures.

    Raises:
        ChatsImportError: the conversation is too large.
    """
    messages: list[MessageView] = []
    shown: set[int] = set()
    parent: int | None = None
    for entry in data["messages"]:
        chosen = parent
        for is_shown, version in _versions(entry):
            pictures = _pictures(version, files)
            role, text = version.get("role"), clean_text(_text(version, is_thinking=False, found=pictures))
            if role not in ("user", "assistant") or not (text.strip() or pictures):
                continue
            if len(messages) >= MAX_MESSAGES:
                raise ChatsImportError("A conversation in this file has too many messages.")
            message = _message(version, len(messages) + 1, parent, text)
            messages.append(replace(message, attachments=tuple(pictures.values())))
            if is_shown or chosen == parent:
                chosen = len(messages)
        if chosen is not None and chosen != parent:
            shown.add(chosen)
        parent = chosen
    created = clean_time(data.get("createdAt"), 0.001)
    said = (clean_time(data.get(key), 0.001) for key in ("userLastMessagedAt", "assistantLastMessagedAt"))
    return PortableChat(
        title=clean_title(data.get("name")),
        messages=tuple(messages),
        created_at=created,
        updated_at=max(created, *said),
        pinned=data.get("pinned") is True,
        shown=frozenset(shown),
        options=_options(data),
    )


def _message(version: Mapping[str, Any], key: int, parent: int | None, text: str) -> MessageView:
    if version.get("role") == "user":
        return MessageView(key, "user", text, parent=parent)
    thought = _text(version, is_thinking=True)
    return MessageView(
        key,
        "assistant",
        clean_text(with_reasoning(text, thought)),
        parent=parent,
        thinking_ms=_thinking_ms(version) if thought else None,
        target=_model(version),
    )


def _options(data: Mapping[str, Any]) -> dict[str, str]:
    """The chat's options: the system prompt."""
    system_prompt, config = data.get("systemPrompt"), data.get("perChatPredictionConfig")
    fields = config.get("fields") if isinstance(config, dict) else None
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict) and field.get("key") == _SYSTEM_PROMPT and field.get("value"):
            system_prompt = field["value"]
    prompt = clean_text(system_prompt).strip()
    return {"system_prompt": prompt} if prompt and len(prompt) < MAX_OPTIONS_CHARS // 8 else {}


def _model(version: Mapping[str, Any]) -> str:
    sender = version.get("senderInfo")
    return clean_title(sender.get("senderName")) if isinstance(sender, dict) else ""


def _thinking_ms(version: Mapping[str, Any]) -> int | None:
    """The duration of the reasoning, which its titles contain."""
    titles = [style.get("title") for step in _steps(version) if (style := _thinking_style(step)) is not None]
    found = [_DURATION.search(title) for title in titles if isinstance(title, str)]
    seconds = [60 * int(each[1] or 0) + float(each[2]) for each in found if each]
    return round(1000 * sum(seconds)) if seconds else None


def _versions(entry: Mapping[str, Any]) -> Iterator[tuple[bool, Mapping[str, Any]]]:
    for place, version in enumerate(entry["versions"]):
        if isinstance(version, dict):
            yield place == entry.get("currentlySelected"), version


def _steps(version: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The parts of a version: a question, or the steps of an answer that contain text."""
    steps = version.get("steps") if version.get("type") == "multiStep" else [version]
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and step.get("type") in ("contentBlock", "singleStep", None):
            yield step


def _thinking_style(step: Mapping[str, Any]) -> Mapping[str, Any] | None:
    style = step.get("style")
    return style if isinstance(style, dict) and style.get("type") == "thinking" else None


def _text(
    version: Mapping[str, Any], *, is_thinking: bool, found: Mapping[str, Attachment] = MappingProxyType({})
) -> str:
    """The text or the reasoning, without placeholders for pictures that were ``found``."""
    steps = [step for step in _steps(version) if (_thinking_style(step) is not None) is is_thinking]
    return "\n\n".join(piece for step in steps for piece in _pieces(step.get("content"), found))


def _pieces(content: object, found: Mapping[str, Attachment]) -> Iterator[str]:
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif isinstance(part, dict) and _is_picture(part) and str(part.get("fileIdentifier")) not in found:
            yield PICTURE_PLACEHOLDER


def _is_picture(part: Mapping[str, Any]) -> bool:
    return part.get("type") == "file" and part.get("fileType") == "image"


def _pictures(version: Mapping[str, Any], files: PictureFiles) -> dict[str, Attachment]:
    """The pictures of a message whose files exist, by file name."""
    found = dict[str, Attachment]()
    for step in _steps(version):
        content = step.get("content")
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and _is_picture(part) and len(found) < MAX_ATTACHMENTS:
                name = part.get("fileIdentifier")
                picture = files.named(name) if isinstance(name, str) else None
                if picture is not None:
                    found[str(name)] = picture
    return found
