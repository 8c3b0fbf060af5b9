"""The drafter that never proposes: plain decoding is the same loop with an empty draft."""

from __future__ import annotations

from engine.drafters.base import Draft
from engine.records import Source
from engine.sampling import History, Sampler

_EMPTY = Draft([], Source.TARGET)


class NoDrafter:
    """Implements `Drafter` by proposing nothing."""

    source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Nothing to prepare."""

    def propose(self, history: History, limit: int) -> Draft:  # noqa: ARG002  (the protocol's signature)
        """An empty draft."""
        return _EMPTY

    def observe(self, num_accepted: int) -> None:
        """Nothing to learn."""
