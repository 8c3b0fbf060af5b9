"""A model together with the ids that its cache holds, so that the next prompt decodes only what is new.

Every memory gets a rollback: one that cannot forget a tail is taken back to a checkpoint, and the tokens that stay are
decoded again with the next pass.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import DecodeError
from engine.interfaces import Candidates, LanguageModel, Rows, TokenIds
from engine.sampling.sampler import History

MOST_PENDING = 8  # tokens to decode again that may ride along with the next pass; more get a pass of their own
_MIN_TIMED = 64  # a prefill of fewer tokens says little about the speed of longer ones
_MAX_WITH_PENDING = 64  # a pass of more tokens than this takes nobody along


@dataclass(frozen=True, slots=True)
class SequenceState:
    """What a sequence holds: ids [n] and the model's bytes; so many were read in chunks from the beginning on."""

    ids: History
    num_canonical: int
    data: NDArray[np.uint8]

    @property
    def num_bytes(self) -> int:
        """What keeping it takes."""
        return int(self.data.nbytes + self.ids.nbytes)


# Hears of the ids that are about to be read, and whether canonically, while the cache still holds what it held.
BeforeReuse = Callable[[History, bool], None]


class CachedSequence:
    """Implements `LanguageModel` and remembers ids; ``forward`` and ``rollback`` of the model go through it."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids: History = np.zeros(model.n_ctx, dtype=np.int32)
        self._forward = model.forward
        self._kept: int | None = None  # how many tokens the model's kept state stands for
        self.n_vocab = model.n_vocab
        self.n_ctx = model.n_ctx
        self.n_ubatch = model.n_ubatch
        self.num_past = model.num_past
        self.num_snapshots = model.num_snapshots
        self.num_replayed = 0
        self.before_reuse: BeforeReuse | None = None
        self.after_pass: Callable[[], None] | None = None  # for who reads along
        self.limit_reuse: Callable[[int], int] | None = None  # of so many shared tokens, how many may stay
        self.prompt_speed: float | None = None  # tokens per second of the last longer prefill
        self._canonical = 0  # tokens that `prefill` has read in chunks from the beginning on, as it would again

    @property
    def ids(self) -> History:
        """The tokens that it holds [num_past]; a view."""
        return self._ids[: self.num_past]

    @property
    def num_pending(self) -> int:
        """How many tokens the next pass has to decode again, because a rollback went back to a checkpoint."""
        return self.num_past - self._model.num_past

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`. Pending tokens ride along."""
        all_ids = self._with_pending(ids) if self.num_past != self._model.num_past else ids
        try:
            rows = self._forward(all_ids, n_rows, num_padding)
        except DecodeError:
            self._resync()
            raise
        self._remember(ids, len(all_ids))
        return rows

    @property
    def num_candidates(self) -> int:
        """See `LanguageModel.num_candidates`."""
        return self._model.num_candidates

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`. Pending tokens ride along."""
        all_ids = self._with_pending(ids) if self.num_past != self._model.num_past else ids
        try:
            candidates = self._model.forward_candidates(all_ids)
        except DecodeError:
            self._resync()
            raise
        self._remember(ids, len(all_ids))
        return candidates

    def _with_pending(self, ids: TokenIds) -> TokenIds:
        past, pending = self.num_past, self.num_pending
        if pending + len(ids) > _MAX_WITH_PENDING:
            self.replay()
            return ids
        return [*self._ids[past - pending : past].tolist(), *ids]

    def _remember(self, ids: TokenIds, num_decoded: int) -> None:
        past, count = self.num_past, len(ids)
        self.num_replayed += num_decoded - count
        self.num_past = past + count
        if count == 1:  # a call of NumPy less: right after a pass each costs a multiple of its usual
            self._ids[past] = ids[0]
        else:
            self._ids[past : self.num_past] = ids
        if self.after_pass is not None:
            self.after_pass()

    def replay(self) -> None:
        """Decode the pending tokens now, in passes of their own.

        Raises:
            DecodeError: the pass failed.
        """
        while pending := self.num_pending:
            first = self.num_past - pending
            chunk = self._ids[first : min(first + self.n_ubatch, self.num_past)]
            try:
                self._forward(chunk, 0)
            except DecodeError:
                self._resync()
                raise
            self.num_replayed += len(chunk)

    def checkpoint(self, num_uncertain: int | None = None) -> None:
        """Say that what follows may be forgotten: at most the last ``num_uncertain`` tokens of one pass.

        None: more than one pass. Costs something only where the memory could not do it otherwise.
        """
        snapshots, past = self.num_snapshots, self._model.num_past
        if snapshots is None or (num_uncertain is not None and num_uncertain <= snapshots) or self._kept == past:
            return
        self._kept = past if self._model.save() else None

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`. After `checkpoint` this works for every model whose state can be kept."""
        if num_past >= self.num_past:
            return True
        if num_past < self._model.num_past and not self._model.rollback(num_past):
            if self._kept is None or self._kept > num_past:
                return False
            if not self._model.restore():
                self._resync()
                return False
        if self._kept is not None and num_past < self._kept:
            self._kept = None
        self.num_past = num_past
        self._canonical = min(self._canonical, num_past)
        if self.num_pending > MOST_PENDING:
            self.replay()
        return True

    def save(self) -> bool:
        """See `LanguageModel.save`."""
        self.replay()
        self._kept = self.num_past if self._model.save() else None
        return self._kept is not None

    def restore(self) -> bool:
        """See `LanguageModel.restore`."""
        restored = self._kept is not None and self._model.restore()
        self._resync()
        return restored

    def clear(self) -> None:
        """Forget everything."""
        self._model.clear()
        self.num_past = self._canonical = 0
        self._kept = None

    def reuse(self, ids: History, *, canonical: bool = False) -> int:
        """Keep what the cache shares with the beginning of ``ids``, forget the rest; return how many tokens stay.

        At least the last of ``ids`` is left to decode: its row is needed. A memory that cannot go back is cleared.
        With ``canonical`` only what `prefill` would read in the same chunks stays.
        """
        if self.before_reuse is not None:
            self.before_reuse(ids, canonical)
        shared = self._shared(ids, canonical=canonical)
        if self.limit_reuse is not None:
            shared = self.limit_reuse(shared)
            shared -= shared % self.n_ubatch if canonical else 0
        if not self._go_back(shared):
            self.clear()
        return self.num_past

    def would_keep(self, ids: History, *, canonical: bool = False) -> int:
        """How many tokens `reuse` would keep."""
        shared = self._shared(ids, canonical=canonical)
        if shared == self._model.num_past or self.num_snapshots is None:
            return min(shared, self._model.num_past)
        return self._kept if self._kept is not None and self._kept <= shared else 0

    def _shared(self, ids: History, *, canonical: bool) -> int:
        return shared_tokens(self.ids, ids, *(self._canonical, self.n_ubatch) if canonical else ())

    def export(self, most_bytes: int | None = None) -> SequenceState | None:
        """What the cache holds, as a copy; None where there is nothing, or it cannot be had, or takes more than that.

        Raises:
            DecodeError: pending tokens could not be decoded.
        """
        self.replay()
        if not self.num_past or (most_bytes is not None and self._model.state_bytes > most_bytes):
            return None
        data = self._model.export_state()
        return None if data is None else SequenceState(self._ids[: self.num_past].copy(), self._canonical, data)

    def adopt(self, state: SequenceState) -> bool:
        """Hold what `export` gave, in place of everything; False where it was refused, and nothing is held."""
        self.clear()
        num_past = len(state.ids)
        if num_past > self.n_ctx or not self._model.import_state(state.data, num_past):
            self._resync()
            return False
        self._ids[:num_past] = state.ids
        self.num_past, self._canonical = num_past, state.num_canonical
        return True

    def _go_back(self, num_past: int) -> bool:
        """Like `rollback`, but what would have to be decoded again is forgotten as well: a prompt follows anyway."""
        stays = num_past >= self._model.num_past or self._model.rollback(num_past)
        if not stays and (self._kept is None or self._kept > num_past or not self._model.restore()):
            return False
        if self._kept is not None and self._kept > self._model.num_past:
            self._kept = None
        self.num_past = self._model.num_past
        self._canonical = min(self._canonical, self.num_past)
        return True

    def _resync(self) -> None:
        """After a failure the model's memory is what it says it is."""
        self.num_past = self._model.num_past
        self._canonical = min(self._canonical, self.num_past)
        if self._kept is not None and self.num_past < self._kept:
            self._kept = None

    def prefill(self, ids: History) -> Iterator[int]:
        """Decode ``ids`` without rows, chunk by chunk; yield how many are done after each.

        A chunk ends where the place in the sequence is a multiple of `n_ubatch`: neither the machine's speed nor what
        else it does may change the shape of a pass, and with it the last bits of what a prompt leaves in the cache.
        """
        done, spent = 0, 0.0
        while done < len(ids):
            started, begin = time.perf_counter(), self.num_past
            chunk = ids[done : done + self.n_ubatch - begin % self.n_ubatch]
            self.forward(chunk, 0)
            done += len(chunk)
            if self._canonical == begin and len(chunk) == self.n_ubatch:
                self._canonical = self.num_past
            spent += max(time.perf_counter() - started, 1e-6)
            if done >= _MIN_TIMED:
                self.prompt_speed = done / spent
            yield done


def shared_tokens(held: History, ids: History, num_canonical: int | None = None, chunk: int = 1) -> int:
    """How much of what is ``held`` an answer to ``ids`` can keep: all but the last of ``ids`` at most.

    With ``num_canonical``, the tokens that were read in chunks from the beginning on, only whole ones of these.
    """
    limit = min(len(held), len(ids) - 1)
    differs = np.flatnonzero(held[:limit] != ids[:limit])
    shared = int(differs[0]) if len(differs) else max(0, limit)
    return shared if num_canonical is None else min(shared, num_canonical) // chunk * chunk
