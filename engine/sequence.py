"""A model and the ids in its cache, so that the next prompt decodes only new tokens.

Rollback works for every memory: if it cannot drop a tail, it returns to a checkpoint, and the next pass decodes the
remaining tokens again. The ids of pictures are negative: the run of a picture is reused or decoded as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.errors import DecodeError, EngineError
from engine.interfaces import Batch, Candidates, JoinedPass, LanguageModel, PictureRun, PictureRuns, Rows, TokenIds
from engine.sampling.sampler import History

MAX_PENDING = 8  # up to this number of pending tokens the next pass includes them; more get a separate pass
_UNKNOWN_ID = -1  # id of a token whose run is unknown in this process
_MIN_TIMED = 64  # tokens; a shorter prefill says little about the speed of longer ones
_MAX_WITH_PENDING = 64  # largest pass, in tokens, that includes pending tokens
_MIN_SHARED = 32  # a sequence copies the prefix of another if that saves at least this number of tokens
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class CachedRun:
    """A run in a saved state that begins at token ``index``, identified by its name (see `PictureRuns`)."""

    index: int
    name: str
    num_tokens: int
    num_positions: int


@dataclass(frozen=True, slots=True)
class SequenceState:
    """The content of a sequence: ids [n], and the exported bytes of the model's cache.

    Negative ids are valid in this process only; another process identifies them by ``runs``.
    """

    ids: History
    data: NDArray[np.uint8]
    runs: tuple[CachedRun, ...] = ()

    @property
    def num_bytes(self) -> int:
        return int(self.data.nbytes + self.ids.nbytes)


# Called with the ids that are about to be decoded, before the cache changes.
BeforeReuse = Callable[[History], None]


class CachedSequence:
    """Implements `LanguageModel` and records ids; only this class calls the model's ``forward`` and ``rollback``."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._ids: History = np.zeros(model.n_ctx, dtype=np.int32)
        self._forward = model.forward
        self._checkpoint_ids: int | None = None  # number of tokens in the model's saved state
        self.n_vocab = model.n_vocab
        self.n_ctx = model.n_ctx
        self.n_ubatch = model.n_ubatch
        self.num_past = model.num_past
        self.num_snapshots = model.num_snapshots
        self.num_replayed = 0
        self.runs: PictureRuns | None = None  # None: the model accepts no pictures
        self.before_reuse: BeforeReuse | None = None
        self.after_pass: Callable[[], None] | None = None
        self.before_run: Callable[[], None] | None = None  # called right before a run is appended
        self.limit_reuse: Callable[[int], int] | None = None  # number of shared tokens -> how many may be reused
        self.joined_pass: JoinedPass | None = None  # the last pass, if it was joined with other sequences' passes
        self.batch: Batch | None = None
        self.prompt_speed: float | None = None  # tokens per second of the last longer prefill
        self._prompt_sources: Callable[[], Iterable[CachedSequence]] | None = None

    @property
    def ids(self) -> History:
        """The tokens in the cache [num_past]; a view."""
        return self._ids[: self.num_past]

    @property
    def num_pending(self) -> int:
        """How many tokens the next pass must decode again, since a rollback returned to a checkpoint."""
        return self.num_past - self._model.num_past

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`. Decodes pending tokens in the same pass."""
        all_ids = self._with_pending(ids) if self.num_past != self._model.num_past else ids
        try:
            rows = self._forward(all_ids, n_rows)
        except DecodeError:
            self._sync_with_model()
            raise
        self._record_ids(ids, len(all_ids))
        return rows

    def join_batch(self, batch: Batch, beside: Callable[[], Iterable[CachedSequence]]) -> None:
        """Join the passes of ``batch`` from now on; prompts may copy a prefix from the sequences ``beside``."""
        model, alone = self._model, self._model.forward
        self.batch, self._prompt_sources = batch, beside

        def forward(ids: TokenIds, n_rows: int) -> Rows:
            if batch.is_alone:
                self.joined_pass = None
                return alone(ids, n_rows)
            rows, self.joined_pass = batch.forward(model, ids, n_rows)
            return rows

        self._forward = forward

    def _run_unjoined(self, work: Callable[[], Result]) -> Result:
        """Run ``work``, whose passes cannot be joined with others."""
        batch = self.batch
        return work() if batch is None or batch.is_alone else batch.call(work)

    @property
    def num_candidates(self) -> int:
        return self._model.num_candidates

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`. Decodes pending tokens in the same pass."""
        all_ids = self._with_pending(ids) if self.num_past != self._model.num_past else ids
        try:
            candidates = self._run_unjoined(lambda: self._model.forward_candidates(all_ids))
        except DecodeError:
            self._sync_with_model()
            raise
        self._record_ids(ids, len(all_ids))
        return candidates

    def _with_pending(self, ids: TokenIds) -> TokenIds:
        past, pending = self.num_past, self.num_pending
        waiting = self._ids[past - pending : past]
        if pending + len(ids) > _MAX_WITH_PENDING or (self.runs is not None and (waiting < 0).any()):
            self.replay()
            return ids
        return [*waiting.tolist(), *ids]

    def _record_ids(self, ids: TokenIds, num_decoded: int) -> None:
        past, count = self.num_past, len(ids)
        self.num_replayed += num_decoded - count
        self.num_past = past + count
        if count == 1:  # saves a call of NumPy, which is slow right after a pass
            self._ids[past] = ids[0]
        else:
            self._ids[past : self.num_past] = ids
        if self.after_pass is not None:
            self.after_pass()

    def replay(self) -> None:
        """Decode the pending tokens now, in separate passes.

        Raises:
            DecodeError: the pass failed.
        """
        while pending := self.num_pending:
            first = self.num_past - pending
            chunk = self._ids[first : min(first + self.n_ubatch, self.num_past)]
            if self.runs is not None:
                chunk, run = self._before_run(chunk)
                if run is not None:
                    self._append_run(self.runs, run)
                    self.num_replayed += run.num_tokens
                    continue
            try:
                self._forward(chunk, 0)
            except DecodeError:
                self._sync_with_model()
                raise
            self.num_replayed += len(chunk)

    def _append_run(self, runs: PictureRuns, run: PictureRun) -> None:
        if self.before_run is not None:
            self.before_run()
        try:
            self._run_unjoined(lambda: runs.append(run))
        except EngineError:
            self._sync_with_model()
            raise

    def checkpoint(self, num_uncertain: int | None = None) -> None:
        """Save what a later `rollback` needs to drop up to ``num_uncertain`` last tokens of the next pass.

        None: rollback may span several passes. Costs nothing if the memory can drop any tail.
        """
        snapshots, past = self.num_snapshots, self._model.num_past
        if (
            snapshots is None
            or (num_uncertain is not None and num_uncertain <= snapshots)
            or self._checkpoint_ids == past
        ):
            return
        self._checkpoint_ids = past if self._model.save() else None

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`. After `checkpoint` it works for every model whose state can be saved."""
        if num_past >= self.num_past:
            return True
        if num_past < self._model.num_past and not self._model.rollback(num_past):
            if self._checkpoint_ids is None or self._checkpoint_ids > num_past:
                return False
            if not self._model.restore():
                self._sync_with_model()
                return False
        if self._checkpoint_ids is not None and num_past < self._checkpoint_ids:
            self._checkpoint_ids = None
        self.num_past = num_past
        if self.num_pending > MAX_PENDING:
            self.replay()
        return True

    def save(self) -> bool:
        self.replay()
        self._checkpoint_ids = self.num_past if self._model.save() else None
        return self._checkpoint_ids is not None

    def restore(self) -> bool:
        restored = self._checkpoint_ids is not None and self._model.restore()
        self._sync_with_model()
        return restored

    def clear(self) -> None:
        self._model.clear()
        self.num_past = 0
        self._checkpoint_ids = None

    def reuse(self, ids: History) -> int:
        """Keep the prefix that the cache shares with ``ids``, and drop the rest. Returns the number of kept tokens.

        The last of ``ids`` is never kept: decoding it gives the first row. A memory that cannot roll back is cleared.
        """
        if self.before_reuse is not None:
            self.before_reuse(ids)
        shared = self.num_shared(self.ids, ids)
        if self.limit_reuse is not None:
            shared = self._outside_runs(ids, self.limit_reuse(shared))
        if not self._roll_back_for_prompt(shared):
            self.clear()
        if self._prompt_sources is not None:
            self._share_prompt(ids, self._prompt_sources())
        return self.num_past

    def _share_prompt(self, ids: History, others: Iterable[CachedSequence]) -> None:
        """Copy the prefix of ``ids`` from the sequence that holds most of it, if that saves `_MIN_SHARED` tokens."""
        most, best = self.num_past + _MIN_SHARED - 1, None
        for other in others:
            held = other._ids[: other._model.num_past]  # noqa: SLF001  (of the same class; without pending tokens)
            shared = shared_tokens(held, ids)
            if shared > most and not (ids[:shared] < 0).any():
                most, best = shared, other
        if best is not None and self._model.copy_prefix(best._model, most):  # type: ignore[attr-defined]  # noqa: SLF001
            self._ids[:most] = ids[:most]
            self.num_past, self._checkpoint_ids = most, None
        elif best is not None:
            self.clear()

    def num_reusable(self, ids: History) -> int:
        shared = self.num_shared(self.ids, ids)
        if shared == self._model.num_past or self.num_snapshots is None:
            return min(shared, self._model.num_past)
        return self._checkpoint_ids if self._checkpoint_ids is not None and self._checkpoint_ids <= shared else 0

    def num_shared(self, held: History, ids: History) -> int:
        """How many of the cached or saved tokens ``held`` an answer to ``ids`` can reuse; see `shared_tokens`."""
        return self._outside_runs(ids, shared_tokens(held, ids))

    def _outside_runs(self, ids: History, num_shared: int) -> int:
        """Reduce ``num_shared`` so that no run is split."""
        while self.runs is not None and num_shared > 0 and (last := int(ids[num_shared - 1])) < 0:
            run = self.runs.run_of(last)
            if run is not None and last == run.ids[-1]:
                break
            num_shared -= 1 if run is None else 1 + run.ids.index(last)
        return num_shared

    def _before_run(self, ids: History) -> tuple[History, PictureRun | None]:
        """Return the part of ``ids`` before the first run; if they begin with a run, return the run as well."""
        indices = np.flatnonzero(ids < 0)
        if not len(indices):
            return ids, None
        if indices[0]:
            return ids[: indices[0]], None
        run = self.runs.run_of(int(ids[0])) if self.runs is not None else None
        if run is None or ids[0] != run.first_id:
            raise DecodeError("A picture of this conversation is no longer available.", "Send the message again.")
        return ids, run

    def export_state(self, most_bytes: int | None = None) -> SequenceState | None:
        """Return a copy of the cache; None if it is empty, cannot be exported, or takes more than ``most_bytes``.

        Raises:
            DecodeError: pending tokens could not be decoded.
        """
        self.replay()
        if not self.num_past or (most_bytes is not None and self._model.state_bytes > most_bytes):
            return None
        runs = self._held_runs()
        data = None if runs is None else self._model.export_state()
        if runs is None or data is None:
            return None
        return SequenceState(self.ids.copy(), data, runs)

    def _held_runs(self) -> tuple[CachedRun, ...] | None:
        """The runs in the cache; None if one is not known any more."""
        held = list[CachedRun]()
        for index, run in self._runs_in(self.ids):
            name = self.runs.name_of(run) if self.runs is not None and run is not None else None
            if run is None or name is None:
                return None
            held.append(CachedRun(index, name, run.num_tokens, run.num_positions))
        return tuple(held)

    def _runs_in(self, ids: History) -> Iterator[tuple[int, PictureRun | None]]:
        """Yield each run with the index of its first token; None for a run that is not known any more."""
        end = 0
        for index in np.flatnonzero(ids < 0).tolist():
            if index >= end:
                run = self.runs.run_of(int(ids[index])) if self.runs is not None else None
                end = index + (run.num_tokens if run is not None else 1)
                yield index, run

    def local_ids(self, ids: History, runs: Sequence[CachedRun]) -> History:
        """Return ``ids`` of a saved state with the negative ids that the same runs have in this process.

        Raises:
            PictureError: there are no ids left.
        """
        if not runs:
            return ids
        own = ids.copy()
        for held in runs:
            end = held.index + held.num_tokens
            if self.runs is not None:
                own[held.index : end] = self.runs.run_named(held.name, held.num_tokens, held.num_positions).ids
            else:
                own[held.index : end] = _UNKNOWN_ID
        return own

    def import_state(self, state: SequenceState) -> bool:
        """Replace the content by an exported state. False if it was refused: the cache is empty."""
        self.clear()
        num_past = len(state.ids)
        ids = self.local_ids(state.ids, state.runs)
        gaps = self._gaps_of(ids) if self.runs is not None else []
        known = num_past <= self.n_ctx and gaps is not None and (self.runs is not None or not state.runs)
        if not known or not self._model.import_state(state.data, num_past, *([gaps] if gaps else [])):
            self._sync_with_model()
            return False
        self._ids[:num_past] = ids
        self.num_past = num_past
        return True

    def _gaps_of(self, ids: History) -> list[tuple[int, int]] | None:
        """The argument ``gaps`` of `LanguageModel.import_state`; None if a run is not known."""
        gaps, gap = list[tuple[int, int]](), 0
        for index, run in self._runs_in(ids):
            if run is None:
                return None
            if run.num_positions != run.num_tokens:
                gap += run.num_tokens - run.num_positions
                gaps.append((index + run.num_tokens, gap))
        return gaps

    def _roll_back_for_prompt(self, num_past: int) -> bool:
        """Like `rollback`, but without pending tokens, since a prompt follows."""
        stays = num_past >= self._model.num_past or self._model.rollback(num_past)
        if not stays and (self._checkpoint_ids is None or self._checkpoint_ids > num_past or not self._model.restore()):
            return False
        if self._checkpoint_ids is not None and self._checkpoint_ids > self._model.num_past:
            self._checkpoint_ids = None
        self.num_past = self._model.num_past
        return True

    def _sync_with_model(self) -> None:
        """Adopt the model's number of tokens after a failed pass."""
        self.num_past = self._model.num_past
        if self._checkpoint_ids is not None and self.num_past < self._checkpoint_ids:
            self._checkpoint_ids = None

    def prefill(self, ids: History) -> Iterator[int]:
        """Decode ``ids`` without rows, in chunks; yield the number of decoded tokens after each chunk."""
        done, spent = 0, 0.0
        while done < len(ids):
            started, begin = time.perf_counter(), self.num_past
            chunk = ids[done : done + self.n_ubatch]
            if self.runs is None:
                self.forward(chunk, 0)
            else:
                self._forward_part(self.runs, ids[done:], chunk)
            done += self.num_past - begin
            spent += max(time.perf_counter() - started, 1e-6)
            if done >= _MIN_TIMED:
                self.prompt_speed = done / spent
            yield done

    def _forward_part(self, runs: PictureRuns, ids: History, chunk: History) -> None:
        """Decode ``chunk``, a prefix of ``ids``, up to its first run. If it begins with a run, decode that run."""
        text, run = self._before_run(chunk)
        if run is None:
            self.forward(text, 0)
            return
        if self.num_pending:
            self.replay()
        past = self.num_past
        self._append_run(runs, run)
        self.num_past = past + run.num_tokens
        self._ids[past : self.num_past] = ids[: run.num_tokens]


def shared_tokens(held: History, ids: History) -> int:
    """Length of the common prefix, excluding the last of ``ids``."""
    limit = min(len(held), len(ids) - 1)
    differs = np.flatnonzero(held[:limit] != ids[:limit])
    return int(differs[0]) if len(differs) else max(0, limit)
