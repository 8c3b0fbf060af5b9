"""Draws the tokens of a seeded answer: they depend on the seed, the place and p, and on nothing that was drafted.

The Gumbel-max trick with common random numbers: every token of every place has its own number, made from (seed, place,
token) by a counter-based generator, and the token that is drawn is argmax log p + Gumbel. A draft that draws with the
same numbers from its q proposes the target's token wherever p and q are near enough: with probability at least
(1 - d) / (1 + d) for a total variation distance d (Daliri et al. 2024, arXiv 2408.07978), where rejection sampling
has 1 - d. What is said is then the same for every drafter, depth and batch.

The generator is SplitMix64 (Steele, Lea, Flood 2014, doi 10.1145/2660193.2660195), one stream for each place, with the
token's id as the counter.
"""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import NDArray

from engine.sampling.distribution import Distribution

_GAMMA, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_MASK = 2**64 - 1
_UNUSED_BITS, _UNIT = 12, 2.0**-52  # the half that is added fits: numbers are never 0 or 1


class GumbelNoise:
    """The numbers of one seed, at every place of a sequence."""

    def __init__(self, seed: int) -> None:
        self._key = _mix(seed + _GAMMA & _MASK)

    def draw(self, p: Distribution, place: int) -> int:
        """The token of ``place`` (its index in the sequence) where the distribution there is ``p``."""
        if p.few is not None:
            return self._draw_of_few(*p.few, place)
        places = p.probs.nonzero()[0]
        ids = places if p.ids is None else p.ids[places]
        return int(ids[(self.exponentials(ids, place) / p.probs[places]).argmin()])

    def exponentials(self, ids: NDArray[np.int64], place: int) -> NDArray[np.float64]:
        """E [n] of these tokens, exponentially distributed with mean 1: -log E are their Gumbel numbers."""
        numbers = ids.astype(np.uint64) * np.uint64(_GAMMA) + np.uint64(self._stream(place))
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(_MIX_1)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(_MIX_2)
        numbers ^= numbers >> np.uint64(31)
        found: NDArray[np.float64] = -np.log(((numbers >> np.uint64(_UNUSED_BITS)).astype(np.float64) + 0.5) * _UNIT)
        return found

    def _draw_of_few(self, probs: list[float], ids: list[int], place: int) -> int:
        """In plain Python: right after a pass it is the faster one for a few dozen tokens, as in `Distribution`."""
        if len(ids) == 1:
            return ids[0]
        stream, best_id, least = self._stream(place), ids[0], inf
        for prob, token_id in zip(probs, ids, strict=True):
            if prob > 0.0:
                number = _mix(token_id * _GAMMA + stream & _MASK)
                time = -log(((number >> _UNUSED_BITS) + 0.5) * _UNIT) / prob
                if time < least:
                    best_id, least = token_id, time
        return best_id

    def _stream(self, place: int) -> int:
        return _mix(self._key + (place + 1) * _GAMMA & _MASK)


def _mix(number: int) -> int:
    """The output function of SplitMix64."""
    number = (number ^ number >> 30) * _MIX_1 & _MASK
    number = (number ^ number >> 27) * _MIX_2 & _MASK
    return number ^ number >> 31
