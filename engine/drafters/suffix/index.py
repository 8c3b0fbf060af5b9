"""Every substring of token ids, how often it came and what followed it most often; grows token by token.

An online suffix automaton (Blumer et al. 1985, doi:10.1016/0304-3975(85)90157-4) with counts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

NONE = 0  # no transition leads to the root, so its number is free to mean none
_IN_DICT = -1
_MOST = 8  # a state with more transitions keeps them in a dictionary
DEPTH = 32  # counts are kept for substrings of up to this many tokens
BOUNDARY = -1  # stands between conversations in one index; never matches a token, and nothing is proposed beyond it
_ROOT = 0
_SURELY = 1.000001  # times more, and rounding does not matter
_ONCE = 0.75  # the estimate where something followed once out of once


class SuffixEdges:
    """A list of edges for each state, in flat arrays; a dictionary for the few states that have many.

    A state with a single transition has no edges; others have one for each. Dictionaries for all of them would be
    objects by the ten thousand, and Python's garbage collector would stop the answer for looking at them.
    """

    def __init__(self) -> None:
        self._first = array("i")  # for each state: its first edge
        self._token = array("i", [NONE])
        self._to = array("i", [NONE])
        self._next = array("i", [NONE])
        self._dicts: dict[int, dict[int, int]] = {}

    def add_state(self) -> None:
        """The next state, without edges."""
        self._first.append(NONE)

    def find(self, state: int, token_id: int) -> int:
        """Where the edge with ``token_id`` leads, or NONE."""
        edge = self._first[state]
        if edge == _IN_DICT:
            return self._dicts[state].get(token_id, NONE)
        tokens, then = self._token, self._next
        while edge != NONE and tokens[edge] != token_id:
            edge = then[edge]
        return self._to[edge]

    def find_or_add(self, state: int, token_id: int, new: int, only: tuple[int, int]) -> int:
        """The same; where there is none, add one to ``new``.

        ``only``, token and target, is the state's only transition where it has no edges yet.
        """
        first = edge = self._first[state]
        if edge == _IN_DICT:
            target = self._dicts[state].setdefault(token_id, new)
            return NONE if target == new else target
        tokens, then = self._token, self._next
        count = 0
        while edge != NONE:
            if tokens[edge] == token_id:
                return self._to[edge]
            edge = then[edge]
            count += 1
        if first == NONE:
            self._add(state, *only)
        self._add(state, token_id, new)
        if count == _MOST:
            self._move_to_dict(state)
        return NONE

    def copy(self, state: int, clone: int) -> None:
        """``clone``, which has none, gets the edges of ``state``."""
        edge = self._first[state]
        if edge == _IN_DICT:
            self._first[clone] = _IN_DICT
            self._dicts[clone] = self._dicts[state].copy()
            return
        while edge != NONE:
            self._add(clone, self._token[edge], self._to[edge])
            edge = self._next[edge]

    def redirect(self, state: int, token_id: int, old: int, new: int) -> bool:
        """Let the edge with ``token_id`` lead to ``new`` if it leads to ``old``; whether it did."""
        edge = self._first[state]
        if edge == _IN_DICT:
            steps = self._dicts[state]
            if steps.get(token_id) != old:
                return False
            steps[token_id] = new
            return True
        tokens, then = self._token, self._next
        while edge != NONE and tokens[edge] != token_id:
            edge = then[edge]
        if edge == NONE or self._to[edge] != old:
            return False
        self._to[edge] = new
        return True

    def _add(self, state: int, token_id: int, target: int) -> None:
        first = self._first
        self._next.append(first[state])
        first[state] = len(self._to)
        self._token.append(token_id)
        self._to.append(target)

    def _move_to_dict(self, state: int) -> None:
        """The edges of ``state`` move to a dictionary."""
        self._dicts[state] = steps = {}
        edge = self._first[state]
        while edge != NONE:
            steps[self._token[edge]] = self._to[edge]
            edge = self._next[edge]
        self._first[state] = _IN_DICT


class Match(NamedTuple):
    """``length`` tokens found in the index: the state that holds this substring."""

    state: int
    length: int


NO_MATCH = Match(_ROOT, 0)


class SuffixIndex:
    """Counts of all substrings of up to `DEPTH` tokens in linear memory; amortised constant time a token.

    A state is a set of substrings that end at the same places; the longest has ``_length`` tokens, the shorter ones go
    on in the state at ``_link``. States live in flat arrays, six numbers each. A state with one transition keeps it in
    ``_best`` alone, others have edges for all of theirs. All transitions into a state carry the same token: the one at
    the state's ``_last`` end.

    Example:
        After 1 2 3 1 2, the longest suffix that came before is (1, 2), and 3 followed it once out of once.
    """

    def __init__(self, ids: Iterable[int] = ()) -> None:
        self._ids = array("i")
        self._length = array("i", [0])
        self._link = array("i", [-1])
        self._count = array("i", [0])  # ends of the state's substrings; kept where the shortest has up to DEPTH + 1
        self._last = array("i", [-1])  # where it ended last
        self._best = array("i", [NONE])  # the transition taken most often; of equal ones the latest
        self._arrays = (self._ids, self._count, self._last, self._best, self._link, self._length)
        self._edges = SuffixEdges()
        self._edges.add_state()
        self._whole = _ROOT
        self._suffix = (_ROOT, 0)  # the last up to DEPTH tokens: their state, and how many
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
        ids, counts, last, best, links, lengths = self._arrays
        end = len(ids)
        ids.append(token_id)
        state = self._whole
        self._whole = whole = self._add_state(end + 1, _ROOT, 1, end, NONE)
        following = NONE
        while state >= 0:
            most = best[state]
            if most == NONE:
                best[state] = whole
            else:
                usual = ids[last[most]]
                if usual == token_id:
                    following = most
                    break
                following = self._edges.find_or_add(state, token_id, whole, (usual, most))
                if following != NONE:
                    break
                if counts[most] <= 1:
                    best[state] = whole
            state = links[state]
        if following == NONE:
            self._suffix = (whole, min(self._suffix[1] + 1, DEPTH))
        else:
            if lengths[following] > lengths[state] + 1:
                following = self._split(state, token_id, following)
            links[whole] = following
            self._count_end(state, token_id, following)

    def suffix(self, max_length: int) -> Match:
        """The longest end of the sequence, of up to ``max_length`` (<= DEPTH) tokens, that came before."""
        state, length = self._suffix
        if length > max_length:
            state, length = self._restrict(state, length, max_length)
        if self._best[state] == NONE:
            state = self._followed(state)
            length = self._length[state]
        return Match(state, length)

    def follow(self, match: Match, token_id: int, max_length: int) -> Match:
        """The longest end of ``match`` and ``token_id``, of up to ``max_length`` (<= DEPTH) tokens, in the index."""
        ids, _, last, best, links, lengths = self._arrays
        edges = self._edges
        state, length = match
        if length > max_length or lengths[links[state]] >= length:  # mostly it is at rest
            state, length = self._restrict(state, length, max_length)
        start = state
        while True:
            following = best[state]
            if following != NONE:
                if ids[last[following]] == token_id:
                    break
                following = edges.find(state, token_id)
                if following != NONE:
                    break
            if state == _ROOT:
                return NO_MATCH
            state = links[state]
        if state != start:
            length = lengths[state]
        if length == max_length:
            following, length = self._restrict(following, length + 1, max_length)
        else:
            length += 1
        return Match(following, length)

    def matched(self, match: Match) -> Match:
        """The longest end of ``match`` that something followed."""
        if self._best[match.state] != NONE:
            return match
        state = self._followed(match.state)
        return Match(state, self._length[state])

    def continuation(
        self, match: Match, limit: int, min_length: int, min_probability: float = 0.0
    ) -> tuple[list[int], list[float]]:
        """Up to ``limit`` tokens after ``match``, and for each its estimated probability of being right.

        Each is the token that followed most often, of equal ones the latest. Where nothing followed, the longest end
        that something followed is taken, so a repetition goes round; it must have ``min_length`` (>= 1) tokens. The
        walk stops where a conversation ended most often, and where all of it together came in less than
        ``min_probability`` of the cases. The estimate is Krichevsky and Trofimov's of "the most frequent one
        follows": half a case is added to each side. The sequence must not grow between `suffix` and this.
        """
        ids, counts, last, best, links, lengths = self._arrays
        state, length = match
        begun = state
        end = len(ids) - 1
        found: list[int] = []
        scores: list[float] = []
        probability = 1.0
        for room in range(limit - 1, -1, -1):
            following = best[state]
            if following == NONE:
                state = self._followed(state)
                length = lengths[state]
                following = best[state]
            if length < min_length:
                break
            ended = last[following]
            token_id = ids[ended]
            count = counts[following]
            # The end of the sequence is an end of the substring too, but nothing follows it yet.
            total = counts[state] - (last[state] == end)
            probability *= count / total
            if token_id == BOUNDARY or probability < min_probability:
                break
            found.append(token_id)
            scores.append((count + 0.5) / (total + 1.0))
            state = following
            if length == DEPTH:
                link = links[following]
                if lengths[link] >= DEPTH:
                    state = link
                if state == begun:  # it goes round, and so would the rest of the walk
                    rounds = 1 + limit // len(found)
                    if probability**rounds > _SURELY * min_probability:
                        return (found * rounds)[:limit], (scores * rounds)[:limit]
                continue
            length += 1
            if count == 1 and length + room <= DEPTH and ended + room <= end:
                rest = self._verbatim(ended + 1, room)  # what came once goes on as it did then
                return found + rest, scores + [_ONCE] * len(rest)
        return found, scores

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

    def _verbatim(self, start: int, count: int) -> list[int]:
        """The sequence's ``count`` tokens from ``start`` on, or as many as come before a boundary."""
        found = self._ids[start : start + count].tolist()
        return found[: found.index(BOUNDARY)] if BOUNDARY in found else found

    def _followed(self, state: int) -> int:
        """The first of the links of ``state`` that something followed, or the root."""
        best, links = self._best, self._link
        while state != _ROOT and best[state] == NONE:
            state = links[state]
        return state

    def _restrict(self, state: int, length: int, max_length: int) -> tuple[int, int]:
        """The end of up to ``max_length`` tokens of the ``length`` that ``state`` held, in the state that does now."""
        length = min(length, max_length)
        lengths, links = self._length, self._link
        # States split while the sequence grows: a shorter substring may have moved to the link.
        while state != _ROOT and lengths[links[state]] >= length:
            state = links[state]
        return state, length

    def _add_state(self, length: int, link: int, count: int, last: int, best: int) -> int:
        state = len(self._length)
        self._length.append(length)
        self._link.append(link)
        self._count.append(count)
        self._last.append(last)
        self._best.append(best)
        self._edges.add_state()
        return state

    def _split(self, state: int, token_id: int, following: int) -> int:
        """The shorter substrings of ``following``, those that come from ``state``, move to a state of their own."""
        _, counts, last, best, links, lengths = self._arrays
        edges = self._edges
        shorter = self._add_state(
            lengths[state] + 1, links[following], counts[following], last[following], best[following]
        )
        edges.copy(following, shorter)
        while state >= 0:
            turned = edges.redirect(state, token_id, following, shorter)
            if best[state] == following:
                best[state] = shorter
            elif not turned:
                break
            state = links[state]
        links[following] = shorter
        return shorter

    def _count_end(self, state: int, token_id: int, following: int) -> None:
        """Count the end of the sequence in ``following``, where ``state`` leads with ``token_id``, and in its links.

        Those are where the links of ``state`` lead; substrings of more than `DEPTH` + 1 tokens are left out. Of equally
        frequent continuations the latest is the one just seen, so it only has to be compared with the best. Nothing is
        ever proposed from the root.
        """
        ids, counts, last, best, links, lengths = self._arrays
        end = len(ids) - 1
        longest, length = self._suffix
        if lengths[state] < length:
            longest = self._whole
        else:
            state = longest
            longest = following = self._step(state, token_id)
        upcoming = following
        while state != _ROOT:
            most = best[state]
            # Where ``state`` leads is the end counted last or the next one, and mostly the best.
            if most == upcoming or (most != following and lengths[upcoming] > lengths[state]):
                following = upcoming
                counts[following] += 1
                last[following] = end
                upcoming = links[following]
            if most != following and counts[following] >= counts[most]:
                best[state] = following
            state = links[state]
        if upcoming != _ROOT:
            counts[upcoming] += 1
            last[upcoming] = end
        if length < DEPTH:
            length += 1
        elif lengths[links[longest]] >= DEPTH:
            longest = links[longest]
        self._suffix = (longest, length)

    def _step(self, state: int, token_id: int) -> int:
        """Where the transition with ``token_id`` leads, or NONE."""
        following = self._best[state]
        if following == NONE or self._ids[self._last[following]] == token_id:
            return following
        return self._edges.find(state, token_id)
