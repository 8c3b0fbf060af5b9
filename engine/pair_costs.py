"""What passes of a loaded target and its draft cost: measured in idle time, kept for the next start, corrected by use.

Owns the pacer of the pair and the number of threads. Knows no prompt and no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

from engine import threads
from engine.cost_bands import CostBands, band_of
from engine.cost_curve import BUDGET_S, POINTS
from engine.cost_store import CostStore, SavedCosts, file_facts, key_of
from engine.drafting_step import drafting_step_ms
from engine.experience_store import ExperienceStore
from engine.free_cores import FreeCores
from engine.llama import library
from engine.llama.devices import find_gpus
from engine.loading import LoadedModel
from engine.measuring import few_passes_ms, measurable, measure_passes, measure_recovery
from engine.pacer import MAX_DEPTH, Pacer
from engine.records import LoadRequest
from engine.threads import ThreadControl

HURRIED_BUDGET_S = 0.3  # somebody waits for the answer
_THREADS_SHARE = 0.25  # of a budget goes to the choice of threads, for each model
_CHECK_SIZES = (1, 4, 8)  # tokens of the passes that a kept curve is checked by
_STALE = 0.2  # a kept curve that is wrong by more than this share is measured again
_PYTHON_MATTERS_MS = 10.0  # a pass that takes longer than this hides what Python does about it
_TARGET_SIZES, _DRAFT_SIZES = (1, 8), (1,)


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
        self._target, self._draft, self._store = target, draft, store
        self._asked_threads = (request.threads, request.draft_threads)
        machine = (*library.machine_facts(), *(gpu.name for gpu in find_gpus()), request.flash_attention)
        of_target = (*_facts(target), request.threads)
        self._target_key = key_of("target", *of_target, *POINTS, *machine)
        self._draft_key = key_of("draft", *_facts(draft), request.draft_threads, *machine) if draft else ""
        self._experience = experience or ExperienceStore(None, MAX_DEPTH)
        self._pair_key = key_of(key_of("target", *of_target, *machine), self._draft_key)
        self._draft_threads = draft.context.threads if draft else 1
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

    def prepare(self, *, paced: bool) -> None:
        """Have threads, and a pacer if it is ``paced``, for an answer that somebody waits for: kept, or found quickly.

        Raises:
            DecodeError: a pass failed.
        """
        known = self._control is not None or self._take_kept()
        if paced and self.pacer is None and self._target.can_rollback:
            self._measure(HURRIED_BUDGET_S)
        elif not known:
            self._settle_threads(HURRIED_BUDGET_S)
        self._follow()

    def measure(self, budget_s: float = BUDGET_S, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Measure what is not known well, within about ``budget_s`` seconds; what was kept is only checked if it holds.

        Where ``should_stop`` says that somebody waits, a rough measurement must do until the next idle time.

        Raises:
            DecodeError: a pass failed.
        """
        rough_until = perf_counter() + HURRIED_BUDGET_S

        def hurry() -> bool:
            return perf_counter() > rough_until and should_stop()

        known = self._control is not None or self._take_kept()
        self._follow()
        fits = known and self.pacer is not None and (self._is_thorough or self._check())
        if not fits:
            self._measure(budget_s, hurry)
        elif self._bands is not None and not self._bands.is_measured:
            self._bands.add(self._bands.band, measure_passes(self._target.sequence, budget_s, hurry))
        self._is_thorough = fits or not hurry()
        self.save()

    def save(self) -> None:
        """Keep what is known for the next start."""
        if self._control is None or self._bands is None or self.pacer is None:
            return
        self._experience.put(self._pair_key, self.pacer.lessons.numbers(self.pacer.plain_ms))
        points = self._bands.measured_points(self._control.best)
        if points:
            self._store.put(self._target_key, SavedCosts(self._control.best, points))
        if self._draft is not None and self.pacer.draft_step_ms > 0.0:
            step = {0: {1: self.pacer.draft_step_ms}}
            self._store.put(self._draft_key, SavedCosts(self._draft_threads, step))

    def _take_kept(self) -> bool:
        kept = self._store.get(self._target_key)
        kept_draft = self._store.get(self._draft_key) if self._draft else None
        if kept is None or (self._draft is not None and kept_draft is None):
            return False
        if kept_draft is not None:
            self._draft_threads = kept_draft.threads
        bands = dict(kept.bands)
        first = min(bands)
        self._begin(CostBands(kept.threads, bands.pop(first), first))
        for band, points in bands.items():
            self._add_band(band, points)
        if kept_draft is not None and self.pacer is not None:
            self.pacer.draft_step_ms = kept_draft.bands[min(kept_draft.bands)][1]
        return True

    def _add_band(self, band: int, points: dict[int, float]) -> None:
        if self._bands is not None:
            self._bands.add(band, points)

    def _check(self) -> bool:
        """Whether a few quick passes take what the curve in force says; the draft's step is measured again."""
        if self._bands is None or self.pacer is None:
            return True
        found = few_passes_ms(self._target.sequence, _CHECK_SIZES)
        points = self._bands.curve.points_ms
        ratios = [found[size] / points[size] for size in _CHECK_SIZES]
        self._time_drafting()
        if all(1.0 - _STALE < ratio < 1.0 + _STALE for ratio in ratios):
            return True
        self._bands.forget_others()
        return False

    def _measure(self, budget_s: float, should_stop: Callable[[], bool] = lambda: False) -> None:
        """Choose threads, then measure the passes of the band that the cache is in, and the draft's step."""
        ends = perf_counter() + budget_s
        chosen = self._settle_threads(budget_s)
        if not self._target.can_rollback:
            return
        left_s = max(ends - perf_counter(), budget_s / 3)
        points = measure_passes(self._target.sequence, left_s, should_stop)
        band = band_of(self._target.sequence.num_past)
        if self._bands is not None and self._bands.threads == chosen and self.pacer is not None:
            self._bands.add(band, points)
            self.pacer.use(self._bands.use(chosen, band))
            if self._control is not None:
                self._control.expect(self._bands.curve.points_ms)
        else:
            self._begin(CostBands(chosen, points, band))
        self._time_drafting()

    def _time_drafting(self) -> None:
        """Take what one more drafted token takes for the first guess; it is corrected by use."""
        draft, pacer, n_vocab = self._draft, self.pacer, self._target.sequence.n_vocab
        if draft is None or pacer is None:
            return
        if pacer.plain_ms > _PYTHON_MATTERS_MS:
            pacer.draft_step_ms = drafting_step_ms(draft.sequence, n_vocab, pacer)
            return
        with measurable(self._target.sequence) as run_pass:
            pacer.draft_step_ms = drafting_step_ms(draft.sequence, n_vocab, pacer, lambda: run_pass(1))

    def _settle_threads(self, budget_s: float) -> int:
        """Choose for target and draft; the target's number."""
        share_s = budget_s * _THREADS_SHARE
        chosen = self._choose_threads(self._target, self._asked_threads[0], _TARGET_SIZES, share_s)
        if self._draft is not None:
            self._draft_threads = self._choose_threads(self._draft, self._asked_threads[1], _DRAFT_SIZES, share_s)
        self._control = self._new_control(chosen)
        self._apply_threads()
        return chosen

    def _begin(self, bands: CostBands) -> None:
        self._bands, self._control = bands, self._new_control(bands.threads)
        self._control.expect(bands.curve.points_ms)
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
        fixed = self._asked_threads[0] is not None or bool(self._target.model.gpu_layers)
        doubts = not (fixed or self._target.context.threads_change_numbers)
        most = best if fixed else library.physical_cores()
        return ThreadControl(best, most, doubts=doubts, free=FreeCores(library.idle_seconds))

    def _choose_threads(self, loaded: LoadedModel, asked: int | None, sizes: tuple[int, ...], budget_s: float) -> int:
        """The number asked for; on a GPU the default; else what is fastest here."""
        now = loaded.context.threads
        others = [count for count in threads.candidates(library.physical_cores()) if count != now]
        counts = [now, *others]
        settled = self._control is not None and loaded.context.threads_change_numbers
        if asked is not None or settled or loaded.model.gpu_layers or len(counts) == 1 or not loaded.can_rollback:
            return asked or now
        with measurable(loaded.sequence) as run_pass:
            costs_ms = threads.measure(run_pass, loaded.context.set_threads, counts, sizes, budget_s)
        chosen = threads.choose(costs_ms)
        loaded.context.set_threads(chosen)
        return chosen

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
            return ""
        self._told = control.reason
        return control.reason

    def _apply_threads(self) -> None:
        if self._control is None:
            return
        self._target.context.set_threads(self._control.threads)
        if self._draft is not None:
            # Who wants the target's cores wants the draft's as well.
            stepped_down = self._control.threads < self._control.best
            count = min(self._draft_threads, self._control.threads) if stepped_down else self._draft_threads
            self._draft.context.set_threads(count)

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
    return (*file_facts(info.path), info.cache_type, info.gpu_layers)
