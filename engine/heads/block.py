"""Wraps DFlash and DSpark heads as a language model for `DraftModelDrafter`.

Such a head drafts a block of tokens in one pass. Its input is the target's rows of all earlier tokens, the last token
of the text (the anchor), and mask tokens (DFlash: https://arxiv.org/abs/2602.06036, DSpark:
https://arxiv.org/abs/2607.05147; llama.cpp's common/speculative.cpp, `common_speculative_impl_draft_dflash`). Each row
of the block is the distribution of one token. The distribution depends only on the text (for DFlash2 also on the
previous sampled token), so it is verified like any draft. llama.cpp computes DSpark's Markov head together with the
block, along the most likely tokens: sampling another token does not change the rows after it.

As in other heads, a token is read with the row of the token before it, so rows are one position later in the cache than
in llama.cpp's server. Attention depends on distances only, so the result is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.heads.model import HeadShape, RowModel
from engine.heads.tap import HiddenRowRecorder
from engine.interfaces import Candidates, Rows, TokenIds, likely_candidates
from engine.llama.head_context import BlockContext


class BlockModel(RowModel[BlockContext]):
    """Implements `engine.interfaces.LanguageModel`; reading drafted tokens takes no pass."""

    def __init__(self, context: BlockContext, tap: HiddenRowRecorder) -> None:
        super().__init__(context, tap, HeadShape(reads_first_token=False))
        self.num_candidates = context.shape.num_candidates or context.n_vocab
        self._block: Rows | None = None  # the block drafted after the last token that was read
        self._confidences: NDArray[np.float32] | None = None

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`; empty after the end of the block."""
        scores = self.forward(ids, 1)[0]
        number, known = len(self._unverified_ids), self._confidences
        return likely_candidates(scores, float(known[number]) if known is not None and number < len(known) else None)

    def _read_chunk(self, ids: list[int], n_rows: int) -> Rows:
        if n_rows > 1:  # each row needs its own block
            first = len(ids) - n_rows
            if first:
                self._read_chunk(ids[:first], 0)
            return np.concatenate([self._read_chunk([one], 1) for one in ids[first:]])
        self._block = self._confidences = None
        self._context.add_rows(self._hidden(self._num_read, len(ids)))
        self._num_read += len(ids)
        if not n_rows:
            return self._context.no_rows
        self._block, self._confidences = self._context.draft_block(ids[-1])
        return self._row([])

    def _read_ahead(self, ids: Sequence[int], n_rows: int) -> Rows:
        if not n_rows and not self._tap.is_on:  # the head's speed is being measured
            self._context.add_rows(np.zeros((len(ids), self._context.width), dtype=np.float32))
        self._context.check_room(self.num_past + len(ids))
        rows = list[Rows]()
        for number, token_id in enumerate(ids):
            self._unverified_ids.append(token_id)
            if number >= len(ids) - n_rows:
                rows.append(self._row(self._unverified_ids))
        return np.concatenate(rows) if rows else self._context.no_rows

    def _row(self, sampled: Sequence[int]) -> Rows:
        """Logits [1, n_vocab] after the anchor and the ``sampled`` tokens; -inf after the end of the block."""
        block, number, count = self._block, len(sampled), self._context.shape.num_candidates
        if block is not None and number < len(block) and not count:
            return block[number : number + 1].copy()
        row: Rows = np.full((1, self.n_vocab), -np.inf, dtype=np.float32)
        if block is not None and number < len(block):
            last = sampled[-1] if sampled else None
            before = np.zeros(1, dtype=np.int64) if last is None else np.flatnonzero(block[number - 1, :count] == last)
            if len(before):
                scores = block[number, count * (1 + int(before[0])) :][:count]
                row[0, block[number, :count].astype(np.int64)] = scores
        return row

    def clear(self) -> None:
        super().clear()
        self._block = self._confidences = None
