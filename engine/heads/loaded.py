"""The base class of loaded heads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

from engine.heads.tap import HiddenRowRecorder
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
    tap: HiddenRowRecorder
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
