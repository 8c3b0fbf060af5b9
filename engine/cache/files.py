"""Saved caches on the disk, one file each; an LRU policy bounds their size.

llama.cpp trusts the bytes of a state, so a file is used only if this installation wrote it: a keyed hash covers the
whole file, and its key is stored in the same folder and never leaves the machine. Other files are removed unread.
"""

import contextlib
import hashlib
import hmac
import json
import logging
import os
import secrets
import struct
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from engine.sampling.sampler import History
from engine.sequence import CachedRun, SequenceState
from engine.storage.atomic import replacing

log = logging.getLogger(__name__)

SUFFIX = ".state"
_PART = ".part"
_KEY_FILE, _KEY_BYTES, _MAC_BYTES = "key", 32, 32
_MAGIC = b"paceline state 1\n"
_HEAD_LIMIT = 4096
_WRITE_BYTES = 4 << 20  # bytes per step of writing, which bounds the delay of a request


@dataclass(frozen=True, slots=True)
class StateKey:
    """Model, cache and build of a state (``identity``), and its conversation (``owner``)."""

    identity: str
    owner: int


@dataclass(frozen=True, slots=True)
class StoredState:
    """A state on the disk, without its data."""

    key: StateKey
    ids: History
    num_bytes: int  # of the whole file
    runs: tuple[CachedRun, ...] = ()


class StateFiles:
    """The files of one folder, which only this process uses. If the folder cannot be used, nothing is saved."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._secret = b""
        self._index: dict[StateKey, StoredState] = {}  # least recently used first

    def open(self) -> None:
        """Index the files; remove foreign or incomplete ones."""
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._secret = _secret(self._folder / _KEY_FILE)
            files = sorted(self._folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
        except OSError as error:
            log.info("no cache is kept on the disk: %s", error)
            return
        for file in files:
            if file.suffix in (SUFFIX, _PART):
                stored = self._read_stored(file) if file.suffix == SUFFIX else None
                if stored is None or file != self._file(stored.key):
                    _remove(file)
                else:
                    self._index[stored.key] = stored

    @property
    def stored(self) -> tuple[StoredState, ...]:
        """The index, least recently used first."""
        return tuple(self._index.values())

    @property
    def num_bytes(self) -> int:
        return sum(stored.num_bytes for stored in self._index.values())

    def read(self, key: StateKey) -> SequenceState | None:
        """Read a state; None if the file is damaged, which removes it."""
        stored = self._index.get(key)
        if stored is None:
            return None
        file = self._file(key)
        try:
            with file.open("rb") as opened:
                head = _read_head(opened, self._secret)
                state = _read_body(opened, head, self._secret) if head is not None else None
        except OSError as error:
            log.info("a kept cache could not be read: %s", error)
            state = None
        if state is None or not np.array_equal(state.ids, stored.ids):
            self.remove(key)
            return None
        self._index[key] = self._index.pop(key)
        with contextlib.suppress(OSError):  # without the time stamp, the next start considers the file older
            os.utime(file)
        return state

    def write(self, key: StateKey, state: SequenceState, limit_bytes: int) -> Iterator[None]:
        """Write in steps of `_WRITE_BYTES`, replacing an older state of the key. Other states are removed if needed."""
        runs = json.dumps([astuple(run) for run in state.runs]).encode() if state.runs else b""
        size = state.num_bytes + _HEAD_LIMIT + len(runs)
        if not self._secret or size > limit_bytes:
            return
        self.evict_to(limit_bytes - size, but=key)
        file = self._file(key)
        try:
            with replacing(file, file.with_suffix(_PART)) as part, _open_private(part) as opened:
                yield from _write(opened, key, state, runs, self._secret)
                written = opened.tell()
        except OSError as error:  # such as a full disk; the tokens will be decoded again
            log.info("a cache could not be kept: %s", error)
            return
        self._index.pop(key, None)
        self._index[key] = StoredState(key, state.ids, written, state.runs)

    def evict_to(self, limit_bytes: int, but: StateKey | None = None) -> None:
        """Remove least recently used states until at most ``limit_bytes`` remain; ``but`` is kept and not counted."""
        total = sum(stored.num_bytes for stored in self._index.values() if stored.key != but)
        for stored in self.stored:
            if total <= limit_bytes:
                return
            if stored.key != but:
                total -= stored.num_bytes
                self.remove(stored.key)

    def remove(self, key: StateKey) -> None:
        self._index.pop(key, None)
        _remove(self._file(key))

    def forget(self, owner: int | None) -> None:
        """Remove the states of one conversation, or of all (None)."""
        for stored in self.stored:
            if owner is None or stored.key.owner == owner:
                self.remove(stored.key)

    def _file(self, key: StateKey) -> Path:
        name = hashlib.blake2b(f"{key.owner} {key.identity}".encode(), digest_size=16).hexdigest()
        return self._folder / f"{name}{SUFFIX}"

    def _read_stored(self, file: Path) -> StoredState | None:
        try:
            size = file.stat().st_size
            with file.open("rb") as opened:
                head = _read_head(opened, self._secret)
        except OSError as error:
            log.info("a kept cache could not be read: %s", error)
            return None
        if head is None or size != head.num_bytes:
            log.info("%s is no kept cache of this installation and is removed", file.name)
            return None
        return StoredState(head.key, head.ids, size, head.runs)


@dataclass(frozen=True, slots=True)
class _Head:
    key: StateKey
    ids: History
    data_bytes: int
    num_bytes: int  # of the whole file
    raw: bytes  # as it was read
    runs: tuple[CachedRun, ...]


def _write(opened: BinaryIO, key: StateKey, state: SequenceState, runs: bytes, secret: bytes) -> Iterator[None]:
    facts = {
        "identity": key.identity,
        "owner": key.owner,
        "num_ids": len(state.ids),
        "data_bytes": state.data.nbytes,
        "runs_bytes": len(runs),
    }
    text = json.dumps(facts).encode()
    head = _MAGIC + struct.pack("<I", len(text)) + text + state.ids.astype("<i4").tobytes() + runs
    mac = hashlib.blake2b(head, key=secret, digest_size=_MAC_BYTES)
    opened.write(head + mac.digest())
    data = state.data.data
    for begin in range(0, len(data), _WRITE_BYTES):
        piece = data[begin : begin + _WRITE_BYTES]
        mac.update(piece)
        opened.write(piece)
        yield
    opened.write(mac.digest())


def _read_head(opened: BinaryIO, secret: bytes) -> _Head | None:
    """Read the head of a file; None if this installation did not write it."""
    start = opened.read(len(_MAGIC) + 4)
    length = struct.unpack("<I", start[-4:])[0] if len(start) == len(_MAGIC) + 4 else _HEAD_LIMIT
    if not start.startswith(_MAGIC) or length >= _HEAD_LIMIT:
        return None
    text = opened.read(length)
    try:
        facts = json.loads(text)
        num_ids, data_bytes = int(facts["num_ids"]), int(facts["data_bytes"])
        key = StateKey(str(facts["identity"]), int(facts["owner"]))
        runs_bytes = int(facts.get("runs_bytes", 0))
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None
    if not (0 < num_ids < 1 << 28 and 0 < data_bytes < 1 << 44 and 0 <= runs_bytes < 1 << 24):
        return None
    ids_bytes, written_runs = opened.read(4 * num_ids), opened.read(runs_bytes)
    head = start + text + ids_bytes + written_runs
    mac = hashlib.blake2b(head, key=secret, digest_size=_MAC_BYTES).digest()
    if not hmac.compare_digest(mac, opened.read(_MAC_BYTES)):
        return None
    ids = np.frombuffer(ids_bytes, dtype="<i4").astype(np.int32)
    runs = tuple(CachedRun(*each) for each in json.loads(written_runs)) if written_runs else ()  # covered by the hash
    return _Head(key, ids, data_bytes, len(head) + data_bytes + 2 * _MAC_BYTES, head, runs)


def _read_body(opened: BinaryIO, head: _Head, secret: bytes) -> SequenceState | None:
    data = np.empty(head.data_bytes, dtype=np.uint8)
    if opened.readinto(data) != head.data_bytes:  # type: ignore[attr-defined]
        return None
    mac = hashlib.blake2b(head.raw, key=secret, digest_size=_MAC_BYTES)
    mac.update(data.data)
    if not hmac.compare_digest(mac.digest(), opened.read()):
        return None
    return SequenceState(head.ids, data, head.runs)


def _secret(file: Path) -> bytes:
    """Read this installation's key, or create one; files written with an older key are then foreign."""
    try:
        key = file.read_bytes()
    except FileNotFoundError:
        key = b""
    if len(key) != _KEY_BYTES:
        key = secrets.token_bytes(_KEY_BYTES)
        with _open_private(file) as opened:
            opened.write(key)
    return key


def _open_private(file: Path) -> BinaryIO:
    """Open a new file that only its owner can read, since it contains text of conversations."""
    file.unlink(missing_ok=True)
    return os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600), "wb")


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError:
        log.exception("a kept cache could not be removed")
