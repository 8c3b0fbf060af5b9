"""Chooses the number of threads of a loaded model by measurement."""

from __future__ import annotations

from engine.errors import DecodeError
from engine.llama import library
from engine.loading.loading import Loaded
from engine.pacing.measuring import Interrupted, ShouldStop, measured_passes, never_stop
from engine.tuning import threads


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
