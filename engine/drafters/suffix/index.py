"""Counts every substring of token ids and its most frequent continuation; grows token by token.

An online suffix automaton (Blumer et al. 1985, doi:10.1016/0304-3975(85)90157-4) with counts.
"""

from array import array
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

NO_STATE = 0  # no transition leads to the root, so its number can mean "none"
_IN_DICT = -1
_MAX_LISTED_EDGES = 8  # a state with more transitions stores them in a dictionary
MAX_SUBSTRING = 32  # counts are kept for substrings of up to this many tokens
BOUNDARY = -1  # separates conversations in one index; matches no token, and proposals stop before it
_ROOT = 0
_ROUNDING = 1.000001  # factor that excludes rounding errors in a comparison
_SINGLE_SCORE = 0.75  # estimated probability of the continuation of a text that occurred once


class SuffixEdges:
    """A list of edges for each state, in flat arrays; a dictionary for the few states with many edges.

    A state with a single transition has no edges here; other states have an edge for each transition. Dictionaries for
    all states would be tens of thousands of objects, and Python's garbage collector would delay the answer.
    """

    def __init__(self) -> None:
        self._first_edge = array("i")  # first edge of each state
        self._token = array("i", [NO_STATE])
        self._target_state = array("i", [NO_STATE])
        self._next = array("i", [NO_STATE])
        self._dicts: dict[int, dict[int, int]] = {}

    def add_state(self) -> None:
        self._first_edge.append(NO_STATE)

    def find(self, state: int, token_id: int) -> int:
        """Target of the edge with ``token_id``, or NO_STATE."""
        edge = self._first_edge[state]
        if edge == _IN_DICT:
            return self._dicts[state].get(token_id, NO_STATE)
        tokens, then = self._token, self._next
        while edge != NO_STATE and tokens[edge] != token_id:
            edge = then[edge]
        return self._target_state[edge]

    def find_or_add(self, state: int, token_id: int, new: int, only: tuple[int, int]) -> int:
        """Like `find`, but add an edge to ``new`` if there is none.

        ``only``: token and target of the state's single transition, if the state has no edges yet.
        """
        first = edge = self._first_edge[state]
        if edge == _IN_DICT:
            target = self._dicts[state].setdefault(token_id, new)
            return NO_STATE if target == new else target
        tokens, then = self._token, self._next
        count = 0
        while edge != NO_STATE:
            if tokens[edge] == token_id:
                return self._target_state[edge]
            edge = then[edge]
            count += 1
        if first == NO_STATE:
            self._add(state, *only)
        self._add(state, token_id, new)
        if count == _MAX_LISTED_EDGES:
            self._move_to_dict(state)
        return NO_STATE

    def copy(self, state: int, clone: int) -> None:
        """Copy the edges of ``state`` to ``clone``, which must have none."""
        edge = self._first_edge[state]
        if edge == _IN_DICT:
            self._first_edge[clone] = _IN_DICT
            self._dicts[clone] = self._dicts[state].copy()
            return
        while edge != NO_STATE:
            self._add(clone, self._token[edge], self._target_state[edge])
            edge = self._next[edge]

    def redirect(self, state: int, token_id: int, old: int, new: int) -> bool:
        """Redirect the edge with ``token_id`` from ``old`` to ``new``; False if it does not lead to ``old``."""
        edge = self._first_edge[state]
        if edge == _IN_DICT:
            steps = self._dicts[state]
            if steps.get(token_id) != old:
                return False
            steps[token_id] = new
            return True
        tokens, then = self._token, self._next
        while edge != NO_STATE and tokens[edge] != token_id:
            edge = then[edge]
        if edge == NO_STATE or self._target_state[edge] != old:
            return False
        self._target_state[edge] = new
        return True

    def _add(self, state: int, token_id: int, target: int) -> None:
        first = self._first_edge
        self._next.append(first[state])
        first[state] = len(self._target_state)
        self._token.append(token_id)
        self._target_state.append(target)

    def _move_to_dict(self, state: int) -> None:
        self._dicts[state] = steps = {}
        edge = self._first_edge[state]
        while edge != NO_STATE:
            steps[self._token[edge]] = self._target_state[edge]
            edge = self._next[edge]
        self._first_edge[state] = _IN_DICT


class Match(NamedTuple):
    """``length`` tokens found in the index, and the state of this substring."""

    state: int
    length: int


NO_MATCH = Match(_ROOT, 0)


class SuffixIndex:
    """Counts all substrings of up to `MAX_SUBSTRING` tokens, in linear memory and amortised constant time per token.

    A state is a set of substrings that end at the same indices; the longest has ``_length`` tokens, and ``_link`` is
    the state of the next shorter suffixes. States are stored in flat arrays, six numbers each. A state with one
    transition stores it in ``_best`` only, other states have an edge for each transition. All transitions into a state
    have the same token: the one at the state's ``_last`` end.

    Example:
        In 1 2 3 1 2, the longest suffix that occurred before is (1, 2), and its only continuation is 3.
    """

    def __init__(self, ids: Iterable[int] = ()) -> None:
        self._ids = array("i")
        self._length = array("i", [0])
        self._link = array("i", [-1])
        self._count = array("i", [0])  # occurrences of substrings of up to MAX_SUBSTRING + 1 tokens
        self._last = array("i", [-1])  # index of the last occurrence's end
        self._best = array("i", [NO_STATE])  # the most frequent transition; of equally frequent ones the latest
        self._arrays = (self._ids, self._count, self._last, self._best, self._link, self._length)
        self._edges = SuffixEdges()
        self._edges.add_state()
        self._whole_state = _ROOT
        self._suffix = (_ROOT, 0)  # state and length of the sequence's suffix of up to MAX_SUBSTRING tokens
        self.extend(ids)

    def __len__(self) -> int:
        return len(self._ids)

    @property
    def ids(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        """A copy of all tokens [num_tokens], boundaries included."""
        return np.array(self._ids, dtype=np.int32)

    @property
    def num_states(self) -> int:
        """At most twice the number of tokens."""
        return len(self._length)

    def extend(self, ids: Iterable[int]) -> None:
        for token_id in ids:
            self.append(token_id)

    def append(self, token_id: int) -> None:
        ids, counts, last, best, links, lengths = self._arrays
        end = len(ids)
        ids.append(token_id)
        state = self._whole_state
        self._whole_state = whole = self._add_state(end + 1, _ROOT, 1, end, NO_STATE)
        following = NO_STATE
        while state >= 0:
            most = best[state]
            if most == NO_STATE:
                best[state] = whole
            else:
                usual = ids[last[most]]
                if usual == token_id:
                    following = most
                    break
                following = self._edges.find_or_add(state, token_id, whole, (usual, most))
                if following != NO_STATE:
                    break
                if counts[most] <= 1:
                    best[state] = whole
            state = links[state]
        if following == NO_STATE:
            self._suffix = (whole, min(self._suffix[1] + 1, MAX_SUBSTRING))
        else:
            if lengths[following] > lengths[state] + 1:
                following = self._split(state, token_id, following)
            links[whole] = following
            self._count_end(state, token_id, following)

    def suffix(self, max_length: int) -> Match:
        """The longest suffix of the sequence that occurred before, of at most ``max_length`` tokens."""
        state, length = self._suffix
        if length > max_length:
            state, length = self._shorten(state, length, max_length)
        if self._best[state] == NO_STATE:
            state = self._continuable_state(state)
            length = self._length[state]
        return Match(state, length)

    def follow(self, match: Match, token_id: int, max_length: int) -> Match:
        """Extend ``match`` by ``token_id``: the longest indexed suffix of at most ``max_length`` tokens."""
        ids, _, last, best, links, lengths = self._arrays
        edges = self._edges
        state, length = match
        if length > max_length or lengths[links[state]] >= length:  # rare
            state, length = self._shorten(state, length, max_length)
        start = state
        while True:
            following = best[state]
            if following != NO_STATE:
                if ids[last[following]] == token_id:
                    break
                following = edges.find(state, token_id)
                if following != NO_STATE:
                    break
            if state == _ROOT:
                return NO_MATCH
            state = links[state]
        if state != start:
            length = lengths[state]
        if length == max_length:
            following, length = self._shorten(following, length + 1, max_length)
        else:
            length += 1
        return Match(following, length)

    def longest_continuable(self, match: Match) -> Match:
        """The longest suffix of ``match`` with a continuation."""
        if self._best[match.state] != NO_STATE:
            return match
        state = self._continuable_state(match.state)
        return Match(state, self._length[state])

    def continuation(
        self, match: Match, limit: int, min_length: int, min_probability: float = 0.0
    ) -> tuple[list[int], list[float]]:
        """Return up to ``limit`` tokens that continue ``match``, and the estimated probability of each.

        Each token is the most frequent continuation, or the latest of equally frequent ones. At the end of the sequence
        a match without a continuation is replaced by its longest suffix with one, if that suffix has ``min_length``
        (>= 1) tokens, so that a repetition continues. The walk stops at a boundary, and once the probability of the
        whole continuation falls below ``min_probability``. A probability is the Krichevsky-Trofimov estimate of "the
        most frequent token follows", which adds half a case to each side. The sequence must not grow between the calls
        of `suffix` and this method.
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
            if following == NO_STATE:
                state = self._continuable_state(state)
                length = lengths[state]
                following = best[state]
            if length < min_length:
                break
            ended = last[following]
            token_id = ids[ended]
            count = counts[following]
            # The last occurrence may be the end of the sequence, which has no continuation yet.
            total = counts[state] - (last[state] == end)
            probability *= count / total
            if token_id == BOUNDARY or probability < min_probability:
                break
            found.append(token_id)
            scores.append((count + 0.5) / (total + 1.0))
            state = following
            if length == MAX_SUBSTRING:
                link = links[following]
                if lengths[link] >= MAX_SUBSTRING:
                    state = link
                if state == begun:  # a cycle, which the rest of the walk would repeat
                    rounds = 1 + limit // len(found)
                    if probability**rounds > _ROUNDING * min_probability:
                        return (found * rounds)[:limit], (scores * rounds)[:limit]
                continue
            length += 1
            if count == 1 and length + room <= MAX_SUBSTRING and ended + room <= end:
                rest = self._copy_tokens(ended + 1, room)  # a substring that occurred once has a single continuation
                return found + rest, scores + [_SINGLE_SCORE] * len(rest)
        return found, scores

    def _copy_tokens(self, start: int, count: int) -> list[int]:
        """The sequence's next ``count`` tokens from ``start``, up to a boundary."""
        found = self._ids[start : start + count].tolist()
        return found[: found.index(BOUNDARY)] if BOUNDARY in found else found

    def _continuable_state(self, state: int) -> int:
        """Follow the links of ``state`` to the first state with a continuation, or to the root."""
        best, links = self._best, self._link
        while state != _ROOT and best[state] == NO_STATE:
            state = links[state]
        return state

    def _shorten(self, state: int, length: int, max_length: int) -> tuple[int, int]:
        """Shorten a substring of ``length`` tokens in ``state`` to ``max_length``; return its state and length."""
        length = min(length, max_length)
        lengths, links = self._length, self._link
        # If a state was split after the match was found, the linked state may contain the shorter substring.
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
        """Move the substrings of ``following`` that are reached from ``state`` to a new state."""
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
        """Count the sequence's new end in ``following``, the target of ``state`` with ``token_id``, and in its links.

        Substrings of more than `MAX_SUBSTRING` + 1 tokens are not counted. The latest of equally frequent continuations
        wins, so each new count is compared with the best count only. The root needs no best continuation.
        """
        ids, counts, last, best, links, lengths = self._arrays
        end = len(ids) - 1
        longest, length = self._suffix
        if lengths[state] < length:
            longest = self._whole_state
        else:
            state = longest
            longest = following = self._step(state, token_id)
        upcoming = following
        while state != _ROOT:
            most = best[state]
            # In most cases the best transition of ``state`` leads to the end just counted, or to the next one.
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
        if length < MAX_SUBSTRING:
            length += 1
        elif lengths[links[longest]] >= MAX_SUBSTRING:
            longest = links[longest]
        self._suffix = (longest, length)

    def _step(self, state: int, token_id: int) -> int:
        """Target of the transition with ``token_id``, or NO_STATE."""
        following = self._best[state]
        if following == NO_STATE or self._ids[self._last[following]] == token_id:
            return following
        return self._edges.find(state, token_id)
