"""What passes of a loaded target and its draft cost: measured in idle time, kept for the next start, corrected by use.

Owns the pacer of the pair and the number of threads. Knows no prompt and no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter

from engine.cost_bands import CostBands, band_of
from engine.cost_curve import BUDGET_S, POINTS
from engine.cost_store import CostStore, SavedCosts, file_facts, key_of
from engine.draft_costs import DraftCosts
from engine.errors import DecodeError
from engine.experience_store import ExperienceStore
from engine.free_cores import FreeCores
from engine.llama import library
from engine.llama.devices import find_gpus
from engine.loading import LoadedModel
from engine.measuring import (
    Interrupted,
    ShouldStop,
    few_passes_ms,
    measure_passes,
    measure_recovery,
    nobody_waits,
)
from engine.pacer import MAX_DEPTH, Pacer
from engine.records import LoadRequest
from engine.thread_choice import choose_threads
from engine.threads import ThreadControl

HURRIED_BUDGET_S = 0.3  # somebody waits for the answer
_THREADS_SHARE = 0.25  # of a budget goes to the choice of threads, for each model
_CHECK_SIZES = (1, 4, 8, 16)  # tokens of the passes that a curve is checked by
_STALE = 0.2  # a curve that is wrong by more than this share is measured again
_DOUBTFUL = 0.1  # the same for a curve that was measured a moment ago
_TARGET_SIZES = (1, 8)


class PairCosts:
    """One for a loaded target and draft; `pacer` is there as soon as anything is known."""

    def __init__(
        self,
        target: LoadedModel,
        draft: LoadedModel | None,
        request: LoadRequest,
        store: CostStore,
        experience: ExperienceStore | None = None,
    ) -> None:
        self.pacer: Pacer | None = None
        self._target, self._store, self._asked_threads = target, store, request.threads
        machine = (*library.machine_facts(), *(gpu.name for gpu in find_gpus()), target.info.flash_attention)
        of_target = (*_facts(target), request.threads)
        self._target_key = key_of("known of target", *of_target, *POINTS, *machine)
        draft_key = key_of("draft", *_facts(draft), request.draft_threads, *machine) if draft else ""
        self._draft = DraftCosts(draft, request.draft_threads, store, draft_key) if draft else None
        self._experience = experience or ExperienceStore(None, MAX_DEPTH)
        self._pair_key = key_of(key_of("target", *of_target, *machine), draft_key)
        self._control: ThreadControl | None = None
        self._bands: CostBands | None = None
        self._is_thorough = False
        self._told = ""

    # ---- measuring --------------------------------------------------------------------------------------------------

    @property
    def needs_measuring(self) -> bool:
        """Whether idle time would be well spent on `measure`."""
        if not self._target.can_rollback or (self._control and self._control.is_disturbed):
            return False
        return not self._is_thorough or (self._bands is not None and not self._bands.is_measured)

    def prepare(self, *, paced: bool, should_stop: ShouldStop = nobody_waits) -> None:
        """Have threads, and a pacer if it is ``paced``, for an answer that somebody waits for: kept, or found quickly.

        Where ``should_stop`` says that the answer is no longer wanted, what is missing is left to the next one.

        Raises:
            DecodeError: a pass failed.
        """
        try:
            known = self._control is not None or self._take_kept()
            if paced and self.pacer is None and self._target.can_rollback:
                self._measure(HURRIED_BUDGET_S, should_stop)
            elif not known:
                self._settle_threads(HURRIED_BUDGET_S, should_stop)
            self._know_draft(HURRIED_BUDGET_S, should_stop)
        except Interrupted:
            pass
        except DecodeError:
            if not should_stop():  # who stops an answer may end a pass in the middle
                raise
        self._follow()

    def measure(self, budget_s: float = BUDGET_S, should_stop: ShouldStop = nobody_waits) -> None:
        """Measure what is not known well, within about ``budget_s`` seconds; what was kept is only checked if it holds.

        Where ``should_stop``, which is asked before each pass and where one failed, says that somebody waits, it ends
        there, and goes on in the next idle time: an answer that needs costs measures them itself, in less.

        Raises:
            DecodeError: a pass failed.
        """
        try:
            self._measure_what_is_missing(budget_s, should_stop)
        except Interrupted:
            return
        except DecodeError:
            if not should_stop():  # who waits may end a pass in the middle
                raise
            return
        self.save()

    def _measure_what_is_missing(self, budget_s: float, should_stop: ShouldStop) -> None:
        known = self._control is not None or self._take_kept()
        self._know_draft(budget_s, should_stop)
        self._follow()
        fits = known and self.pacer is not None and (self._is_thorough or self._check(should_stop))
        if not fits:
            self._measure(budget_s, should_stop)
            if not self._check(should_stop, _DOUBTFUL):  # one size met another program, and might never be tried again
                self._measure(budget_s, should_stop, once_more=True)
        elif self._bands is not None and self.pacer is not None and not self._bands.is_measured:
            points = measure_passes(self._target.sequence, budget_s, should_stop)
            self._take_points(self._bands, self.pacer, self._bands.band, points)
        self._is_thorough = fits or not should_stop()

    def doubt(self) -> None:
        """Passes were far quicker than the curve in force says: idle time has to look at it again."""
        self._is_thorough = False

    def save(self) -> None:
        """Keep what is known for the next start."""
        if self._control is None or self._bands is None or self.pacer is None:
            return
        self._experience.put(self._pair_key, self.pacer.lessons.numbers(self.pacer.plain_ms))
        points = self._bands.measured_points(self._control.best)
        if points:
            self._store.put(self._target_key, SavedCosts(self._control.best, points))
        if self._draft is not None:
            self._draft.save(self.pacer.draft_step_ms)

    def _take_kept(self) -> bool:
        """Whether the target's costs were kept; then `_know_draft` sees to the draft's."""
        kept = self._store.get(self._target_key)
        if kept is None:
            return False
        kept_step_ms = self._draft.take_kept() if self._draft else None
        bands = dict(kept.bands)
        first = min(bands)
        self._begin(CostBands(kept.threads, bands.pop(first), first))
        for band, points in bands.items():
            self._add_band(band, points)
        if kept_step_ms is not None and self.pacer is not None:
            self.pacer.draft_step_ms = kept_step_ms
        return True

    def _know_draft(self, budget_s: float, should_stop: ShouldStop = nobody_waits) -> None:
        """Where the target is known and the draft is not, another than the last, measure the draft alone."""
        if self._draft is not None and self.pacer is not None and not self._draft.is_known:
            self._draft.choose_threads(budget_s * _THREADS_SHARE, should_stop)
            self._apply_threads()
            self._time_drafting(should_stop)

    def _add_band(self, band: int, points: dict[int, float]) -> None:
        if self._bands is not None:
            self._bands.add(band, points)

    def _check(self, should_stop: ShouldStop, most_off: float = _STALE) -> bool:
        """Whether a few quick passes take what the curve in force says; the draft's step is measured again."""
        if self._bands is None or self.pacer is None:
            return True
        known = self._bands.curve.known_ms
        found = few_passes_ms(self._target.sequence, [size for size in _CHECK_SIZES if size in known], should_stop)
        self._time_drafting(should_stop)
        if all(1.0 - most_off < ms / known[size] < 1.0 + most_off for size, ms in found.items()):
            return True
        self._bands.forget_others()
        return False

    def _measure(self, budget_s: float, should_stop: ShouldStop = nobody_waits, *, once_more: bool = False) -> None:
        """Choose threads, then measure the passes of the band that the cache is in, and the draft's step.

        ``once_more``: right after the last time; the least of both is believed.
        """
        ends = perf_counter() + budget_s
        chosen = self._settle_threads(budget_s, should_stop)
        if not self._target.can_rollback:
            return
        left_s = max(ends - perf_counter(), budget_s / 3)
        points = measure_passes(self._target.sequence, left_s, should_stop)
        band = band_of(self._target.sequence.num_past)
        if self._bands is not None and self._bands.threads == chosen and self.pacer is not None:
            if once_more and self._bands.band == band:
                before = self._bands.curve.known_ms
                points = {n: min(ms, before.get(n, ms)) for n, ms in points.items()}
            self._take_points(self._bands, self.pacer, band, points)
            if self._control is not None:
                self._control.expect(self._bands.curve.known_ms)
        else:
            self._begin(CostBands(chosen, points, band))
        self._time_drafting(should_stop)

    @staticmethod
    def _take_points(bands: CostBands, pacer: Pacer, band: int, points: dict[int, float]) -> None:
        """Put what was measured in force; what was learnt by a curve that is corrected so is scaled to it."""
        curve, before_ms = pacer.curve, pacer.curve.cost_ms(1)
        bands.add(band, points)
        pacer.use(bands.use(bands.threads, band))
        if pacer.curve is curve:
            pacer.lessons.scale(curve.cost_ms(1) / before_ms)

    def _time_drafting(self, should_stop: ShouldStop = nobody_waits) -> None:
        """Take what one more drafted token takes for the first guess; it is corrected by use."""
        if self._draft is not None and self.pacer is not None:
            self.pacer.draft_step_ms = self._draft.time_step(self._target.sequence, self.pacer, should_stop)

    def _settle_threads(self, budget_s: float, should_stop: ShouldStop = nobody_waits) -> int:
        """Choose for target and draft; the target's number."""
        share_s = budget_s * _THREADS_SHARE
        settled = self._control is not None and self._target.context.threads_change_numbers
        chosen = choose_threads(
            self._target, self._asked_threads, _TARGET_SIZES, share_s, settled=settled, should_stop=should_stop
        )
        if self._draft is not None:
            self._draft.choose_threads(share_s, should_stop)
        self._control = self._new_control(chosen)
        self._apply_threads()
        return chosen

    def _begin(self, bands: CostBands) -> None:
        self._bands, self._control = bands, self._new_control(bands.threads)
        self._control.expect(bands.curve.known_ms)
        self._apply_threads()
        if self.pacer is None:
            self.pacer = Pacer(bands.curve, recovery=measure_recovery(self._target.sequence))
            self.pacer.lessons.restore(self._experience.get(self._pair_key), self.pacer.plain_ms)
        else:
            self.pacer.use(bands.curve)

    def _new_control(self, best: int) -> ThreadControl:
        """No others are tried where a number was asked for and on a GPU; no fewer where that changes the logits.

        More are: on fewer threads than cores the choice may have fallen in a disturbed moment, and would cost much.
        """
        fixed = self._asked_threads is not None or bool(self._target.model.gpu_layers)
        doubts = not (fixed or self._target.context.threads_change_numbers)
        most = best if fixed else library.physical_cores()
        return ThreadControl(best, most, doubts=doubts, free=FreeCores(library.idle_seconds))

    # ---- while answering --------------------------------------------------------------------------------------------

    def passed(self, num_tokens: int, passes_ms: Sequence[float]) -> str:
        """Passes of the target took so long. A sentence where the number of threads changed for good, else nothing."""
        control = self._control
        if control is None:
            return ""
        for milliseconds in passes_ms:
            if control.observe(num_tokens, milliseconds):
                self._apply_threads()
                break  # the others ran with the threads of before, and would be taken for those of now
        self._follow()
        if control.reason == self._told:
            return self._draft.take_news() if self._draft is not None else ""
        self._told = control.reason
        return control.reason

    def drafted(self, step_ms: float) -> None:
        """A token took the draft model so long."""
        if self._draft is not None:
            self._draft.drafted(step_ms)

    def _apply_threads(self) -> None:
        if self._control is None:
            return
        self._target.context.set_threads(self._control.threads)
        if self._draft is not None:
            # Who wants the target's cores wants the draft's as well; a target on a GPU wants none.
            self._draft.follow(None if self._target.model.gpu_layers else self._control)

    def _follow(self) -> None:
        """Put the curve in force that belongs to the threads and to how full the cache is."""
        bands, control = self._bands, self._control
        if bands is None or control is None or self.pacer is None:
            return
        band = band_of(self._target.sequence.num_past)
        if band != bands.band or control.threads != bands.threads:
            self.pacer.use(bands.use(control.threads, band))


def _facts(loaded: LoadedModel) -> tuple[object, ...]:
    info = loaded.info
    return (*file_facts(info.path), info.cache_type, info.key_type, info.gpu_layers)
