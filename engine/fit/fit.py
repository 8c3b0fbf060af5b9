"""Checks before loading whether weights, caches and buffers fit the free main memory.

The numbers come from `engine.fit.estimate`. Memory that a GPU provides is not subtracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.errors import NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import estimate_memory, head_memory, with_heads
from engine.gguf.header import GgufHeader
from engine.gguf.model_parts import all_parts
from engine.records import FitLevel
from engine.sentences import i18n, size_of

TIGHT_SHARE = 0.85  # share of the free memory above which other programs may have to swap


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


def estimate(
    headers: Sequence[GgufHeader],
    setup: CacheSetup | int,
    available_bytes: int | None = None,
    weights_bytes: Sequence[int | None] = (),
    *,
    heads: bool = False,
) -> FitReport:
    """Estimate a target and an optional draft, with contexts of ``setup`` (a number is ``n_ctx``).

    ``weights_bytes``: for each model the size of all its parts, or None for a single file.
    ``heads``: whether the target's next-token layers are used.
    """
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    setup = CacheSetup(setup) if isinstance(setup, int) else setup
    wholes = tuple(weights_bytes) or (None,) * len(headers)
    models = [estimate_memory(one, setup, 0, whole) for one, whole in zip(headers, wholes, strict=True)]
    if heads:
        models[0] = with_heads(models[0], head_memory(headers[0], setup))
    return FitReport(
        weights_bytes=sum(model.weights.all_bytes for model in models),
        cache_bytes=sum(model.cache.all_bytes for model in models),
        compute_bytes=sum((model.compute + model.other).all_bytes for model in models),
        available_bytes=free,
    )


def check_fit(
    headers: Sequence[GgufHeader],
    setup: CacheSetup | int,
    available_bytes: int | None = None,
    weights_bytes: Sequence[int | None] = (),
    *,
    heads: bool = False,
) -> FitReport:
    """Estimate, and refuse a model that does not fit.

    Raises:
        NotEnoughMemoryError: it needs more than is free.
    """
    report = estimate(headers, setup, available_bytes, weights_bytes, heads=heads)
    if report.verdict is FitLevel.TOO_LARGE:
        raise NotEnoughMemoryError(report.sentence)
    return report


def judge(needed: int, free: int) -> FitLevel:
    if needed > free:
        return FitLevel.TOO_LARGE
    return FitLevel.TIGHT if needed > TIGHT_SHARE * free else FitLevel.FITS


def check_head_fit(target: GgufHeader, head: GgufHeader, setup: CacheSetup, available_bytes: int | None = None) -> None:
    """Refuse a head file that does not fit in memory after its target was loaded.

    Raises:
        NotEnoughMemoryError: it needs more than is free.
    """
    free = psutil.virtual_memory().available if available_bytes is None else available_bytes
    memory = head_memory(target, setup, head)
    report = FitReport(memory.weights.all_bytes, memory.cache.all_bytes, memory.compute.all_bytes, free)
    if report.verdict is FitLevel.TOO_LARGE:
        raise NotEnoughMemoryError(report.sentence)


def all_parts_bytes(path: Path, header: GgufHeader) -> int | None:
    """Bytes of the weights in all parts of a split model; None for a single file."""
    parts = all_parts(path)
    if len(parts) == 1 or header.metadata.get("split.count", 1) in (0, 1):
        return None
    return sum(part.stat().st_size for part in parts) - header.data_offset
