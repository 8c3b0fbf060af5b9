"""What drafting gave lately, and when to try it again where it does not pay. Knows no tokens."""

from __future__ import annotations

_FIRST_PROBE, _LAST_PROBE = 16, 512  # passes between probes of what was given up, doubling
_GAIN_RATE = 0.03  # weight of a drafting pass in the average of what drafting gave
_PROBE_RATE = 0.25  # the same for a probe: they are rare, so each must count
_OPTIMISM = 0.15  # tokens a pass that drafting is believed to gain before it was tried


class Trial:
    """Per pass: tokens and milliseconds, and how many passes to wait for the next probe."""

    def __init__(self, plain_ms: float) -> None:
        # Believed to gain a little before it was ever tried, so that it is tried.
        self.tokens, self.cost_ms = 2.0 + _OPTIMISM, 2.0 * plain_ms
        self.interval = _FIRST_PROBE
        self.waited = 0

    def due(self) -> bool:
        """Count a pass that went without; True where it is time for a probe."""
        self.waited += 1
        return self.waited >= self.interval

    def try_soon(self) -> None:
        """What is written now is something else, so it may pay there."""
        self.interval, self.waited = min(self.interval, _FIRST_PROBE // 2), 0

    def observe(self, tokens: float, cost_ms: float, plain_ms: float, *, probed: bool) -> None:
        """A pass drafted so, gave so many tokens and took so long; a good probe is followed by another at once."""
        weight = _PROBE_RATE if probed else _GAIN_RATE
        self.tokens += (tokens - self.tokens) * weight
        self.cost_ms += (cost_ms - self.cost_ms) * weight
        if tokens * plain_ms > cost_ms:
            self.interval = 1
        elif probed:
            self.interval = min(_LAST_PROBE, max(_FIRST_PROBE, 2 * self.interval))
        self.waited = 0

    def gain(self, plain_ms: float) -> float:
        """Tokens a pass gives more than plain decoding would in its time."""
        return self.tokens - self.cost_ms / plain_ms
