"""Compares the memory of a pair with the free memory: a table, a verdict, and remedies.

Everything is computed from headers and given numbers: no model is loaded, and the machine is not queried.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Any

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
from engine.fit.fit import judge
from engine.gguf.head_files import has_next_token_layers, head_method
from engine.gguf.header import GgufHeader
from engine.records import FitLevel
from engine.sentences import i18n, size_of

SMALLEST_N_CTX = 2048
CONTEXT_ROW = "context"
MAX_AUTOMATIC = 4  # the default of llama.cpp's server
MAX_PARALLEL = 64  # limit of the sequences in one context
_EXTRA_SHARE = 0.1  # share of the machine's memory for additional contexts in automatic mode
_USABLE = 0.95  # usable share of a device's free memory; drivers take some


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
class FitRow:
    """A row of the table: one ``part`` of the memory of a "Target" or "Draft"."""

    role: str
    part: str
    memory: MemoryBytes


@dataclass(frozen=True, slots=True)
class FitTable:
    """The table. ``disk_bytes``: what has to be downloaded. ``changes``: remedies, empty if the pair fits well."""

    rows: tuple[FitRow, ...]
    free: FreeMemory
    disk_bytes: int = 0
    changes: tuple[str, ...] = ()

    @property
    def cache_bytes(self) -> int:
        return sum(row.memory.all_bytes for row in self.rows if row.part == CONTEXT_ROW)

    @property
    def needed(self) -> MemoryBytes:
        return sum((row.memory for row in self.rows), MemoryBytes())

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


def table_of(pair: PairPlan, free: FreeMemory) -> FitTable:
    """Compare the memory of ``pair`` with ``free``, without remedies."""
    rows: list[FitRow] = []
    disk_bytes = 0
    for role, plan in (("Target", pair.target), ("Draft", pair.draft)):
        if plan is not None:
            memory, disk_bytes = _memory(plan, pair), disk_bytes + plan.download_bytes
            parts = {"weights": memory.weights, CONTEXT_ROW: memory.cache, "compute buffers": memory.compute}
            parts["tokenizer and the rest"] = memory.other
            if plan.side is not None:  # on the first GPU if the target uses one
                needed = plan.side.weights_bytes + ENCODER_BYTES
                parts["encoder for pictures"] = MemoryBytes(0, (needed,)) if plan.gpu_layers else MemoryBytes(needed)
            rows += [FitRow(role, part, size) for part, size in parts.items()]
    return FitTable(tuple(rows), free, disk_bytes)


def fit_table(pair: PairPlan, free: FreeMemory) -> FitTable:
    """Compare the memory of ``pair`` with ``free``, and find remedies if memory is short."""
    table = table_of(pair, free)
    return table if table.verdict is FitLevel.FITS else replace(table, changes=tuple(_changes(pair, free)))


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
        return table_of(changed, free).gpu_verdict is not FitLevel.TOO_LARGE

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


def _changes(pair: PairPlan, free: FreeMemory) -> Iterator[str]:
    """Yield remedies that each suffice alone, mildest first; if the disk is short, that remedy comes first."""
    table = table_of(pair, free)
    if table.lacks_disk and free.disk_bytes is not None:
        missing = size_of(table.disk_bytes - free.disk_bytes)
        yield i18n("Free {missing} of disk space, or choose another folder for the models.", missing=missing)
        free = replace(free, disk_bytes=None)
        table = table_of(pair, free)
    order, is_found = list(FitLevel), False
    for remedies in _remedies(pair, free):
        for changed, sentence in remedies:
            if order.index(table_of(changed, free).verdict) < order.index(table.verdict):
                is_found = True
                yield sentence
                break
    if not is_found and table.verdict is FitLevel.TOO_LARGE:
        yield i18n("Choose a smaller model, or a quantization with fewer bits.")


Remedy = tuple[PairPlan, str]  # the changed plan, and a sentence


def _remedies(pair: PairPlan, free: FreeMemory) -> Iterator[Iterable[Remedy]]:
    """The possible remedies, mildest first; of those of one kind only the first that helps is of interest."""
    target, draft = pair.target, pair.draft
    n_ctx, num_layers = target.setup.n_ctx, num_cached_layers(target.header)
    yield (
        (
            pair.with_setup(cache_type_k=kind, cache_type_v=kind),
            i18n("Use the cache type {kind}: it takes less memory.", kind=kind),
        )
        for kind in ("q8_0", "q4_0")
        if kind != target.setup.cache_type_k
    )
    smaller = takewhile(lambda size: size >= SMALLEST_N_CTX, (n_ctx >> shift for shift in count(1)))
    yield ((pair.with_setup(n_ctx=size), i18n("Choose a context of {n_ctx:,} tokens.", n_ctx=size)) for size in smaller)
    if draft is not None and draft.gpu_layers:
        words = i18n("Run the draft on the CPU: then the GPU has room for the target.")
        yield [(replace(pair, draft=replace(draft, gpu_layers=0)), words)]
    if number := experts_to_leave(pair, free):
        words = i18n("Keep the experts of {number} of {most} layers in main memory.", number=number, most=num_layers)
        yield [(replace(pair, target=target.with_experts_on_cpu(number)), words)]
    most = min(target.gpu_layers, num_layers + 1)
    yield (
        (
            replace(pair, target=replace(target, gpu_layers=layers)),
            i18n("Put {layers} of {most} layers on the GPU.", layers=layers, most=most),
        )
        for layers in range(most - 1, -1, -1)
    )
    if draft is not None:
        yield [(replace(pair, draft=None), i18n("Do without the draft: the n-gram mode takes no memory."))]


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
    alone = table_of(pair, free)
    for number in range(min(asked, MAX_PARALLEL) or MAX_AUTOMATIC, 1, -1):
        table = table_of(pair.answering(number), free)
        if asked:
            fits = table.verdict is not FitLevel.TOO_LARGE
        else:
            extra = table.cache_bytes - alone.cache_bytes
            fits = table.verdict is FitLevel.FITS and extra <= _EXTRA_SHARE * (free.machine_bytes or free.main_bytes)
        if fits:
            return number
    return 1


def can_answer_in_parallel(header: GgufHeader) -> bool:
    """False if the model keeps a state of one conversation, or reads short and long contexts differently.

    For the latter llama.cpp selects one of two sets of RoPE factors by the size of the pool: a larger pool would use
    the factors for long texts.
    """
    return not is_recurrent(header) and header.arch_value("rope.scaling.original_context_length") is None
