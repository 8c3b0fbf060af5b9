"""Medusa and Hydra heads as a language model, so that all that drives a draft model drives them as well.

Head k, counted from 0, says what stands k + 2 places behind the target's last token: the target itself has said what
stands one behind it, and that was emitted. It reads the target's row of that last token; of Hydra, the tokens since as
well. So reading costs nothing, only the scores do; where no head reaches so far there are none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.heads.medusa.weights import MedusaWeights
from engine.heads.tap import LastRows
from engine.interfaces import Candidates, Rows, TokenIds
from engine.llama.head_graph import HeadGraphs, Row

# Tokens this far below the best, in natural logarithms, are hardly ever drawn or kept: q goes without them.
_REACH = 12.0
_NO_IDS, _NO_SCORES = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)


class MedusaModel:
    """Implements `engine.interfaces.LanguageModel`."""

    num_snapshots = None
    state_bytes = 0

    def __init__(self, weights: MedusaWeights, graphs: HeadGraphs, tap: LastRows) -> None:
        layout = weights.layout
        self._weights, self._graphs, self._tap = weights, graphs, tap
        self.n_vocab, self.n_ctx, self.n_ubatch = layout.n_vocab, graphs.n_ctx, graphs.n_ubatch
        self.num_candidates = layout.num_outputs
        self.num_past = 0
        self._ids = np.zeros(self.n_ctx, dtype=np.int32)
        self._zeros: Row = np.zeros(layout.width, dtype=np.float32)

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`; tokens that the heads cannot propose are at minus infinity.

        Raises:
            DecodeError: ggml failed.
        """
        self._append(ids)
        end = self.num_past - num_padding
        rows = np.full((n_rows, self.n_vocab), -np.inf, dtype=np.float32)
        for i in range(n_rows):
            scores = self._scores(end - n_rows + i + 1)
            if scores is not None:
                rows[i, self._weights.ids] = scores
        return rows

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`: none where no head reaches so far, or no row is there.

        Raises:
            DecodeError: ggml failed.
        """
        self._append(ids)
        scores = self._scores(self.num_past)
        if scores is None:
            return Candidates(_NO_IDS, _NO_SCORES)
        kept = (scores >= scores.item(scores.argmax()) - _REACH).nonzero()[0]
        if not len(kept):  # they are no numbers, and whoever looks at them says so
            return Candidates(self._weights.ids, scores)
        return Candidates(self._weights.ids[kept], scores[kept])

    def _append(self, ids: TokenIds) -> None:
        end = self.num_past + len(ids)
        self._ids[self.num_past : end] = np.maximum(ids, 0)  # places of pictures are below
        self.num_past = end

    def _scores(self, place: int) -> Row | None:
        """What the head that reaches there says of the token behind the first ``place``.

        None also where the target gave no row, as behind a prompt, whose last token it reads in the first pass.
        While nobody drafts, which is a measurement, the places ahead mean nothing: a head is there for each, and reads
        zeros where there is no row.
        """
        tap, layout = self._tap, self._weights.layout
        ahead = place - tap.num_past
        row = tap.row() if tap.is_on else None
        if not tap.is_on or ahead < 1:
            ahead = min(max(ahead, 1), layout.num_heads)
            row = self._zeros if row is None else row
        if ahead > layout.num_heads or row is None:
            return None
        return self._graphs.scores(ahead - 1, row, self._seen(place, layout.num_seen(ahead - 1)))

    def _seen(self, place: int, count: int) -> NDArray[np.uint8]:
        """The embeddings of the ``count`` tokens before a place, as the target's file has them."""
        embedding = self._weights.embedding
        if embedding is None:
            return np.empty(0, dtype=np.uint8)
        seen = self._ids[max(place - count, 0) : place]
        return embedding.take(seen if len(seen) == count else np.resize(seen, count))

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
        self.num_past = 0
