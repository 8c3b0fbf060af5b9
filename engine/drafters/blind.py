"""A draft that cannot see, in a conversation with pictures: it reads a word in the place of each.

Places are counted as the target counts them, so that drafter and pacer need not know of it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.interfaces import Candidates, Rows, TokenIds
from engine.sampling.sampler import History
from engine.sequence import CachedSequence

WORD_FOR_PICTURE = " image"


class BlindSequence:
    """Implements `engine.drafters.draft_model.DraftSequence` over a draft's sequence, for one answer.

    Each stretch of negative ids, of one picture or of several without a word between them, is one token to the draft.
    """

    def __init__(self, own: CachedSequence, word_id: int) -> None:
        """``word_id`` is the token that stands for a stretch."""
        self._own, self._word_id = own, word_id
        self._stretches: list[tuple[int, int]] = []  # where each begins and ends, ascending
        self.n_vocab = own.n_vocab

    @property
    def n_ctx(self) -> int:
        """How many places the cache can hold, if what follows is text."""
        return self._own.n_ctx + sum(end - begin - 1 for begin, end in self._stretches)

    @property
    def num_past(self) -> int:
        """How many places it holds."""
        place = self._own.num_past
        for begin, end in self._stretches:
            if begin >= place:
                break
            place += end - begin - 1
        return place

    @property
    def num_candidates(self) -> int:
        """See `LanguageModel.num_candidates`."""
        return self._own.num_candidates

    def reuse(self, ids: History) -> int:
        """See `CachedSequence.reuse`."""
        self._stretches = []
        self._own.reuse(self._seen(ids, 0))
        return self.num_past

    def prefill(self, ids: History) -> Iterator[int]:
        """See `CachedSequence.prefill`; what is done is counted in the draft's tokens."""
        yield from self._own.prefill(self._seen(ids, self.num_past))

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`; the last ``n_rows`` must be text."""
        return self._own.forward(self._seen(ids, self.num_past), n_rows)

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`."""
        return self._own.forward_candidates(self._seen(ids, self.num_past))

    def checkpoint(self, num_uncertain: int | None = None) -> None:
        """See `CachedSequence.checkpoint`."""
        self._own.checkpoint(num_uncertain)

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`."""
        hidden = sum(min(end, num_past) - begin - 1 for begin, end in self._stretches if begin < num_past)
        return self._own.rollback(num_past - hidden)

    def clear(self) -> None:
        """Forget everything."""
        self._own.clear()

    def _seen(self, ids: TokenIds, place: int) -> History:
        """What the draft reads of ``ids``, which begin at a place."""
        if self._stretches and self._stretches[-1][1] > place:
            self._stretches = [one for one in self._stretches if one[1] <= place]
        given = np.asarray(ids, dtype=np.int32)
        hidden = given < 0
        if not hidden.any():
            return given
        edges = np.flatnonzero(np.diff(np.concatenate(([False], hidden, [False])).astype(np.int8))).reshape(-1, 2)
        self._stretches += [(place + int(begin), place + int(end)) for begin, end in edges]
        kept = ~hidden
        kept[edges[:, 0]] = True
        return np.where(hidden, np.int32(self._word_id), given)[kept]
