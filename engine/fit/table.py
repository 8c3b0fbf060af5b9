"""Compares the memory of a pair with the free memory: a table, a verdict, and remedies.

Everything is computed from headers and given numbers: no model is loaded, and the machine is not queried.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import zip_longest

from engine.fit.cache_size import CacheSetup, first, is_recurrent, num_cached_layers
from engine.fit.estimate import (
    ONE_DEVICE,
    DeviceSplit,
    MemoryBytes,
    ModelMemory,
    estimate_memory,
    experts_pattern,
    head_memory,
    with_encoder,
    with_heads,
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

    @property
    def has_experts(self) -> bool:
        return first(self.header.arch_value("expert_count")) > 0

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

    def answering(self, number: int, *, shared: bool = False) -> PairPlan:
        """The plan for ``number`` parallel answers, each with a whole context, or ``shared`` in one context."""

        def changed(plan: ModelPlan) -> ModelPlan:
            return replace(plan, setup=replace(plan.setup, num_answers=number, shared=shared))

        return PairPlan(changed(self.target), changed(self.draft) if self.draft else None)


@dataclass(frozen=True, slots=True)
class FitRow:
    """A row of the table: one ``part`` of the memory of a "Target" or "Draft"."""

    role: str
    part: str
    main_bytes: int
    gpu_bytes: int
    disk_bytes: int = 0


class ChangeKind(StrEnum):
    """Kinds of remedies."""

    CACHE_TYPE = "cache type"
    CONTEXT = "context"
    DRAFT_ON_CPU = "draft on the CPU"
    EXPERTS_ON_CPU = "experts on the CPU"
    GPU_LAYERS = "GPU layers"
    NO_DRAFT = "no draft"
    DISK = "disk"
    OTHER_MODEL = "other model"


@dataclass(frozen=True, slots=True)
class Change:
    """A remedy that makes the pair fit; ``value`` is a setting (cache type, tokens, layers), or empty."""

    kind: ChangeKind
    value: str
    sentence: str


@dataclass(frozen=True, slots=True)
class FitTable:
    """The table. ``changes``: remedies, empty if the pair fits well; ``devices_bytes``: needed bytes of each device."""

    rows: tuple[FitRow, ...]
    free: FreeMemory
    changes: tuple[Change, ...] = ()
    devices_bytes: tuple[int, ...] = ()

    @property
    def cache_bytes(self) -> int:
        return sum(row.main_bytes + row.gpu_bytes for row in self.rows if row.part == CONTEXT_ROW)

    @property
    def needed(self) -> FitRow:
        return FitRow(
            "",
            "",
            sum(row.main_bytes for row in self.rows),
            sum(row.gpu_bytes for row in self.rows),
            sum(row.disk_bytes for row in self.rows),
        )

    @property
    def verdict(self) -> FitLevel:
        """The worst verdict of main memory, GPU memory and disk."""
        needed = self.needed
        verdicts = [judge(needed.main_bytes, self.free.main_bytes), self.gpu_verdict]
        if self.free.disk_bytes is not None and needed.disk_bytes > self.free.disk_bytes:
            verdicts.append(FitLevel.TOO_LARGE)
        return max(verdicts, key=list(FitLevel).index)

    @property
    def gpu_verdict(self) -> FitLevel:
        verdicts = [judge(self.needed.gpu_bytes, self.free.gpu_bytes)]
        if len(self.free.devices) > 1:
            pairs = zip(self.devices_bytes, self.free.devices, strict=False)
            verdicts.extend(judge(needed, free) for needed, (_, free) in pairs)
        return max(verdicts, key=list(FitLevel).index)


def table_of(pair: PairPlan, free: FreeMemory) -> FitTable:
    """Compare the memory of ``pair`` with ``free``, without remedies."""
    plans = {"Target": pair.target, **({"Draft": pair.draft} if pair.draft else {})}
    rows: list[FitRow] = []
    devices_bytes: list[int] = []
    for role, plan in plans.items():
        memory = _memory(plan, pair)
        encoder = None
        if plan.side is not None:
            memory, encoder = with_encoder(memory, plan.side, plan.gpu_layers)
        rows.extend(_rows(role, plan, memory, encoder))
        devices_bytes = [one + other for one, other in zip_longest(devices_bytes, memory.devices_bytes, fillvalue=0)]
    return FitTable(tuple(rows), free, devices_bytes=tuple(devices_bytes))


def fit_table(pair: PairPlan, free: FreeMemory) -> FitTable:
    """Compare the memory of ``pair`` with ``free``, and find remedies if memory is short."""
    table = table_of(pair, free)
    return table if table.verdict is FitLevel.FITS else replace(table, changes=tuple(_changes(pair, free)))


def experts_to_leave(pair: PairPlan, free: FreeMemory) -> int:
    """The smallest number of layers whose experts must stay in main memory so that the rest fits the devices.

    Returns the number of all layers even if that is not enough.
    """
    if not pair.target.has_experts or not pair.target.gpu_layers:
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
    if plan is pair.draft and head_method(plan.header):
        return head_memory(pair.target.header, plan.setup, plan.header, plan.gpu_layers)
    memory = estimate_memory(plan.header, plan.setup, plan.gpu_layers, plan.weights_bytes, plan.spread)
    if plan is pair.target and pair.draft is None and has_next_token_layers(plan.header):
        return with_heads(memory, head_memory(plan.header, plan.setup, None, plan.gpu_layers))
    return memory


def _rows(role: str, plan: ModelPlan, memory: ModelMemory, encoder: MemoryBytes | None) -> Iterator[FitRow]:

    def row(part: str, needed: MemoryBytes, disk_bytes: int = 0) -> FitRow:
        return FitRow(role, part, needed.main_bytes, needed.gpu_bytes, disk_bytes)

    yield row("weights", memory.weights, plan.download_bytes)
    yield row(CONTEXT_ROW, memory.cache)
    yield row("compute buffers", memory.compute)
    yield row("tokenizer and the rest", memory.other)
    if encoder is not None:
        yield row("encoder for pictures", encoder)


def _changes(pair: PairPlan, free: FreeMemory) -> Iterator[Change]:
    """Yield remedies that each suffice alone, mildest first; if the disk is short, that remedy comes first."""
    table = table_of(pair, free)
    if free.disk_bytes is not None and table.needed.disk_bytes > free.disk_bytes:
        missing = size_of(table.needed.disk_bytes - free.disk_bytes)
        words = i18n("Free {missing} of disk space, or choose another folder for the models.", missing=missing)
        yield Change(ChangeKind.DISK, "", words)
        free = replace(free, disk_bytes=None)
        table = table_of(pair, free)
    order, found = list(FitLevel), set[ChangeKind]()
    for changed, change in _remedies(pair, free):
        if change.kind not in found and order.index(table_of(changed, free).verdict) < order.index(table.verdict):
            found.add(change.kind)
            yield change
    if not found and table.verdict is FitLevel.TOO_LARGE:
        yield Change(ChangeKind.OTHER_MODEL, "", i18n("Choose a smaller model, or a quantization with fewer bits."))


def _remedies(pair: PairPlan, free: FreeMemory) -> Iterator[tuple[PairPlan, Change]]:
    """The possible remedies with the changed plan, mildest first."""
    target, draft, n_ctx = pair.target, pair.draft, pair.target.setup.n_ctx
    for cache_type in ("q8_0", "q4_0"):
        if cache_type != target.setup.cache_type_k:
            words = i18n("Use the cache type {kind}: it takes less memory.", kind=cache_type)
            yield _with_cache(pair, n_ctx, cache_type), Change(ChangeKind.CACHE_TYPE, cache_type, words)
    while (n_ctx := n_ctx // 2) >= SMALLEST_N_CTX:
        words = i18n("Choose a context of {n_ctx:,} tokens.", n_ctx=n_ctx)
        yield _with_cache(pair, n_ctx), Change(ChangeKind.CONTEXT, str(n_ctx), words)
    if draft is not None and draft.gpu_layers:
        words = i18n("Run the draft on the CPU: then the GPU has room for the target.")
        yield replace(pair, draft=replace(draft, gpu_layers=0)), Change(ChangeKind.DRAFT_ON_CPU, "0", words)
    num_layers = num_cached_layers(target.header)
    if number := experts_to_leave(pair, free):
        words = i18n("Keep the experts of {number} of {most} layers in main memory.", number=number, most=num_layers)
        changed = replace(pair, target=target.with_experts_on_cpu(number))
        yield changed, Change(ChangeKind.EXPERTS_ON_CPU, str(number), words)
    most = min(target.gpu_layers, num_layers + 1)
    for layers in range(most - 1, -1, -1):
        words = i18n("Put {layers} of {most} layers on the GPU.", layers=layers, most=most)
        changed = replace(pair, target=replace(target, gpu_layers=layers))
        yield changed, Change(ChangeKind.GPU_LAYERS, str(layers), words)
    if draft is not None:
        words = i18n("Do without the draft: the n-gram mode takes no memory.")
        yield replace(pair, draft=None), Change(ChangeKind.NO_DRAFT, "", words)


def _with_cache(pair: PairPlan, n_ctx: int, cache_type: str | None = None) -> PairPlan:
    """The pair with contexts of ``n_ctx`` tokens, and optionally another cache type."""

    def changed(plan: ModelPlan) -> ModelPlan:
        setup = replace(plan.setup, n_ctx=min(plan.setup.n_ctx, n_ctx))
        if cache_type is not None:
            setup = replace(setup, cache_type_k=cache_type, cache_type_v=cache_type)
        return replace(plan, setup=setup)

    return PairPlan(changed(pair.target), changed(pair.draft) if pair.draft else None)


# ---- parallel answers: all use one pool of cells; each has a whole context in it, or they share one context ---------


def choose_parallel(pair: PairPlan, free: FreeMemory, asked: int = 0, *, shared: bool = False) -> int:
    """Choose the number of parallel answers that fit in memory without moving layers.

    Args:
        pair: the plan for one answer, with its final layers, experts and draft device.
        free: the free memory before loading.
        asked: the user's maximum. 0 is automatic: up to `MAX_AUTOMATIC` answers that fit well and whose additional
            cells take at most a tenth of the machine's memory.
        shared: whether all answers share the cells of one context.
    """
    if asked == 1 or not can_answer_in_parallel(pair.target.header, shared=shared):
        return 1
    free = replace(free, disk_bytes=None)
    alone = table_of(pair, free)
    for number in range(min(asked, MAX_PARALLEL) or MAX_AUTOMATIC, 1, -1):
        table = table_of(pair.answering(number, shared=shared), free)
        if asked:
            fits = table.verdict is not FitLevel.TOO_LARGE
        else:
            extra = table.cache_bytes - alone.cache_bytes
            fits = table.verdict is FitLevel.FITS and extra <= _EXTRA_SHARE * (free.machine_bytes or free.main_bytes)
        if fits:
            return number
    return 1


def can_answer_in_parallel(header: GgufHeader, *, shared: bool = False) -> bool:
    """False if the model keeps a state of one conversation, or reads short and long contexts differently.

    For the latter llama.cpp selects one of two sets of RoPE factors by the size of the pool: a larger pool would use
    the factors for long texts.
    """
    return not is_recurrent(header) and (shared or header.arch_value("rope.scaling.original_context_length") is None)
