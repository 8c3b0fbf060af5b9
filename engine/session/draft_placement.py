"""Where a draft model computes beside a target on a graphics processor: there, or on the processor; by measurement.

A draft of a few million parameters is often faster on the processor: a step on a graphics processor takes its time to
begin, whatever the size. Both places are tried for a fraction of a second when a draft is first used; what was found is
kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from engine.drafters.draft_model import DraftModelDrafter
from engine.errors import DecodeError, EngineError
from engine.llama import library
from engine.llama.devices import find_gpus
from engine.loading.loading import LoadedModel, LoadOptions
from engine.pacing.measuring import room_for
from engine.pacing.thread_choice import choose_threads
from engine.records import LoadRequest, SamplingParams
from engine.sampling.sampler import Sampler
from engine.storage.cost_store import CostStore, SavedCosts, file_facts, key_of

log = logging.getLogger(__name__)

LARGEST_BYTES = 1 << 30  # of a file: what a step of more has to read makes it slower on a processor, without a trial
_BUDGET_S = 0.15  # for each place, and about as much for the number of threads
_TOKENS, _TRIES = 4, 5
Open = Callable[[LoadOptions], LoadedModel]


class DraftPlacement:
    """Opens drafts where they are faster."""

    def __init__(self, store: CostStore) -> None:
        """What was measured is kept in ``store``."""
        self._store = store

    def has_choice(self, request: LoadRequest, target: LoadedModel) -> bool:
        """Whether the place is open: nobody asked for one, and the target is on a graphics processor."""
        return library.supports_gpu() and request.draft_gpu_layers is None and bool(target.model.gpu_layers)

    def is_processor_faster(self, path: str, options: LoadOptions) -> bool | None:
        """What was found of a draft that was opened with these ``options`` before; None where nothing was."""
        kept = [self._store.get(self._key(path, one)) for one in (options, replace(options, gpu_layers=0))]
        steps_ms = [costs.bands[min(costs.bands)][1] for costs in kept if costs is not None]
        return steps_ms[1] < steps_ms[0] if len(steps_ms) == len(kept) else None

    def open(
        self, path: str, options: LoadOptions, open_with: Open, was_cancelled: Callable[[], bool] = lambda: False
    ) -> LoadedModel:
        """Open the draft at the better place; ``options`` are those of the place by rule, beside the target.

        Where that place has no room for all of it, or the other has none, the rule stays.

        Raises:
            EngineError: it can be opened at neither place, or that ``was_cancelled``.
        """
        beside = replace(options, gpu_layers=0)
        known = self.is_processor_faster(path, options)
        if known:
            try:
                return open_with(beside)
            except EngineError:
                if was_cancelled():
                    raise
        draft = open_with(options)
        if known is not None or not _is_worth_trying(draft):
            return draft
        try:
            other = open_with(beside)
        except EngineError as error:
            if was_cancelled():
                draft.close()
                raise
            log.info("the draft stays on the graphics processor: %s", error.message)
            return draft
        keys = [self._key(path, one) for one in (options, beside)]
        return self._faster(draft, other, keys, options.threads)

    def _faster(
        self, draft: LoadedModel, other: LoadedModel, keys: list[str], asked_threads: int | None
    ) -> LoadedModel:
        """Measure both, keep what was found, and close the slower."""
        both = (draft, other)
        try:
            choose_threads(other, asked_threads, (1,), _BUDGET_S)
            steps_ms = [step_ms(one) for one in both]
        except BaseException:
            for one in both:
                one.close()
            raise
        for key, one, milliseconds in zip(keys, both, steps_ms, strict=True):
            self._store.put(key, SavedCosts(one.context.threads, {0: {1: milliseconds}}))
        log.info("a step of the draft takes %.2f ms on the graphics processor, %.2f ms on the processor", *steps_ms)
        faster, slower = both if steps_ms[0] <= steps_ms[1] else both[::-1]
        slower.close()
        return faster

    def _key(self, path: str, options: LoadOptions) -> str:
        gpus = (gpu.name for gpu in find_gpus())
        shape = (options.gpu_layers, options.threads, options.cache_type, options.flash_attention)
        return key_of("place", *file_facts(path), *shape, *library.machine_facts(), *gpus)


def _is_worth_trying(draft: LoadedModel) -> bool:
    """Whether all of it came to the graphics processor, so that memory is not short, and it is small enough."""
    whole = draft.model.gpu_layers > draft.model.n_layer
    return whole and draft.can_rollback and draft.info.size_bytes <= LARGEST_BYTES


def step_ms(draft: LoadedModel) -> float:
    """Milliseconds of a drafted token, drawn as an answer draws it: the least of a few tries.

    Raises:
        DecodeError: a pass failed.
    """
    sequence = draft.sequence
    past = room_for(sequence, _TOKENS + 2)
    history = np.zeros(past + 1, dtype=np.int32)
    drafter = DraftModelDrafter(sequence, sequence.n_vocab, frozenset())
    drafter.begin(history, Sampler(SamplingParams(seed=0)))
    ends, best_s = perf_counter() + _BUDGET_S, float("inf")
    for _ in range(_TRIES):
        started = perf_counter()
        drafter.propose(history, _TOKENS)
        elapsed_s = perf_counter() - started
        if drafter.failure:
            raise DecodeError(drafter.failure)
        drafter.truncate(past)
        best_s = min(best_s, elapsed_s)
        if started + elapsed_s > ends:
            break
    return best_s * 1000.0 / _TOKENS
