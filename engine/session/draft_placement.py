"""Chooses the device of a draft model for a target on a GPU, by measurement.

A draft of a few million parameters is often faster on the CPU, because of the fixed overhead of a step on a GPU. A
single GPU is often faster than the several GPUs that share the target. Each device is tried for a fraction of a second
when a draft is first used; the result is stored.
"""

import logging
from collections.abc import Callable
from dataclasses import replace

from engine.drafters.translation.comparison import Translation, find_translation
from engine.errors import DraftRefusedError, EngineError
from engine.llama import library
from engine.llama.devices import find_gpus, shared_by_default
from engine.loading.loading import (
    LoadedModel,
    LoadOptions,
    draft_options,
    fit_context,
    open_model,
    target_options,
)
from engine.pacing.measuring import choose_threads, measure_drafting
from engine.records import Device, LoadRequest, Placement
from engine.sentences import i18n
from engine.storage.cost_store import CostStore, SavedCosts, file_facts, key_of

log = logging.getLogger(__name__)

MAX_TRIED_BYTES = 1 << 30  # size of a draft's file; larger drafts are slower on a CPU, which is not tried
_BUDGET_S = 0.15  # seconds per device, and about as much for the number of threads
Open = Callable[[LoadOptions], LoadedModel]


class DraftPlacement:
    """Opens drafts on the fastest device; results are stored in ``store``."""

    def __init__(self, store: CostStore, gpus: Callable[[], tuple[Device, ...]] | None = None) -> None:
        """``gpus`` lists all GPUs, as llama.cpp does."""
        self._store, self._gpus = store, gpus or find_gpus

    def has_choice(self, request: LoadRequest, target: LoadedModel) -> bool:
        """Whether a device must be chosen: the user has set none, and the target is on a GPU."""
        was_asked = request.draft_gpu_layers is not None or bool(request.draft_devices)
        can = library.supports_gpu() or target_options(request).may_leave_main_memory
        return can and not was_asked and bool(target.model.gpu_layers)

    def is_cpu_faster(self, path: str, options: LoadOptions) -> bool | None:
        """The stored result for a draft opened with these ``options``; None if there is none."""
        known = self.known_best(path, options)
        return None if known is None else known.gpu_layers == 0

    def known_best(self, path: str, options: LoadOptions) -> LoadOptions | None:
        """Options with the fastest device; None unless all devices were measured."""
        candidates = (options, *self._alternatives(options))
        kept = [self._store.get(self._key(path, one)) for one in candidates]
        steps_ms = [costs.bands[min(costs.bands)][1] for costs in kept if costs is not None]
        return candidates[steps_ms.index(min(steps_ms))] if len(steps_ms) == len(candidates) else None

    def open(
        self, path: str, options: LoadOptions, open_with: Open, was_cancelled: Callable[[], bool] = lambda: False
    ) -> LoadedModel:
        """Open the draft on the best device; ``options`` are for the default, the target's device.

        The default is used if its memory is too short for the whole draft, or if no other device has enough memory.

        Raises:
            EngineError: the draft cannot be opened on any device, or opening ``was_cancelled``.
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
        """Compare each other device with the fastest so far, and close slower drafts."""
        best_ms: float | None = None
        for other in self._alternatives(options):
            try:
                rival = open_with(other)
            except EngineError as error:
                if was_cancelled():
                    draft.close()
                    raise
                log.info("the draft is not tried at another place: %s", error.message)
                continue
            try:
                best_ms = self._measure(path, draft, options, None) if best_ms is None else best_ms
                rival_ms = self._measure(path, rival, other, options.threads)
            except BaseException:
                draft.close()
                rival.close()
                raise
            if rival_ms < best_ms:
                draft, rival, best_ms = rival, draft, rival_ms
            rival.close()
        return draft

    def _measure(self, path: str, draft: LoadedModel, options: LoadOptions, asked_threads: int | None) -> float:
        """Measure and store the milliseconds of a step."""
        if options.gpu_layers == 0:
            choose_threads(draft, asked_threads, (1,), _BUDGET_S)
        milliseconds = step_ms(draft)
        place = ", ".join(options.placement.devices) or "the target's devices"
        place = "the processor" if options.gpu_layers == 0 else place
        log.info("a step of the draft takes %.2f ms on %s", milliseconds, place)
        self._store.put(self._key(path, options), SavedCosts(draft.context.threads, {0: {1: milliseconds}}))
        return milliseconds

    def _key(self, path: str, options: LoadOptions) -> str:
        gpus = (gpu.description for gpu in self._gpus())
        shape = (options.gpu_layers, options.threads, options.cache_type, options.flash_attention)
        return key_of("place", *file_facts(path), *shape, *options.placement.cache_key, *library.machine_facts(), *gpus)

    def _alternatives(self, options: LoadOptions) -> tuple[LoadOptions, ...]:
        """Options with the CPU, and with each of several GPUs alone."""
        gpus = shared_by_default(self._gpus())
        alone = [replace(options, placement=Placement((gpu.name,))) for gpu in gpus if len(gpus) > 1]
        kept = (one for one in alone if one.placement.devices != options.placement.devices)
        return (replace(options, gpu_layers=0), *kept)


def _is_worth_trying(draft: LoadedModel) -> bool:
    """Whether the draft is small enough, and entirely on the GPU, so that memory is not short."""
    whole = draft.model.gpu_layers > draft.model.n_layer
    return whole and draft.can_rollback and draft.info.size_bytes <= MAX_TRIED_BYTES


def step_ms(draft: LoadedModel) -> float:
    return measure_drafting(draft.sequence, draft.sequence.n_vocab, budget_s=_BUDGET_S).step_ms


def check_memory(draft: LoadedModel) -> None:
    """Raise `DraftRefusedError` if the draft's memory cannot drop rejected tokens."""
    if not draft.can_rollback:
        raise DraftRefusedError(
            i18n(
                "The memory of {name} ({architecture}) can neither drop rejected tokens nor return to an earlier "
                "state.",
                name=draft.info.name,
                architecture=draft.info.architecture,
            )
        )


def open_draft(
    path: str, target: LoadedModel, request: LoadRequest, store: CostStore, progress: Callable[[float], bool]
) -> tuple[LoadedModel, Translation | None]:
    """Open a draft that fits the target, on the user's or the fastest device; return it with its translation.

    Raises:
        DraftRefusedError: the draft does not fit.
        EngineError: the draft cannot be loaded.
    """
    continues, translations = True, dict[int, Translation | None]()

    def go_on(fraction: float) -> bool:
        nonlocal continues
        continues = progress(fraction)
        return continues

    def open_with(options: LoadOptions) -> LoadedModel:
        draft = open_model(path, fit_context([path], options), go_on)
        try:
            translations[id(draft)] = find_translation(
                *((one.model.vocab, one.model.chat_template) for one in (target, draft))
            )
            check_memory(draft)
        except Exception:
            draft.close()
            raise
        return draft

    options, place = draft_options(request, target.context.n_ctx), DraftPlacement(store)
    options = replace(options, num_sequences=target.context.params.num_sequences)
    if place.has_choice(request, target):
        draft = place.open(path, options, open_with, lambda: not continues)
    else:
        draft = open_with(options)
    return draft, translations[id(draft)]
