"""What drafting gave lately, and when to try it again where it does not pay. Knows no tokens."""

from __future__ import annotations

_FIRST_PROBE, _LAST_PROBE = 16, 512  # passes between probes of what was given up, doubling
_GAIN_RATE = 0.03  # weight of a drafting pass in the average of what drafting gave
_PROBE_RATE = 0.25  # the same for a probe: they are rare, so each must count
_OPTIMISM = 0.15  # tokens a pass that drafting is believed to gain before it was tried
_DOUBT = 2.0  # times a plain pass that a token costs with what is unlikely to pay
_SHARE = 0.01  # of the time may be lost by probes
_FIRST_ALLOWANCE = 6.0  # plain passes that the first of them may lose together
_LIKELY_LOSS = 3.0  # plain passes that a probe loses, before one was made


class Trial:
    """Per pass: tokens and milliseconds, and how many passes to wait for the next probe."""

    def __init__(self, plain_ms: float) -> None:
        # Believed to gain a little before it was ever tried, so that it is tried.
        self.tokens, self.cost_ms = 2.0 + _OPTIMISM, 2.0 * plain_ms
        self.interval = _FIRST_PROBE
        self.waited = 0
        self.is_new = True
        self.is_hopeful = True  # without hope, probes are made only as often as their loss was saved up for
        self._allowance, self._loss = _FIRST_ALLOWANCE, _LIKELY_LOSS  # in plain passes

    def judge(self, plain_ms: float, *, likely: bool, hoped: bool) -> None:
        """By what is known of costs it is ``likely`` to pay, or may be ``hoped`` to with some luck.

        What is new and not likely to is not tried at once, but when that was saved up for.
        """
        self.is_hopeful = hoped
        if self.is_new and not likely:
            self.tokens, self.cost_ms, self.is_new = 1.0, _DOUBT * plain_ms, False
            self._allowance = 0.0

    def restore(self, tokens: float, cost_ms: float) -> None:
        """Go on from averages that were kept."""
        self.tokens, self.cost_ms, self.is_new = tokens, cost_ms, False

    def wait(self, num_passes: int) -> None:
        """So many passes went without."""
        self.waited += num_passes
        self._allowance = min(self._allowance + _SHARE * num_passes, max(_FIRST_ALLOWANCE, self._loss))

    @property
    def patience(self) -> int:
        """How many more passes go without before a probe is due."""
        due = max(self.interval - self.waited, 0)
        if self.is_hopeful or self.interval == 1:  # the last one was good
            return due
        return max(due, int(max(0.0, self._loss - self._allowance) / _SHARE))

    def due(self) -> bool:
        """Count a pass that went without; True where it is time for a probe."""
        self.wait(1)
        return self.patience == 0

    def try_soon(self) -> None:
        """What is written now is something else, so it may pay there."""
        self.interval, self.waited = min(self.interval, _FIRST_PROBE // 2), 0

    def observe(self, tokens: float, cost_ms: float, plain_ms: float, *, probed: bool) -> None:
        """A pass drafted so, gave so many tokens and took so long; a good probe is followed by another at once."""
        self.is_new = False
        weight = _PROBE_RATE if probed else _GAIN_RATE
        self.tokens += (tokens - self.tokens) * weight
        self.cost_ms += (cost_ms - self.cost_ms) * weight
        if tokens * plain_ms > cost_ms:
            self.interval = 1
        elif probed:
            self.interval = min(_LAST_PROBE, max(_FIRST_PROBE, 2 * self.interval))
        self.waited = 0

    def pay(self, loss: float) -> None:
        """A probe took the time of so many more plain passes than it gave tokens."""
        self._allowance -= loss
        self._loss += (max(loss, 0.0) - self._loss) * _PROBE_RATE

    def gain(self, plain_ms: float) -> float:
        """Tokens a pass gives more than plain decoding would in its time."""
        return self.tokens - self.cost_ms / plain_ms
