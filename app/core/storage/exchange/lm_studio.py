"""Reads LM Studio's ``*.conversation.json``: a list of messages, each with versions and the shown version.

The format is undocumented. This module reads what files of 0.3 and 0.4 have in common: text with reasoning, the model's
name and the system prompt. Tools are ignored. Pictures are in the folder ``user-files``; `PICTURE_PLACEHOLDER` replaces
a missing one.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
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
        for place, version in enumerate(entry["versions"]):
            message = _message(version, len(messages) + 1, parent, files) if isinstance(version, dict) else None
            if message is None:
                continue
            if len(messages) >= MAX_MESSAGES:
                raise ChatsImportError("A conversation in this file has too many messages.")
            messages.append(message)
            if place == entry.get("currentlySelected") or chosen == parent:
                chosen = message.id
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


def _options(data: Mapping[str, Any]) -> dict[str, str]:
    """The chat's options: the system prompt."""
    system_prompt, config = data.get("systemPrompt"), data.get("perChatPredictionConfig")
    fields = config.get("fields") if isinstance(config, dict) else None
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict) and field.get("key") == _SYSTEM_PROMPT and field.get("value"):
            system_prompt = field["value"]
    prompt = clean_text(system_prompt).strip()
    return {"system_prompt": prompt} if prompt and len(prompt) < MAX_OPTIONS_CHARS // 8 else {}


def _message(version: Mapping[str, Any], key: int, parent: int | None, files: PictureFiles) -> MessageView | None:
    """One version of a message: a question, or an answer in steps. None for other roles, and without content."""
    pieces: dict[bool, list[str]] = {True: [], False: []}  # of the reasoning, of the text
    seconds: list[float] = []
    pictures: dict[str, Attachment] = {}  # by file name
    steps = version.get("steps") if version.get("type") == "multiStep" else [version]
    for step in steps if isinstance(steps, list) else ():
        if not isinstance(step, dict) or step.get("type") not in ("contentBlock", "singleStep", None):
            continue
        content = step.get("content")
        style = step["style"] if isinstance(step.get("style"), dict) else {}
        is_thinking = style.get("type") == "thinking"
        if is_thinking and (found := _DURATION.search(str(style.get("title")))):
            seconds.append(60 * int(found[1] or 0) + float(found[2]))
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict):
                pieces[is_thinking] += _part(part, files, pictures)
    role, text = version.get("role"), clean_text("\n\n".join(pieces[False]))
    if role not in ("user", "assistant") or not (text.strip() or pictures):
        return None
    message = MessageView(key, str(role), text, parent=parent, attachments=tuple(pictures.values()))
    if role == "user":
        return message
    thought, sender = "\n\n".join(pieces[True]), version.get("senderInfo")
    return replace(
        message,
        text=clean_text(with_reasoning(text, thought)),
        thinking_ms=round(1000 * sum(seconds)) if thought and seconds else None,
        target=clean_title(sender.get("senderName")) if isinstance(sender, dict) else "",
    )


def _part(part: Mapping[str, Any], files: PictureFiles, pictures: dict[str, Attachment]) -> list[str]:
    """The text of a part; a picture whose file exists is added to ``pictures``."""
    if part.get("type") == "text" and isinstance(part.get("text"), str):
        return [part["text"]]
    if part.get("type") != "file" or part.get("fileType") != "image":
        return []
    name = part.get("fileIdentifier")
    picture = files.named(name) if isinstance(name, str) and len(pictures) < MAX_ATTACHMENTS else None
    if picture is None:
        return [] if name in pictures else [PICTURE_PLACEHOLDER]
    pictures[str(name)] = picture
    return []
