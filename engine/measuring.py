"""Measures what passes cost on a loaded model, and leaves its cache as it was. Knows no pacer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter

from engine.cost_curve import MAX_PASS, measure
from engine.recovery import Recovery
from engine.sequence import CachedSequence

_TRIES = 3
_BUDGET_S = 1.0
ShouldStop = Callable[[], bool]  # asked before each pass


class Interrupted(Exception):  # noqa: N818 (nothing failed)
    """Somebody asked for something while it was measured; what was measured so far is not enough to be used."""


def nobody_waits() -> bool:
    """For measuring that somebody waits for."""
    return False


@contextmanager
def measurable(sequence: CachedSequence, should_stop: ShouldStop = nobody_waits) -> Iterator[Callable[[int], None]]:
    """Give a function that runs a pass of n tokens, all rows asked for, as verifying asks for them; forget them after.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` said so before one.
    """
    past = room_for(sequence, MAX_PASS)
    sequence.checkpoint()
    # The way back to a checkpoint is a cost of its own: it must not be in every pass that is measured.
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
    sequence: CachedSequence, budget_s: float, should_stop: ShouldStop = nobody_waits
) -> dict[int, float]:
    """Milliseconds of passes of 1 to `MAX_PASS` tokens; see `cost_curve.measure`.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` said so before each size was tried once.
    """
    with measurable(sequence, should_stop) as run_pass:
        return measure(run_pass, budget_s, should_stop)


def few_passes_ms(
    sequence: CachedSequence, sizes: Sequence[int], should_stop: ShouldStop = nobody_waits, budget_s: float = _BUDGET_S
) -> dict[int, float]:
    """Milliseconds of passes of these sizes, the least of a few; of one where a few take longer than ``budget_s``.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` said so.
    """
    best = dict.fromkeys(sizes, float("inf"))
    with measurable(sequence, should_stop) as run_pass:
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


def measure_recovery(sequence: CachedSequence) -> Recovery | None:
    """What rejected tokens cost beside the passes: the least of a few; None where the memory simply forgets them.

    Raises:
        DecodeError: a pass failed.
    """
    if sequence.num_snapshots is None:
        return None
    empty = sequence.num_past == 0  # an empty memory has no state to keep
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
    return Recovery(sequence.num_snapshots, save_s * 1000.0, restore_s * 1000.0)


def room_for(sequence: CachedSequence, num_tokens: int) -> int:
    """Forget the end of a cache that is too full to measure in; return where the measured passes begin."""
    past = max(0, min(sequence.num_past, sequence.n_ctx - num_tokens))
    if not sequence.rollback(past):
        sequence.clear()
    return sequence.num_past
