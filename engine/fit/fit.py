"""Says before anything is loaded whether weights, caches and buffers fit the free main memory.

Guards every load with the figures of `engine.fit.estimate`. What a GPU takes over is not subtracted here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import psutil

from engine.errors import NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import estimate_memory
from engine.fit.heads import head_memory, with_heads
from engine.gguf.header import GgufHeader
from engine.gguf.model_parts import all_parts
from engine.records import CacheType
from engine.sentences import said, size_of

TIGHT_SHARE = 0.85  # above this share of the free memory, other programs will feel it


class FitVerdict(StrEnum):
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
    heads: bool = False  # the target's own are used


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
    def verdict(self) -> FitVerdict:
        """Whether it fits."""
        if self.needed_bytes > self.available_bytes:
            return FitVerdict.TOO_LARGE
        return FitVerdict.TIGHT if self.needed_bytes > TIGHT_SHARE * self.available_bytes else FitVerdict.FITS

    @property
    def sentence(self) -> str:
        """The figures, for a person."""
        return said(
            "It needs about {needed} ({weights} of weights and {cache} for the context); {free} are free.",
            needed=size_of(self.needed_bytes),
            weights=size_of(self.weights_bytes),
            cache=size_of(self.cache_bytes),
            free=size_of(self.available_bytes),
        )


def estimate(
    headers: Sequence[GgufHeader],
    shape: CacheShape | int,
    available_bytes: int | None = None,
    weights_bytes: Sequence[int | None] = (),
) -> FitReport:
    """Estimate for a target, and a draft where there is one, with contexts of ``shape``; a number is its tokens.

    ``weights_bytes`` is what all parts of each model hold, where a header is that of the first of several.
    """
    shape = CacheShape(shape) if isinstance(shape, int) else shape
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    setup = CacheSetup(shape.n_ctx, shape.cache_type.value, shape.cache_type.value, shape.fused)
    wholes = tuple(weights_bytes) or (None,) * len(headers)
    models = [estimate_memory(one, setup, 0, whole) for one, whole in zip(headers, wholes, strict=True)]
    if shape.heads:
        models[0] = with_heads(models[0], head_memory(headers[0], setup))
    return FitReport(
        weights_bytes=sum(model.weights.all_bytes for model in models),
        cache_bytes=sum(model.cache.all_bytes for model in models),
        compute_bytes=sum((model.compute + model.other).all_bytes for model in models),
        available_bytes=free,
    )


def check_fit(
    headers: Sequence[GgufHeader],
    shape: CacheShape | int,
    available_bytes: int | None = None,
    weights_bytes: Sequence[int | None] = (),
) -> FitReport:
    """Estimate, and refuse what cannot fit.

    Raises:
        NotEnoughMemoryError: it needs more than is free.
    """
    report = estimate(headers, shape, available_bytes, weights_bytes)
    if report.verdict is FitVerdict.TOO_LARGE:
        raise NotEnoughMemoryError(report.sentence)
    return report


def check_head_fit(target: GgufHeader, head: GgufHeader, shape: CacheShape, available_bytes: int | None = None) -> None:
    """Refuse a head in a file of its own that cannot fit beside its target, which is loaded.

    Raises:
        NotEnoughMemoryError: it needs more than is free.
    """
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    setup = CacheSetup(shape.n_ctx, shape.cache_type.value, shape.cache_type.value, shape.fused)
    memory = head_memory(target, setup, head)
    report = FitReport(memory.weights.all_bytes, memory.cache.all_bytes, memory.compute.all_bytes, free)
    if report.verdict is FitVerdict.TOO_LARGE:
        raise NotEnoughMemoryError(report.sentence)


def all_parts_bytes(path: Path, header: GgufHeader) -> int | None:
    """Bytes of the weights in all parts of a model; None where ``header`` is that of the whole."""
    parts = all_parts(path)
    if len(parts) == 1 or header.metadata.get("split.count", 1) in (0, 1):
        return None
    return sum(part.stat().st_size for part in parts) - header.data_offset
