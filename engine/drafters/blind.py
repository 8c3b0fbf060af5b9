"""Lets a draft model without vision draft in conversations with pictures: it reads a word in place of each picture.

Token counts are the target's, so drafter and pacer need no special case.
"""

from collections.abc import Iterator

import numpy as np

from engine.interfaces import Candidates, Rows, TokenIds
from engine.sampling.sampler import History
from engine.sequence import CachedSequence

PICTURE_PLACEHOLDER = " image"


class PicturelessSequence:
    """Implements `engine.drafters.draft_model.DraftSequence` over a draft's sequence, for one answer.

    The draft reads each run of consecutive negative ids, of one or more pictures, as one token ``word_id``.
    """

    def __init__(self, draft_sequence: CachedSequence, word_id: int) -> None:
        self._draft_sequence, self._word_id = draft_sequence, word_id
        self._picture_runs: list[tuple[int, int]] = []  # begin and end of each run, ascending
        self.n_vocab = draft_sequence.n_vocab

    @property
    def n_ctx(self) -> int:
        """How many of the target's tokens the cache can hold, if all new tokens are text."""
        return self._draft_sequence.n_ctx + sum(end - begin - 1 for begin, end in self._picture_runs)

    @property
    def num_past(self) -> int:
        end = self._draft_sequence.num_past
        for begin, stretch_end in self._picture_runs:
            if begin >= end:
                break
            end += stretch_end - begin - 1
        return end

    @property
    def num_candidates(self) -> int:
        return self._draft_sequence.num_candidates

    def reuse(self, ids: History) -> int:
        self._picture_runs = []
        self._draft_sequence.reuse(self._draft_ids(ids, 0))
        return self.num_past

    def prefill(self, ids: History) -> Iterator[int]:
        """See `CachedSequence.prefill`; yields the number of decoded draft tokens."""
        yield from self._draft_sequence.prefill(self._draft_ids(ids, self.num_past))

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`; the last ``n_rows`` must be text."""
        return self._draft_sequence.forward(self._draft_ids(ids, self.num_past), n_rows)

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        return self._draft_sequence.forward_candidates(self._draft_ids(ids, self.num_past))

    def checkpoint(self, num_uncertain: int | None = None) -> None:
        self._draft_sequence.checkpoint(num_uncertain)

    def rollback(self, num_past: int) -> bool:
        hidden = sum(min(end, num_past) - begin - 1 for begin, end in self._picture_runs if begin < num_past)
        return self._draft_sequence.rollback(num_past - hidden)

    def clear(self) -> None:
        self._draft_sequence.clear()

    def _draft_ids(self, ids: TokenIds, begin: int) -> History:
        """The draft's tokens for ``ids``, which begin at index ``begin`` of the conversation."""
        if self._picture_runs and self._picture_runs[-1][1] > begin:
            self._picture_runs = [one for one in self._picture_runs if one[1] <= begin]
        given = np.asarray(ids, dtype=np.int32)
        hidden = given < 0
        if not hidden.any():
            return given
        edges = np.flatnonzero(np.diff(np.concatenate(([False], hidden, [False])).astype(np.int8))).reshape(-1, 2)
        self._picture_runs += [(begin + int(first), begin + int(end)) for first, end in edges]
        kept = ~hidden
        kept[edges[:, 0]] = True
        return np.where(hidden, np.int32(self._word_id), given)[kept]
