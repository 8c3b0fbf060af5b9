"""Conversations and texts from files and folders, for training: exports, JSON of other forms, plain text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from app.core.domain.attachment_errors import NotTextError
from app.core.domain.errors import ChatsImportError
from app.core.domain.text_decoding import decode
from app.core.storage.exchange.reading import MAX_FILE_BYTES, read_chats
from app.core.storage.exchange.records import PortableChat
from engine.records import Message
from engine.sentences import said

ENDINGS = (".json", ".jsonl", ".md", ".markdown", ".txt", ".zip")
_MOST_FILES = 20_000
_CHUNK_CHARS = 4000  # of a plain text, cut at the ends of paragraphs
_ROLES = ("system", "user", "assistant")
Text = tuple[Message, ...] | str


def texts_in(places: Sequence[Path]) -> list[Text]:
    """All that these files, and the files in these folders, hold.

    A file in a folder that holds neither chats nor text is passed over; one that was named is refused.

    Raises:
        ChatsImportError: a file that was named cannot be used, or there is nothing in them.
    """
    found = list[Text]()
    for place in places:
        if not place.is_dir():
            found += _of_file(place)
            continue
        try:
            files = sorted(one for one in place.rglob("*") if one.suffix.lower() in ENDINGS and one.is_file())
        except OSError as error:
            raise ChatsImportError(
                said("{file} cannot be read ({error}).", file=place, error=error.strerror)
            ) from error
        for file in files[:_MOST_FILES]:
            try:
                found += _of_file(file)
            except ChatsImportError:
                continue
    if not found:
        raise ChatsImportError(said("There are no chats or texts in {places}.", places=", ".join(map(str, places))))
    return found


def _of_file(file: Path) -> list[Text]:
    if file.suffix.lower() == ".jsonl":
        return [*_records(file)]
    try:
        return [line for chat in read_chats(file) if (line := _shown(chat))]
    except ChatsImportError:
        ending = file.suffix.lower()
        if ending in (".md", ".markdown", ".txt"):
            return _chunks(_text_of(file))
        if ending == ".json" and file.is_file() and (found := [*_records(file)]):
            return found
        raise


def _shown(chat: PortableChat) -> tuple[Message, ...]:
    """The branch that ends with a chat's last message."""
    by_key = {one.key: one for one in chat.messages}
    line, at = list[Message](), chat.messages[-1].key if chat.messages else None
    while at is not None and len(line) <= len(by_key):
        one = by_key[at]
        if one.role in _ROLES and one.text.strip():
            line.append(Message(one.role, one.text))
        at = one.parent
    return tuple(reversed(line))


def _text_of(file: Path) -> str:
    try:
        with file.open("rb") as handle:
            raw = handle.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise ChatsImportError(
                said("{name} is larger than {limit} MB.", name=file.name, limit=MAX_FILE_BYTES // 2**20)
            )
        return decode(raw, file.name).text
    except NotTextError as error:
        raise ChatsImportError(error.message) from error
    except OSError as error:
        raise ChatsImportError(
            said("{file} cannot be read ({error}).", file=file.name, error=error.strerror)
        ) from error


def _chunks(text: str) -> list[Text]:
    found, part = list[Text](), ""
    for paragraph in text.split("\n\n"):
        if part and len(part) + len(paragraph) > _CHUNK_CHARS:
            found.append(part)
            part = ""
        part = f"{part}\n\n{paragraph}" if part else paragraph
    return [*found, part] if part.strip() else found


def _records(file: Path) -> Iterator[Text]:
    """JSON of other programs: `messages`, or `instruction`, `input` and `output`, one a line or in a list."""
    text = _text_of(file)
    try:
        lines = [line for line in text.split("\n") if line.strip()]
        data = json.loads(text) if file.suffix.lower() == ".json" else [json.loads(line) for line in lines]
    except (ValueError, RecursionError) as error:
        raise ChatsImportError(said("{name} is not a JSON file that Paceline can read.", name=file.name)) from error
    for record in data if isinstance(data, list) else [data]:
        if found := _of_record(record):
            yield found


def _of_record(record: object) -> tuple[Message, ...]:
    if not isinstance(record, dict):
        return ()
    messages = record.get("messages")
    if isinstance(messages, list):
        pairs = [(one.get("role"), one.get("content")) for one in messages if isinstance(one, dict)]
    else:
        asked = [
            one for one in (record.get("instruction"), record.get("input")) if isinstance(one, str) and one.strip()
        ]
        pairs = [("user", "\n\n".join(asked)), ("assistant", record.get("output"))]
    if not all(role in _ROLES and isinstance(text, str) and text.strip() for role, text in pairs):
        return ()
    return tuple(Message(str(role), str(text)) for role, text in pairs)
