"""Estimates the main and GPU memory of a model from its header: weights, cache, compute buffers, and other memory.

The numbers follow the allocations of llama.cpp as this engine uses it (`engine.llama.context`). Only the header is
needed, so remote files work as well; `engine.fit.fit` compares the estimate with the free memory.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, zip_longest

from engine.fit.cache_size import (
    CacheSetup,
    first,
    head_layer_cache_bytes,
    layer_cache_bytes,
    num_cached_layers,
    per_layer,
)
from engine.gguf.head_files import (
    BLOCKS,
    EAGLE3,
    MTP,
    NUM_FEATURES,
    block_shape,
    head_method,
    next_token_weights,
    num_next_token_layers,
)
from engine.gguf.header import BLOCK, GgufHeader, TensorInfo
from engine.records import SplitMode

CPU_BATCH, GPU_BATCH = 128, 512  # tokens of a micro-batch
NUM_ROWS = 64  # rows of logits in the largest pass
HEAD_ROWS = 16  # rows of logits in the largest pass
HEAD_BATCH = 32  # tokens per pass of EAGLE-3 and block heads, which compute logits for each token
BATCH = 512  # tokens of the largest pass
TAP_ROWS = 256 + BATCH  # most recorded rows of the target
_FLOAT = 4
_MASK = 2  # bytes of an attention mask's value (F16)
# Measured main memory outside of llama.cpp's buffers: graph and scheduler, and tables of the tokenizer.
_BASE_BYTES = 12 * 2**20
_TOKEN_BYTES, _MERGE_BYTES = 170, 100
# Types that llama.cpp repacks for the CPU's kernels. A tensor that is both embedding and output is then in memory in
# both layouts.
_REPACKED = ("Q4_0", "Q4_K", "IQ4_NL")
# LLM_FFN_EXPS_REGEX of llama.cpp's common.h, and the maximum number of layers in an expression.
_EXPERTS, _MOST_LAYERS = r"\.ffn_(up|down|gate|gate_up)_(ch|)exps", 1000


Sizes = Counter[int | None]  # bytes by device number; None is main memory


@dataclass(frozen=True, slots=True)
class MemoryBytes:
    """Bytes in main memory and on each device."""

    main_bytes: int = 0
    devices_bytes: tuple[int, ...] = ()

    @property
    def gpu_bytes(self) -> int:
        return sum(self.devices_bytes)

    @property
    def all_bytes(self) -> int:
        return self.main_bytes + self.gpu_bytes

    def __add__(self, other: MemoryBytes) -> MemoryBytes:
        devices = zip_longest(self.devices_bytes, other.devices_bytes, fillvalue=0)
        return MemoryBytes(self.main_bytes + other.main_bytes, tuple(map(sum, devices)))


@dataclass(frozen=True, slots=True)
class DeviceSplit:
    """The distribution of layers over devices, and tensors that are moved to other devices.

    Args:
        shares: proportions of the devices, as in ``--tensor-split``.
        moved: pairs of a regular expression for tensor names and a device number (None: main memory). The first match
            counts.
        mode: with `SplitMode.ROW` each device has a part of every weight, with `SplitMode.TENSOR` also of the cache.
    """

    shares: tuple[float, ...] = (1.0,)
    moved: tuple[tuple[str, int | None], ...] = ()
    mode: SplitMode = SplitMode.LAYER

    def distribute(self, sizes: Sizes) -> Sizes:
        """Distribute the bytes of all devices by their shares."""
        together, total = sizes.total() - sizes[None], sum(self.shares)
        parts: Sizes = Counter({None: sizes[None]})
        for number, share in enumerate(self.shares):
            parts[number] = round(together * share / total)
        return parts

    def device_of(self, name: str, usual: int | None) -> int | None:
        """The device of a tensor whose layer is on device ``usual``."""
        return next((device for pattern, device in self.moved if re.search(pattern, name)), usual)

    def devices(self, num_layers: int, gpu_layers: int) -> list[int | None]:
        """The device of each layer and finally of the output; None is main memory.

        Raises:
            ValueError: all shares are 0.
        """
        total, ends = sum(self.shares), list(accumulate(self.shares))
        if not total:
            raise ValueError("no device has a share")
        on_gpu = min(max(gpu_layers, 0), num_layers + 1)
        first_there = num_layers + 1 - on_gpu
        there = [bisect_right([end / total for end in ends], number / on_gpu) for number in range(on_gpu)]
        return [*([None] * first_there), *(min(device, len(ends) - 1) for device in there)]


ONE_DEVICE = DeviceSplit()
ENCODER_BYTES = 256 << 20  # an encoder's compute buffers for a small picture


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """Memory of a loaded model. ``compute`` includes the rows of logits; ``other`` is outside llama.cpp's buffers."""

    weights: MemoryBytes
    cache: MemoryBytes
    compute: MemoryBytes
    other: MemoryBytes = MemoryBytes()

    @property
    def total(self) -> MemoryBytes:
        return self.weights + self.cache + self.compute + self.other

    def __add__(self, other: ModelMemory) -> ModelMemory:
        return ModelMemory(
            self.weights + other.weights,
            self.cache + other.cache,
            self.compute + other.compute,
            self.other + other.other,
        )


def experts_pattern(num_layers: int) -> str:
    """Regular expression for the expert tensors of the first ``num_layers`` layers, as in ``--n-cpu-moe``.

    A single expression, because llama.cpp compiles each override again for every tensor.
    """
    if num_layers > _MOST_LAYERS:
        return _EXPERTS
    return rf"blk\.({'|'.join(map(str, range(num_layers)))}){_EXPERTS}"


def estimate_memory(
    header: GgufHeader,
    setup: CacheSetup,
    gpu_layers: int = 0,
    weights_bytes: int | None = None,
    spread: DeviceSplit = ONE_DEVICE,
) -> ModelMemory:
    """Estimate one model with its context.

    ``gpu_layers`` counts as in llama.cpp: the output layer first, then the last layers. ``weights_bytes``: size of all
    parts if ``header`` is the first part of a split model.
    """
    num_layers = num_cached_layers(header)
    devices = spread.devices(num_layers, gpu_layers)
    weights = _weights(header, devices, weights_bytes, spread)
    cache: Sizes = Counter()
    for device, num_bytes in zip(devices, layer_cache_bytes(header, setup), strict=False):
        cache[device] += num_bytes
    compute = _compute(header, setup, devices, spread)
    if spread.mode in (SplitMode.ROW, SplitMode.TENSOR):
        weights = spread.distribute(weights)
        cache = spread.distribute(cache) if spread.mode is SplitMode.TENSOR else cache
    merges = header.arrays.get("tokenizer.ggml.merges")
    other = _BASE_BYTES + num_tokens(header) * _TOKEN_BYTES + (merges.length if merges else 0) * _MERGE_BYTES

    def by_device(sizes: Sizes) -> MemoryBytes:
        return MemoryBytes(sizes[None], tuple(sizes[number] for number in range(len(spread.shares))))

    return ModelMemory(by_device(weights), by_device(cache), by_device(compute), MemoryBytes(other))


def _weights(header: GgufHeader, devices: list[int | None], weights_bytes: int | None, spread: DeviceSplit) -> Sizes:
    """Bytes of weights by device. Tensors outside of layers are on the output's device, except for the embedding."""
    num_layers, output = len(devices) - 1, devices[-1]
    sizes: Sizes = Counter()
    in_layers: Sizes = Counter()
    for tensor in header.tensors:
        match = BLOCK.match(tensor.name)
        is_layer = match is not None and int(match[1]) < num_layers
        if match is not None and not is_layer:  # next-token layers, which `head_memory` counts
            continue
        usual = devices[int(match[1])] if match is not None and is_layer else output
        if tensor.name == "token_embd.weight":
            usual = None
        (in_layers if is_layer else sizes)[spread.device_of(tensor.name, usual)] += tensor.num_bytes
    if weights_bytes is not None and weights_bytes > header.weights_bytes:  # the other parts contain layers
        in_layers = _all_layers_bytes(header, devices, weights_bytes - sizes.total(), spread)
    if _tensor(header, "output.weight") is None:
        sizes[output] += _tied_embedding_bytes(header, devices.count(None) <= num_layers)
    return sizes + in_layers


def _all_layers_bytes(header: GgufHeader, devices: list[int | None], layers_bytes: int, spread: DeviceSplit) -> Sizes:
    """Bytes of all layers by device if the header lists only some: the others are assumed to be equal."""
    kinds: Counter[str] = Counter()
    for tensor in header.tensors:
        if BLOCK.match(tensor.name):
            kinds[BLOCK.sub("", tensor.name, count=1)] += tensor.num_bytes
    if not kinds:
        kinds["unknown"] = 1
    sizes: Sizes = Counter()
    each = layers_bytes / max(1, len(devices) - 1)
    for number, usual in enumerate(devices[:-1]):
        for kind, num_bytes in kinds.items():
            device = spread.device_of(f"blk.{number}.{kind}", usual)
            sizes[device] += round(each * num_bytes / kinds.total())
    return sizes


def _tied_embedding_bytes(header: GgufHeader, on_gpu: bool) -> int:
    """Bytes of a second copy of a tensor that is both embedding and output."""
    embedding = _tensor(header, "token_embd.weight")
    if embedding is None or len(embedding.dims) != 2:
        return 0
    repacked = embedding.type_name in _REPACKED and embedding.dims[1] % 8 == 0
    return embedding.num_bytes if on_gpu or repacked else 0


def _compute(header: GgufHeader, setup: CacheSetup, placed: list[int | None], spread: DeviceSplit) -> Sizes:
    """Compute buffers on each device and in main memory, which also has the output rows.

    If several devices have layers, llama.cpp pipelines: it holds the inputs of four batches, so that devices work on
    different batches (measured on its plans for six models).
    """
    outputs = NUM_ROWS * num_tokens(header) * _FLOAT
    sizes: Sizes = Counter()
    devices = {device for device in placed if device is not None}
    if not devices:
        sizes[None] = _graph_bytes(header, setup, CPU_BATCH) + outputs
        return sizes
    n_embd = min(GPU_BATCH, setup.num_cells) * first(header.arch_value("embedding_length")) * _FLOAT
    mask = _mask_bytes(header, setup, GPU_BATCH)
    pipelined = 3 if len(devices) > 1 and spread.mode is SplitMode.LAYER else 0
    in_main = max(
        (
            tensor.num_bytes
            for tensor in header.tensors
            if (match := BLOCK.match(tensor.name))
            and int(match[1]) < len(placed) - 1
            and spread.device_of(tensor.name, placed[int(match[1])]) is None
        ),
        default=0,
    )
    for device in devices:
        sizes[device] = _graph_bytes(header, setup, GPU_BATCH, with_logits=device == placed[-1])
        sizes[device] += in_main  # copies of weights in main memory, for large batches
        sizes[device] += pipelined * (mask + 3 * n_embd)
    if in_main:
        sizes[None] = _graph_bytes(header, setup, GPU_BATCH, with_logits=False) + outputs
    else:
        sizes[None] = (1 + pipelined) * mask + (2 + pipelined) * n_embd + outputs
    return sizes


def _mask_bytes(header: GgufHeader, setup: CacheSetup, batch: int) -> int:
    kinds = 2 if header.arch_value("attention.sliding_window") else 1
    return kinds * min(batch, setup.num_cells) * setup.num_cells * _MASK


def _graph_bytes(header: GgufHeader, setup: CacheSetup, batch: int, *, with_logits: bool = True) -> int:
    """Bytes of the largest step of a graph: scores, the feed-forward part of a layer, or the rows of logits."""
    count = min(batch, setup.num_cells)
    n_embd, widest = first(header.arch_value("embedding_length")), widest_layer(header)
    attention = 0.0
    if not setup.fused and setup.cache_type_v == "f16":  # scores, an F32 mask, and 5 to 5.5 n_embd (measured)
        heads = max(per_layer(header.arch_value("attention.head_count"), num_cached_layers(header)), default=0)
        attention = count * (setup.num_cells * (heads + 1) + 5.5 * n_embd) * _FLOAT
    # Values per token that one layer holds at once; for experts measured on llama.cpp's plans for seven models.
    used = first(header.arch_value("expert_used_count"))
    values = max(3 * widest + 4 * n_embd, (2 * used + 5) * n_embd if used else 0)
    feed_forward = _mask_bytes(header, setup, batch) + count * values * _FLOAT
    logits = (min(NUM_ROWS, count) * (num_tokens(header) + n_embd) + count * n_embd) * _FLOAT
    return round(max(attention, feed_forward, logits if with_logits else 0))


def widest_layer(header: GgufHeader) -> int:
    """Neurons per token of the widest layer, dense or of the experts that a token is routed to."""
    num_layers = num_cached_layers(header)
    dense = max(per_layer(header.arch_value("feed_forward_length"), num_layers), default=0)
    used = first(header.arch_value("expert_used_count"))
    experts = used * (first(header.arch_value("expert_feed_forward_length")) or dense)
    return max(experts, 0 if used and header.arch_value("expert_feed_forward_length") is None else dense)


def num_tokens(header: GgufHeader) -> int:
    tokens = header.arrays.get("tokenizer.ggml.tokens")
    return tokens.length if tokens else 0


def _tensor(header: GgufHeader, name: str) -> TensorInfo | None:
    return next((tensor for tensor in header.tensors if tensor.name == name), None)


# ---- heads: weights, cache, compute buffers, and recorded hidden rows --------------------------------------------


def head_memory(
    target: GgufHeader, setup: CacheSetup, head: GgufHeader | None = None, device: int | None = None
) -> ModelMemory:
    """Estimate the heads of a target, or the head in a file; ``setup`` describes the head's context.

    ``device``: of the target's output layer, where the head is as well (None: main memory). The target's extra memory
    for its hidden rows is included.
    """
    header, method = (target, MTP) if head is None else (head, head_method(head))
    weights = next_token_weights(target)[1] if head is None else head.weights_bytes
    passes, parts = min(BATCH, setup.num_cells), 1
    if method == EAGLE3 or method in BLOCKS:  # reads rows of several layers, and computes logits for each token
        shape = block_shape(header)
        out_rows = HEAD_ROWS if method == EAGLE3 else shape.size
        batch = rows = HEAD_BATCH if method == EAGLE3 else max(HEAD_BATCH, shape.size)
        layers = header.arch_value("target_layers")
        given_rows = out_rows
        parts = NUM_FEATURES if method == EAGLE3 else len(layers) if isinstance(layers, tuple) else 1
        cache = sum(layer_cache_bytes(header, setup))
    else:
        batch, rows, out_rows = CPU_BATCH if device is None else GPU_BATCH, HEAD_ROWS, HEAD_ROWS
        given_rows = passes
        cache = num_next_token_layers(header) * head_layer_cache_bytes(header, setup)
    graph = _head_graph_bytes(header, setup, batch, rows)
    given = given_rows * first(header.arch_value("embedding_length"))
    kept = parts * first(target.arch_value("embedding_length")) * (TAP_ROWS + passes)
    outputs = MemoryBytes((out_rows * num_tokens(header) + given + kept) * _FLOAT)

    def placed(num_bytes: int) -> MemoryBytes:
        return MemoryBytes(num_bytes) if device is None else MemoryBytes(0, (*[0] * device, num_bytes))

    return ModelMemory(placed(weights), placed(cache), placed(graph) + outputs)


def _head_graph_bytes(header: GgufHeader, setup: CacheSetup, batch: int, rows: int) -> int:
    """Bytes of the largest step of a pass of one layer: attention, the feed-forward part, or the logits."""
    count, n_embd = min(batch, setup.num_cells), first(header.arch_value("embedding_length"))
    attention = count * (setup.num_cells * _MASK + 1.5 * n_embd * _FLOAT)
    if not setup.fused and setup.cache_type_v == "f16":
        heads = max(
            per_layer(header.arch_value("attention.head_count"), first(header.arch_value("block_count"))), default=0
        )
        attention += count * setup.num_cells * (heads + 1) * _FLOAT
    feed_forward = count * (2 * widest_layer(header) + n_embd) * _FLOAT
    logits = (min(rows, count) * num_tokens(header) + count * n_embd) * _FLOAT
    return round(max(attention, feed_forward, logits))
