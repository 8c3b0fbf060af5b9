"""What proposals gain in the pass at hand, from costs that are looked up once a pass. Knows no tokens.

Drafting asks at every token whether to go on, between two passes of a model that takes a fraction of a millisecond.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.stretch import best_depth

_LOOK_AHEAD = 16  # how many more tokens a decision to go on considers
_HOPE = 0.25  # of what may go wrong, the share that a look further ahead reckons with: it may find a sure stretch


@dataclass(frozen=True, slots=True)
class Prices:
    """Costs as they are at the beginning of a pass, and what a token is worth.

    Attributes:
        pass_ms: of a pass with so many proposed tokens, from none on; with looking at their rows.
        rate: tokens per millisecond that a millisecond is to earn.
        step_ms: what one more drafted token takes.
        rework_ms: what a speculated token costs later.
        chances: of the token at each depth, from 0 on, that it is kept where all before it were.
        risk_ms: what proposing so many costs beside the pass, all kept with such a chance; None: nothing.
        overhead_ms: what surrounds a pass, whatever it proposes.
    """

    pass_ms: Sequence[float]
    rate: float
    step_ms: float
    rework_ms: float
    chances: Sequence[float]
    risk_ms: Callable[[int, float], float] | None = None
    overhead_ms: float = 0.0

    def gain_of(self, num_tokens: int, expected: float, alive: float) -> float:
        """What proposing so many tokens gains over none, of which so many are expected to be kept; drafting is paid."""
        return self.worth_of(num_tokens, expected, alive)[0] if num_tokens else 0.0

    def rate_of(self, num_tokens: int, expected: float, alive: float) -> float:
        """Tokens per millisecond of a pass that proposes so many, drafting them included."""
        return self.worth_of(num_tokens, expected, alive)[1]

    def worth_of(self, num_tokens: int, expected: float, alive: float) -> tuple[float, float]:
        """`gain_of` and `rate_of` at once: asked at every drafted token."""
        pass_ms = self.pass_ms[num_tokens]
        if num_tokens and self.risk_ms is not None:
            pass_ms += self.risk_ms(num_tokens, alive)
        rework_ms = expected * self.rework_ms
        rate = (1.0 + expected) / (pass_ms + self.overhead_ms + num_tokens * self.step_ms + rework_ms)
        return expected - self.rate * (rework_ms + pass_ms - self.pass_ms[0]), rate

    def promises_more(
        self, num_tokens: int, expected: float, alive: float, room: int, than: float, best_rate: float = 0.0
    ) -> bool:
        """Whether `gain_of` could exceed ``than`` if the draft went on from here and stayed as sure as it may be.

        And `rate_of`, ``best_rate``: what a larger pass takes along at no better a rate is drafted for the next one,
        where all that comes before it is known to be kept.
        """
        rate, all_ms, risk_ms, chances = self.rate, self.pass_ms, self.risk_ms, self.chances
        step_ms, rework_ms = self.step_ms, self.rework_ms
        value, step = 1.0 - rate * rework_ms, rate * step_ms
        than -= rate * all_ms[0]
        other_ms = self.overhead_ms + num_tokens * step_ms
        for count in range(num_tokens + 1, num_tokens + min(room, _LOOK_AHEAD) + 1):
            alive *= 1.0 - _HOPE * (1.0 - chances[count - 1])
            expected += alive
            than += step
            other_ms += step_ms
            pass_ms = all_ms[count]  # `worth_of`, without the call: asked at every token
            if risk_ms is not None:
                pass_ms += risk_ms(count, alive)
            if expected * value - rate * pass_ms > than and 1.0 + expected > best_rate * (
                pass_ms + other_ms + expected * rework_ms
            ):
                return True
        return False

    def plan(self, chances: Sequence[float], *, ends: bool = False) -> tuple[float, int]:
        """Milliseconds that a stretch of tokens with these chances saves, and how many of them to propose now.

        After it the answer ``ends``, or goes on.
        """
        pass_ms = [ms + self.overhead_ms for ms in self.pass_ms[: len(chances) + 1]]
        extra_ms = self._extra_ms if self.risk_ms is not None or self.rework_ms > 0.0 else None
        return best_depth(chances, pass_ms, 1.0 / self.rate, extra_ms, ends=ends)

    def _extra_ms(self, num_proposed: int, alive: float) -> float:
        risk_ms = self.risk_ms(num_proposed, alive) if self.risk_ms is not None else 0.0
        return risk_ms + num_proposed * self.rework_ms
