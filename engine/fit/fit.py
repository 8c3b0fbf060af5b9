"""Checks before loading whether weights, caches and buffers fit the free main memory.

The numbers come from `engine.fit.estimate`. Memory that a GPU provides is not subtracted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.errors import NotEnoughMemoryError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import ModelMemory, estimate_memory, head_memory
from engine.gguf.header import GgufHeader, read_header
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
