"""Measures the cost of passes of a loaded model, without changing its cache.

Results are the minimum of a few tries instead of their mean, since a session uses the curve even if it was measured on
a busy machine. Results that another program disturbed are used, but not stored for the next start.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter, process_time

import numpy as np
import psutil

from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DecodeError
from engine.llama import library
from engine.loading.loading import Loaded
from engine.pacing.constants import BUDGET_S, CHECK_SIZES, MAX_BUSY_CORES, MAX_PASS, MEASURED_SIZES, STEADY_RATIO
from engine.pacing.graph_replay import NUM_WATCHED_PASSES
from engine.pacing.rollback_cost import RollbackCost
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler
from engine.sandbox.helper import WINDOW_PID
from engine.sequence import CachedSequence
from engine.tuning import threads

_TRIES = 3
_DRAFT_TOKENS, _DRAFT_TRIES = 4, 5
_BUDGET_S = 1.0
ShouldStop = Callable[[], bool]  # called before each pass


class Interrupted(Exception):  # noqa: N818 (not a failure)
    """``should_stop`` returned True before a measurement had enough results."""


def never_stop() -> bool:
    """``should_stop`` for measurements that an answer waits for."""
    return False


def process_cpu_seconds() -> float:
    """CPU seconds of this process and of the window's process."""
    number = os.environ.get(WINDOW_PID, "")
    if not number.isdecimal() or int(number) == os.getpid():
        return process_time()
    try:
        times = psutil.Process(int(number)).cpu_times()
    except psutil.Error:
        return process_time()
    return float(process_time() + times.user + times.system)


class ForeignCpuLoad:
    """Measures the CPU time of other programs since the object was created."""

    def __init__(self) -> None:
        self._began, self._idle_s, self._own_s = perf_counter(), library.idle_seconds(), process_cpu_seconds()

    @property
    def is_low(self) -> bool:
        """Whether other programs used little CPU time."""
        elapsed_s = perf_counter() - self._began
        if not self._idle_s:  # idle time is unknown in a sandbox
            return True
        used_s = library.physical_cores() * elapsed_s - (library.idle_seconds() - self._idle_s)
        return used_s - (process_cpu_seconds() - self._own_s) < MAX_BUSY_CORES * elapsed_s


@contextmanager
def measured_passes(sequence: CachedSequence, should_stop: ShouldStop = never_stop) -> Iterator[Callable[[int], None]]:
    """Yield a function that runs a pass of n tokens with n rows, as in verification; roll back at the end.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` returned True before a pass.
    """
    past = make_room(sequence, MAX_PASS)
    sequence.checkpoint()
    # Restoring a checkpoint is a separate cost, which must not be part of a measured pass.
    last = past if sequence.num_snapshots is None else sequence.n_ctx - MAX_PASS

    def run_pass(num_tokens: int) -> None:
        if should_stop():
            raise Interrupted
        sequence.forward([0] * num_tokens, num_tokens)
        if sequence.num_past > last:
            sequence.rollback(past)

    try:
        yield run_pass
    finally:
        sequence.rollback(past)


def measure_passes(
    sequence: CachedSequence, budget_s: float = BUDGET_S, should_stop: ShouldStop = never_stop
) -> dict[int, float]:
    """Measure passes of `MEASURED_SIZES` tokens within about ``budget_s`` seconds; return milliseconds by tokens.

    Skips sizes that probably take longer than the remaining time. Once each size was tried, ends as soon
    as ``should_stop`` returns True.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` returned True before each size was tried once.
    """
    with measured_passes(sequence, should_stop) as run_pass:
        return measure(run_pass, budget_s, should_stop)


def measure(
    run_pass: Callable[[int], None],
    budget_s: float = BUDGET_S,
    should_stop: ShouldStop = never_stop,
    clock: Callable[[], float] = perf_counter,
) -> dict[int, float]:
    """Measure like `measure_passes`; ``run_pass(n)`` decodes and drops n tokens. The first call only warms up.

    Each size is tried at least once, even beyond the budget; to stop earlier, ``run_pass`` raises.
    """
    ends = clock() + budget_s
    best: dict[int, float] = {}
    run_pass(1)
    for number in range(_TRIES):
        # One token is tried twice, since the largest pass before has evicted a tiny model from the processor's caches.
        for n in (1, *MEASURED_SIZES):
            started = clock()
            if number and should_stop():
                return best
            # Upper bound of the time of a pass, assuming that the cost per token does not grow with the size.
            if best and started > ends - min(ms * max(1.0, n / known) for known, ms in best.items()) / 1000.0:
                continue
            run_pass(n)
            elapsed_ms = (clock() - started) * 1000.0
            best[n] = min(best.get(n, elapsed_ms), elapsed_ms)
    return best


def few_passes_ms(
    sequence: CachedSequence,
    sizes: Sequence[int],
    should_stop: ShouldStop = never_stop,
    budget_s: float = _BUDGET_S,
    num_before: int = 1,
) -> dict[int, float]:
    """Measure passes of these sizes with up to `_TRIES` tries within ``budget_s``; return milliseconds by size.

    ``num_before`` plain passes warm up first.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` returned True.
    """
    best = dict.fromkeys(sizes, float("inf"))
    with measured_passes(sequence, should_stop) as run_pass:
        for _ in range(num_before):
            run_pass(1)
        ends = perf_counter() + budget_s
        for _ in range(_TRIES):
            for size in sizes:
                started = perf_counter()
                run_pass(size)
                best[size] = min(best[size], (perf_counter() - started) * 1000.0)
            if perf_counter() > ends:
                break
    return best


def measure_graph_replay(sequence: CachedSequence, should_stop: ShouldStop = never_stop) -> list[float]:
    """Return milliseconds of the plain passes right after a larger pass, each the minimum of a few tries.

    See `GraphReplayCost`.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` returned True.
    """
    least_ms = [float("inf")] * NUM_WATCHED_PASSES
    with measured_passes(sequence, should_stop) as run_pass:
        for _ in range(NUM_WATCHED_PASSES):
            run_pass(1)
        for _ in range(_TRIES):
            run_pass(CHECK_SIZES[1])
            for number in range(NUM_WATCHED_PASSES):
                started = perf_counter()
                run_pass(1)
                least_ms[number] = min(least_ms[number], (perf_counter() - started) * 1000.0)
    return least_ms


@dataclass(frozen=True, slots=True)
class DraftingTimes:
    """Milliseconds of a drafted token and of a token that is only read; ``is_steady``: undisturbed."""

    step_ms: float
    read_ms: float
    is_steady: bool


def measure_drafting(
    sequence: CachedSequence,
    n_vocab: int,
    should_stop: ShouldStop = never_stop,
    budget_s: float = _BUDGET_S,
    *,
    block_size: int = 1,
) -> DraftingTimes:
    """Measure a draft model while it drafts a few tokens for a target with ``n_vocab`` tokens, as in an answer.

    For a draft that drafts a block of several tokens at once, a step is a block. The first try only warms up.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` returned True.
    """
    # A memory with snapshots has a single checkpoint.
    before = sequence.export_state() if sequence.num_snapshots is not None else None
    if sequence.num_snapshots is not None:
        sequence.clear()
    past = make_room(sequence, MAX_PASS + _DRAFT_TOKENS)
    history = np.zeros(past + 1, dtype=np.int32)
    drafter = DraftModelDrafter(sequence, n_vocab, frozenset())
    drafter.sampler = Sampler(SamplingParams(seed=0))
    steps_s, ends, others = list[float](), perf_counter() + budget_s, ForeignCpuLoad()
    try:
        for number in range(_DRAFT_TRIES + 1):
            if should_stop():
                raise Interrupted
            started = perf_counter()
            draft = drafter.propose(history, _DRAFT_TOKENS)
            if drafter.failure:
                raise DecodeError(drafter.failure)
            if number:
                steps_s.append((perf_counter() - started) / (max(1, len(draft.ids)) if block_size == 1 else 1))
            drafter.truncate(past)
            if steps_s and perf_counter() > ends:
                break
        started = perf_counter()
        sequence.forward([0] * MAX_PASS, 0)
        read_s = (perf_counter() - started) / MAX_PASS
    finally:
        sequence.rollback(past)
        if sequence.num_snapshots is not None:
            sequence.clear()
        if before is not None:
            sequence.import_state(before)
    ordered = sorted(steps_s)
    is_steady = ordered[len(ordered) // 2] <= STEADY_RATIO * ordered[0] and others.is_low
    return DraftingTimes(ordered[0] * 1000.0, read_s * 1000.0, is_steady)


def measure_rollback(sequence: CachedSequence) -> RollbackCost | None:
    """Measure saving and restoring checkpoints; None if the memory can drop any tail.

    Raises:
        DecodeError: a pass failed.
    """
    if sequence.num_snapshots is None:
        return None
    empty = sequence.num_past == 0  # without tokens there is no state to save
    if empty:
        sequence.forward((0,), 0)
    save_s = restore_s = float("inf")
    for _ in range(_TRIES):
        started = perf_counter()
        sequence.save()
        saved = perf_counter()
        sequence.restore()
        save_s, restore_s = min(save_s, saved - started), min(restore_s, perf_counter() - saved)
    if empty:
        sequence.clear()
    return RollbackCost(sequence.num_snapshots, save_s * 1000.0, restore_s * 1000.0)


def make_room(sequence: CachedSequence, num_tokens: int) -> int:
    """Drop the cache's tail so that ``num_tokens`` fit; return the number of remaining tokens."""
    past = max(0, min(sequence.num_past, sequence.n_ctx - num_tokens))
    if not sequence.rollback(past):
        sequence.clear()
    return sequence.num_past


def choose_threads(
    loaded: Loaded,
    asked: int | None,
    sizes: tuple[int, ...],
    budget_s: float,
    *,
    should_stop: ShouldStop = never_stop,
) -> int:
    """Set and return the number of threads: ``asked`` if given, on a GPU the default, else the fastest.

    Args:
        loaded: the model; its cache does not change.
        asked: the user's number, or None.
        sizes: tokens of the passes that are compared.
        budget_s: approximate seconds for the measurement.
        should_stop: called before each pass.

    Raises:
        DecodeError: a pass failed; the number of threads is unchanged.
        Interrupted: ``should_stop`` returned True; the number of threads is unchanged.
    """
    now = loaded.context.threads
    others = [count for count in threads.candidates(library.physical_cores()) if count != now]
    counts = [now, *others]
    if asked is not None or loaded.model.gpu_layers or len(counts) == 1 or not loaded.can_rollback:
        return asked or now
    try:
        with measured_passes(loaded.sequence, should_stop) as run_pass:
            costs_ms = threads.measure(run_pass, loaded.context.set_threads, counts, sizes, budget_s)
    except (DecodeError, Interrupted):
        loaded.context.set_threads(now)
        raise
    chosen = threads.choose(costs_ms)
    loaded.context.set_threads(chosen)
    return chosen
