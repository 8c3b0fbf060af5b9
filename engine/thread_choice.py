"""The number of threads of a loaded model, found by measurement. Knows no pair."""

from __future__ import annotations

from engine import threads
from engine.llama import library
from engine.loading import LoadedModel
from engine.measuring import measurable


def choose_threads(
    loaded: LoadedModel, asked: int | None, sizes: tuple[int, ...], budget_s: float, *, settled: bool = False
) -> int:
    """Put the fastest number in force and give it: the one ``asked`` for; on a GPU the default; else what is measured.

    Args:
        loaded: its cache is left as it was.
        asked: by a person.
        sizes: tokens of the passes that are compared.
        budget_s: seconds that it may take, about.
        settled: the number in force is to stay.

    Raises:
        DecodeError: a pass failed.
    """
    now = loaded.context.threads
    others = [count for count in threads.candidates(library.physical_cores()) if count != now]
    counts = [now, *others]
    if asked is not None or settled or loaded.model.gpu_layers or len(counts) == 1 or not loaded.can_rollback:
        return asked or now
    with measurable(loaded.sequence) as run_pass:
        costs_ms = threads.measure(run_pass, loaded.context.set_threads, counts, sizes, budget_s)
    chosen = threads.choose(costs_ms)
    loaded.context.set_threads(chosen)
    return chosen
