"""When a draft model may run on unasked: as far as it was kept before, without looking at text or at how sure it is.

Where a token of a draft takes a fraction of a millisecond, asking takes a quarter of that. It pays where it ends drafts
early; where whole drafts are kept one after the other it does not. That rests on passes that are over, so the output
stays exact. Knows no tokens and no costs.
"""

from __future__ import annotations

_MOST = 3  # passes in a row, and then one that is asked for: text may have come up, or the draft be less sure


class Coasting:
    """One for a drafter."""

    def __init__(self) -> None:
        self._num_passes = 0
        self.is_on = False  # in the pass at hand
        self.depth = 0  # tokens to draft; 0 where it has to be asked

    @property
    def is_due(self) -> bool:
        """Whether the next pass may go unasked."""
        return self.depth > 0 and self._num_passes < _MOST

    def begin_pass(self, *, is_on: bool) -> None:
        """A pass begins, with or without it."""
        self.is_on = is_on
        self._num_passes = self._num_passes + 1 if is_on else 0

    def observe(self, num_kept: int) -> None:
        """All that could be drafted for the pass was kept, so many tokens; 0: some of it was not, or it was cut off."""
        self.depth = num_kept
