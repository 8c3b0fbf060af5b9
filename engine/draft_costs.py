"""What a token of a loaded draft model costs, and the threads that compute it: measured, kept, corrected by use.

Owns the number of the draft's threads. Knows the target only as what runs between its steps, and whether it gave cores
up. A draft on a graphics processor keeps its threads, which do nothing there.
"""

from __future__ import annotations

from engine.cost_store import CostStore, SavedCosts
from engine.drafting_step import drafting_step_ms
from engine.loading import LoadedModel
from engine.measuring import ShouldStop, measurable, nobody_waits
from engine.pacer import Pacer
from engine.sequence import CachedSequence
from engine.thread_choice import choose_threads
from engine.threads import ThreadControl

_PYTHON_MATTERS_MS = 10.0  # a pass of the target that takes longer than this hides what Python does about it
_SIZES = (1,)


class DraftCosts:
    """One for a loaded draft."""

    def __init__(self, draft: LoadedModel, asked_threads: int | None, store: CostStore, key: str) -> None:
        """What is found out is kept in ``store`` under ``key``."""
        self._draft, self._asked, self._store, self._key = draft, asked_threads, store, key
        self._control = self._new_control(draft.context.threads)
        self._capped = False  # by the target, which gave cores up that the draft wants as well
        self.is_known = False
        self._news = ""

    # ---- measuring --------------------------------------------------------------------------------------------------

    def take_kept(self) -> float | None:
        """What an earlier start kept: milliseconds of a step, and the threads; None where nothing was."""
        kept = self._store.get(self._key)
        if kept is None:
            return None
        step_ms = kept.bands[min(kept.bands)][1]
        self._control, self.is_known = self._new_control(kept.threads), True
        self._control.expect({1: step_ms})
        return step_ms

    def save(self, step_ms: float) -> None:
        """Keep what is known for the next start."""
        if step_ms > 0.0:
            self._store.put(self._key, SavedCosts(self._control.best, {0: {1: step_ms}}))

    def choose_threads(self, budget_s: float, should_stop: ShouldStop = nobody_waits) -> None:
        """Measure which number of threads is the fastest.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` said so.
        """
        settled = self.is_known and self._draft.context.threads_change_numbers
        chosen = choose_threads(self._draft, self._asked, _SIZES, budget_s, settled=settled, should_stop=should_stop)
        self._control = self._new_control(chosen)

    def time_step(self, target: CachedSequence, pacer: Pacer, should_stop: ShouldStop = nobody_waits) -> float:
        """Milliseconds that one more drafted token takes now.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` said so.
        """
        if pacer.plain_ms > _PYTHON_MATTERS_MS:
            step_ms = drafting_step_ms(self._draft.sequence, target.n_vocab, pacer, should_stop=should_stop)
        else:
            with measurable(target, should_stop) as run_pass:
                step_ms = drafting_step_ms(
                    self._draft.sequence, target.n_vocab, pacer, lambda: run_pass(1), should_stop=should_stop
                )
        self.is_known = True
        self._control.expect({1: step_ms})
        return step_ms

    def _new_control(self, best: int) -> ThreadControl:
        """No more threads than were found best are tried: where the draft is small, fewer are often the best."""
        return ThreadControl(best, best)

    # ---- while answering --------------------------------------------------------------------------------------------

    def follow(self, target: ThreadControl | None) -> None:
        """Put the threads in force; ``target`` is the control of a target that wants the same cores, where one does."""
        capped = target is not None and target.threads < target.best
        if self._capped and not capped:  # the cores are back, so the draft need not find that out by trials
            self._control = self._new_control(self._control.best)
        self._capped = capped
        count = self._control.threads
        self._draft.context.set_threads(min(count, target.threads) if capped and target is not None else count)

    def drafted(self, step_ms: float) -> None:
        """A token took the draft so long: another program may want its cores, or have left them."""
        if self._capped or self._draft.model.gpu_layers:
            return
        before = self._control.reason
        if self._control.observe(1, step_ms):
            self._draft.context.set_threads(self._control.threads)
        if self._control.reason != before:
            self._news = f"draft model: {self._control.reason}"

    def take_news(self) -> str:
        """A sentence where its threads changed for good since the last time, else nothing."""
        news, self._news = self._news, ""
        return news
