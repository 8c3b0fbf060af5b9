"""What passes cost by how full the cache is and how many threads compute: a curve for each. Knows no model.

Attention reads the whole cache, so the cost of a pass grows with it: a long chat must not be judged by what passes took
on an empty one. What was not measured is guessed from the nearest curve and corrected by the first passes there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

from engine.cost_curve import CostCurve

BAND_ENDS = (1024, 4096, 16384, 65536)  # tokens in the cache up to which a band goes; the last has no end


def band_of(num_past: int) -> int:
    """The band that a cache of so many tokens is in."""
    return bisect_left(BAND_ENDS, num_past)


class CostBands:
    """One curve for each number of threads and band that was in use; `curve` is the one in force."""

    def __init__(self, threads: int, measured_ms: Mapping[int, float], band: int = 0) -> None:
        """``measured_ms``: milliseconds by tokens of a pass, with ``threads`` threads in ``band``.

        Raises:
            ValueError: there is no positive cost of one token.
        """
        self.threads, self.band = threads, band
        self.curve = CostCurve(measured_ms)
        self._curves = {(threads, band): self.curve}
        self._measured = {(threads, band)}

    @property
    def is_measured(self) -> bool:
        """Whether the curve in force was measured, not only guessed and corrected."""
        return (self.threads, self.band) in self._measured

    def add(self, band: int, measured_ms: Mapping[int, float]) -> None:
        """Take a measurement with the threads in force; a curve that is in use already is corrected in place.

        Raises:
            ValueError: there is no positive cost of one token.
        """
        key = (self.threads, band)
        if key in self._curves:
            self._curves[key].replace(measured_ms)
        else:
            self._curves[key] = CostCurve(measured_ms)
        self._measured.add(key)

    def forget_others(self) -> None:
        """Let go of all curves but the one in force: they are as wrong as it was."""
        key = (self.threads, self.band)
        self._curves, self._measured = {key: self.curve}, self._measured & {key}

    def use(self, threads: int, band: int) -> CostCurve:
        """Put the curve of so many threads and of this band in force."""
        key = (threads, band)
        if key not in self._curves:
            self._curves[key] = self._guess(threads, band)
        self.threads, self.band = threads, band
        self.curve = self._curves[key]
        return self.curve

    def measured_points(self, threads: int) -> dict[int, dict[int, float]]:
        """The measured curves of so many threads as they are now, by band: for keeping them."""
        return {band: self._curves[key, band].known_ms for key, band in sorted(self._measured) if key == threads}

    def _guess(self, threads: int, band: int) -> CostCurve:
        """A copy of the nearest curve: of the same threads before another number's, of a lower band before a higher."""
        nearest = min(
            self._curves,
            key=lambda key: (key[0] != threads, abs(key[0] - threads), abs(key[1] - band), key[1]),
        )
        return CostCurve(self._curves[nearest].known_ms, guessed=True)
