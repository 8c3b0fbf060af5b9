"""The costs of a loaded target and its draft: measured in idle time, stored for the next start, corrected by use.

There is one pacer, and a curve for each number of threads and each band of cache fill: attention reads the whole cache,
so passes on an empty cache say little about a long chat.
"""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence

from engine.errors import DecodeError
from engine.llama import library
from engine.llama.devices import find_gpus
from engine.loading.loading import Loaded, LoadedModel
from engine.pacing.constants import (
    BUDGET_S,
    CHECK_SIZES,
    DOUBTFUL_ERROR,
    FOREGROUND_BUDGET_S,
    MEASURED_SIZES,
    STALE_ERROR,
    THREADS_SHARE,
)
from engine.pacing.cost_curve import CostCurve, tokens_within
from engine.pacing.graph_replay import NUM_SLOW_PASSES, NUM_WATCHED_PASSES, GraphReplayCost
from engine.pacing.measuring import (
    DraftingTimes,
    ForeignCpuLoad,
    Interrupted,
    ShouldStop,
    choose_threads,
    few_passes_ms,
    measure_drafting,
    measure_graph_replay,
    measure_passes,
    measure_rollback,
    never_stop,
)
from engine.pacing.pacer import Pacer
from engine.pacing.plain_speed import band_of
from engine.records import LoadRequest
from engine.storage.cost_store import CostStore, SavedCosts, file_facts, key_of
from engine.tuning.threads import ThreadControl

log = logging.getLogger(__name__)

_TARGET_SIZES, _DRAFT_SIZES = (1, 8), (1,)  # tokens of passes that choose the number of threads
MAX_MIXED_PASS_COST = 2.5  # most cost, in plain passes, of a pass that reads prompts while others answer
DEFAULT_READ_TOKENS = 8  # prompt tokens in such a pass before costs are known
READ_RATE = 0.3  # weight of such a pass in ``_read_excess``
_MIN_SAVED_SIZE = 8  # tokens; a curve without a pass at least this large is not stored


class PairCosts:
    """The costs of one loaded target and draft; `pacer` is set once costs are known."""

    def __init__(
        self,
        target: LoadedModel,
        draft: Loaded | None,
        request: LoadRequest,
        store: CostStore,
    ) -> None:
        self.pacer: Pacer | None = None
        self._target, self._store, self._asked_threads = target, store, request.threads
        machine = (*library.machine_facts(), *(gpu.description for gpu in find_gpus()), target.info.flash_attention)
        of_target = (*_identity(target), request.threads)
        self._target_key = key_of("passes of target", *of_target, *MEASURED_SIZES, *machine)
        self._shape_key = key_of("shape", bool(target.info.gpu_layers), *machine)
        draft_key = key_of("drafted token", *_identity(draft), request.draft_threads, *machine) if draft else ""
        self._draft = DraftCosts(draft, request.draft_threads, store, draft_key) if draft else None
        self._graph_replay = GraphReplayCost() if target.info.gpu_layers else None
        self._control: ThreadControl | None = None
        self._curves: dict[tuple[int, int], CostCurve] = {}  # by threads and band of cache fill
        self._measured: set[tuple[int, int]] = set()  # keys of curves that were measured well enough to be stored
        self._is_checked = False
        self._reported = ""
        self._main: PairCosts | None = None  # the first slot's costs, if this object is for another slot
        self._read_excess = 1.0  # measured time of passes that read prompts, relative to the curve

    def of_slot(self, target: LoadedModel) -> PairCosts:
        """Return the costs for another slot of the same contexts.

        Slots share measurements, but not statistics of acceptance.
        """
        other = copy.copy(self)
        other._main, other._target, other.pacer = self, target, None  # noqa: SLF001  (of the same class)
        return other

    def _share_with(self, main: PairCosts) -> None:
        self._control, self._is_checked = main._control, True
        self._select_curve()
        if self.pacer is not None and main.pacer is not None:
            self.pacer.stats_by_kind = copy.deepcopy(main.pacer.stats_by_kind)
            self.pacer.use_draft_prices(main.pacer.prices.draft_step_ms, main.pacer.prices.draft_read_ms)

    # ---- measuring --------------------------------------------------------------------------------------------------

    @property
    def needs_measuring(self) -> bool:
        if not self._target.can_rollback or (self._control and self._control.is_disturbed):
            return False
        return not self._is_checked or self._curve_key not in self._measured

    @property
    def _curve_key(self) -> tuple[int, int]:
        threads = self._control.threads if self._control is not None else 0
        return threads, band_of(self._target.sequence.num_past)

    def prepare(self, *, paced: bool, should_stop: ShouldStop = never_stop) -> None:
        """Set threads and (if ``paced``) a pacer for an answer, from stored costs or a quick measurement.

        If ``should_stop`` returns True, the next answer continues.

        Raises:
            DecodeError: a pass failed.
        """
        if self._main is not None:
            self._share_with(self._main)
            return
        try:
            self._load_saved()
            if self._control is None:
                self._choose_thread_counts(FOREGROUND_BUDGET_S, should_stop)
            if paced and self.pacer is None and self._target.can_rollback:
                others = ForeignCpuLoad()
                points = measure_passes(self._target.sequence, FOREGROUND_BUDGET_S, should_stop)
                self._use_points(points, doubted=not others.is_low)
            if paced and self._draft is not None and not self._draft.is_measured:
                self._measure_draft(FOREGROUND_BUDGET_S, should_stop)
            if paced and self._graph_replay is not None and not self._graph_replay.is_measured:
                self._measure_graph_replay(should_stop)
        except Interrupted:
            pass
        except DecodeError:
            if not should_stop():  # stopping an answer may interrupt a pass
                raise
        self._select_curve()

    def measure(self, budget_s: float = BUDGET_S, should_stop: ShouldStop = never_stop) -> None:
        """Measure missing costs within about ``budget_s`` seconds; stored costs are only checked.

        Ends if ``should_stop`` returns True before a pass or after a failed one, and continues in the next idle time.
        An answer that needs costs earlier measures them itself, in less time.

        Raises:
            DecodeError: a pass failed.
        """
        try:
            self._measure_what_is_missing(budget_s, should_stop)
        except Interrupted:
            return
        except DecodeError:
            if not should_stop():  # a waiting request may interrupt a pass
                raise
            return
        self.save()

    def _measure_what_is_missing(self, budget_s: float, should_stop: ShouldStop) -> None:
        self._load_saved()
        is_first = self._control is None
        if is_first:
            self._choose_thread_counts(budget_s, should_stop)
        self._select_curve()
        if not self._target.can_rollback:
            self._is_checked = True
            return
        fits = self._curve_key in self._measured and (self._is_checked or self._check(STALE_ERROR, should_stop))
        if not fits:
            if not is_first:  # chosen in a hurry, on a busy machine, or on another machine
                self._choose_thread_counts(budget_s, should_stop)
            if self._curve_key in self._measured:  # the stored curve was wrong, so the others are wrong too
                for key in self._curves.keys() - {self._curve_key}:
                    del self._curves[key]
                self._measured.clear()
            # Measure the current curve; if a check right afterwards disagrees, measure again and use the minima.
            # Otherwise a size whose measurement was disturbed might never be tried.
            others = ForeignCpuLoad()
            points = measure_passes(self._target.sequence, budget_s, should_stop)
            self._use_points(points, doubted=not others.is_low)
            if not self._check(DOUBTFUL_ERROR, should_stop):
                again = measure_passes(self._target.sequence, budget_s, should_stop)
                points = {n: min(again.get(n, ms), ms) for n, ms in points.items()}
                self._use_points(points, doubted=not others.is_low)
            if others.is_low:
                self._measured.add(self._curve_key)
        self._measure_draft(budget_s, should_stop)
        self._measure_graph_replay(should_stop)
        self._is_checked = fits or not should_stop()

    def _measure_graph_replay(self, should_stop: ShouldStop) -> None:
        """Measure the extra cost after larger passes if that is quick; otherwise it is learnt from answers."""
        if self._graph_replay is None or self.pacer is None:
            return
        if 4 * NUM_WATCHED_PASSES * self.pacer.curve.cost_ms(1) < FOREGROUND_BUDGET_S * 1000.0:
            self._graph_replay.use_measured(measure_graph_replay(self._target.sequence, should_stop))

    def _check(self, most_off: float, should_stop: ShouldStop) -> bool:
        """Whether the times of a few passes match the current curve."""
        known = self._curves[self._curve_key].known_ms
        sizes = [size for size in CHECK_SIZES if size in known]
        num_before = 1 if self._graph_replay is None else NUM_SLOW_PASSES
        found = few_passes_ms(self._target.sequence, sizes, should_stop, num_before=num_before)
        return all(1.0 - most_off < ms / known[size] < 1.0 + most_off for size, ms in found.items())

    def _use_points(self, points_ms: dict[int, float], *, doubted: bool = False) -> None:
        """Use a measurement for the current threads and fill of the cache."""
        key = self._curve_key
        if key not in self._curves:
            self._curves[key] = CostCurve({1: points_ms[1]}, self._shape())
        self._curves[key].replace(points_ms, doubted=doubted)
        if self._control is not None:
            self._control.expect(points_ms)
        self._select_curve()

    def _shape(self) -> dict[int, float] | None:
        """Relative costs of passes on this machine, as measured on another model."""
        kept = self._store.get(self._shape_key)
        return kept.bands[min(kept.bands)] if kept is not None else None

    def _choose_thread_counts(self, budget_s: float, should_stop: ShouldStop = never_stop) -> None:
        share_s = budget_s * THREADS_SHARE
        chosen = choose_threads(self._target, self._asked_threads, _TARGET_SIZES, share_s, should_stop=should_stop)
        self._control = self._new_control(chosen)
        self._apply_threads()

    def _measure_draft(self, budget_s: float, should_stop: ShouldStop = never_stop) -> None:
        """Measure the draft if unknown; if the target's curve is only checked, measure the draft's step again."""
        if self._draft is None or self.pacer is None or (self._draft.is_known and self._is_checked):
            return
        try:
            if not self._draft.is_known:
                self._draft.choose_threads(budget_s * THREADS_SHARE, should_stop)
                self._apply_threads()
            times = self._draft.measure_step(self._target.sequence.n_vocab, should_stop)
        except DecodeError as error:  # not fatal: a draft that fails in an answer is reported then
            log.info("the draft could not be measured: %s", error.message)
            return
        self.pacer.use_draft_prices(times.step_ms, times.read_ms)

    # ---- stored -----------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Store reliable costs for the next start."""
        if self._control is None or self.pacer is None:
            return
        best = self._control.best
        bands = {band: self._curves[threads, band].known_ms for threads, band in self._measured if threads == best}
        bands = {band: points for band, points in bands.items() if max(points) >= _MIN_SAVED_SIZE}
        if bands and not self._control.is_disturbed:
            self._store.put(self._target_key, SavedCosts(best, bands))
            points = bands[min(bands)]
            self._store.put(self._shape_key, SavedCosts(best, {0: {n: ms / points[1] for n, ms in points.items()}}))
        if self._draft is not None and not self._control.is_disturbed:
            self._draft.save(self.pacer.prices.draft_step_ms)

    def _load_saved(self) -> None:
        """Load the costs of an earlier start, if none are known yet."""
        kept = self._store.get(self._target_key) if self._control is None else None
        if kept is None:
            return
        self._control = self._new_control(kept.threads)
        for band, points in kept.bands.items():
            self._curves[kept.threads, band] = CostCurve(points, self._shape())
            self._measured.add((kept.threads, band))
        self._apply_threads()
        self._select_curve()
        self._control.expect(kept.bands[min(kept.bands)])
        step_ms = self._draft.load_saved() if self._draft is not None else None
        if step_ms is not None and self.pacer is not None:
            self.pacer.use_draft_prices(step_ms)
            self._apply_threads()

    def _new_control(self, best: int) -> ThreadControl:
        """The control tries no other numbers if the user set one, or on a GPU.

        Fewer threads than cores are doubted: the number may come from a disturbed measurement, and costs much if wrong.
        """
        fixed = self._asked_threads is not None or bool(self._target.model.gpu_layers)
        most = best if fixed else library.physical_cores()
        return ThreadControl(best, most, doubts=not fixed)

    # ---- while answering --------------------------------------------------------------------------------------------

    def observe_passes(self, num_tokens: int, passes_ms: Sequence[float]) -> str:
        """Record passes; return a sentence if the number of threads was changed, else an empty text."""
        control = self._control
        if control is None:
            return ""
        settled = control.settled
        for milliseconds in passes_ms:
            if control.observe(num_tokens, milliseconds):
                self._apply_threads()
                break  # later passes of the run had the previous number of threads
        if control.settled != settled:  # the draft's threads depend on the target's
            self._apply_threads()
        self._select_curve()
        if control.reason == self._reported:
            return ""
        self._reported = control.reason
        return control.reason

    def observe_joined_pass(self, num_tokens: int, milliseconds: float, num_read: int = 0) -> None:
        """Record a pass of the target that several answers shared.

        A pass that read ``num_read`` tokens of prompts only corrects `read_budget`, since attention to the prompts'
        caches changes its time.
        """
        if self.pacer is not None and num_read:
            excess = milliseconds / self.pacer.curve.cost_ms(num_tokens)
            self._read_excess += (excess - self._read_excess) * READ_RATE
            return
        if self.pacer is not None:
            self.pacer.observe_pass(num_tokens, milliseconds)
        self.observe_passes(num_tokens, (milliseconds,))

    def read_budget(self, num_tokens: int) -> int:
        """How many prompt tokens a pass with ``num_tokens`` of answers may add without delaying the answers much."""
        if self.pacer is None:
            return DEFAULT_READ_TOKENS
        curve = self.pacer.curve
        return tokens_within(
            curve.costs_ms, num_tokens, MAX_MIXED_PASS_COST * curve.cost_ms(1) / max(self._read_excess, 1.0)
        )

    def _apply_threads(self) -> None:
        if self._control is None:
            return
        self._target.context.set_threads(self._control.threads)
        if self._draft is not None:
            # Another program takes cores from target and draft alike. A target on a GPU uses no cores.
            is_limited = not self._target.model.gpu_layers and self._control.settled < self._control.best
            most = self._control.settled if is_limited else self._draft.threads
            self._draft.loaded.context.set_threads(min(self._draft.threads, most))

    def _select_curve(self) -> None:
        """Use the curve for the current threads and cache fill."""
        if not self._curves or self._control is None:
            return
        key = self._curve_key
        if key not in self._curves:
            self._curves[key] = CostCurve(self._nearest_curve(key).known_ms, self._shape(), guessed=True)
        curve = self._curves[key]
        if self.pacer is None:
            self.pacer = Pacer(curve, rollback=measure_rollback(self._target.sequence), graph_replay=self._graph_replay)
            self.pacer.prices.block_size = self._draft.loaded.block_size if self._draft is not None else 1
        elif self.pacer.curve is not curve:
            self.pacer.use_curve(curve)

    def _nearest_curve(self, key: tuple[int, int]) -> CostCurve:
        """The most similar curve: by number of threads, then by band; of equally near bands the lower."""
        threads, band = key
        return self._curves[
            min(self._curves, key=lambda one: (one[0] != threads, abs(one[0] - threads), abs(one[1] - band), one[1]))
        ]


def _identity(loaded: Loaded) -> tuple[object, ...]:
    info = loaded.info
    kind = (info.head_method,) if info.head_method else ()  # the head may be in the target's file
    return (*file_facts(info.path), info.cache_type, info.gpu_layers, *info.placement.cache_key, *kind)


class DraftCosts:
    """The cost of a drafted token and the threads of one loaded draft, stored in ``store`` under ``key``.

    A draft on a GPU keeps its number of threads, which has no effect.
    """

    def __init__(self, draft: Loaded, asked_threads: int | None, store: CostStore, key: str) -> None:
        self.loaded, self._asked, self._store, self._key = draft, asked_threads, store, key
        self.threads = draft.context.threads  # the fastest number
        self.is_measured = False
        self.is_known = False  # measured on a quiet machine, and therefore stored

    def load_saved(self) -> float | None:
        """Load stored costs and threads; return the milliseconds of a step, None if nothing is stored."""
        kept = self._store.get(self._key)
        if kept is None:
            return None
        self.threads, self.is_known, self.is_measured = kept.threads, True, True
        return kept.bands[min(kept.bands)][1]

    def save(self, step_ms: float) -> None:
        """Store the costs of an undisturbed measurement."""
        if step_ms > 0.0 and self.is_known:
            self._store.put(self._key, SavedCosts(self.threads, {0: {1: step_ms}}))

    def choose_threads(self, budget_s: float, should_stop: ShouldStop = never_stop) -> None:
        """Measure and set the fastest number of threads.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` returned True.
        """
        self.threads = choose_threads(self.loaded, self._asked, _DRAFT_SIZES, budget_s, should_stop=should_stop)

    def measure_step(self, n_vocab: int, should_stop: ShouldStop = never_stop) -> DraftingTimes:
        """Measure the time of one drafted token for a target with a vocabulary of ``n_vocab``.

        Raises:
            DecodeError: a pass failed.
            Interrupted: ``should_stop`` returned True.
        """
        times = measure_drafting(self.loaded.sequence, n_vocab, should_stop, block_size=self.loaded.block_size)
        self.is_known, self.is_measured = times.is_steady, True
        return times
