"""Every substring of a sequence of token ids, with how often it came and what followed it most often; grows by one
token at a time.

An online suffix automaton (Blumer et al. 1985, doi:10.1016/0304-3975(85)90157-4) with counts. Knows no model, no
sampling, and not what is proposed from it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

DEPTH = 96  # counts are kept for substrings of up to this many tokens
BOUNDARY = -1  # stands between conversations in one index; never matches a token, and nothing is proposed beyond it

_ROOT = 0
_NONE = 0  # no transition leads to the root, so its number is free to mean none


class Match(NamedTuple):
    """``length`` tokens found in the index: the state that holds this substring."""

    state: int
    length: int


class Continuation(NamedTuple):
    """``token_id`` followed ``count`` times out of ``total``; ``match`` is what was matched with it at the end."""

    token_id: int
    count: int
    total: int
    match: Match


NO_MATCH = Match(_ROOT, 0)


class SuffixIndex:
    """Counts of all substrings of up to `DEPTH` tokens in linear memory; amortised constant time a token.

    A state is a set of substrings that end at the same places; the longest has ``_length`` tokens, the shorter ones go
    on in the state at ``_link``. States live in flat arrays, five numbers each. A state with one transition keeps it in
    ``_best`` alone, only a branching one has a dictionary. All transitions into a state carry the same token: the one
    at the state's ``_last`` end.

    Example:
        After 1 2 3 1 2, the longest suffix that came before is (1, 2), and 3 followed it once out of once.
    """

    def __init__(self, ids: Iterable[int] = ()) -> None:
        self._ids = array("i")
        self._length = array("i", [0])
        self._link = array("i", [-1])
        self._count = array("i", [0])  # ends of the state's substrings; kept where the shortest has up to DEPTH + 1
        self._last = array("i", [-1])  # where it ended last
        self._best = array("i", [_NONE])  # the transition taken most often; of equal ones the latest
        self._branches: dict[int, dict[int, int]] = {}
        self._whole = _ROOT
        self._suffix = NO_MATCH  # the last up to DEPTH tokens
        self.extend(ids)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """A copy of all tokens [num_tokens], boundaries included."""
        return np.array(self._ids, dtype=np.int32)

    @property
    def num_states(self) -> int:
        """States of the automaton, at most twice the tokens."""
        return len(self._length)

    def extend(self, ids: Iterable[int]) -> None:
        """Append each of ``ids``."""
        for token_id in ids:
            self.append(token_id)

    def append(self, token_id: int) -> None:
        """The sequence goes on with ``token_id``."""
        self._grow(token_id)
        before = self._settle(self._suffix, DEPTH)
        self._suffix = self._settle(Match(self._count_ends(before, token_id), before.length + 1), DEPTH)

    def suffix(self, max_length: int) -> Match:
        """The longest end of the sequence, of up to ``max_length`` (<= DEPTH) tokens, that came before."""
        return self.matched(self._settle(self._suffix, max_length))

    def follow(self, match: Match, token_id: int, max_length: int) -> Match:
        """The longest end of ``match`` and ``token_id``, of up to ``max_length`` (<= DEPTH) tokens, in the index."""
        state, length = self._settle(match, max_length)
        following = self._step(state, token_id)
        while following == _NONE and state != _ROOT:
            state = self._link[state]
            length = self._length[state]
            following = self._step(state, token_id)
        return NO_MATCH if following == _NONE else self._settle(Match(following, length + 1), max_length)

    def matched(self, match: Match) -> Match:
        """The longest end of ``match`` that something followed."""
        state, length = match
        best, links = self._best, self._link
        while state != _ROOT and best[state] == _NONE:
            state = links[state]
            length = self._length[state]
        return Match(state, length)

    def most_frequent(self, match: Match, min_length: int) -> Continuation | None:
        """What followed ``match`` most often, of equal ones the latest; where nothing did, what followed its end.

        None where nothing followed its last ``min_length`` (>= 1) tokens, or where a conversation ended most often.
        """
        state, length = self.matched(match)
        if length < min_length:
            return None
        following = self._best[state]
        token_id = self._ids[self._last[following]]
        if token_id == BOUNDARY:
            return None
        # The end of the sequence is an end of the substring too, but nothing follows it yet.
        total = self._count[state] - (self._last[state] == len(self._ids) - 1)
        next_match = self._settle(Match(following, length + 1), DEPTH)
        return Continuation(token_id, self._count[following], total, next_match)

    def save(self, path: Path) -> None:
        """Write the ids alone, four bytes each, as a .npy file."""
        with path.open("wb") as file:
            np.save(file, self.ids, allow_pickle=False)

    @classmethod
    def load(cls, path: Path, max_tokens: int) -> SuffixIndex:
        """Rebuild from the last ``max_tokens`` of a saved file.

        Raises:
            OSError: not readable.
            ValueError: not a file that `save` wrote.
        """
        with path.open("rb") as file:
            ids = np.lib.format.read_array(file, allow_pickle=False)
        if ids.ndim != 1 or ids.dtype != np.int32 or (len(ids) and ids.min() < BOUNDARY):
            raise ValueError(f"{path.name} does not hold token ids")
        return cls(ids[max(0, len(ids) - max_tokens) :].tolist())

    def _settle(self, match: Match, max_length: int) -> Match:
        """The end of ``match`` of up to ``max_length`` tokens, in the state that holds it now."""
        state, length = match
        length = min(length, max_length)
        lengths, links = self._length, self._link
        # States split while the sequence grows: a shorter substring may have moved to the link.
        while state != _ROOT and lengths[links[state]] >= length:
            state = links[state]
        return Match(state, length)

    def _step(self, state: int, token_id: int) -> int:
        """Where the transition with ``token_id`` leads, or _NONE."""
        best = self._best[state]
        if best != _NONE and self._ids[self._last[best]] == token_id:
            return best
        branches = self._branches.get(state)
        return _NONE if branches is None else branches.get(token_id, _NONE)

    def _connect(self, state: int, token_id: int, following: int) -> None:
        """A new transition."""
        best = self._best[state]
        if best == _NONE:
            self._best[state] = following
            return
        branches = self._branches.get(state)
        if branches is None:
            branches = self._branches[state] = {self._ids[self._last[best]]: best}
        branches[token_id] = following

    def _add_state(self, length: int, link: int, *, count: int, last: int, best: int) -> int:
        self._length.append(length)
        self._link.append(link)
        self._count.append(count)
        self._last.append(last)
        self._best.append(best)
        return len(self._length) - 1

    def _grow(self, token_id: int) -> None:
        """The automaton of the sequence with one more token; counts apart."""
        end = len(self._ids)
        self._ids.append(token_id)
        whole = self._add_state(end + 1, _ROOT, count=0, last=end, best=_NONE)
        state = self._whole
        while state >= 0 and self._step(state, token_id) == _NONE:
            self._connect(state, token_id, whole)
            state = self._link[state]
        self._whole = whole
        if state < 0:
            return
        following = self._step(state, token_id)
        if self._length[following] > self._length[state] + 1:
            following = self._split(state, token_id, following)
        self._link[whole] = following

    def _split(self, state: int, token_id: int, following: int) -> int:
        """The shorter substrings of ``following``, those that come from ``state``, move to a state of their own."""
        shorter = self._add_state(
            self._length[state] + 1,
            self._link[following],
            count=self._count[following],
            last=self._last[following],
            best=self._best[following],
        )
        branches = self._branches.get(following)
        if branches is not None:
            self._branches[shorter] = branches.copy()
        while state >= 0 and self._step(state, token_id) == following:
            if self._best[state] == following:
                self._best[state] = shorter
            branches = self._branches.get(state)
            if branches is not None:
                branches[token_id] = shorter
            state = self._link[state]
        self._link[following] = shorter
        return shorter

    def _count_ends(self, before: Match, token_id: int) -> int:
        """Count the new end for every substring of up to ``before.length + 1`` tokens; return the longest one's state.

        The latest of equally frequent continuations is the one just seen, so a comparison with the best so far is all.
        """
        counts, last, best, links = self._count, self._last, self._best, self._link
        end = len(self._ids) - 1
        longest = counted = _NONE
        state = before.state
        while state >= 0:
            following = self._step(state, token_id)
            if following != counted:
                counts[following] += 1
                last[following] = end
                counted = following
                longest = longest or following
            if counts[following] >= counts[best[state]]:
                best[state] = following
            state = links[state]
        return longest
