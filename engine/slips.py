"""How much longer passes of each kind take than their parts say. Knows no costs but those that it is told.

The sum of what the parts of a pass usually take leaves out what nobody measures: where the target is tiny that is most.
"""

from __future__ import annotations

from engine.choice import Choice

_RATE = 0.2  # weight of a pass in what its kind takes beyond what it should
_MOST = 3.0  # more is another program's doing


class Slips:
    """By what a pass did: how many times what it should have taken it took, with forgetting."""

    def __init__(self) -> None:
        self._times = dict.fromkeys(Choice, 1.0)

    @property
    def of_model(self) -> float:
        """How much more than a plain pass one with the draft model exceeds what it should take; at least 1."""
        return max(1.0, self._times[Choice.MODEL] / self._times[Choice.PLAIN])

    def observe_run(self, milliseconds: float, expected_ms: float, num_passes: int) -> None:
        """So many plain passes took so long each."""
        share = min(milliseconds / expected_ms, _MOST)
        self._times[Choice.PLAIN] += (share - self._times[Choice.PLAIN]) * (1.0 - (1.0 - _RATE) ** num_passes)

    def observe(self, choice: Choice, milliseconds: float, expected_ms: float) -> None:
        """A pass of this kind took so long; nothing is learnt where nothing was expected."""
        if expected_ms > 0.0:
            share = min(max(milliseconds / expected_ms, 1.0 / _MOST), _MOST)
            self._times[choice] += (share - self._times[choice]) * _RATE
