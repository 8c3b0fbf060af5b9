"""What one way of drafting has taught: how sure its tokens are, what it gave, and how fast its answers became.

Knows no tokens. By the same confidence, text that a mode looks up and tokens that are drawn mean other things, so what
one kind of answer teaches is kept apart from another's.
"""

from __future__ import annotations

from copy import deepcopy

from engine.acceptance import AcceptanceByDepth, AcceptanceEstimate
from engine.trial import Trial

_FIRST_CHANCE = 0.7  # of a drafted token, before any was seen
_TAIL_TRUST = 0.6
_RATE_FORGETS = 0.97
_MOST = 1e4  # tokens or plain passes; no average reaches it
Numbers = dict[str, list[float]]


class Experience:
    """One for each kind of answer."""

    def __init__(self, plain_ms: float, num_depths: int) -> None:
        self.text_chances = AcceptanceEstimate()
        self.tail_chances = AcceptanceEstimate(_TAIL_TRUST)  # of text after tokens of the draft model
        self.model_chances = AcceptanceEstimate()
        self.by_depth = AcceptanceByDepth(_FIRST_CHANCE, num_depths)
        self.model = Trial(plain_ms)
        self._rate_tokens, self._rate_ms = 1.0, plain_ms

    def begin(self) -> None:
        """Another answer begins."""
        self.text_chances.begin()
        self.model.try_soon()

    @property
    def rate(self) -> float:
        """Tokens per millisecond lately."""
        return self._rate_tokens / self._rate_ms

    def count(self, tokens: float, milliseconds: float, num_passes: int = 1) -> None:
        """A pass gave so many tokens in so long, and so did each of ``num_passes``."""
        left = _RATE_FORGETS**num_passes
        weight = (1.0 - left) / (1.0 - _RATE_FORGETS)
        self._rate_tokens = self._rate_tokens * left + tokens * weight
        self._rate_ms = self._rate_ms * left + milliseconds * weight

    def scale(self, factor: float) -> None:
        """Everything costs so much more now."""
        self._rate_ms *= factor
        self.model.cost_ms *= factor

    def numbers(self, plain_ms: float) -> Numbers:
        """What was learnt, for keeping it; times as parts of ``plain_ms``, what a plain pass takes."""
        return {
            "text": self.text_chances.numbers,
            "tail": self.tail_chances.numbers,
            "model": self.model_chances.numbers,
            "depths": self.by_depth.numbers,
            "trial": [self.model.tokens, self.model.cost_ms / plain_ms],
            "rate": [self._rate_tokens, self._rate_ms / plain_ms],
        }

    def restore(self, numbers: Numbers, plain_ms: float) -> None:
        """Go on from what `numbers` gave.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        self.text_chances.restore(numbers["text"])
        self.tail_chances.restore(numbers["tail"])
        self.model_chances.restore(numbers["model"])
        self.by_depth.restore(numbers["depths"])
        tokens, cost = numbers["trial"]
        rate_tokens, rate_cost = numbers["rate"]
        if not all(0.0 < one < _MOST for one in (tokens, cost, rate_tokens, rate_cost)):  # NaN is neither
            raise ValueError("a figure is outside its range")
        self.model.restore(tokens, cost * plain_ms)
        self._rate_tokens, self._rate_ms = rate_tokens, rate_cost * plain_ms

    def copy(self) -> Experience:
        """The same to begin with, for another kind of answer."""
        return deepcopy(self)
