"""How far a draft model looks ahead before anything is drawn, and how much of what was seen is worth proposing.

What is seen depends on no chance, so it need not be proposed, and may decide how many tokens are drawn then: the
output stays exact. Knows the pacer, which knows no tokens.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.drafters.seen import Seen, text_seen
from engine.drafters.suffix import SuffixDrafter
from engine.pacer import Pacer

TEXT_DEPTH = 24  # tokens of text that are looked at: it ends or turns elsewhere sooner or later


@dataclass(frozen=True, slots=True)
class Plan:
    """So many drafted tokens, and then this text."""

    num_drafted: int
    text: Seen


class Lookahead:
    """Implements `draft_model.Gate`: looks for as long as more might turn out to pay, then says what to propose."""

    def __init__(self, pacer: Pacer, following: SuffixDrafter | None, text: Seen, limit: int) -> None:
        """``text`` could be proposed alone, ``following`` finds text that goes on after drafted tokens."""
        self._pacer = pacer
        self._prices = pacer.prices()
        self._chance = pacer.learnt.model_chances.chance
        self._following = following
        self._instead = text
        self._room = limit
        self._chances: list[float] = []
        self._alive, self._expected = 1.0, 0.0
        gain, _depth = pacer.text_gain(text.confidences)
        self._best_gain = max(0.0, gain)
        self._best_rate = self._prices.rate_of(0, 0.0, 1.0)
        self._chained_gain, self._chained = 0.0, Plan(0, Seen())

    def worth_drawing(self, confidence: float) -> bool:
        """Take one more token in: it can be left again."""
        chance = self._chance(confidence)
        self._alive *= chance
        self._expected += self._alive
        self._chances.append(chance)
        self._room -= 1
        gain, rate = self._prices.worth_of(len(self._chances), self._expected, self._alive)
        self._best_gain = max(self._best_gain, gain)
        self._best_rate = max(self._best_rate, rate)
        return True

    def worth_running(self, drawn_id: int) -> bool:
        """Whether a further token may make a proposal that is worth more than the best so far."""
        if self._following is not None:
            found = self._following.propose_after((drawn_id,), min(self._room, TEXT_DEPTH))
            if found.ids:
                self._offer(text_seen(found))
        promises_more, count = self._prices.promises_more, len(self._chances)
        return promises_more(count, self._expected, self._alive, self._room, self._best_gain, self._best_rate)

    def _offer(self, text: Seen) -> None:
        """Remember this text after what was drafted, if that is the best chain so far."""
        count = len(self._chances)
        more, depth = self._pacer.text_gain(text.confidences, count, self._alive)
        gain = self._prices.gain_of(count, self._expected, self._alive) + more
        self._best_gain = max(self._best_gain, gain)
        if depth and more > 0.0 and gain > self._chained_gain:
            self._chained_gain, self._chained = gain, Plan(count, text.part(0, depth))

    def plan(self, *, may_rest: bool, ends: bool = False) -> Plan:
        """What to propose; possibly nothing where it ``may_rest``. The answer ``ends`` after what was seen, or not."""
        pacer, prices, chained = self._pacer, self._prices, self._chained
        best_ms, depth = prices.plan(self._chances, ends=ends)
        best = Plan(depth, Seen())
        if self._instead.ids:
            saved_ms, depth = prices.plan([pacer.learnt.text_chances.chance(one) for one in self._instead.confidences])
            if saved_ms > best_ms:
                best_ms, best = saved_ms, Plan(0, self._instead.part(0, depth))
        if chained.text.ids:
            tail = [pacer.learnt.tail_chances.chance(one) for one in chained.text.confidences]
            saved_ms, depth = prices.plan([*self._chances[: chained.num_drafted], *tail])
            if saved_ms > best_ms:
                drafted = min(depth, chained.num_drafted)
                best = Plan(drafted, chained.text.part(0, depth - drafted))
        return best if may_rest or best.num_drafted or best.text.ids else Plan(1, Seen())
