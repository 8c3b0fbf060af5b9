"""Estimates before anything is loaded whether weights, caches and buffers fit the free main memory.

Knows headers only. Good to about a tenth for plain attention models; states of recurrent layers are small and not
counted, and what a GPU takes over is not subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import psutil

from engine.errors import NotEnoughMemoryError
from engine.gguf_header import GgufHeader, Value
from engine.records import CacheType

N_BATCH = 128  # tokens that a processor computes at once
NUM_ROWS = 64  # rows of logits of the largest pass
# Bytes of a value in the cache: quantized ones come in blocks of 32 with one F16 scale.
_CACHE_BYTES = {CacheType.F16: 2.0, CacheType.Q8_0: 34 / 32, CacheType.Q4_0: 18 / 32}
_TIGHT = 0.85  # above this share of the free memory, other programs will feel it
_OVERHEAD_BYTES = 32 * 2**20  # graph, scheduler, tokenizer: measured 10-40 MB beyond the named buffers


class Verdict(StrEnum):
    """What the estimate says."""

    FITS = "fits"
    TIGHT = "tight"
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class CacheShape:
    """Tokens of a context and how it keeps them. Without ``fused`` (flash) attention all scores are held at once."""

    n_ctx: int
    cache_type: CacheType = CacheType.F16
    fused: bool = True


@dataclass(frozen=True, slots=True)
class FitReport:
    """What loading takes, in bytes, against what is free."""

    weights_bytes: int
    cache_bytes: int
    compute_bytes: int
    available_bytes: int

    @property
    def needed_bytes(self) -> int:
        """All of it."""
        return self.weights_bytes + self.cache_bytes + self.compute_bytes

    @property
    def verdict(self) -> Verdict:
        """Whether it fits."""
        if self.needed_bytes > self.available_bytes:
            return Verdict.TOO_LARGE
        return Verdict.TIGHT if self.needed_bytes > _TIGHT * self.available_bytes else Verdict.FITS

    @property
    def sentence(self) -> str:
        """The figures, for a person."""
        parts = f"{_gb(self.weights_bytes)} of weights and {_gb(self.cache_bytes)} for the context"
        return f"It needs about {_gb(self.needed_bytes)} ({parts}); {_gb(self.available_bytes)} are free."


def estimate(headers: Sequence[GgufHeader], shape: CacheShape | int, available_bytes: int | None = None) -> FitReport:
    """Estimate for a target, and a draft where there is one, with contexts of ``shape``; a number is its tokens."""
    shape = CacheShape(shape) if isinstance(shape, int) else shape
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    return FitReport(
        weights_bytes=sum(header.weights_bytes for header in headers),
        cache_bytes=sum(cache_bytes_per_token(header, shape.cache_type) * shape.n_ctx for header in headers),
        compute_bytes=sum(_compute_bytes(header, shape) for header in headers),
        available_bytes=free,
    )


def check_fit(headers: Sequence[GgufHeader], shape: CacheShape | int, available_bytes: int | None = None) -> FitReport:
    """Estimate, and refuse what cannot fit.

    Raises:
        NotEnoughMemoryError: it needs more than is free.
    """
    report = estimate(headers, shape, available_bytes)
    if report.verdict is Verdict.TOO_LARGE:
        raise NotEnoughMemoryError(report.sentence)
    return report


def cache_bytes_per_token(header: GgufHeader, cache_type: CacheType = CacheType.F16) -> int:
    """Bytes that one token takes in the cache of keys and values."""
    return round(_cache_values_per_token(header) * _CACHE_BYTES[cache_type])


def _cache_values_per_token(header: GgufHeader) -> int:
    num_layers = _first(header.own("block_count"))
    latent = _first(header.own("attention.kv_lora_rank"))
    if latent:  # one shared latent and one rotated key a layer, as in DeepSeek's models
        return (latent + _first(header.own("rope.dimension_count"))) * num_layers
    heads = header.own("attention.head_count")
    kv_heads = _per_layer(header.own("attention.head_count_kv"), num_layers) or _per_layer(heads, num_layers)
    head_dim = _first(header.own("embedding_length")) // max(_per_layer(heads, num_layers), default=1) if heads else 0
    key_dim = _first(header.own("attention.key_length")) or head_dim
    value_dim = _first(header.own("attention.value_length")) or head_dim
    return sum(kv_heads) * (key_dim + value_dim)


def _compute_bytes(header: GgufHeader, shape: CacheShape) -> int:
    """Activations of the largest pass: rows of the widest layer, the mask (F16), the logits (twice, F32).

    Attention that is not fused holds the scores of all heads (F32) beside.
    """
    n_ctx = shape.n_ctx
    num_layers = _first(header.own("block_count"))
    n_embd = _first(header.own("embedding_length"))
    n_ff = max(_per_layer(header.own("feed_forward_length"), num_layers), default=0)
    tokens = header.arrays.get("tokenizer.ggml.tokens")
    n_vocab = tokens.length if tokens else 0
    num_tokens = min(N_BATCH, n_ctx)
    activations = num_tokens * (4 * n_embd + 3 * n_ff) * 4
    if not shape.fused and shape.cache_type is CacheType.F16:
        heads = max(_per_layer(header.own("attention.head_count"), num_layers), default=0)
        activations += heads * num_tokens * n_ctx * 4
    return activations + num_tokens * n_ctx * 2 + NUM_ROWS * n_vocab * 4 * 2 + _OVERHEAD_BYTES


def _per_layer(value: Value | None, num_layers: int) -> list[int]:
    """One number a layer, from one number for all or a list."""
    if isinstance(value, tuple):
        return [int(number) for number in value]
    return [int(value)] * num_layers if isinstance(value, int) else []


def _first(value: Value | None) -> int:
    numbers = _per_layer(value, 1)
    return numbers[0] if numbers else 0


def _gb(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:.1f} GB" if num_bytes >= 1e8 else f"{num_bytes / 1e6:.0f} MB"
