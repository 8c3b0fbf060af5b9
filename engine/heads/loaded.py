"""Base classes of loaded heads, and of models without a cache."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.heads.tap import HiddenRowRecorder, LastRowRecorder
from engine.interfaces import TokenIds
from engine.llama.head_context import RowContext
from engine.loading.loading import Loaded, LoadedModel
from engine.records import ModelInfo
from engine.sequence import CachedSequence


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedHead(Loaded, ABC):
    """One or several heads that draft for ``target``; ``is_own`` if they are in the target's file.

    ``max_depth`` is the maximum number of drafted tokens in a row; None: no limit.
    """

    target: CachedSequence
    tap: HiddenRowRecorder | LastRowRecorder
    is_own: bool
    max_depth: int | None = None

    def close(self) -> None:
        """Free all memory except the target's."""
        self.record_rows(on=False)
        Loaded.close(self)

    def record_rows(self, *, on: bool) -> None:
        """Start or stop recording the hidden rows of the target's passes."""
        self.tap.set_recording(on=on)

    @abstractmethod
    def open_for(self, target: LoadedModel) -> LoadedHead:
        """Open the head for another context of the target, with shared weights. Close the result before this head.

        Raises:
            ContextError: memory is short.
        """


def with_context_facts(info: ModelInfo, context: RowContext) -> ModelInfo:
    """Complete a head's ``info`` with the facts of its context."""
    return replace(
        info,
        n_ctx=context.n_ctx,
        threads=context.threads,
        cache_type=context.params.cache_type,
        flash_attention=context.params.flash_attention,
        recommended=(),
    )


class UncachedModel:
    """Base of a `LanguageModel` without a cache: reading costs nothing, and any tail can be dropped."""

    num_snapshots = None
    state_bytes = 0

    def __init__(self, n_ctx: int) -> None:
        self.num_past = 0
        self._ids = np.zeros(n_ctx, dtype=np.int32)

    def _append(self, ids: TokenIds) -> None:
        end = self.num_past + len(ids)
        self._ids[self.num_past : end] = np.maximum(ids, 0)  # ids of pictures are negative
        self.num_past = end

    def rollback(self, num_past: int) -> bool:
        self.num_past = min(self.num_past, num_past)
        return True

    def save(self) -> bool:
        return False

    def restore(self) -> bool:
        self.clear()
        return False

    def export_state(self) -> NDArray[np.uint8] | None:
        return None

    def import_state(self, state: NDArray[np.uint8], num_past: int, gaps: Sequence[tuple[int, int]] = ()) -> bool:  # noqa: ARG002
        self.clear()
        return False

    def clear(self) -> None:
        self.num_past = 0
