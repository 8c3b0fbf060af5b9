"""Measures, stores and corrects the cost of a drafted token, and the draft model's number of threads.

A draft on a GPU keeps its number of threads, which has no effect.
"""

from __future__ import annotations

from engine.llama import library
from engine.loading.loading import Loaded
from engine.pacing.measuring import DraftingTimes, ShouldStop, choose_threads, measure_drafting, never_stop
from engine.sentences import i18n
from engine.storage.cost_store import CostStore, SavedCosts
from engine.tuning.free_cores import FreeCores
from engine.tuning.threads import ThreadControl

_SIZES = (1,)


class DraftCosts:
    """The costs of one loaded draft, stored in ``store`` under ``key``."""

    def __init__(self, draft: Loaded, asked_threads: int | None, store: CostStore, key: str) -> None:
        self.loaded, self._asked, self._store, self._key = draft, asked_threads, store, key
        self._control = self._new_control(draft.context.threads)
        self._capped = False  # whether threads are limited to the number of a target that gave up cores
        self.is_measured = False
        self.is_known = False  # measured on a quiet machine, and therefore stored
        self._notice: str = ""

    # ---- measuring --------------------------------------------------------------------------------------------------

    def load_saved(self) -> float | None:
        """Load stored costs and set the threads; return the milliseconds of a step, None if nothing is stored."""
        kept = self._store.get(self._key)
        if kept is None:
            return None
        step_ms = kept.bands[min(kept.bands)][1]
        self._control, self.is_known, self.is_measured = self._new_control(kept.threads), True, True
        self._control.expect({1: step_ms})
        return step_ms

    def save(self, step_ms: float) -> bool:
        """Store the costs if the measurement was undisturbed; True if stored."""
        is_good = step_ms > 0.0 and self.is_known and not self._capped and not self._control.is_disturbed
        if is_good:
            self._store.put(self._key, SavedCosts(self._control.best, {0: {1: step_ms}}))
        return is_good

    @property
    def threads(self) -> int:
        return self._control.best

    def choose_threads(self, budget_s: float, should_stop: ShouldStop = never_stop) -> None:
        """Measure and set the fastest number of threads.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` returned True.
        """
        chosen = choose_threads(self.loaded, self._asked, _SIZES, budget_s, should_stop=should_stop)
        self._control = self._new_control(chosen)

    def measure_step(self, n_vocab: int, should_stop: ShouldStop = never_stop) -> DraftingTimes:
        """Measure the time of one drafted token for a target with a vocabulary of ``n_vocab``.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` returned True.
        """
        times = measure_drafting(self.loaded.sequence, n_vocab, should_stop, block_size=self.loaded.block_size)
        self.is_known, self.is_measured = times.is_steady, True
        self._control.expect({1: times.step_ms})
        return times

    def _new_control(self, best: int) -> ThreadControl:
        """Other numbers are tried during answers, since ``best`` may be wrong, unless the user set the number."""
        is_fixed = self._asked is not None or bool(self.loaded.model.gpu_layers)
        most = best if is_fixed else library.physical_cores()
        return ThreadControl(best, most, free=FreeCores(library.idle_seconds) if most > best else None)

    # ---- while answering --------------------------------------------------------------------------------------------

    def apply_threads(self, target: ThreadControl | None) -> None:
        """Apply the number of threads; ``target`` is the thread control of a target on the same cores, or None."""
        capped = target is not None and target.settled < target.best
        if self._capped and not capped:  # the cores are free again, so no trials are needed
            self._control = self._new_control(self._control.best)
        self._capped = capped
        count = self._control.threads
        self.loaded.context.set_threads(min(count, target.settled) if capped and target is not None else count)

    def observe_draft_step(self, step_ms: float) -> None:
        """Record the milliseconds of a drafted token, which may change the number of threads."""
        if self._capped or self.loaded.model.gpu_layers:
            return
        before = self._control.reason
        if self._control.observe(1, step_ms):
            self.loaded.context.set_threads(self._control.threads)
        if self._control.reason != before:
            self._notice = i18n("draft model: {why}", why=self._control.reason)

    def pop_notice(self) -> str:
        """Return a sentence if the number of threads was changed since the last call, else an empty text."""
        news, self._notice = self._notice, ""
        return news
