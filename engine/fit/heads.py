"""Estimates the memory of heads from headers: weights, cache, compute buffers, and recorded hidden rows.

The numbers follow the allocations of llama.cpp as this engine uses it (`engine.llama.head_context`,
`engine.heads.tap`).
"""

from __future__ import annotations

from dataclasses import replace

from engine.fit.cache_size import CacheSetup, first, head_layer_cache_bytes, layer_cache_bytes, per_layer
from engine.fit.estimate import CPU_BATCH, GPU_BATCH, MemoryBytes, ModelMemory, num_tokens, widest_layer
from engine.gguf.head_files import (
    BLOCKS,
    EAGLE3,
    NUM_FEATURES,
    OWN_PRODUCTS,
    block_shape,
    head_method,
    next_token_weights,
    num_next_token_layers,
)
from engine.gguf.header import GgufHeader
from engine.gguf.medusa import borrowed_output_bytes, target_output

HEAD_ROWS = 16  # rows of logits in the largest pass
HEAD_BATCH = 32  # tokens per pass of EAGLE-3 and block heads, which compute logits for each token
BATCH = 512  # tokens of the largest pass
TAP_ROWS = 256 + BATCH  # most recorded rows of the target
_FLOAT, _MASK = 4, 2


def head_memory(
    target: GgufHeader, setup: CacheSetup, head: GgufHeader | None = None, gpu_layers: int = 0
) -> ModelMemory:
    """Estimate the heads of a target, or the head in a file; ``setup`` describes the head's context.

    The head is on a GPU if the target's output layer is. The target's extra memory for its hidden rows is included.
    """
    if head is not None and head_method(head) in OWN_PRODUCTS:  # computed on the CPU
        lent = target_output(target) if not any(one.name.endswith("output.weight") for one in head.tensors) else None
        borrowed = borrowed_output_bytes(lent, head) if lent else 0
        return ModelMemory(MemoryBytes(head.weights_bytes + borrowed), MemoryBytes(), MemoryBytes(), MemoryBytes())
    header = target if head is None else head
    is_eagle3 = head is not None and head_method(head) == EAGLE3
    shape = block_shape(head) if head is not None and head_method(head) in BLOCKS else None
    weights = next_token_weights(target)[1] if head is None else head.weights_bytes
    if is_eagle3 or shape is not None:
        cache = sum(layer_cache_bytes(header, setup))
    else:
        cache = num_next_token_layers(header) * head_layer_cache_bytes(header, setup)
    batch = GPU_BATCH if gpu_layers else CPU_BATCH
    if is_eagle3 or shape is not None:
        batch = max(HEAD_BATCH, shape.size if shape is not None else 0)
    rows = batch if is_eagle3 or shape is not None else HEAD_ROWS
    graph = _graph_bytes(header, setup, batch, rows)
    passes = min(BATCH, setup.num_cells)
    layers = header.arch_value("target_layers")
    parts = len(layers) if shape is not None and isinstance(layers, tuple) else NUM_FEATURES if is_eagle3 else 1
    width = first(target.arch_value("embedding_length"))
    given = (HEAD_ROWS if is_eagle3 else shape.size if shape is not None else passes) * first(
        header.arch_value("embedding_length")
    )
    kept = parts * width * (TAP_ROWS + passes)
    outputs = ((shape.size if shape is not None else HEAD_ROWS) * num_tokens(header) + given + kept) * _FLOAT
    if not gpu_layers:
        return ModelMemory(MemoryBytes(weights), MemoryBytes(cache), MemoryBytes(graph + outputs), MemoryBytes())
    on_gpu = MemoryBytes(0, weights), MemoryBytes(0, cache), MemoryBytes(outputs, graph)
    return ModelMemory(*on_gpu, MemoryBytes(), (weights + cache + graph,))


def _graph_bytes(header: GgufHeader, setup: CacheSetup, batch: int, rows: int) -> int:
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


def with_heads(memory: ModelMemory, heads: ModelMemory) -> ModelMemory:
    """Add the memory of heads. With several devices the heads are on the last one, like the output layer."""
    on_devices = (heads.weights + heads.cache + heads.compute).gpu_bytes
    devices = (*memory.devices_bytes[:-1], memory.devices_bytes[-1] + on_devices) if memory.devices_bytes else ()
    return replace(
        memory,
        devices_bytes=devices,
        weights=memory.weights + heads.weights,
        cache=memory.cache + heads.cache,
        compute=memory.compute + heads.compute,
    )
