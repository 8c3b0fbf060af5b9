"""Checks from headers whether models fit the free memory, before they are loaded or downloaded.

The numbers come from `engine.fit.estimate`. `estimate` compares with the free main memory and ignores that a GPU
provides memory; `memory_fit` compares a plan with each memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import psutil

from engine.errors import NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup, first, is_recurrent, num_cached_layers
from engine.fit.estimate import (
    ENCODER_BYTES,
    ONE_DEVICE,
    DeviceSplit,
    MemoryBytes,
    ModelMemory,
    estimate_memory,
    experts_pattern,
    head_memory,
)
from engine.gguf.head_files import has_next_token_layers, head_method
from engine.gguf.header import GgufHeader, read_header
from engine.gguf.model_parts import all_parts
from engine.records import FitLevel
from engine.sentences import i18n, size_of

TIGHT_SHARE = 0.85  # share of the free memory above which other programs may have to swap
SMALLEST_N_CTX = 2048
MAX_AUTOMATIC = 4  # the default of llama.cpp's server
MAX_PARALLEL = 64  # limit of the sequences in one context
_EXTRA_SHARE = 0.1  # share of the machine's memory for additional contexts in automatic mode
_USABLE = 0.95  # usable share of a device's free memory; drivers take some


@dataclass(frozen=True, slots=True)
class FitReport:
    """The memory that loading takes, and the available memory, in bytes."""

    weights_bytes: int
    cache_bytes: int
    compute_bytes: int
    available_bytes: int

    @property
    def needed_bytes(self) -> int:
        return self.weights_bytes + self.cache_bytes + self.compute_bytes

    @property
    def verdict(self) -> FitLevel:
        return judge(self.needed_bytes, self.available_bytes)

    @property
    def sentence(self) -> str:
        return i18n(
            "It needs about {needed} ({weights} of weights and {cache} for the context); {free} are free.",
            needed=size_of(self.needed_bytes),
            weights=size_of(self.weights_bytes),
            cache=size_of(self.cache_bytes),
            free=size_of(self.available_bytes),
        )

    def check(self) -> None:
        """Refuse what does not fit.

        Raises:
            NotEnoughMemoryError: it needs more than is free.
        """
        if self.verdict is FitLevel.TOO_LARGE:
            raise NotEnoughMemoryError(self.sentence)


def estimate(
    paths: Sequence[Path], setup: CacheSetup | int, available_bytes: int | None = None, *, heads: bool = False
) -> FitReport:
    """Estimate a target and an optional draft, with contexts of ``setup`` (a number is ``n_ctx``).

    ``heads``: whether the target's next-token layers are used.

    Raises:
        ModelFileError: a header cannot be read.
    """
    setup = CacheSetup(setup) if isinstance(setup, int) else setup
    headers = [read_header(path) for path in paths]
    models = [
        estimate_memory(header, setup, 0, all_parts_bytes(path, header))
        for path, header in zip(paths, headers, strict=True)
    ]
    if heads:
        models.append(head_memory(headers[0], setup))
    return report_of(models, available_bytes)


def report_of(models: Sequence[ModelMemory], available_bytes: int | None = None) -> FitReport:
    """The memory of models together, beside the free memory (by default this machine's)."""
    return FitReport(
        weights_bytes=sum(model.weights.all_bytes for model in models),
        cache_bytes=sum(model.cache.all_bytes for model in models),
        compute_bytes=sum((model.compute + model.other).all_bytes for model in models),
        available_bytes=psutil.virtual_memory().available if available_bytes is None else available_bytes,
    )


def judge(needed: int, free: int) -> FitLevel:
    if needed > free:
        return FitLevel.TOO_LARGE
    return FitLevel.TIGHT if needed > TIGHT_SHARE * free else FitLevel.FITS


def all_parts_bytes(path: Path, header: GgufHeader) -> int | None:
    """Bytes of the weights in all parts of a split model; None for a single file."""
    parts = all_parts(path)
    if len(parts) == 1 or header.metadata.get("split.count", 1) in (0, 1):
        return None
    return sum(part.stat().st_size for part in parts) - header.data_offset


# ---- plans: target and draft, main memory, devices and disk --------------------------------------------------


@dataclass(frozen=True, slots=True)
class FreeMemory:
    """Free bytes. ``gpu_bytes`` 0: no GPU; ``disk_bytes`` None: the disk is not checked.

    ``devices``: name and free bytes of each of several devices; ``gpu_bytes`` is their sum. ``machine_bytes``: total
    main memory; 0 if unknown.
    """

    main_bytes: int
    gpu_bytes: int = 0
    disk_bytes: int | None = None
    devices: tuple[tuple[str, int], ...] = ()
    machine_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """A model and its load options; ``weights_bytes`` and ``download_bytes`` count all parts.

    ``spread``: numbers are indices of `FreeMemory.devices`. ``side``: the header of a vision model's side file.
    """

    header: GgufHeader
    setup: CacheSetup
    gpu_layers: int = 0
    weights_bytes: int | None = None
    download_bytes: int = 0
    spread: DeviceSplit = ONE_DEVICE
    side: GgufHeader | None = None

    def with_experts_on_cpu(self, num_layers: int) -> ModelPlan:
        """The plan with the experts of the first ``num_layers`` layers in main memory."""
        if not num_layers:
            return self
        moved = (*self.spread.moved, (experts_pattern(num_layers), None))
        return replace(self, spread=replace(self.spread, moved=moved))


@dataclass(frozen=True, slots=True)
class PairPlan:
    """A target with or without a draft."""

    target: ModelPlan
    draft: ModelPlan | None = None

    def with_setup(self, **changes: Any) -> PairPlan:  # noqa: ANN401 (fields of `CacheSetup`)
        """The plan with changed contexts of both models."""
        target, draft = self.target, self.draft
        return PairPlan(
            replace(target, setup=replace(target.setup, **changes)),
            replace(draft, setup=replace(draft.setup, **changes)) if draft else None,
        )

    def answering(self, number: int) -> PairPlan:
        """The plan for ``number`` parallel answers, each with a whole context."""
        return self.with_setup(num_answers=number)


@dataclass(frozen=True, slots=True)
class MemoryFit:
    """Needed and free memory. ``cache_bytes``: share of the caches; ``disk_bytes``: what has to be downloaded."""

    needed: MemoryBytes
    free: FreeMemory
    cache_bytes: int = 0
    disk_bytes: int = 0

    @property
    def lacks_disk(self) -> bool:
        return self.free.disk_bytes is not None and self.disk_bytes > self.free.disk_bytes

    @property
    def verdict(self) -> FitLevel:
        """The worst verdict of main memory, GPU memory and disk."""
        verdicts = [judge(self.needed.main_bytes, self.free.main_bytes), self.gpu_verdict]
        return FitLevel.TOO_LARGE if self.lacks_disk else max(verdicts, key=list(FitLevel).index)

    @property
    def gpu_verdict(self) -> FitLevel:
        needed = self.needed
        verdicts = [judge(needed.gpu_bytes, self.free.gpu_bytes)]
        if len(self.free.devices) > 1:
            pairs = zip(needed.devices_bytes, self.free.devices, strict=False)
            verdicts.extend(judge(needed, free) for needed, (_, free) in pairs)
        return max(verdicts, key=list(FitLevel).index)


def memory_fit(pair: PairPlan, free: FreeMemory) -> MemoryFit:
    """Compare the memory of ``pair`` with ``free``."""
    plans = [plan for plan in (pair.target, pair.draft) if plan is not None]
    memories, needed = [_memory(plan, pair) for plan in plans], MemoryBytes()
    for plan, memory in zip(plans, memories, strict=True):
        needed += memory.total
        if plan.side is not None:  # on the first GPU if the target uses one
            encoder = plan.side.weights_bytes + ENCODER_BYTES
            needed += MemoryBytes(0, (encoder,)) if plan.gpu_layers else MemoryBytes(encoder)
    cache_bytes = sum(memory.cache.all_bytes for memory in memories)
    return MemoryFit(needed, free, cache_bytes, sum(plan.download_bytes for plan in plans))


def advice(pair: PairPlan, free: FreeMemory) -> str:
    """What helps if memory is short: disk space, a smaller context, or a smaller model; empty if the pair fits well."""
    found = memory_fit(pair, free)
    if found.verdict is FitLevel.FITS:
        return ""
    if found.lacks_disk and free.disk_bytes is not None:
        missing = size_of(found.disk_bytes - free.disk_bytes)
        return i18n("Free {missing} of disk space, or choose another folder for the models.", missing=missing)
    smaller = takewhile(lambda size: size >= SMALLEST_N_CTX, (pair.target.setup.n_ctx >> shift for shift in count(1)))
    order = list(FitLevel)
    for size in smaller:
        if order.index(memory_fit(pair.with_setup(n_ctx=size), free).verdict) < order.index(found.verdict):
            return i18n("Choose a context of {n_ctx:,} tokens.", n_ctx=size)
    return i18n("Choose a smaller model, or a quantization with fewer bits.")


def experts_to_leave(pair: PairPlan, free: FreeMemory) -> int:
    """The smallest number of layers whose experts must stay in main memory so that the rest fits the devices.

    Returns the number of all layers even if that is not enough.
    """
    if not first(pair.target.header.arch_value("expert_count")) or not pair.target.gpu_layers:
        return 0
    devices = tuple((name, round(_USABLE * num_bytes)) for name, num_bytes in free.devices)
    free = replace(free, gpu_bytes=round(_USABLE * free.gpu_bytes), devices=devices)

    def fits(num_layers: int) -> bool:
        changed = replace(pair, target=pair.target.with_experts_on_cpu(num_layers))
        return memory_fit(changed, free).gpu_verdict is not FitLevel.TOO_LARGE

    everything = num_cached_layers(pair.target.header)
    if fits(0):
        return 0
    return bisect_left(range(1, everything), True, key=fits) + 1


def _memory(plan: ModelPlan, pair: PairPlan) -> ModelMemory:
    """Estimate a plan. A head file needs its target; the target's own heads count only without a draft."""
    device = len(plan.spread.shares) - 1 if plan.gpu_layers else None
    if plan is pair.draft and head_method(plan.header):
        return head_memory(pair.target.header, plan.setup, plan.header, device)
    memory = estimate_memory(plan.header, plan.setup, plan.gpu_layers, plan.weights_bytes, plan.spread)
    if plan is pair.target and pair.draft is None and has_next_token_layers(plan.header):
        memory += head_memory(plan.header, plan.setup, None, device)
    return memory


# ---- parallel answers: all use one pool of cells, in which each has a whole context ---------------------------------


def choose_parallel(pair: PairPlan, free: FreeMemory, asked: int = 0) -> int:
    """Choose the number of parallel answers that fit in memory without moving layers.

    Args:
        pair: the plan for one answer, with its final layers, experts and draft device.
        free: the free memory before loading.
        asked: the user's maximum. 0 is automatic: up to `MAX_AUTOMATIC` answers that fit well and whose additional
            cells take at most a tenth of the machine's memory.
    """
    if asked == 1 or not can_answer_in_parallel(pair.target.header):
        return 1
    free = replace(free, disk_bytes=None)
    alone = memory_fit(pair, free)
    for number in range(min(asked, MAX_PARALLEL) or MAX_AUTOMATIC, 1, -1):
        together = memory_fit(pair.answering(number), free)
        if asked:
            fits = together.verdict is not FitLevel.TOO_LARGE
        else:
            extra = together.cache_bytes - alone.cache_bytes
            fits = together.verdict is FitLevel.FITS and extra <= _EXTRA_SHARE * (free.machine_bytes or free.main_bytes)
        if fits:
            return number
    return 1


def can_answer_in_parallel(header: GgufHeader) -> bool:
    """False if the model keeps a state of one conversation, or reads short and long contexts differently.

    For the latter llama.cpp selects one of two sets of RoPE factors by the size of the pool: a larger pool would use
    the factors for long texts.
    """
    return not is_recurrent(header) and header.arch_value("rope.scaling.original_context_length") is None
