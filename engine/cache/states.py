"""Keeps the caches of conversations that were left, and brings them back where that is quicker than decoding again.

In memory at once, on the disk when there is time; both bounded. Whether it pays is decided by measured speeds. Those of
guests, the conversations of other programs, stay in memory, a few of them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from engine.cache.files import StateFiles, StateKey, StoredState
from engine.decoding.stats import StatsRecorder
from engine.errors import DecodeError
from engine.sampling.sampler import History
from engine.sentences import Sentence, said
from engine.sequence import CachedSequence, SequenceState
from engine.storage.json_store import JsonStore

FILE_NAME = "speeds.json"
_FORMAT, _MAX_KEPT = 1, 64
_NEW_SHARE = 0.5  # of a new figure in the remembered one
_RELAX = 1.1  # each time that a figure decides against it, it is doubted a little, so that it is tried again
PROMPT, SAVE, MEMORY, DISK = "prompt", "save", "memory", "disk"  # tokens per second; bytes per second
_KINDS = (PROMPT, SAVE, MEMORY, DISK)
log = logging.getLogger(__name__)
NO_OWNER = 0  # an answer that belongs to no conversation; numbers below are guests
MOST_GUESTS = 8  # caches of targets and of drafts
LEAST_TOKENS = 32  # fewer are not worth the trouble
MOST_MEMORY_BYTES = 2 << 30
_MEMORY_SHARE = 4  # at most this part of the free memory
_CLOSING_S = 2.0  # for writing when the app ends
_OF_MODEL = {"target": said("of the target"), "draft": said("of the draft")}
_SOURCES = {MEMORY: said("from memory"), DISK: said("from disk")}


class StateSpeeds:
    """Figures by model and kind. A file that is damaged or cannot be written is as good as none."""

    def __init__(self, folder: Path | None) -> None:
        self._file = JsonStore(folder / FILE_NAME, "speeds", _FORMAT) if folder is not None else None
        self._kept = self._file.read(_speeds) if self._file is not None else {}
        self._changed = False

    def seconds(self, identity: str, kind: str, amount: float) -> float | None:
        """How long this takes by what is known; None where nothing is."""
        speed = self._kept.get(identity, {}).get(kind)
        return None if speed is None else amount / speed

    def note(self, identity: str, kind: str, amount: float, seconds: float) -> None:
        """Take in a measurement."""
        figures = self._kept.pop(identity, {})
        speed = amount / max(seconds, 1e-6)
        figures[kind] = speed if kind not in figures else _NEW_SHARE * speed + (1.0 - _NEW_SHARE) * figures[kind]
        self._kept[identity] = figures
        for old in list(self._kept)[:-_MAX_KEPT]:
            del self._kept[old]
        self._changed = True

    def relax(self, identity: str, kind: str) -> None:
        """Raise a figure a little that has decided against something, so that it is tried again."""
        if kind in self._kept.get(identity, {}):
            self._kept[identity][kind] *= _RELAX

    def save(self) -> None:
        """Write what has changed."""
        if not self._changed or self._file is None:
            return
        self._changed = False
        kept = {identity: {k: float(f"{v:.4g}") for k, v in speeds.items()} for identity, speeds in self._kept.items()}
        self._file.write(kept)


def _speeds(entry: dict[str, Any]) -> dict[str, float]:
    """Read one entry; whatever is not as it should be makes the file count as none."""
    speeds = {kind: float(speed) for kind, speed in entry.items() if kind in _KINDS}
    if not all(1.0 < speed < 1e13 for speed in speeds.values()):
        raise ValueError("a figure is outside its range")
    return speeds


@dataclass(slots=True)
class _Answering:
    """Whose answer is made in a lane, and its counters."""

    owner: int = NO_OWNER
    stats: StatsRecorder | None = None


@dataclass(slots=True)
class _Slot:
    """A loaded sequence, and whose conversation it holds."""

    role: str
    sequence: CachedSequence
    identity: Callable[[], str]
    now: _Answering
    owner: int = NO_OWNER

    def note(self, sentence: str) -> None:
        if self.now.stats is not None:
            self.now.stats.decisions.append(sentence)


@dataclass(slots=True)
class _MemoryEntry:
    state: SequenceState
    dirty: bool  # not on the disk yet


@dataclass(frozen=True, slots=True)
class _Match:
    key: StateKey
    state: SequenceState | None  # None: it is on the disk
    num_usable: int
    num_bytes: int

    @property
    def place(self) -> str:
        return DISK if self.state is None else MEMORY


class StateCache:
    """One for a session. Keeps nothing but guests' until `set_limit` allows it."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._files: StateFiles | None = None
        self._speeds = StateSpeeds(None)
        self._disk_bytes = 0
        self._slots: dict[tuple[int, str], _Slot] = {}  # by lane and role
        self._answering: dict[int, _Answering] = {}  # by lane
        self._kept: dict[StateKey, _MemoryEntry] = {}  # the longest unused first
        self._writing: tuple[StateKey, Iterator[None]] | None = None

    # ---- what is allowed ----------------------------------------------------------------------------------------

    def set_limit(self, disk_bytes: int) -> None:
        """Keep caches, with so many bytes on the disk; 0 keeps none and removes all there are."""
        self._disk_bytes = disk_bytes
        if self._files is None and self._folder is not None:
            self._files = StateFiles(self._folder)
            self._files.open()
            self._speeds = StateSpeeds(self._folder)
        if disk_bytes == 0:
            self.forget(None)
        elif self._files is not None:
            self._stop_writing()  # it began under another limit
            self._files.shrink(disk_bytes)

    def forget(self, owner: int | None) -> None:
        """Lose what is kept of one conversation, or of all: also what would be kept of it when it is left."""
        if self._writing is not None and owner in (None, self._writing[0].owner):
            self._stop_writing()
        for key in list(self._kept):
            if owner in (None, key.owner):
                del self._kept[key]
        for slot in self._slots.values():
            if owner in (None, slot.owner):
                slot.owner = NO_OWNER
        if self._files is not None:
            self._files.forget(owner)

    def forget_guests(self) -> None:
        """Lose what is kept of other programs' conversations."""
        self._kept = {key: kept for key, kept in self._kept.items() if key.owner >= NO_OWNER}
        for slot in self._slots.values():
            slot.owner = max(slot.owner, NO_OWNER)

    def drop_memory(self) -> None:
        """Free what is on the disk as well."""
        self._kept = {key: kept for key, kept in self._kept.items() if kept.dirty}

    # ---- sequences ----------------------------------------------------------------------------------------------

    def attach(self, role: str, sequence: CachedSequence, identity: Callable[[], str], lane: int = 0) -> None:
        """Look after a sequence that was just loaded as "target" or "draft"; ``lane`` tells several of them apart."""
        now = self._answering.setdefault(lane, _Answering())
        slot = self._slots[lane, role] = _Slot(role, sequence, identity, now)
        sequence.before_reuse = partial(self._before_reuse, slot)

    def detach(self, role: str) -> None:
        """Keep what the sequences hold that are about to be closed."""
        for key in [one for one in self._slots if one[1] == role]:
            slot = self._slots.pop(key)
            if slot.owner > NO_OWNER and self._disk_bytes:
                self._keep(slot, slot.owner)

    def leave(self, lane: int) -> None:
        """Keep what the sequences of a lane hold, which are to be empty."""
        for (of, _role), slot in self._slots.items():
            if of == lane:
                owner, slot.owner = slot.owner, NO_OWNER
                if owner != NO_OWNER:
                    self._keep(slot, owner)
                slot.sequence.clear()

    def begin(self, owner: int, stats: StatsRecorder, lane: int = 0) -> None:
        """An answer begins; ``stats`` is told what was brought back for it."""
        now = self._answering.setdefault(lane, _Answering())
        now.owner, now.stats = owner if self._disk_bytes else min(owner, NO_OWNER), stats

    # ---- idle time ----------------------------------------------------------------------------------------------

    @property
    def has_work(self) -> bool:
        """Whether something waits to be written."""
        return self._writing is not None or (self._files is not None and self._next_dirty() is not None)

    def work(self, budget_s: float) -> None:
        """Write for about so many seconds."""
        until = time.perf_counter() + budget_s
        while self.has_work and time.perf_counter() < until:
            self._write_a_little()

    def flush(self) -> None:
        """Write what can be written in a moment: the app ends."""
        if self._writing is not None:
            self._stop_writing()
        until = time.perf_counter() + _CLOSING_S
        while self.has_work and time.perf_counter() < until:
            self._write_a_little()
        if self._writing is not None:
            self._stop_writing()
        self._speeds.save()

    def _write_a_little(self) -> None:
        if self._writing is None:
            key = self._next_dirty()
            if key is None or self._files is None:
                return
            kept = self._kept[key]
            kept.dirty = False
            self._writing = key, self._files.write(key, kept.state, self._disk_bytes)
        if next(self._writing[1], self) is self:
            self._writing = None
            self._speeds.save()

    def _stop_writing(self) -> None:
        if self._writing is not None:
            key, steps = self._writing
            self._writing = None
            steps.close()  # type: ignore[attr-defined]  # a generator: it removes its unfinished file
            if key in self._kept:
                self._kept[key].dirty = True

    def _next_dirty(self) -> StateKey | None:
        return next((key for key, kept in reversed(self._kept.items()) if kept.dirty), None)

    # ---- leaving and coming back ----------------------------------------------------------------------------------

    def _before_reuse(self, slot: _Slot, ids: History) -> None:
        if not self._disk_bytes and slot.now.owner == slot.owner == NO_OWNER and not self._kept:
            return
        left, slot.owner = slot.owner, slot.now.owner
        identity = slot.identity()
        keeps = slot.sequence.would_keep(ids)
        if slot.sequence.prompt_speed is not None:
            self._speeds.note(identity, PROMPT, slot.sequence.prompt_speed, 1.0)
            slot.sequence.prompt_speed = None
        found = self._best(slot, identity, ids)
        if left not in (NO_OWNER, slot.now.owner):
            self._keep(slot, left)
        if found is not None and found.num_usable >= keeps + LEAST_TOKENS and self._pays(slot, found, keeps):
            self._restore(slot, found)

    def _best(self, slot: _Slot, identity: str, ids: History) -> _Match | None:
        """What would spare the most tokens; memory before disk."""
        found = [
            _Match(key, kept.state, self._usable(slot, kept.state, ids), kept.state.num_bytes)
            for key, kept in self._kept.items()
            if key.identity == identity
        ]
        for stored in self._files.stored if self._files is not None else ():
            if stored.key.identity == identity:
                usable = self._usable(slot, stored, ids)
                found.append(_Match(stored.key, None, usable, stored.num_bytes))
        return max(found, key=lambda one: (one.num_usable, one.state is not None), default=None)

    @staticmethod
    def _usable(slot: _Slot, state: SequenceState | StoredState, ids: History) -> int:
        held = slot.sequence.own_ids(state.ids, state.runs)
        shared = slot.sequence.shared(held, ids)
        whole = slot.sequence.num_snapshots is not None  # a memory that cannot drop what follows
        return 0 if whole and shared < len(held) else shared

    def _pays(self, slot: _Slot, found: _Match, keeps: int) -> bool:
        identity, spared = found.key.identity, found.num_usable - keeps
        decoding = self._speeds.seconds(identity, PROMPT, spared)
        restoring = self._speeds.seconds(identity, found.place, found.num_bytes)
        if decoding is None or restoring is None or restoring < decoding:
            return True  # also where one is not known yet: trying it is how it becomes known
        self._speeds.relax(identity, found.place)
        slot.note(_decoded_again(spared, decoding, found.place, restoring))
        return False

    def _keep(self, slot: _Slot, owner: int) -> None:
        """Copy what is about to be lost into memory, where coming back to it would be slower without."""
        num_past, identity = slot.sequence.num_past, slot.identity()
        if num_past < LEAST_TOKENS:
            return
        started = time.perf_counter()
        try:
            state = slot.sequence.export(_memory_limit())  # more would be copied, if there is room, and thrown away
        except DecodeError as error:
            log.info("a cache could not be kept: %s", error)
            return
        if state is None:
            return
        took = time.perf_counter() - started
        self._speeds.note(identity, SAVE, state.num_bytes, took)
        slot.note(
            said(
                "saved {tokens} {of_model} for the previous chat in {took}",
                tokens=_tokens(num_past),
                of_model=_OF_MODEL[slot.role],
                took=_time(took),
            )
        )
        self._put(StateKey(identity, owner), state)

    def _put(self, key: StateKey, state: SequenceState) -> None:
        if self._writing is not None and self._writing[0] == key:
            self._stop_writing()
        self._kept.pop(key, None)
        limit = _memory_limit()
        total = sum(kept.state.num_bytes for kept in self._kept.values())
        while self._kept and total + state.num_bytes > limit:
            oldest = next(iter(self._kept))
            total -= self._kept.pop(oldest).state.num_bytes
        if state.num_bytes <= limit:
            self._kept[key] = _MemoryEntry(state, dirty=key.owner > NO_OWNER)
        guests = [other for other in self._kept if other.owner < NO_OWNER]
        for other in guests[:-MOST_GUESTS]:
            del self._kept[other]

    def _restore(self, slot: _Slot, found: _Match) -> None:
        started = time.perf_counter()
        state = found.state
        if state is None and self._files is not None:
            state = self._files.read(found.key)
        if state is None or not slot.sequence.adopt(state):
            self._drop(found.key)
            slot.note(said("a saved cache could not be restored; its tokens are decoded again"))
            return
        took = time.perf_counter() - started
        self._speeds.note(found.key.identity, found.place, found.num_bytes, took)
        if found.key in self._kept:
            self._kept[found.key] = self._kept.pop(found.key)
        if slot.now.stats is not None:
            slot.now.stats.restore_s += took
            if slot.role == "target":
                slot.now.stats.restored_tokens = found.num_usable
        slot.note(
            said(
                "restored {tokens} {of_model} {source} in {took}",
                tokens=_tokens(found.num_usable),
                of_model=_OF_MODEL[slot.role],
                source=_SOURCES[found.place],
                took=_time(took),
            )
        )

    def _drop(self, key: StateKey) -> None:
        self._kept.pop(key, None)
        if self._files is not None:
            self._files.remove(key)


def _memory_limit() -> int:
    return min(MOST_MEMORY_BYTES, psutil.virtual_memory().available // _MEMORY_SHARE)


def _decoded_again(num_tokens: int, decoding_s: float, place: str, restoring_s: float) -> Sentence:
    fields = {"decoding": _time(decoding_s), "source": _SOURCES[place], "restoring": _time(restoring_s)}
    if num_tokens == 1:
        return said(
            "1 token is decoded again (about {decoding}): restoring it {source} would take about {restoring}",
            **fields,
        )
    return said(
        "{number:,} tokens are decoded again (about {decoding}): restoring them {source} would take about {restoring}",
        number=num_tokens,
        **fields,
    )


def _tokens(number: int) -> Sentence:
    return said("1 token") if number == 1 else said("{number:,} tokens", number=number)


def _time(seconds: float) -> Sentence:
    if seconds < 0.1:
        return said("{number:,.1f} ms", number=seconds * 1000.0)
    return said("{number:,.2f} s", number=seconds)
