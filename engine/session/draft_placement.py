"""Where a draft model computes beside a target on a graphics processor; by measurement.

A draft of a few million parameters is often faster on the processor: a step on a graphics processor takes its time to
begin, whatever the size. Where a machine has several graphics processors, one alone is often faster than all that
share the target. Each place is tried for a fraction of a second when a draft is first used; what was found is kept.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter

import numpy as np

from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.translation.comparison import find_translation
from engine.drafters.translation.tables import Translation
from engine.errors import DecodeError, DraftRefusedError, EngineError
from engine.llama import library
from engine.llama.devices import find_gpus, shared_by_default
from engine.llama.vocab import Vocab
from engine.loading.loading import (
    LoadedModel,
    LoadOptions,
    draft_options,
    fit_context,
    open_model,
    target_options,
)
from engine.pacing.measuring import room_for
from engine.pacing.thread_choice import choose_threads
from engine.records import Device, LoadRequest, Placement, SamplingParams
from engine.sampling.sampler import Sampler
from engine.sentences import said
from engine.storage.cost_store import CostStore, SavedCosts, file_facts, key_of

log = logging.getLogger(__name__)

LARGEST_BYTES = 1 << 30  # of a file: what a step of more has to read makes it slower on a processor, without a trial
_BUDGET_S = 0.15  # for each place, and about as much for the number of threads
_TOKENS, _TRIES = 4, 5
Open = Callable[[LoadOptions], LoadedModel]


class DraftPlacement:
    """Opens drafts where they are faster."""

    def __init__(self, store: CostStore, gpus: Callable[[], tuple[Device, ...]] | None = None) -> None:
        """What was measured is kept in ``store``; ``gpus`` are all graphics processors, as llama.cpp lists them."""
        self._store, self._gpus = store, gpus or find_gpus

    def has_choice(self, request: LoadRequest, target: LoadedModel) -> bool:
        """Say whether the place is open: nobody asked for one, and the target is on a graphics processor."""
        was_asked = request.draft_gpu_layers is not None or bool(request.draft_devices)
        can = library.supports_gpu() or target_options(request).may_leave_main_memory
        return can and not was_asked and bool(target.model.gpu_layers)

    def is_processor_faster(self, path: str, options: LoadOptions) -> bool | None:
        """Give what was found of a draft that was opened with these ``options`` before; None where nothing was."""
        known = self.known_best(path, options)
        return None if known is None else known.gpu_layers == 0

    def known_best(self, path: str, options: LoadOptions) -> LoadOptions | None:
        """Give the options of the place that was found fastest; None where not all places were measured."""
        places = (options, *self._other_places(options))
        kept = [self._store.get(self._key(path, one)) for one in places]
        steps_ms = [costs.bands[min(costs.bands)][1] for costs in kept if costs is not None]
        return places[steps_ms.index(min(steps_ms))] if len(steps_ms) == len(places) else None

    def open(
        self, path: str, options: LoadOptions, open_with: Open, was_cancelled: Callable[[], bool] = lambda: False
    ) -> LoadedModel:
        """Open the draft at the best place; ``options`` are those of the place by rule, beside the target.

        Where that place has no room for all of it, or no other has, the rule stays.

        Raises:
            EngineError: it can be opened at no place, or that ``was_cancelled``.
        """
        known = self.known_best(path, options)
        if known is not None and known != options:
            try:
                return open_with(known)
            except EngineError:
                if was_cancelled():
                    raise
        draft = open_with(options)
        if known is not None or not _is_worth_trying(draft):
            return draft
        return self._fastest(path, draft, options, open_with, was_cancelled)

    def _fastest(
        self, path: str, draft: LoadedModel, options: LoadOptions, open_with: Open, was_cancelled: Callable[[], bool]
    ) -> LoadedModel:
        """Try one place after the other beside the fastest so far, keep what was found, and close what is slower."""
        tried: dict[str, SavedCosts] = {}
        for other in self._other_places(options):
            try:
                rival = open_with(other)
            except EngineError as error:
                if was_cancelled():
                    draft.close()
                    raise
                log.info("the draft is not tried at another place: %s", error.message)
                continue
            if not tried:
                tried[self._key(path, options)] = _measured(draft, rival, options, None)
            best = min(map(_step, tried.values()))
            costs = tried[self._key(path, other)] = _measured(rival, draft, other, options.threads)
            if _step(costs) < best:
                draft, rival = rival, draft
            rival.close()
        for key, costs in tried.items():
            self._store.put(key, costs)
        return draft

    def _key(self, path: str, options: LoadOptions) -> str:
        gpus = (gpu.description for gpu in self._gpus())
        shape = (options.gpu_layers, options.threads, options.cache_type, options.flash_attention)
        return key_of("place", *file_facts(path), *shape, *options.placement.facts, *library.machine_facts(), *gpus)

    def _other_places(self, options: LoadOptions) -> tuple[LoadOptions, ...]:
        """Give the processor; and each graphics processor by itself, where there are several."""
        gpus = shared_by_default(self._gpus())
        alone = [replace(options, placement=Placement((gpu.name,))) for gpu in gpus if len(gpus) > 1]
        kept = (one for one in alone if one.placement.devices != options.placement.devices)
        return (replace(options, gpu_layers=0), *kept)


def _measured(one: LoadedModel, other: LoadedModel, options: LoadOptions, asked_threads: int | None) -> SavedCosts:
    """Give what a step of ``one`` takes; where that fails, both are closed."""
    try:
        if options.gpu_layers == 0:
            choose_threads(one, asked_threads, (1,), _BUDGET_S)
        milliseconds = step_ms(one)
    except BaseException:
        one.close()
        other.close()
        raise
    place = ", ".join(options.placement.devices) or "the target's devices"
    log.info(
        "a step of the draft takes %.2f ms on %s", milliseconds, "the processor" if options.gpu_layers == 0 else place
    )
    return SavedCosts(one.context.threads, {0: {1: milliseconds}})


def _step(costs: SavedCosts) -> float:
    return costs.bands[0][1]


def _is_worth_trying(draft: LoadedModel) -> bool:
    """Say whether all of it came to the graphics processor, so that memory is not short, and it is small enough."""
    whole = draft.model.gpu_layers > draft.model.n_layer
    return whole and draft.can_rollback and draft.info.size_bytes <= LARGEST_BYTES


def step_ms(draft: LoadedModel) -> float:
    """Give milliseconds of a drafted token, drawn as an answer draws it: the least of a few tries.

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


def check_memory(draft: LoadedModel) -> None:
    """See that a draft can forget what was rejected.

    Raises:
        DraftRefusedError: it cannot.
    """
    if not draft.can_rollback:
        raise DraftRefusedError(
            said(
                "The memory of {name} ({architecture}) can neither forget rejected tokens nor be taken "
                "back to before them.",
                name=draft.info.name,
                architecture=draft.info.architecture,
            )
        )


def open_draft(
    path: str, target: LoadedModel, request: LoadRequest, store: CostStore, progress: Callable[[float], bool]
) -> tuple[LoadedModel, Translation | None]:
    """Open a draft that fits the target, where it was asked to be, or where it is faster; and how it is translated.

    Raises:
        DraftRefusedError: it does not fit.
        EngineError: it cannot be loaded.
    """
    goes_on, translations = True, dict[int, Translation | None]()

    def go_on(fraction: float) -> bool:
        nonlocal goes_on
        goes_on = progress(fraction)
        return goes_on

    def open_with(options: LoadOptions) -> LoadedModel:
        draft = open_model(path, fit_context([path], options), go_on)
        try:
            translations[id(draft)] = find_translation(*(_tokenizing(one) for one in (target, draft)))
            check_memory(draft)
        except Exception:
            draft.close()
            raise
        return draft

    options, place = draft_options(request, target.context.n_ctx), DraftPlacement(store)
    of_target = target.context.params
    options = replace(options, num_sequences=of_target.num_sequences, shares_cells=of_target.shares_cells)
    if place.has_choice(request, target):
        draft = place.open(path, options, open_with, lambda: not goes_on)
    else:
        draft = open_with(options)
    return draft, translations[id(draft)]


def _tokenizing(loaded: LoadedModel) -> tuple[Vocab, str | None]:
    return loaded.model.vocab, loaded.model.chat_template
