"""What a token of a loaded draft model costs, and the threads that compute it: measured, kept, corrected by use.

A draft on a graphics processor keeps its threads, which do nothing there.
"""

from __future__ import annotations

from engine.llama import library
from engine.loading.loading import Loaded
from engine.pacing.measuring import DraftingTimes, ShouldStop, measure_drafting, never_stop
from engine.pacing.thread_choice import choose_threads
from engine.sentences import said
from engine.storage.cost_store import CostStore, SavedCosts
from engine.tuning.free_cores import FreeCores
from engine.tuning.threads import ThreadControl

_SIZES = (1,)


class DraftCosts:
    """One for a loaded draft."""

    def __init__(self, draft: Loaded, asked_threads: int | None, store: CostStore, key: str) -> None:
        """Keep what is found out in ``store`` under ``key``."""
        self._draft, self._asked, self._store, self._key = draft, asked_threads, store, key
        self._control = self._new_control(draft.context.threads)
        self._capped = False  # by the target, which gave cores up that the draft wants as well
        self.is_measured = False
        self.is_known = False  # well enough to be kept: neither in a hurry nor beside another program
        self._notice: str = ""

    # ---- measuring --------------------------------------------------------------------------------------------------

    def load_saved(self) -> float | None:
        """Give what an earlier start kept: milliseconds of a step, and the threads; None where nothing was."""
        kept = self._store.get(self._key)
        if kept is None:
            return None
        step_ms = kept.bands[min(kept.bands)][1]
        self._control, self.is_known, self.is_measured = self._new_control(kept.threads), True, True
        self._control.expect({1: step_ms})
        return step_ms

    def save(self, step_ms: float) -> bool:
        """Keep what is known for the next start, where nothing disturbed it; whether it was kept."""
        is_good = step_ms > 0.0 and self.is_known and not self._capped and not self._control.is_disturbed
        if is_good:
            self._store.put(self._key, SavedCosts(self._control.best, {0: {1: step_ms}}))
        return is_good

    @property
    def loaded(self) -> Loaded:
        """The draft model."""
        return self._draft

    @property
    def threads(self) -> int:
        """The number that was found to be the best."""
        return self._control.best

    def choose_threads(self, budget_s: float, should_stop: ShouldStop = never_stop) -> None:
        """Measure which number of threads is the fastest.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` said so.
        """
        chosen = choose_threads(self._draft, self._asked, _SIZES, budget_s, should_stop=should_stop)
        self._control = self._new_control(chosen)

    def measure_step(self, n_vocab: int, should_stop: ShouldStop = never_stop) -> DraftingTimes:
        """Give what one more token takes now, drafted for a target of ``n_vocab`` tokens.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` said so.
        """
        times = measure_drafting(self._draft.sequence, n_vocab, should_stop, block=self._draft.block)
        self.is_known, self.is_measured = times.is_steady, True
        self._control.expect({1: times.step_ms})
        return times

    def _new_control(self, best: int) -> ThreadControl:
        """The best may have been found in a disturbed moment, so others are tried; where it was asked for, none are."""
        is_fixed = self._asked is not None or bool(self._draft.model.gpu_layers)
        most = best if is_fixed else library.physical_cores()
        return ThreadControl(best, most, free=FreeCores(library.idle_seconds) if most > best else None)

    # ---- while answering --------------------------------------------------------------------------------------------

    def apply_threads(self, target: ThreadControl | None) -> None:
        """Put the threads in force; ``target`` is the control of a target that wants the same cores, where one does."""
        capped = target is not None and target.settled < target.best
        if self._capped and not capped:  # the cores are back, so the draft need not find that out by trials
            self._control = self._new_control(self._control.best)
        self._capped = capped
        count = self._control.threads
        self._draft.context.set_threads(min(count, target.settled) if capped and target is not None else count)

    def observe_draft_step(self, step_ms: float) -> None:
        """Record the milliseconds of a drafted token: another program may want its cores, or have left them."""
        if self._capped or self._draft.model.gpu_layers:
            return
        before = self._control.reason
        if self._control.observe(1, step_ms):
            self._draft.context.set_threads(self._control.threads)
        if self._control.reason != before:
            self._notice = said("draft model: {why}", why=self._control.reason)

    def pop_notice(self) -> str:
        """Give a sentence where its threads changed for good since the last time, else nothing."""
        news, self._notice = self._notice, ""
        return news
