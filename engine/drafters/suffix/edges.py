"""The transitions of a suffix automaton's states, for those that have more than one."""

from __future__ import annotations

from array import array

NONE = 0  # no transition leads to the root, so its number is free to mean none
_IN_DICT = -1
_MOST = 8  # a state with more transitions keeps them in a dictionary


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
