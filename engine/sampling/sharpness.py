"""The temperature at which a draft is drawn, relative to the target's, that maximises acceptance.

Learnt while answers are written, from rows of both models.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.records import SamplingParams
from engine.sampling.distribution import Distribution

# q to the power of e is q at the temperature T / e. A draft that knows less than its target gains by up to a twentieth
# with the higher ones, one as good as its target loses (see `DraftModelDrafter`).
EXPONENTS = (1.0, 1.5, 2.5, 4.0)
_FIRST = 1.5  # gains half of it, and costs little where it is wrong
# The sharper, the more often is drawn what was seen ahead, which need not be drafted again. A token drafted again takes
# about a tenth of the time that a refused one loses: of each, what follows it in the proposal.
_WORTH = 0.1
_EVERY = 8  # passes for one that is looked at: it takes 20 microseconds
_MIN_OBSERVED = 32  # fewer say nothing
_HALVE_AT = 4096  # by then what was seen counts half
_MOST_TOKENS = 1024  # of wider distributions the power takes longer than it gives
_POWERS = np.array(EXPONENTS)[:, None]


class TemperedDistribution(Distribution):
    """A power of ``origin``, over the same tokens."""

    __slots__ = ("origin",)

    def __init__(self, probs: NDArray[np.float64], ids: NDArray[np.int64] | None, origin: Distribution) -> None:
        super().__init__(probs, ids)
        self.origin = origin


class DraftTemperature:
    """The exponent for one pair of models: of `EXPONENTS` the one that has most kept, and little drafted again.

    Exact, as q is set before the token is drawn and stays with it, and depends on what came before that token only.
    """

    def __init__(self) -> None:
        self._params: SamplingParams | None = None
        self._num_passes = 0
        self._reset()

    def _reset(self) -> None:
        self.exponent = _FIRST
        self._num_observed = 0.0
        self._overlaps = np.zeros(len(EXPONENTS))  # of p and each power of q, summed
        self._tops = np.zeros(len(EXPONENTS))  # the likeliest token of each, summed

    def begin(self, params: SamplingParams) -> None:
        """An answer with these parameters begins; with another chain than the last that drew, nothing is known."""
        if params.greedy:
            return
        before = self._params
        self._params = params
        if before is not None and _chain_of(before) != _chain_of(params):
            self._reset()

    def sharpen(self, q: Distribution) -> Distribution:
        """The distribution to draw from in place of ``q``."""
        if self.exponent == 1.0 or not _can_change(q):
            return q
        probs = q.probs**self.exponent
        probs /= np.add.reduce(probs)
        return TemperedDistribution(probs, q.ids, q)

    def observe(self, p: Distribution, q: Distribution) -> None:
        """Of a token that was drafted by ``q``, sharpened or not, the target has found ``p``."""
        self._num_passes += 1
        origin = q.origin if isinstance(q, TemperedDistribution) else q
        if self._num_passes % _EVERY or origin.ids is None or not _can_change(origin):
            return
        powers = origin.probs**_POWERS
        powers /= powers.sum(axis=1, keepdims=True)
        self._num_observed += 1.0
        self._overlaps += np.minimum(powers, _at(p, origin.ids)).sum(axis=1)
        self._tops += powers.max(axis=1)
        self.exponent = self._best()
        if self._num_observed >= _HALVE_AT:
            self._num_observed, self._overlaps, self._tops = self._num_observed / 2, self._overlaps / 2, self._tops / 2

    def _best(self) -> float:
        if self._num_observed < _MIN_OBSERVED:
            return _FIRST
        return EXPONENTS[int(np.argmax(self._overlaps + _WORTH * self._tops))]


def _chain_of(params: SamplingParams) -> tuple[float, ...]:
    return params.temperature, params.top_k, params.top_p, params.min_p


def _can_change(q: Distribution) -> bool:
    return q.ids is not None and 1 < len(q.probs) <= _MOST_TOKENS


def _at(p: Distribution, ids: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probabilities [n] of these tokens."""
    if p.ids is None:
        return np.where(ids < len(p.probs), p.probs[np.minimum(ids, len(p.probs) - 1)], 0.0)
    places = np.minimum(p.ids.searchsorted(ids), len(p.ids) - 1)
    return np.where(p.ids[places] == ids, p.probs[places], 0.0)
