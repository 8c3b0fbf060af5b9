"""Grammars over a few tokens, without text: a table of the tokens that may follow in each state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ScriptedState:
    """``table[state][token]`` is the next state; in the states ``ends`` a token of ``eog_ids`` may follow."""

    table: Mapping[int, Mapping[int, int]]
    here: int = 0
    ends: frozenset[int] = frozenset()
    eog_ids: frozenset[int] = frozenset()

    def allows(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.array([self._may_follow(int(one)) for one in ids], dtype=np.bool_)

    def all_allowed(self) -> NDArray[np.int64]:
        ids = {*self.table[self.here], *(self.eog_ids if self.here in self.ends else ())}
        return np.array(sorted(ids), dtype=np.int64)

    def advanced(self, token_id: int) -> Self | None:
        following = self.table[self.here].get(token_id)
        return None if following is None else type(self)(self.table, following, self.ends, self.eog_ids)

    def forced_text(self) -> bytes:
        return b""

    def _may_follow(self, token_id: int) -> bool:
        if token_id in self.eog_ids:
            return self.here in self.ends
        return token_id in self.table[self.here]


# A grammar of three tokens: no token three times, 2 only after 1, and never 0 after 1.
NO_THIRD = {0: {0: 1, 1: 3}, 1: {0: 2, 1: 3}, 2: {1: 3}, 3: {1: 4, 2: 0}, 4: {2: 0}}
