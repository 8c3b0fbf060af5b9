"""Reads conversations from an untrusted file. The format is recognized by content; all sizes are limited."""

import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

from app.core.domain.errors import ChatsImportError
from app.core.storage.chats.portable import PortableChat
from app.core.storage.exchange import chatgpt, lm_studio, own_format
from app.core.storage.exchange.pictures import PictureFiles, pictures_beside, pictures_in_archive
from app.core.storage.exchange.records import MAX_CHATS, clean_title
from engine.sentences import i18n

MAX_FILE_BYTES = 512 * 2**20  # unpacked size; for our own exports the limit of each chat
MAX_COMPRESSION = 20  # maximum compression ratio of a zip; chats have ratios of 3 to 10
_HEAD_BYTES = 500
_JSON_NAMES = re.compile(r"(^|/)(conversations[^/]*\.json|[^/]*conversation\.json|chats[^/]*\.json)$")
MAX_DIRECTORY_BYTES = 32 * 2**20  # limit of a zip's directory: some 300,000 names, which need ten times as much memory
_END_BYTES = 66_000  # end of a zip: a record, and a comment of up to 64 KB
MAX_VALUES, MAX_VALUES_MB = 40_000_000, 4000  # 100 MB of chats have four million values, and as many commas
_SMALL_BYTES = 32 * 2**20  # smaller files cannot have too many values
_ARCHIVE_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, IndexError)
_BEGINNING_BYTES = 65_536
_EXPORT_BEGINS = re.compile(  # the start of exports of Paceline, ChatGPT and LM Studio
    rb'"format"\s*:\s*"paceline-chats"|"mapping"\s*:\s*\{|"messages"\s*:\s*\[\s*\{[^{}]{0,200}"versions"\s*:\s*\['
)
OnBad = Callable[[str, ChatsImportError], object]


def may_be_export(file: Path) -> bool:
    """True if a file looks like an export by its name and start; False if it cannot be read."""
    try:
        if not file.is_file():
            return False
        if file.suffix.lower() == ".zip":
            return zipfile.is_zipfile(file)
        if file.suffix.lower() != ".json":
            return False
        with file.open("rb") as handle:
            return _EXPORT_BEGINS.search(handle.read(_BEGINNING_BYTES)) is not None
    except (OSError, ValueError):
        return False


def read_chats(file: Path, on_bad: OnBad = lambda _name, _error: None) -> Iterator[PortableChat]:
    """Read an export of Paceline, ChatGPT (zip or conversations.json) or LM Studio.

    ``on_bad`` is called for each unusable chat or file in a zip, with its name and the error.

    Raises:
        ChatsImportError: raised before the first chat: the file is unreadable, too large, empty, or no export.
    """
    bad: list[ChatsImportError] = []

    def note(name: str, error: ChatsImportError) -> None:
        bad.append(error)
        on_bad(name, error)

    has_chats = False
    try:
        for chat in _chats_in(file, note):
            if chat.messages:
                has_chats = True
                yield chat
    except (ChatsImportError, OSError, ValueError, RuntimeError, EOFError, *_ARCHIVE_ERRORS) as error:
        failure = error if isinstance(error, ChatsImportError) else _unreadable(file.name, error)
        if not has_chats:
            raise failure from error
        note(file.name, failure)
    if not has_chats:
        raise bad[0] if bad else ChatsImportError(i18n("{file} contains no conversations.", file=file.name))


def _chats_in(file: Path, note: OnBad) -> Iterator[PortableChat]:
    if file.exists() and not file.is_file():  # reading a pipe or a device could block
        raise ChatsImportError(i18n("{file} is not a regular file.", file=file.name))
    if zipfile.is_zipfile(file):
        yield from _read_zip(file, note)
        return
    with file.open("rb") as handle:
        yield from _read_json(handle, file.name, pictures_beside(file), note)


def _unreadable(name: str, error: Exception) -> ChatsImportError:
    reason = getattr(error, "strerror", None) or error
    return ChatsImportError(i18n("{file} cannot be read ({error}).", file=name, error=reason))


def _read_zip(file: Path, note: OnBad) -> Iterator[PortableChat]:
    if directory_bytes(file) > MAX_DIRECTORY_BYTES:
        raise ChatsImportError(i18n("{file} contains too many files for an export.", file=file.name))
    with zipfile.ZipFile(file) as archive:
        listed = archive.infolist()
        entries = [entry for entry in listed if _JSON_NAMES.search(entry.filename)]
        most = max(MAX_FILE_BYTES, MAX_COMPRESSION * file.stat().st_size)
        if sum(entry.file_size for entry in entries) > most:
            raise ChatsImportError(i18n("{file} unpacks to more than {limit} MB.", file=file.name, limit=most // 2**20))
        files = pictures_in_archive(archive, listed)
        for entry in entries:
            yield from _read_entry(archive, entry, files, note)


def _read_entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, files: PictureFiles, note: OnBad
) -> Iterator[PortableChat]:
    """Yield the chats in a file of a zip. A damaged file is reported, and others can still be read."""
    name = entry.filename
    try:
        with archive.open(entry) as handle:
            for chat in _read_json(handle, name, files, note):
                yield _in_folder(chat, name)
    except ChatsImportError as error:
        note(name, error)
    except (RuntimeError, EOFError, *_ARCHIVE_ERRORS) as error:
        note(name, _unreadable(name, error))


def _in_folder(chat: PortableChat, name: str) -> PortableChat:
    """Set the chat's folder by its path: LM Studio has folders below ``conversations``."""
    if not name.endswith(".conversation.json") or chat.folder:
        return chat
    folders = PurePosixPath(name).parent.parts
    below = folders[folders.index("conversations") + 1 :] if "conversations" in folders else folders
    return replace(chat, folder=clean_title(" / ".join(below)))


def directory_bytes(file: Path) -> int:
    """The size of a zip's directory (APPNOTE 4.3.14-16), checked before `zipfile` reads the directory."""
    with file.open("rb") as handle:
        handle.seek(max(0, file.stat().st_size - _END_BYTES))
        tail = handle.read(_END_BYTES)
    at = len(tail) - 22 if tail[-22:-18] == b"PK\5\6" else tail.rfind(b"PK\5\6")
    if at >= 76 and tail[at - 20 : at - 16] == b"PK\6\7":  # the zip64 record precedes the usual one
        return int.from_bytes(tail[at - 36 : at - 28], "little")
    return int.from_bytes(tail[at + 12 : at + 16], "little") if at >= 0 else 0


def _read_json(handle: IO[bytes], name: str, files: PictureFiles, note: OnBad) -> Iterator[PortableChat]:
    head = b""
    while len(head) < _HEAD_BYTES and (line := handle.readline(_HEAD_BYTES)):
        head += line
        if own := own_format.HEAD.fullmatch(head):  # read one by one: together they may exceed the memory
            own_format.check_version(int(own[1]), own_format.VERSION)
            yield from _read_each(own_format.chat_lines(handle, MAX_FILE_BYTES), own_format.from_data, note, name)
            return
    data = _parsed(head + _read_limited(handle, name, MAX_FILE_BYTES), name)
    if isinstance(data, dict) and data.get("format") == own_format.FORMAT:
        yield from _read_each(own_format.chats_of(data), own_format.from_data, note, name)
    elif isinstance(data, list) and any(chatgpt.is_chatgpt(each) for each in data):
        found = [each for each in data if chatgpt.is_chatgpt(each)]
        yield from _read_each(found[:MAX_CHATS], lambda each: chatgpt.from_data(each, files), note, name)
        if len(found) > MAX_CHATS:
            sentence = i18n("{file} contains more than {limit:,} conversations.", file=name, limit=MAX_CHATS)
            note(name, ChatsImportError(sentence))
    elif isinstance(data, dict) and chatgpt.is_chatgpt(data):
        yield chatgpt.from_data(data, files)
    elif isinstance(data, dict) and lm_studio.is_lm_studio(data):
        yield lm_studio.from_data(data, files)
    else:
        raise ChatsImportError(i18n("{name} is not an export from Paceline, ChatGPT or LM Studio.", name=name))


def _read_each(
    entries: Iterable[Any], read: Callable[[Any], PortableChat], note: OnBad, name: str
) -> Iterator[PortableChat]:
    """Read the chats of a file one by one; an invalid chat is reported and skipped."""
    for number, entry in enumerate(entries, start=1):
        title = ""
        try:
            data = _parsed(entry, name) if isinstance(entry, bytes) else entry
            title = clean_title(data.get("title"))
            chat = read(data)
        except ChatsImportError as error:
            note(title or i18n("Chat {number:,}", number=number), error)
        else:
            yield chat


def _parsed(raw: bytes, name: str) -> Any:  # noqa: ANN401 (JSON)
    # A value or a key follows each of these characters; many more of them are in texts.
    if len(raw) > _SMALL_BYTES and sum(map(raw.count, (b",", b":", b"[", b"{"))) > MAX_VALUES:
        raise ChatsImportError(i18n("{file} unpacks to more than {limit} MB.", file=name, limit=MAX_VALUES_MB))
    try:
        return json.loads(raw)  # detects UTF-8, UTF-16 and UTF-32, which editors on Windows write
    except (ValueError, RecursionError) as error:
        raise ChatsImportError(i18n("{name} is not a JSON file that Paceline can read.", name=name)) from error


def _read_limited(handle: IO[bytes], name: str, limit: int) -> bytes:
    raw = handle.read(limit + 1)  # do not trust the reported size
    if len(raw) > limit:
        raise ChatsImportError(i18n("{name} is larger than {limit} MB.", name=name, limit=limit // 2**20))
    return raw
