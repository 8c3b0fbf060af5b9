"""Gemma 4's assistant as a language model, so that all that drives a draft model drives it as well.

It has no cache: a token is read with the target's keys and values, always at the place behind the target's last token,
and with a hidden row: the target's own of that last token, or, of a token that was drafted, the one that the assistant
gave. So reading a text costs nothing (llama.cpp's common/speculative.cpp, `common_speculative_impl_draft_mtp` where the
memory is shared).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.heads.loaded import LoadedHead
from engine.heads.tap import HiddenTap
from engine.interfaces import Candidates, Rows, TokenIds, likely
from engine.llama.context import ContextParams
from engine.llama.head_context import AssistantContext, HiddenRows
from engine.llama.hidden_rows import RowPart
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadedModel
from engine.records import ModelInfo
from engine.sequence import CachedSequence


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedAssistant(LoadedHead):
    """An assistant beside its target."""

    context: AssistantContext
    tap: HiddenTap

    def follow(self, *, on: bool) -> None:
        """See `LoadedHead.follow`."""
        self.tap.switch(on=on)

    def beside(self, target: LoadedModel) -> LoadedAssistant:
        """See `LoadedHead.beside`."""
        return replace(load_assistant(self.model, target, self.context.params, self.info), owns_weights=False)

    def gave_rows(self, num_tokens: int) -> bool:
        """See `LoadedHead.gave_rows`."""
        return bool(self.tap.rows(0, num_tokens).any())


def load_assistant(model: LlamaModel, target: LoadedModel, params: ContextParams, info: ModelInfo) -> LoadedAssistant:
    """Make a context of an assistant for its target.

    Raises:
        ContextError: there is no memory for it.
    """
    tap = HiddenTap(target.context, (RowPart(),), target.model.n_embd_out)
    context = AssistantContext(model, params, target.context, tap.n_embd)
    return LoadedAssistant(
        model=model,
        context=context,
        sequence=CachedSequence(AssistantModel(context, tap)),
        info=replace(
            info,
            n_ctx=context.n_ctx,
            threads=context.threads,
            cache_type=context.params.cache_type,
            flash_attention=context.params.flash_attention,
            recommended=(),
        ),
        can_rollback=True,
        target=target.sequence,
        is_own=False,
        tap=tap,
    )


class AssistantModel:
    """Implements `engine.interfaces.LanguageModel`."""

    num_snapshots = None
    state_bytes = 0

    def __init__(self, context: AssistantContext, tap: HiddenTap) -> None:
        self._context, self._tap = context, tap
        self.n_vocab, self.n_ctx, self.n_ubatch = context.n_vocab, context.n_ctx, context.n_ubatch
        self.num_candidates = context.n_vocab
        self.num_past = 0
        self._ids = np.zeros(self.n_ctx, dtype=np.int32)
        self._base, self._read = -1, list[int]()  # tokens that were read behind the first `_base`
        self._scores: Rows = context.no_rows
        self._row: HiddenRows | None = None  # for the next of them

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`; minus infinity where the target gave no row.

        Raises:
            DecodeError: a pass failed, or there are more tokens than the target's cache holds.
        """
        self._context.check_room(self.num_past + len(ids))
        end = self.num_past + len(ids)
        self._ids[self.num_past : end] = ids
        self.num_past = end
        self._tap.release(self._tap.num_past - 1)
        if not n_rows:
            return self._context.no_rows
        end -= num_padding
        return np.concatenate([self._behind(place) for place in range(end - n_rows + 1, end + 1)])

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`: none where the target gave no row."""
        return likely(self.forward(ids, 1)[0])

    def _behind(self, place: int) -> Rows:
        """What may follow the first ``place`` tokens [1, n_vocab]."""
        tap = self._tap
        base = tap.num_past if tap.is_on else place - 1  # while nobody drafts, it is only measured
        ahead = self._ids[base:place].tolist()
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
        """The row of the target's last token; None where it gave none, or holds no token."""
        tap = self._tap
        if not tap.is_on:
            return np.zeros(self._context.width, dtype=np.float32)
        return tap.rows(base - 1, 1)[0].copy() if tap.first <= base - 1 < tap.end else None

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`."""
        self.num_past = min(self.num_past, num_past)
        return True

    def save(self) -> bool:
        """See `LanguageModel.save`: never needed, since any tail can be forgotten."""
        return False

    def restore(self) -> bool:
        """See `LanguageModel.restore`."""
        self.clear()
        return False

    def export_state(self) -> NDArray[np.uint8] | None:
        """See `LanguageModel.export_state`: reading again costs nothing."""
        return None

    def import_state(self, state: NDArray[np.uint8], num_past: int, gaps: Sequence[tuple[int, int]] = ()) -> bool:  # noqa: ARG002
        """See `LanguageModel.import_state`."""
        self.clear()
        return False

    def clear(self) -> None:
        """Forget everything."""
        self.num_past, self._base, self._read = 0, -1, []
