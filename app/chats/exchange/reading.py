"""From a file of unknown origin to conversations: bounded, known by its content, one sentence where it is neither."""

from __future__ import annotations

import json
import lzma
import re
import struct
import zipfile
import zlib
from pathlib import Path
from typing import IO

from app.chats.exchange import chatgpt, lm_studio, own_format
from app.chats.exchange.records import MAX_CHATS, OutsideChat
from app.errors import ChatsImportError
from engine.sentences import said

MAX_FILE_BYTES = 512 * 2**20  # unpacked
_WANTED = re.compile(r"(^|/)(conversations[^/]*\.json|[^/]*conversation\.json|chats[^/]*\.json)$")
_MAX_ENTRIES = 20_000
MAX_VALUES, MAX_VALUES_MB = 20_000_000, 2000  # in memory, about; an export of 100 MB has four million values
_SMALL_BYTES = 32 * 2**20  # cannot hold too many
_PACKED_BADLY = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
_BEGINNING_BYTES = 65_536
_EXPORT_BEGINS = re.compile(  # ours, ChatGPT's, LM Studio's
    rb'"format"\s*:\s*"paceline-chats"|"mapping"\s*:\s*\{|"messages"\s*:\s*\[\s*\{[^{}]{0,200}"versions"\s*:\s*\['
)


def may_be_export(file: Path) -> bool:
    """Whether a file looks like an export by its name and its beginning; False where it cannot be read."""
    try:
        if file.suffix.lower() == ".zip":
            return zipfile.is_zipfile(file)
        if file.suffix.lower() != ".json":
            return False
        with file.open("rb") as handle:
            return _EXPORT_BEGINS.search(handle.read(_BEGINNING_BYTES)) is not None
    except OSError:
        return False


def read_chats(file: Path) -> list[OutsideChat]:
    """Read an export of Paceline, ChatGPT (its zip, or conversations.json) or LM Studio.

    Raises:
        ChatsImportError: it cannot be read, is too large, or is no such export.
    """
    try:
        if zipfile.is_zipfile(file):
            chats = _read_zip(file)
        else:
            with file.open("rb") as handle:
                chats = _read_json(handle, file.name)
    except (OSError, ValueError, RuntimeError, EOFError, *_PACKED_BADLY) as error:
        raise ChatsImportError(said("{file} cannot be read ({error}).", file=file.name, error=error)) from error
    chats = [chat for chat in chats if chat.messages]
    if not chats:
        raise ChatsImportError(said("{file} holds no conversation.", file=file.name))
    if len(chats) > MAX_CHATS:
        raise ChatsImportError(said("{file} holds more than {limit:,} conversations.", file=file.name, limit=MAX_CHATS))
    return chats


def _read_zip(file: Path) -> list[OutsideChat]:
    chats: list[OutsideChat] = []
    with zipfile.ZipFile(file) as archive:
        entries = [entry for entry in archive.infolist()[:_MAX_ENTRIES] if _WANTED.search(entry.filename)]
        if sum(entry.file_size for entry in entries) > MAX_FILE_BYTES:
            raise ChatsImportError(
                said("{file} unpacks to more than {limit} MB.", file=file.name, limit=MAX_FILE_BYTES // 2**20)
            )
        for entry in entries:
            with archive.open(entry) as handle:
                chats += _read_json(handle, entry.filename)
    return chats


def _num_values(raw: bytes) -> int:
    from app.chats.exchange.json_size import num_values  # noqa: PLC0415  (NumPy: the start does not wait for it)

    return num_values(raw)


def _read_json(handle: IO[bytes], name: str) -> list[OutsideChat]:
    raw = handle.read(MAX_FILE_BYTES + 1)  # what a header says of a size is not believed
    if len(raw) > MAX_FILE_BYTES:
        raise ChatsImportError(said("{name} is larger than {limit} MB.", name=name, limit=MAX_FILE_BYTES // 2**20))
    if len(raw) > _SMALL_BYTES and _num_values(raw) > MAX_VALUES:
        raise ChatsImportError(said("{file} unpacks to more than {limit} MB.", file=name, limit=MAX_VALUES_MB))
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise ChatsImportError(said("{name} is no JSON file that Paceline can read.", name=name)) from error
    return _chats(data, name)


def _chats(data: object, name: str) -> list[OutsideChat]:
    if isinstance(data, dict) and data.get("format") == own_format.FORMAT:
        return own_format.from_data(data)
    if isinstance(data, list) and any(chatgpt.is_chatgpt(each) for each in data):
        return [chatgpt.from_data(each) for each in data[: MAX_CHATS + 1] if chatgpt.is_chatgpt(each)]
    if isinstance(data, dict) and chatgpt.is_chatgpt(data):
        return [chatgpt.from_data(data)]
    if isinstance(data, dict) and lm_studio.is_lm_studio(data):
        return [lm_studio.from_data(data)]
    raise ChatsImportError(said("{name} is no export of Paceline, ChatGPT or LM Studio.", name=name))
