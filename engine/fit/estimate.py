"""What a model will take of main and GPU memory, from its header alone: weights, cache, compute buffers, the rest.

The figures follow llama.cpp's own allocations as this engine asks for them (`engine.llama.context`). It needs the
header only, so it works on a remote file too; whether what is free suffices is said by `engine.fit.table`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.fit.cache_size import CacheSetup, first, layer_cache_bytes, num_cached_layers, per_layer
from engine.gguf.header import GgufHeader, TensorInfo

CPU_BATCH, GPU_BATCH = 128, 512  # tokens that are computed at once
NUM_ROWS = 64  # rows of logits of the largest pass
_FLOAT = 4
_MASK = 2  # the attention mask is F16
# Main memory beyond the named buffers, measured: graph and scheduler; tables of the tokenizer.
_BASE_BYTES = 12 * 2**20
_TOKEN_BYTES, _MERGE_BYTES = 170, 100
# Types that llama.cpp lays out anew for the processor's kernels; a shared embedding is then kept in both layouts.
_REPACKED = ("Q4_0", "Q4_K", "IQ4_NL")
_BLOCK = re.compile(r"blk\.(\d+)\.")


@dataclass(frozen=True, slots=True)
class Share:
    """Bytes in main memory and on the GPU."""

    main_bytes: int = 0
    gpu_bytes: int = 0

    @property
    def all_bytes(self) -> int:
        """Both together."""
        return self.main_bytes + self.gpu_bytes

    def __add__(self, other: Share) -> Share:
        return Share(self.main_bytes + other.main_bytes, self.gpu_bytes + other.gpu_bytes)


@dataclass(frozen=True, slots=True)
class ModelMemory:
    """What one loaded model takes. ``compute`` includes the rows of logits; ``other`` is in no buffer of its own."""

    weights: Share
    cache: Share
    compute: Share
    other: Share

    @property
    def buffers_bytes(self) -> int:
        """What llama.cpp itself reports when it loads."""
        return (self.weights + self.cache + self.compute).all_bytes

    @property
    def total(self) -> Share:
        """All of it."""
        return self.weights + self.cache + self.compute + self.other


def estimate_memory(
    header: GgufHeader, setup: CacheSetup, gpu_layers: int = 0, weights_bytes: int | None = None
) -> ModelMemory:
    """Estimate one model with its context.

    ``gpu_layers`` counts as llama.cpp does: the output layer first, then the last layers. ``weights_bytes`` is the
    size of all parts, where ``header`` is the first of several.
    """
    num_layers = num_cached_layers(header)
    on_gpu = min(max(gpu_layers, 0), num_layers + 1)
    first_on_gpu = num_layers + 1 - on_gpu if on_gpu else num_layers
    caches = layer_cache_bytes(header, setup)
    return ModelMemory(
        weights=_weights(header, num_layers, on_gpu, weights_bytes),
        cache=Share(sum(caches[:first_on_gpu]), sum(caches[first_on_gpu:])),
        compute=_compute(header, setup, num_layers, on_gpu),
        other=Share(_BASE_BYTES + num_tokens(header) * _TOKEN_BYTES + _num_merges(header) * _MERGE_BYTES),
    )


def _weights(header: GgufHeader, num_layers: int, on_gpu: int, weights_bytes: int | None) -> Share:
    layers, outside = [0] * max(num_layers, 1), {"token_embd.weight": 0, "output.weight": 0}
    rest = 0
    for tensor in header.tensors:
        match = _BLOCK.match(tensor.name)
        if match and int(match[1]) < num_layers:
            layers[int(match[1])] += tensor.num_bytes
        elif tensor.name in outside:
            outside[tensor.name] = tensor.num_bytes
        elif not match:  # layers behind these are heads, which are counted where they are loaded
            rest += tensor.num_bytes
    if weights_bytes is not None and weights_bytes > header.weights_bytes:  # the other parts hold layers
        missing = (weights_bytes - sum(outside.values()) - rest) // len(layers)
        layers = [missing] * len(layers)
    shared = 0 if outside["output.weight"] else _shared_copy(header, on_gpu)
    output = outside["output.weight"] + shared
    first_on_gpu = num_layers + 1 - on_gpu if on_gpu else num_layers
    main = sum(layers[:first_on_gpu]) + outside["token_embd.weight"]
    gpu = sum(layers[first_on_gpu:]) if on_gpu else 0
    return Share(main, gpu + output + rest) if on_gpu else Share(main + output + rest, 0)


def _shared_copy(header: GgufHeader, on_gpu: int) -> int:
    """Bytes of the second copy where embedding and output are one tensor."""
    embedding = _tensor(header, "token_embd.weight")
    if embedding is None or len(embedding.dims) != 2:
        return 0
    repacked = embedding.type_name in _REPACKED and embedding.dims[1] % 8 == 0
    return embedding.num_bytes if on_gpu or repacked else 0


def _compute(header: GgufHeader, setup: CacheSetup, num_layers: int, on_gpu: int) -> Share:
    """The largest of what is alive at once: the feed-forward part of a layer, or the rows of logits; and the output.

    The output rows are copied to a buffer in main memory.
    """
    outputs = NUM_ROWS * num_tokens(header) * _FLOAT
    if not on_gpu:
        return Share(_graph_bytes(header, setup, CPU_BATCH) + outputs, 0)
    graph = _graph_bytes(header, setup, GPU_BATCH)
    inputs = GPU_BATCH * (first(header.own("embedding_length")) * _FLOAT + setup.num_cells * _MASK)
    return Share((graph if on_gpu <= num_layers else inputs) + outputs, graph)


def _graph_bytes(header: GgufHeader, setup: CacheSetup, batch: int) -> int:
    count = min(batch, setup.num_cells)
    n_embd = first(header.own("embedding_length"))
    rows = min(NUM_ROWS, count)
    masks = (2 if header.own("attention.sliding_window") else 1) * count * setup.num_cells * _MASK
    attention = 0.0
    if not setup.fused and setup.cache_type_v == "f16":  # scores and a mask of F32; measured 5 to 5.5 rows beside
        heads = max(per_layer(header.own("attention.head_count"), num_cached_layers(header)), default=0)
        attention = count * (setup.num_cells * (heads + 1) + 5.5 * n_embd) * _FLOAT
    feed_forward = masks + count * (3 * widest_layer(header) + 4 * n_embd) * _FLOAT
    logits = (rows * (num_tokens(header) + n_embd) + count * n_embd) * _FLOAT
    return round(max(attention, feed_forward, logits))


def widest_layer(header: GgufHeader) -> int:
    """Neurons that a token meets in one layer: the dense ones, or those of the experts it is sent to."""
    num_layers = num_cached_layers(header)
    dense = max(per_layer(header.own("feed_forward_length"), num_layers), default=0)
    used = first(header.own("expert_used_count"))
    experts = used * (first(header.own("expert_feed_forward_length")) or dense)
    return max(experts, 0 if used and header.own("expert_feed_forward_length") is None else dense)


def num_tokens(header: GgufHeader) -> int:
    """Tokens of the vocabulary."""
    tokens = header.arrays.get("tokenizer.ggml.tokens")
    return tokens.length if tokens else 0


def _num_merges(header: GgufHeader) -> int:
    merges = header.arrays.get("tokenizer.ggml.merges")
    return merges.length if merges else 0


def _tensor(header: GgufHeader, name: str) -> TensorInfo | None:
    return next((tensor for tensor in header.tensors if tensor.name == name), None)
