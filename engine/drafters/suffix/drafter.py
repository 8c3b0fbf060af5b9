"""Suffix decoding: propose the most frequent continuation of the longest match of the conversation's end.

Oliaro et al. 2024, arXiv 2411.04975: frequencies decide the proposed tokens and their number. Suffix automata replace
the paper's suffix trees: one for the conversation, and optionally one for past text.
"""

from collections.abc import Sequence

import numpy as np

from engine.drafters.base import Draft
from engine.drafters.suffix.index import NO_MATCH, SuffixIndex
from engine.records import Source
from engine.sampling.sampler import History, Sampler

_EMPTY = Draft([], Source.NGRAM)
_MIN_MATCH = 2  # a single token nearly always matches, and its continuation is right in one case of four
_MAX_MATCH = 32  # at most `DEPTH` of the index
_TOKENS_PER_MATCH = 4.0  # the paper's alpha: proposed tokens per matched token
_MIN_PROBABILITY = 0.1  # of the whole proposal, estimated from frequencies
_PROMPT_TAIL = 8  # last tokens of the prompt that are indexed before the predicted text


class SuffixDrafter:
    """Implements `Drafter` with the longest match; of equally long matches, that in the conversation.

    Example:
        After [1, 2, 3, 1, 2, 4, 1, 2, 4, 1, 2] it proposes 4, which followed (1, 2) twice, and not 3, which followed
        once.
    """

    source = Source.NGRAM

    def __init__(self, min_match: int = _MIN_MATCH) -> None:
        self.min_match = min_match
        self._index = SuffixIndex()
        self.past: SuffixIndex | None = None  # never changed here; may grow or be replaced before a `begin`
        self.ends: frozenset[int] = frozenset()  # tokens that end an answer: a proposal stops before them
        self.predicted: list[int] = []  # predicted output of the request; replaces the past text from `begin` on
        self._past_match = NO_MATCH

    def begin(self, history: History, sampler: Sampler) -> None:  # noqa: ARG002  (q = 1 whatever the sampling)
        """Keep the index if ``history`` extends the indexed text, else start a new one."""
        known = len(self._index)
        if known > len(history) or not np.array_equal(history[:known], self._index.ids):
            self._index = SuffixIndex()
        if self.predicted:  # indexed after the end of the prompt, so that its beginning can match too
            self.past = SuffixIndex([*history[-_PROMPT_TAIL:].tolist(), *self.predicted])
        self._past_match = NO_MATCH
        self._extend_past_match(history[: len(self._index)][-_MAX_MATCH:].tolist())
        self.extend(history[len(self._index) :].tolist())

    def propose(self, history: History, limit: int) -> Draft:
        """Propose the most frequent continuation of the longest match, as far as the rules allow."""
        self.extend(history[len(self._index) :].tolist())
        index, min_match = self._index, self.min_match
        match = index.suffix(_MAX_MATCH)
        if match.length < min_match and self._past_match.length < min_match:
            return _EMPTY
        match = index.longest_continuable(match)
        if self.past is not None:
            past_match = self.past.longest_continuable(self._past_match)
            if past_match.length > match.length or (self.predicted and past_match.length == match.length):
                index, match = self.past, past_match
        if match.length < min_match:
            return _EMPTY
        limit = min(limit, int(_TOKENS_PER_MATCH * match.length))
        ids, scores = index.continuation(match, limit, min(min_match, _MIN_MATCH), _MIN_PROBABILITY)
        predicted = range(len(ids)) if self.predicted and index is self.past else ()
        return Draft(ids, self.source, None, scores, match.length, predicted=predicted).before(self.ends)

    def extend(self, ids: Sequence[int]) -> None:
        self._index.extend(ids)
        self._extend_past_match(ids[-_MAX_MATCH:])

    def observe(self, num_accepted: int) -> None: ...

    def _extend_past_match(self, ids: Sequence[int]) -> None:
        past = self.past
        if past is not None:
            for token_id in ids:
                self._past_match = past.follow(self._past_match, token_id, _MAX_MATCH)
