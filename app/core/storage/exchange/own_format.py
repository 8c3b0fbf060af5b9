"""Reads and writes our own format: JSON with all branches, counters and provenance.

    {"format": "paceline-chats", "version": 1, "conversations": [{"title", "messages": [{"key", "parent", ...}], ...}]}

Each conversation is one line, so that files of any size can be written and read line by line.
"""

import base64
import dataclasses
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import IO, Any

from app.core.domain.attachment_errors import FileUnreadableError
from app.core.domain.attachments import Attachment, AttachmentKind
from app.core.domain.errors import ChatsImportError
from app.core.domain.messages import EPOCH, MessageState, MessageView
from app.core.domain.tools.calls import CallStatus, StoredCall, with_final_status
from app.core.storage.chats.codec import (
    MAX_OPTIONS_CHARS,
    call_from_text,
    call_to_text,
    options_to_text,
    sampling_from_text,
    sampling_to_text,
    spans_from_text,
    spans_to_text,
    stats_from_text,
    stats_to_text,
)
from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange.records import (
    LATEST,
    MAX_ATTACHMENTS,
    clean_title,
    whole_text,
)
from app.core.storage.pictures import picture_attachment
from engine.records import TokenSpan
from engine.sentences import i18n

log = logging.getLogger(__name__)

FORMAT, VERSION = "paceline-chats", 1
HEAD = re.compile(rb'\{"format": "paceline-chats", "version": (\d{1,9}), "conversations": \[\r?\n')
_ROLES = ("user", "assistant", "tool")
_MAX_COUNT = 2**53


def to_json(chats: Iterable[PortableChat]) -> Iterator[str]:
    yield f'{{"format": "{FORMAT}", "version": {VERSION}, "conversations": ['
    before = "\n"
    for chat in chats:
        yield before + json.dumps(_chat_to_data(chat), ensure_ascii=False)
        before = ",\n"
    yield "\n]}\n"


def chat_lines(file: IO[bytes], most: int) -> Iterator[bytes]:
    """Yield the JSON of each conversation, one per line, after the `HEAD` of our own file.

    Raises:
        ChatsImportError: the file is truncated, or a conversation has more than ``most`` bytes.
    """
    while (line := file.readline(most + 1)).endswith(b"\n"):
        if line.startswith(b"]"):
            return
        yield line.rstrip().removesuffix(b",")
    if len(line) > most:
        raise ChatsImportError(i18n("A chat in this file is larger than {limit} MB.", limit=most // 2**20))
    if not line.startswith(b"]"):
        raise ChatsImportError("The file is cut off.", "The chats before that were imported.")


def chats_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The conversations in parsed JSON, for `from_data`.

    Raises:
        ChatsImportError: the version is newer, or the JSON is invalid.
    """
    check_version(data.get("version"), VERSION)
    chats = data.get("conversations")
    if not isinstance(chats, list):
        raise ChatsImportError("This export of Paceline contains no list of conversations.")
    return [chat for chat in chats if isinstance(chat, dict)]


def check_version(found: object, known: int) -> None:
    """Raise for an unknown version.

    Raises:
        ChatsImportError: the version is newer or invalid.
    """
    if isinstance(found, int) and found > known:
        raise ChatsImportError("This file was written by a newer Paceline.", "Import it with that version.")
    if found != known:
        raise ChatsImportError("This file does not name a valid version of Paceline.", "Export it again.")


def _chat_to_data(chat: PortableChat) -> dict[str, Any]:
    return {
        "title": chat.title,
        "created_at": chat.created_at.isoformat(),
        "updated_at": chat.updated_at.isoformat(),
        "options": dict(chat.options),
        "pinned": chat.pinned,
        "archived": chat.archived,
        "folder": chat.folder,
        "shown": sorted(chat.shown),
        "messages": [_message_to_data(message) for message in chat.messages],
    }


def _message_to_data(message: MessageView) -> dict[str, Any]:
    stats = stats_to_text(message.stats)
    return {
        "key": message.id,
        "parent": message.parent,
        "role": message.role,
        "text": message.text,
        "state": message.state.value,
        "created_at": message.created_at.isoformat(),
        **{name: getattr(message, name) for name in ("notice", "cut", "target", "draft", "thinking_ms", "summary")},
        **({"call": {**json.loads(call_to_text(message.call)), "status": message.call.status}} if message.call else {}),
        **({"drawn": json.loads(sampling_to_text(message.drawn))} if message.drawn else {}),
        "stats": json.loads(stats) if stats else None,
        "spans": json.loads(spans_to_text(message.spans)) if message.spans else [],
        "attachments": [_attachment_to_data(attachment) for attachment in message.attachments],
    }


def _attachment_to_data(attachment: Attachment) -> dict[str, Any]:
    kind, num_bytes, picture = attachment.kind.value, attachment.num_bytes, attachment.picture
    encoded = {} if picture is None else {"picture": base64.b64encode(picture.data).decode("ascii")}
    return {"name": attachment.name, "kind": kind, "num_bytes": num_bytes, "text": attachment.text, **encoded}


def from_data(data: Mapping[str, Any]) -> PortableChat:
    """Read a conversation. Its size is not limited, since stored chats may have any size.

    Raises:
        ChatsImportError: a value is invalid.
    """
    raw = data.get("messages")
    if not isinstance(raw, list):
        raise ChatsImportError("A conversation has no list of messages.")
    known: set[int] = set()
    messages = []
    for entry in raw:
        message = _message_from_data(entry, known)
        known.add(message.id)
        messages.append(message)
    shown = data.get("shown")
    return PortableChat(
        title=clean_title(data.get("title")),
        messages=tuple(messages),
        created_at=_time(data.get("created_at")),
        updated_at=_time(data.get("updated_at")),
        pinned=data.get("pinned") is True,
        archived=data.get("archived") is True,
        folder=clean_title(data.get("folder")),
        shown=frozenset(key for key in shown if _is_count(key)) if isinstance(shown, list) else frozenset(),
        options=_options(data.get("options")),
    )


def _message_from_data(data: object, known: set[int]) -> MessageView:
    if not isinstance(data, dict):
        raise ChatsImportError("An entry in this file is not a valid message.")
    key, parent, role = data.get("key"), data.get("parent"), data.get("role")
    if not isinstance(key, int) or not _is_count(key) or key in known or role not in _ROLES:
        raise ChatsImportError("A message in this file has no number or role.")
    call = _call(data.get("call")) if role == "tool" else None
    if role == "tool" and call is None:
        raise ChatsImportError("A tool's result in this file does not say which call it answers.")
    if parent is not None and (not isinstance(parent, int) or parent not in known):
        raise ChatsImportError("A message in this file follows one that is missing.")
    text, attached = whole_text(data.get("text")), data.get("attachments")
    attached = attached if isinstance(attached, list) else []
    state = MessageState(data["state"]) if data.get("state") in tuple(MessageState) else MessageState.COMPLETE
    return MessageView(
        id=key,
        parent=parent,
        role=str(role),
        text=text,
        state=MessageState.INTERRUPTED if state is MessageState.STREAMING else state,
        created_at=_time(data.get("created_at")),
        stats=stats_from_text(json.dumps(data["stats"])) if data.get("stats") else None,
        spans=_spans(data.get("spans"), len(text)),
        notice=whole_text(data.get("notice")),
        cut=data.get("cut") is True,
        target=clean_title(data.get("target")),
        draft=clean_title(data.get("draft")),
        thinking_ms=data["thinking_ms"] if _is_count(data.get("thinking_ms")) else None,
        attachments=tuple(_attachment(each) for each in attached[:MAX_ATTACHMENTS] if isinstance(each, dict)),
        summary=whole_text(data.get("summary")),
        call=call,
        drawn=sampling_from_text(json.dumps(data["drawn"])) if data.get("drawn") else None,
    )


def _call(data: object) -> StoredCall | None:
    """Read a tool call; None if it is invalid."""
    if not isinstance(data, dict):
        return None
    call = call_from_text(json.dumps(data), str(data.get("status") or CallStatus.UNKNOWN))
    if call is None:
        return None
    return dataclasses.replace(
        with_final_status(call),
        call_id=clean_title(call.call_id),
        name=clean_title(call.name),
        server=clean_title(call.server),
        arguments=whole_text(call.arguments),
        title=clean_title(call.title),
        cut=min(call.cut, _MAX_COUNT),
    )


def _attachment(data: Mapping[str, Any]) -> Attachment:
    """Read an attachment: name, kind, size, and text or picture. Invalid values are omitted."""
    kind = AttachmentKind(data["kind"]) if data.get("kind") in tuple(AttachmentKind) else AttachmentKind.TEXT
    raw = data.get("num_bytes")
    num_bytes = raw if isinstance(raw, int) and _is_count(raw) else 0
    name, encoded = clean_title(data.get("name")) or "file", data.get("picture")
    if kind is AttachmentKind.PICTURE and isinstance(encoded, str):
        try:
            return picture_attachment(name, base64.b64decode(encoded, validate=True))
        except (ValueError, FileUnreadableError) as error:
            log.warning("a picture of an import is left out: %s", type(error).__name__)
    return Attachment(0, name, kind, num_bytes, whole_text(data.get("text")))


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_COUNT


def _spans(data: object, num_chars: int) -> tuple[TokenSpan, ...]:
    """The provenance; empty if its lengths do not add up to the text's."""
    if not isinstance(data, list):
        return ()
    spans = spans_from_text(json.dumps(data))
    fits = all(span.num_chars >= 0 for span in spans) and sum(span.num_chars for span in spans) == num_chars
    return spans if fits else ()


def _options(data: object) -> dict[str, Any]:
    """The options; empty if they are missing or too large."""
    return data if isinstance(data, dict) and len(options_to_text(data)) <= MAX_OPTIONS_CHARS else {}


def _time(value: object) -> datetime:
    """Parse a time in ISO 8601; the epoch for an invalid value."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else EPOCH
    except ValueError:
        return EPOCH
    if moment.tzinfo is None:
        return EPOCH
    return moment if EPOCH <= moment <= LATEST else EPOCH
