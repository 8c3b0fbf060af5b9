"""Saves the caches of conversations, and restores them if that is faster than prefill.

A cache is saved in memory at once, and written to the disk in idle time; both are bounded. Measured speeds decide
whether restoring is faster. Up to `MAX_EXTERNAL_STATES` caches of other programs are saved,
in memory only.
"""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

from engine.cache.files import StateFiles, StateKey, StoredState
from engine.decoding.stats import StatsRecorder
from engine.errors import DecodeError
from engine.sampling.sampler import History
from engine.sentences import Sentence, i18n
from engine.sequence import CachedSequence, SequenceState

_SPEED_RATE = 0.5  # weight of a new measurement
_RETRY_FACTOR = 1.1  # factor on a speed each time it decides against restoring, so that restoring is tried again
PROMPT, MEMORY, DISK = "prompt", "memory", "disk"  # PROMPT in tokens/s, the others in bytes/s
log = logging.getLogger(__name__)
NO_OWNER = 0  # an answer without a conversation; negative numbers are guests
MAX_EXTERNAL_STATES = 8  # most saved caches of guests; the caches of a target and its draft count as two
MIN_TOKENS = 32  # shorter caches are not saved
MAX_MEMORY_BYTES = 2 << 30
_MEMORY_SHARE = 4  # saved caches take at most 1/4 of the free memory
_CLOSING_S = 2.0  # time to write caches when the app ends
_ROLE_TEXTS = {"target": i18n("of the target"), "draft": i18n("of the draft")}
_SOURCE_TEXTS = {MEMORY: i18n("from memory"), DISK: i18n("from disk")}


class StateSpeeds:
    """Measured speeds by model and kind."""

    def __init__(self) -> None:
        self._speeds_by_identity: dict[str, dict[str, float]] = {}

    def seconds(self, identity: str, kind: str, amount: float) -> float | None:
        """Seconds that ``amount`` takes at the recorded speed; None if the speed is unknown."""
        speed = self._speeds_by_identity.get(identity, {}).get(kind)
        return None if speed is None else amount / speed

    def record(self, identity: str, kind: str, amount: float, seconds: float) -> None:
        speeds = self._speeds_by_identity.setdefault(identity, {})
        speed = amount / max(seconds, 1e-6)
        speeds[kind] = speed if kind not in speeds else _SPEED_RATE * speed + (1.0 - _SPEED_RATE) * speeds[kind]

    def raise_after_rejection(self, identity: str, kind: str) -> None:
        """Raise a speed a little after it decided against restoring, so that restoring is tried again."""
        if kind in self._speeds_by_identity.get(identity, {}):
            self._speeds_by_identity[identity][kind] *= _RETRY_FACTOR


@dataclass(slots=True)
class _CurrentAnswer:
    """The conversation that a slot is answering, and the counters of the answer."""

    owner: int = NO_OWNER
    stats: StatsRecorder | None = None


@dataclass(slots=True)
class _AttachedSequence:
    """A loaded sequence, and the conversation that it holds."""

    role: str
    sequence: CachedSequence
    identity: Callable[[], str]
    current_answer: _CurrentAnswer
    owner: int = NO_OWNER

    def add_decision(self, sentence: str) -> None:
        if self.current_answer.stats is not None:
            self.current_answer.stats.decisions += (sentence,)


@dataclass(slots=True)
class _MemoryEntry:
    state: SequenceState
    dirty: bool  # not written to the disk yet


@dataclass(frozen=True, slots=True)
class _Match:
    key: StateKey
    state: SequenceState | None  # None: only on the disk
    num_usable_tokens: int
    num_bytes: int

    @property
    def source(self) -> str:
        return DISK if self.state is None else MEMORY


class StateCache:
    """The saved caches of a session. Until `set_limit` is called, only guests' caches are saved."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._files: StateFiles | None = None
        self._speeds = StateSpeeds()
        self._disk_bytes = 0
        self._attached: dict[tuple[int, str], _AttachedSequence] = {}  # by slot and role
        self._current_answers: dict[int, _CurrentAnswer] = {}  # by slot
        self._memory_entries: dict[StateKey, _MemoryEntry] = {}  # least recently used first
        self._writing: tuple[StateKey, Iterator[None]] | None = None

    # ---- limits -------------------------------------------------------------------------------------------------

    def set_limit(self, disk_bytes: int) -> None:
        """Save caches in at most ``disk_bytes`` on the disk; 0 deletes all and saves none."""
        self._disk_bytes = disk_bytes
        if self._files is None and self._folder is not None:
            self._files = StateFiles(self._folder)
            self._files.open()
        if disk_bytes == 0:
            self.forget(None)
        elif self._files is not None:
            self._stop_writing()  # the current write began under another limit
            self._files.evict_to(disk_bytes)

    def forget(self, owner: int | None) -> None:
        """Delete the saved caches of one conversation, or of all (None). Caches in use will not be saved either."""
        if self._writing is not None and owner in (None, self._writing[0].owner):
            self._stop_writing()
        for key in list(self._memory_entries):
            if owner in (None, key.owner):
                del self._memory_entries[key]
        for attached in self._attached.values():
            if owner in (None, attached.owner):
                attached.owner = NO_OWNER
        if self._files is not None:
            self._files.forget(owner)

    def forget_external(self) -> None:
        self._memory_entries = {key: kept for key, kept in self._memory_entries.items() if key.owner >= NO_OWNER}
        for attached in self._attached.values():
            attached.owner = max(attached.owner, NO_OWNER)

    # ---- sequences ----------------------------------------------------------------------------------------------

    def attach(self, role: str, sequence: CachedSequence, identity: Callable[[], str], slot: int = 0) -> None:
        """From now on save and restore the caches of a loaded sequence; ``role`` is "target" or "draft"."""
        now = self._current_answers.setdefault(slot, _CurrentAnswer())
        attached = self._attached[slot, role] = _AttachedSequence(role, sequence, identity, now)
        sequence.before_reuse = partial(self._before_reuse, attached)

    def detach(self, role: str) -> None:
        """Save the contents of sequences that are about to be closed."""
        for key in [one for one in self._attached if one[1] == role]:
            attached = self._attached.pop(key)
            if attached.owner > NO_OWNER and self._disk_bytes:
                self._save_to_memory(attached, attached.owner)

    def save_and_clear(self, slot: int) -> None:
        """Save the contents of a slot's sequences, and clear them."""
        for (of, _role), attached in self._attached.items():
            if of == slot:
                owner, attached.owner = attached.owner, NO_OWNER
                if owner != NO_OWNER:
                    self._save_to_memory(attached, owner)
                attached.sequence.clear()

    def begin(self, owner: int, stats: StatsRecorder, slot: int = 0) -> None:
        """Begin an answer; ``stats`` records restored caches."""
        now = self._current_answers.setdefault(slot, _CurrentAnswer())
        now.owner, now.stats = owner if self._disk_bytes else min(owner, NO_OWNER), stats

    # ---- idle time ----------------------------------------------------------------------------------------------

    @property
    def has_work(self) -> bool:
        """Whether a cache waits to be written."""
        return self._writing is not None or (self._files is not None and self._next_dirty() is not None)

    def work(self, budget_s: float) -> None:
        """Write for about ``budget_s`` seconds."""
        until = time.perf_counter() + budget_s
        while self.has_work and time.perf_counter() < until:
            self._write_chunk()

    def flush(self) -> None:
        """Write for up to `_CLOSING_S` seconds, when the app ends."""
        if self._writing is not None:
            self._stop_writing()
        until = time.perf_counter() + _CLOSING_S
        while self.has_work and time.perf_counter() < until:
            self._write_chunk()
        if self._writing is not None:
            self._stop_writing()

    def _write_chunk(self) -> None:
        if self._writing is None:
            key = self._next_dirty()
            if key is None or self._files is None:
                return
            kept = self._memory_entries[key]
            kept.dirty = False
            self._writing = key, self._files.write(key, kept.state, self._disk_bytes)
        if next(self._writing[1], self) is self:
            self._writing = None

    def _stop_writing(self) -> None:
        if self._writing is not None:
            key, steps = self._writing
            self._writing = None
            steps.close()  # type: ignore[attr-defined]  # a generator: it removes its unfinished file
            if key in self._memory_entries:
                self._memory_entries[key].dirty = True

    def _next_dirty(self) -> StateKey | None:
        return next((key for key, kept in reversed(self._memory_entries.items()) if kept.dirty), None)

    # ---- leaving and returning ----------------------------------------------------------------------------------

    def _before_reuse(self, attached: _AttachedSequence, ids: History) -> None:
        if (
            not self._disk_bytes
            and attached.current_answer.owner == attached.owner == NO_OWNER
            and not self._memory_entries
        ):
            return
        left, attached.owner = attached.owner, attached.current_answer.owner
        identity = attached.identity()
        keeps = attached.sequence.num_reusable(ids)
        if attached.sequence.prompt_speed is not None:
            self._speeds.record(identity, PROMPT, attached.sequence.prompt_speed, 1.0)
            attached.sequence.prompt_speed = None
        found = self._best(attached, identity, ids)
        if left not in (NO_OWNER, attached.current_answer.owner):
            self._save_to_memory(attached, left)
        if (
            found is not None
            and found.num_usable_tokens >= keeps + MIN_TOKENS
            and self._is_faster(attached, found, keeps)
        ):
            self._restore(attached, found)

    def _best(self, attached: _AttachedSequence, identity: str, ids: History) -> _Match | None:
        """The saved cache with the most reusable tokens; memory wins a tie."""
        found = [
            _Match(key, kept.state, self._usable(attached, kept.state, ids), kept.state.num_bytes)
            for key, kept in self._memory_entries.items()
            if key.identity == identity
        ]
        for stored in self._files.stored if self._files is not None else ():
            if stored.key.identity == identity:
                usable = self._usable(attached, stored, ids)
                found.append(_Match(stored.key, None, usable, stored.num_bytes))
        return max(found, key=lambda one: (one.num_usable_tokens, one.state is not None), default=None)

    @staticmethod
    def _usable(attached: _AttachedSequence, state: SequenceState | StoredState, ids: History) -> int:
        held = attached.sequence.local_ids(state.ids, state.runs)
        shared = attached.sequence.num_shared(held, ids)
        whole = attached.sequence.num_snapshots is not None  # then the tail of a state cannot be dropped
        return 0 if whole and shared < len(held) else shared

    def _is_faster(self, attached: _AttachedSequence, found: _Match, keeps: int) -> bool:
        identity, spared = found.key.identity, found.num_usable_tokens - keeps
        decoding = self._speeds.seconds(identity, PROMPT, spared)
        restoring = self._speeds.seconds(identity, found.source, found.num_bytes)
        if decoding is None or restoring is None or restoring < decoding:
            return True  # also if a speed is unknown: restoring measures it
        self._speeds.raise_after_rejection(identity, found.source)
        attached.add_decision(_decoding_sentence(spared, decoding, found.source, restoring))
        return False

    def _save_to_memory(self, attached: _AttachedSequence, owner: int) -> None:
        """Copy the cache to memory before it is overwritten."""
        num_past, identity = attached.sequence.num_past, attached.identity()
        if num_past < MIN_TOKENS:
            return
        started = time.perf_counter()
        try:
            state = attached.sequence.export_state(_memory_limit())
        except DecodeError as error:
            log.info("a cache could not be kept: %s", error)
            return
        if state is None:
            return
        took = time.perf_counter() - started
        attached.add_decision(
            i18n(
                "saved {tokens} {of_model} for the previous chat in {took}",
                tokens=_token_count_text(num_past),
                of_model=_ROLE_TEXTS[attached.role],
                took=_duration_text(took),
            )
        )
        self._put(StateKey(identity, owner), state)

    def _put(self, key: StateKey, state: SequenceState) -> None:
        if self._writing is not None and self._writing[0] == key:
            self._stop_writing()
        self._memory_entries.pop(key, None)
        limit = _memory_limit()
        total = sum(kept.state.num_bytes for kept in self._memory_entries.values())
        while self._memory_entries and total + state.num_bytes > limit:
            oldest = next(iter(self._memory_entries))
            total -= self._memory_entries.pop(oldest).state.num_bytes
        if state.num_bytes <= limit:
            self._memory_entries[key] = _MemoryEntry(state, dirty=key.owner > NO_OWNER)
        guests = [other for other in self._memory_entries if other.owner < NO_OWNER]
        for other in guests[:-MAX_EXTERNAL_STATES]:
            del self._memory_entries[other]

    def _restore(self, attached: _AttachedSequence, found: _Match) -> None:
        started = time.perf_counter()
        state = found.state
        if state is None and self._files is not None:
            state = self._files.read(found.key)
        if state is None or not attached.sequence.import_state(state):
            key = found.key
            self._memory_entries.pop(key, None)
            if self._files is not None:
                self._files.remove(key)
            attached.add_decision(i18n("a saved cache could not be restored; its tokens are decoded again"))
            return
        took = time.perf_counter() - started
        self._speeds.record(found.key.identity, found.source, found.num_bytes, took)
        if found.key in self._memory_entries:
            self._memory_entries[found.key] = self._memory_entries.pop(found.key)
        if attached.current_answer.stats is not None:
            attached.current_answer.stats.restore_s += took
            if attached.role == "target":
                attached.current_answer.stats.restored_tokens = found.num_usable_tokens
        attached.add_decision(
            i18n(
                "restored {tokens} {of_model} {source} in {took}",
                tokens=_token_count_text(found.num_usable_tokens),
                of_model=_ROLE_TEXTS[attached.role],
                source=_SOURCE_TEXTS[found.source],
                took=_duration_text(took),
            )
        )


def _memory_limit() -> int:
    return min(MAX_MEMORY_BYTES, psutil.virtual_memory().available // _MEMORY_SHARE)


def _decoding_sentence(num_tokens: int, decoding_s: float, source: str, restoring_s: float) -> Sentence:
    return i18n(
        "decoded again: {tokens} (about {decoding}); restoring {source} would take about {restoring}",
        tokens=_token_count_text(num_tokens),
        decoding=_duration_text(decoding_s),
        source=_SOURCE_TEXTS[source],
        restoring=_duration_text(restoring_s),
    )


def _token_count_text(number: int) -> Sentence:
    return i18n("1 token") if number == 1 else i18n("{number:,} tokens", number=number)


def _duration_text(seconds: float) -> Sentence:
    if seconds < 0.1:
        return i18n("{number:,.1f} ms", number=seconds * 1000.0)
    return i18n("{number:,.2f} s", number=seconds)
