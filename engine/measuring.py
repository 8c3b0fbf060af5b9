"""Measures what passes cost on a loaded model, and leaves its cache as it was. Knows no pacer."""

from __future__ import annotations

from time import perf_counter

from engine.cost_curve import MAX_PASS, measure
from engine.sequence import CachedSequence

_STEPS = 6


def measure_passes(sequence: CachedSequence, budget_s: float) -> dict[int, float]:
    """Milliseconds of passes of 1 to `MAX_PASS` tokens, all rows asked for, as verifying asks for them.

    Raises:
        DecodeError: a pass failed.
    """
    past = _room_for(sequence, MAX_PASS)

    def run_pass(num_tokens: int) -> None:
        sequence.forward([0] * num_tokens, num_tokens)
        sequence.rollback(past)

    return measure(run_pass, budget_s)


def step_ms(sequence: CachedSequence) -> float:
    """Milliseconds of one more token of a draft model: the least of a few.

    Raises:
        DecodeError: a pass failed.
    """
    past = _room_for(sequence, _STEPS + 1)
    sequence.forward((0,), 1)
    best_s = float("inf")
    for _ in range(_STEPS):
        started = perf_counter()
        sequence.forward((0,), 1)
        best_s = min(best_s, perf_counter() - started)
    sequence.rollback(past)
    return best_s * 1000.0


def _room_for(sequence: CachedSequence, num_tokens: int) -> int:
    """Forget the end of a cache that is too full to measure in; return where the measured passes begin."""
    past = max(0, min(sequence.num_past, sequence.n_ctx - num_tokens))
    sequence.rollback(past)
    return past
