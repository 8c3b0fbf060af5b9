"""Every substring of token ids, how often it came and what followed it most often; grows token by token.

An online suffix automaton (Blumer et al. 1985, doi:10.1016/0304-3975(85)90157-4) with counts. Knows no model, no
sampling, and not what is proposed from it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

DEPTH = 32  # counts are kept for substrings of up to this many tokens
BOUNDARY = -1  # stands between conversations in one index; never matches a token, and nothing is proposed beyond it

_ROOT = 0
_NONE = 0  # no transition leads to the root, so its number is free to mean none
_CROWDED = -1
_MOST_EDGES = 8  # a state with more transitions keeps them in a dictionary


class Match(NamedTuple):
    """``length`` tokens found in the index: the state that holds this substring."""

    state: int
    length: int


NO_MATCH = Match(_ROOT, 0)


class SuffixIndex:
    """Counts of all substrings of up to `DEPTH` tokens in linear memory; amortised constant time a token.

    A state is a set of substrings that end at the same places; the longest has ``_length`` tokens, the shorter ones go
    on in the state at ``_link``. States live in flat arrays, six numbers each. A state with one transition keeps it in
    ``_best`` alone, one with a few has them in a list of edges, in flat arrays too, and only a crowded one has a
    dictionary: objects by the ten thousand would have Python's garbage collector stop the answer for looking at them.
    All transitions into a state carry the same token: the one at the state's ``_last`` end.

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
        self._arrays = (self._ids, self._count, self._last, self._best, self._link, self._length)
        self._edges = array("i", [_NONE])  # the first of the state's edges where it has more than one transition
        self._edge_to = array("i", [_NONE])
        self._edge_next = array("i", [_NONE])
        self._crowded: dict[int, dict[int, int]] = {}
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
        state, length = self._suffix
        self._suffix = self._settle(Match(self._count_ends(state, token_id), length + 1), DEPTH)

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

    def continuations(self, match: Match, min_length: int) -> Iterator[tuple[int, int, int]]:
        """Walk on from ``match``: each time (token, how often it followed, how often anything did).

        The token is the one that followed most often, of equal ones the latest. Where nothing followed, the longest end
        that something followed is taken, so a repetition goes round; it must have ``min_length`` (>= 1) tokens. It
        stops where a conversation ended most often. The sequence must not grow meanwhile.
        """
        ids, counts, last, best, links, lengths = self._arrays
        state, length = match
        end = len(ids) - 1
        while length >= min_length:
            following = best[state]
            if following == _NONE:
                state = links[state]
                length = lengths[state]
                continue
            token_id = ids[last[following]]
            if token_id == BOUNDARY:
                return
            # The end of the sequence is an end of the substring too, but nothing follows it yet.
            yield token_id, counts[following], counts[state] - (last[state] == end)
            state, length = following, length + 1
            if length > DEPTH:
                state, length = self._settle(Match(state, length), DEPTH)

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
        return self._other_step(state, token_id)

    def _other_step(self, state: int, token_id: int) -> int:
        """The same where it is known not to be the transition taken most often."""
        edge = self._edges[state]
        if edge == _CROWDED:
            return self._crowded[state].get(token_id, _NONE)
        ids, last, edge_to, edge_next = self._ids, self._last, self._edge_to, self._edge_next
        while edge != _NONE:
            following = edge_to[edge]
            if ids[last[following]] == token_id:
                return following
            edge = edge_next[edge]
        return _NONE

    def _add_step(self, state: int, following: int) -> None:
        """Let another transition lead from ``state``, which has one at least, to ``following``."""
        if self._edges[state] == _CROWDED:
            self._crowded[state][self._ids[self._last[following]]] = following
            return
        if self._edges[state] == _NONE:
            self._add_edge(state, self._best[state])
        self._add_edge(state, following)
        targets = self._targets(state)
        if len(targets) > _MOST_EDGES:
            self._edges[state] = _CROWDED
            self._crowded[state] = {self._ids[self._last[target]]: target for target in targets}

    def _add_edge(self, state: int, following: int) -> None:
        self._edge_to.append(following)
        self._edge_next.append(self._edges[state])
        self._edges[state] = len(self._edge_to) - 1

    def _targets(self, state: int) -> list[int]:
        """Where the edges of a state that is not crowded lead."""
        targets = []
        edge = self._edges[state]
        while edge != _NONE:
            targets.append(self._edge_to[edge])
            edge = self._edge_next[edge]
        return targets

    def _copy_steps(self, state: int, twin: int) -> None:
        """``twin``, a new state, gets the transitions of ``state``; the best one it has already."""
        if self._edges[state] == _CROWDED:
            self._edges[twin] = _CROWDED
            self._crowded[twin] = self._crowded[state].copy()
            return
        for following in self._targets(state):
            self._add_edge(twin, following)

    def _turn_step(self, state: int, following: int, shorter: int) -> None:
        """Let the transition from ``state`` to ``following`` lead to ``shorter``."""
        if self._best[state] == following:
            self._best[state] = shorter
        edge = self._edges[state]
        if edge == _CROWDED:
            self._crowded[state][self._ids[self._last[following]]] = shorter
            return
        while edge != _NONE:
            if self._edge_to[edge] == following:
                self._edge_to[edge] = shorter
                return
            edge = self._edge_next[edge]

    def _add_state(self, length: int, link: int, *, count: int, last: int, best: int) -> int:
        self._length.append(length)
        self._link.append(link)
        self._count.append(count)
        self._last.append(last)
        self._best.append(best)
        self._edges.append(_NONE)
        return len(self._length) - 1

    def _grow(self, token_id: int) -> None:
        """The automaton of the sequence with one more token; counts apart."""
        ids, _, last, best, links, lengths = self._arrays
        end = len(ids)
        ids.append(token_id)
        whole = self._add_state(end + 1, _ROOT, count=0, last=end, best=_NONE)
        state, self._whole = self._whole, whole
        while state >= 0:
            following = best[state]
            if following == _NONE:
                best[state] = whole
            elif ids[last[following]] == token_id:
                break
            else:
                following = self._other_step(state, token_id)
                if following != _NONE:
                    break
                self._add_step(state, whole)
            state = links[state]
        else:
            return
        if lengths[following] > lengths[state] + 1:
            following = self._split(state, token_id, following)
        links[whole] = following

    def _split(self, state: int, token_id: int, following: int) -> int:
        """The shorter substrings of ``following``, those that come from ``state``, move to a state of their own."""
        shorter = self._add_state(
            self._length[state] + 1,
            self._link[following],
            count=self._count[following],
            last=self._last[following],
            best=self._best[following],
        )
        self._copy_steps(following, shorter)
        while state >= 0 and self._step(state, token_id) == following:
            self._turn_step(state, following, shorter)
            state = self._link[state]
        self._link[following] = shorter
        return shorter

    def _count_ends(self, state: int, token_id: int) -> int:
        """Count the end of ``token_id`` after each substring of ``state`` and of its links; return the longest's state.

        Of equally frequent continuations the latest is the one just seen, so it only has to be compared with the best.
        """
        ids, counts, last, best, links, _ = self._arrays
        end = len(ids) - 1
        longest = counted = _NONE
        while state >= 0:
            most = following = best[state]
            if ids[last[most]] != token_id:
                following = self._other_step(state, token_id)
            if following != counted:
                counts[following] += 1
                last[following] = end
                counted = following
                longest = longest or following
            if following != most and counts[following] >= counts[most]:
                best[state] = following
            state = links[state]
        return longest
