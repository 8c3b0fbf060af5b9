"""A rival to Paceline's pacing, of a kind that others ship: moving averages over a fixed table of costs.

Acceptance is averaged by place in the proposal, for text and draft apart. The depth is the one of the most expected
tokens by the table's milliseconds. Where none gives more than plain decoding, nothing is proposed but now and then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.drafters.base import Draft, Drafter
from engine.records import Source
from engine.sampling.sampler import History, Sampler

FIRST_ACCEPTANCE = 0.7  # of each place, before anything was seen
RATE = 0.05  # weight of an observation: tried 0.02 to 0.2
RETRY_EVERY = 32  # plain passes, until something is proposed again
RETRY_DEPTH = 3  # tokens
MOST_PROPOSED = 16  # tokens

_EMPTY = Draft([], Source.TARGET)


@dataclass
class MovingAverages:
    """Acceptance by place, where all before it were accepted; kept from answer to answer."""

    by_place: list[float] = field(default_factory=lambda: [FIRST_ACCEPTANCE] * MOST_PROPOSED)

    def observe(self, num_proposed: int, num_accepted: int) -> None:
        """Record a proposal."""
        for place in range(min(num_proposed, num_accepted + 1, MOST_PROPOSED)):
            self.by_place[place] += ((place < num_accepted) - self.by_place[place]) * RATE

    def best(self, pass_ms: Mapping[int, float], step_ms: float, most: int) -> tuple[float, int]:
        """Give the most tokens per millisecond of 1 to ``most`` proposed ones, and how many that are."""
        best, expected, alive = (0.0, 0), 1.0, 1.0
        for depth in range(1, min(most, MOST_PROPOSED) + 1):
            alive *= self.by_place[depth - 1]
            expected += alive
            best = max(best, (expected / (pass_ms[depth + 1] + depth * step_ms), depth))
        return best


class AveragesDrafter:
    """Implements `Drafter` over text and a draft model, either of which may be missing."""

    source = Source.TARGET

    def __init__(
        self,
        averages: dict[Source, MovingAverages],
        text: Drafter | None,
        model: Drafter | None,
        pass_ms: Mapping[int, float],
        step_ms: float,
    ) -> None:
        """``pass_ms``: what a pass of so many tokens takes; ``step_ms``: a drafted token; both measured once."""
        self._averages, self._text, self._model = averages, text, model
        self._pass_ms, self._step_ms = pass_ms, step_ms
        self._asked: Drafter | None = None
        self._num_proposed = self._num_plain = 0

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare both."""
        for drafter in (self._text, self._model):
            if drafter is not None:
                drafter.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """What the averages say is the quickest; possibly nothing."""
        limit = min(limit, MOST_PROPOSED)
        text = self._text.propose(history, limit) if self._text is not None and limit else _EMPTY
        of_text = self._of(Source.NGRAM).best(self._pass_ms, 0.0, len(text.ids))
        of_draft = (0.0, 0)
        if self._model is not None:
            of_draft = self._of(Source.DRAFT).best(self._pass_ms, self._step_ms, limit)
        rate, depth = max(of_text, of_draft)
        if rate * self._pass_ms[1] <= 1.0:
            self._num_plain += 1
            depth = RETRY_DEPTH if self._num_plain % RETRY_EVERY == 0 else 0
        else:
            self._num_plain = 0
        self._asked, draft = None, _EMPTY
        if depth and text.ids and of_text >= of_draft:
            self._asked, draft = self._text, text.first(depth)
        elif depth and self._model is not None:
            self._asked, draft = self._model, self._model.propose(history, min(depth, limit))
        self._num_proposed = len(draft.ids)
        return draft

    def observe(self, num_accepted: int) -> None:
        """Average what was accepted."""
        if self._asked is not None:
            source = Source.NGRAM if self._asked is self._text else Source.DRAFT
            self._of(source).observe(self._num_proposed, num_accepted)
            self._asked.observe(num_accepted)

    def _of(self, source: Source) -> MovingAverages:
        return self._averages.setdefault(source, MovingAverages())
