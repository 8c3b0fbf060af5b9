"""What a sampler must know of a grammar: which tokens may follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Constraint(Protocol):
    """Says which tokens may follow a history [num_tokens] and the pending tokens of a proposal.

    None from either where nothing is known, as behind a proposed token that must not be there: then all may.
    """

    def allows(
        self, history: NDArray[np.int32], pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Say of each of ``ids`` [n] whether it may follow."""

    def all_allowed(self, history: NDArray[np.int32], pending: Sequence[int]) -> NDArray[np.int64] | None:
        """The ids of all tokens that may follow, ascending; asking for all of them takes long."""
