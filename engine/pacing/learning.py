"""What was seen of proposals, by kind of answer: how often they were kept, and what drafting gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.pacing.acceptance import AcceptanceEstimate, draft_estimate, draft_kind, text_estimate
from engine.pacing.constants import DRAFT_RATE, DRAFTED_CHANCE, FIRST_DRAFTS, RATE_FORGETS

_MOST = 1e4  # no average reaches it
Numbers = dict[str, list[float]]


@dataclass(slots=True)
class DraftAverage:
    """Average tokens and cost, in plain passes, of ``count`` passes with the draft model."""

    tokens: float
    cost: float
    count: float = FIRST_DRAFTS

    def observe(self, tokens: float, cost: float) -> None:
        """Record one more pass."""
        self.count += 1.0
        weight = max(DRAFT_RATE, 1.0 / self.count)
        self.tokens += (tokens - self.tokens) * weight
        self.cost += (cost - self.cost) * weight


class AcceptanceStats:
    """Acceptance and costs of answers of one kind. Costs are in plain passes, so they outlive a change of speed.

    Attributes:
        text: chances of tokens of text, by their class.
        draft: chances of drafted tokens, by how sure the draft is.
        drafted: the chance of a drafted token, however sure it is.
        average: of passes with the draft, over answers; None: never drafted.
        in_answer: the same in the answer that is made, beginning with that.
        rate: tokens in the time of a plain pass, lately.
    """

    def __init__(self, *, greedy: bool) -> None:
        self.text = text_estimate()
        self.draft = draft_estimate(greedy=greedy)
        self.drafted = AcceptanceEstimate([DRAFTED_CHANCE])
        self.average: DraftAverage | None = None
        self.in_answer: DraftAverage | None = None
        self.rate = 1.0

    def begin(self) -> None:
        """Begin another answer."""
        self.text.begin()
        self.in_answer = None

    def observe_drafted(self, confidences: Sequence[float], num_kept: int) -> None:
        """Record that of drafted tokens, of which the draft was so sure, the first ``num_kept`` were kept."""
        self.draft.observe([draft_kind(confidence) for confidence in confidences], num_kept)
        self.drafted.observe([0] * len(confidences), num_kept)

    def observe_draft_pass(self, tokens: float, cost: float, expected: DraftAverage) -> None:
        """Record a pass with the draft: its tokens, and its cost in plain passes. The first corrects ``expected``."""
        if self.in_answer is None:
            self.in_answer = DraftAverage(expected.tokens, expected.cost)
        if self.average is None:
            self.average = DraftAverage(expected.tokens, expected.cost)
        self.average.observe(tokens, cost)
        self.in_answer.observe(tokens, cost)

    def observe_rate(self, tokens: float, cost: float, num_passes: int = 1) -> None:
        """Record passes that gave so many tokens each, in so many times a plain pass."""
        kept = RATE_FORGETS ** (num_passes * cost)
        self.rate = self.rate * kept + tokens / max(cost, 1e-3) * (1.0 - kept)

    @property
    def numbers(self) -> Numbers:
        """What was learnt, for keeping it."""
        average = self.average
        return {
            "text": self.text.numbers,
            "draft": self.draft.numbers,
            "drafted": self.drafted.numbers,
            "average": [average.tokens, average.cost, average.count] if average is not None else [],
        }

    def restore(self, numbers: Numbers) -> None:
        """Go on from what `numbers` gave.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        self.text.restore(numbers["text"])
        self.draft.restore(numbers["draft"])
        self.drafted.restore(numbers["drafted"])
        if numbers["average"]:
            tokens, cost, count = (float(one) for one in numbers["average"])
            if not all(0.0 < one < _MOST for one in (tokens, cost, count)):  # NaN is neither
                raise ValueError("a figure is outside its range")
            self.average = DraftAverage(tokens, cost, count)


class StatsByKind:
    """The statistics of every kind of answer: what is learnt from one serves those of the same kind."""

    def __init__(self) -> None:
        self._by_kind: dict[str, AcceptanceStats] = {}
        self._begun: set[str] = set()  # here: of other kinds nothing was learnt

    def begin(self, kind: str, *, greedy: bool) -> AcceptanceStats:
        """Begin an answer of this kind, and give what to learn into."""
        self._begun.add(kind)
        stats = self._by_kind.setdefault(kind, AcceptanceStats(greedy=greedy))
        stats.begin()
        return stats

    @property
    def numbers(self) -> dict[str, Numbers]:
        """What was learnt here, by kind of answer, for keeping it."""
        return {kind: stats.numbers for kind, stats in self._by_kind.items() if kind in self._begun}

    def restore(self, kept: Mapping[str, Numbers]) -> None:
        """Begin with what `numbers` gave at an earlier start.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        for kind, numbers in kept.items():
            stats = AcceptanceStats(greedy=kind.endswith("greedy"))
            stats.restore(numbers)
            self._by_kind[kind] = stats
