"""Prompt lookup: propose the tokens that followed the same few tokens earlier in the conversation.

Saxena 2023, https://github.com/apoorvumang/prompt-lookup-decoding; an index replaces the search, so that the cost per
token does not grow with the conversation.
"""

from __future__ import annotations

from array import array

import numpy as np

from engine.drafters.base import Draft
from engine.records import Source
from engine.sampling.sampler import History, Sampler

MAX_MATCH = 5
MAX_REPORTED_MATCH = 16  # limit of the reported match length; longer matches continue more likely
MIN_MATCH = 2  # a match of a single token is nearly always found and nearly always wrong


class PromptLookupDrafter:
    """Implements `Drafter` with the longest match; of equally long matches, the most recent.

    Example:
        With matches of 2 to 3 tokens, [1, 2, 3, 4, 2, 3] gives the proposal [4, 2, 3]: the last two tokens, 2 and 3,
        occurred before, followed by 4, 2, 3.
    """

    source = Source.NGRAM

    def __init__(
        self, min_match: int = MIN_MATCH, max_match: int = MAX_MATCH, ends: frozenset[int] = frozenset()
    ) -> None:
        """A token of ``ends`` ends an answer: a proposal stops before it."""
        self.ends = ends
        self._match_sizes = range(max_match, min_match - 1, -1)
        self._ids = array("i")
        # For each match size, maps the matched tokens to the index of the most recent continuation. Keys are bytes,
        # since the garbage collector would visit tuples, and each token adds five keys.
        self._continuations: dict[int, dict[bytes, int]] = {size: {} for size in self._match_sizes}

    def begin(self, history: History, sampler: Sampler) -> None:  # noqa: ARG002  (q = 1 whatever the sampling)
        """Keep the index if ``history`` extends the indexed text, else start a new one."""
        known = len(self._ids)
        indexed = np.array(self._ids, dtype=np.int32)
        if known > len(history) or not np.array_equal(history[:known], indexed):
            self._ids = array("i")
            for table in self._continuations.values():
                table.clear()
        self._index_new_tokens(history)

    def propose(self, history: History, limit: int) -> Draft:
        """Propose the tokens that followed the longest earlier match of the end of ``history``."""
        self._index_new_tokens(history)
        ids = self._ids
        for size in self._match_sizes if limit > 0 else ():
            if len(ids) < size:
                continue
            start = self._continuations[size].get(ids[-size:].tobytes())
            if start is not None:
                proposed = ids[start : start + limit].tolist()
                # A match that reaches the end of the text is periodic: repeat the period.
                while len(proposed) < limit:
                    proposed += proposed[: limit - len(proposed)]
                length = self._match_length(start, size)
                return Draft(proposed, self.source, match_length=length).before(self.ends)
        return Draft([], self.source)

    def _match_length(self, start: int, size: int) -> int:
        """Extend a match of ``size`` tokens backwards; ``start`` is the index after its earlier occurrence."""
        ids, end = self._ids, len(self._ids)
        while size < MAX_REPORTED_MATCH and start > size and ids[start - size - 1] == ids[end - size - 1]:
            size += 1
        return size

    def observe(self, num_accepted: int) -> None: ...

    def _index_new_tokens(self, history: History) -> None:
        """Index each new token as the continuation of the tokens before it."""
        ids = self._ids
        for token_id in history[len(ids) :].tolist():
            end = len(ids)
            for size in self._match_sizes:
                if end >= size:
                    self._continuations[size][ids[end - size :].tobytes()] = end
            ids.append(token_id)
