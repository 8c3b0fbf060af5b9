"""Wraps Gemma 4's assistant as a language model for `DraftModelDrafter`.

The assistant has no cache: it reads a token with the target's keys and values, always at the position after the
target's last token, together with a hidden row. The row is the target's for its last token, and the assistant's own for
drafted tokens. So reading a text costs nothing (llama.cpp's common/speculative.cpp, `common_speculative_impl_draft_mtp`
with shared memory).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.heads.loaded import LoadedHead, with_context_facts
from engine.heads.tap import HiddenRowRecorder
from engine.interfaces import Candidates, Rows, TokenIds, likely_candidates
from engine.llama.context import ContextParams
from engine.llama.head_context import AssistantContext, HiddenRows
from engine.llama.hidden_rows import RowPart
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadedModel
from engine.records import ModelInfo
from engine.sequence import CachedSequence


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedAssistant(LoadedHead):
    """A loaded assistant of a target."""

    context: AssistantContext
    tap: HiddenRowRecorder

    def open_for(self, target: LoadedModel) -> LoadedAssistant:
        return replace(load_assistant(self.model, target, self.context.params, self.info), owns_weights=False)


def load_assistant(model: LlamaModel, target: LoadedModel, params: ContextParams, info: ModelInfo) -> LoadedAssistant:
    """Create an assistant's context for its target; raises `ContextError` if memory is short."""
    tap = HiddenRowRecorder(target.context, (RowPart(),), target.model.n_embd_out)
    context = AssistantContext(model, params, target.context, tap.n_embd)
    return LoadedAssistant(
        model=model,
        context=context,
        sequence=CachedSequence(AssistantModel(context, tap)),
        info=with_context_facts(info, context),
        can_rollback=True,
        target=target.sequence,
        is_own=False,
        tap=tap,
    )


class AssistantModel:
    """Implements `engine.interfaces.LanguageModel` without a cache: any tail can be dropped."""

    num_snapshots = None
    state_bytes = 0

    def __init__(self, context: AssistantContext, tap: HiddenRowRecorder) -> None:
        self.num_past = 0
        self._ids = np.zeros(context.n_ctx, dtype=np.int32)
        self._context, self._tap = context, tap
        self.n_vocab, self.n_ctx, self.n_ubatch = context.n_vocab, context.n_ctx, context.n_ubatch
        self.num_candidates = context.n_vocab
        self._base, self._read = -1, list[int]()  # tokens read after position `_base`
        self._scores: Rows = context.no_rows
        self._row: HiddenRows | None = None  # hidden row to read the next token with

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`; logits are -inf if the target gave no row.

        Raises:
            DecodeError: a pass failed, or there are more tokens than the target's cache holds.
        """
        self._context.check_room(self.num_past + len(ids))
        past, self.num_past = self.num_past, self.num_past + len(ids)
        self._ids[past : self.num_past] = np.maximum(ids, 0)  # ids of pictures are negative
        self._tap.release(self._tap.num_past - 1)
        if not n_rows:
            return self._context.no_rows
        counts = range(self.num_past - n_rows + 1, self.num_past + 1)
        return np.concatenate([self._logits_after(count) for count in counts])

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`; empty if the target gave no row."""
        return likely_candidates(self.forward(ids, 1)[0])

    def _logits_after(self, count: int) -> Rows:
        """Logits after the first ``count`` tokens [1, n_vocab]."""
        tap = self._tap
        base = tap.num_past if tap.is_on else count - 1  # the tap is off while speed is measured
        ahead = self._ids[base:count].tolist()
        if base != self._base or ahead[: len(self._read)] != self._read or not ahead:
            self._base, self._read = base, []
            self._row = self._row_of_target(base)
        for token_id in ahead[len(self._read) :]:
            if self._row is None:
                break
            self._scores, self._row = self._context.draft(token_id, self._row)
            self._read.append(token_id)
        if not ahead or self._row is None:
            return np.full((1, self.n_vocab), -np.inf, dtype=np.float32)
        return self._scores.copy()

    def _row_of_target(self, base: int) -> HiddenRows | None:
        tap = self._tap
        if not tap.is_on:
            return np.zeros(self._context.width, dtype=np.float32)
        return tap.rows(base - 1, 1)[0].copy() if tap.first <= base - 1 < tap.end else None

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
        self._base, self._read = -1, []
