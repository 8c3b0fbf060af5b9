"""Statistics by kind of answer: how often proposals were accepted, and what drafting gained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.pacing.acceptance import AcceptanceEstimate, draft_estimate, draft_kind, text_estimate
from engine.pacing.constants import DRAFT_RATE, DRAFTED_CHANCE, FIRST_DRAFTS, RATE_FORGETS

_MOST = 1e4  # above any average
Numbers = dict[str, list[float]]


@dataclass(slots=True)
class DraftAverage:
    """Average tokens and cost, in plain passes, of ``count`` passes with the draft model."""

    tokens: float
    cost: float
    count: float = FIRST_DRAFTS

    def observe(self, tokens: float, cost: float) -> None:
        self.count += 1.0
        weight = max(DRAFT_RATE, 1.0 / self.count)
        self.tokens += (tokens - self.tokens) * weight
        self.cost += (cost - self.cost) * weight


class AcceptanceStats:
    """Acceptance and costs of answers of one kind. Costs are in plain passes, so that they outlive a change of speed.

    Attributes:
        text: chances of tokens of suffix matches, by class.
        draft: chances of drafted tokens, by the draft's confidence.
        drafted: the chance of a drafted token, whatever the confidence.
        average: of passes with the draft, over answers; None: never drafted.
        in_answer: the same in the current answer, beginning with ``average``.
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
        self.text.begin()
        self.in_answer = None

    def observe_drafted(self, confidences: Sequence[float], num_kept: int) -> None:
        """Record that the first ``num_kept`` of the drafted tokens with these confidences were accepted."""
        self.draft.observe([draft_kind(confidence) for confidence in confidences], num_kept)
        self.drafted.observe([0] * len(confidences), num_kept)

    def observe_draft_pass(self, tokens: float, cost: float, expected: DraftAverage) -> None:
        """Record tokens and cost (in plain passes) of a pass with the draft. The first corrects ``expected``."""
        if self.in_answer is None:
            self.in_answer = DraftAverage(expected.tokens, expected.cost)
        if self.average is None:
            self.average = DraftAverage(expected.tokens, expected.cost)
        self.average.observe(tokens, cost)
        self.in_answer.observe(tokens, cost)

    def observe_rate(self, tokens: float, cost: float, num_passes: int = 1) -> None:
        """Record passes that gave ``tokens`` each, at ``cost`` times a plain pass."""
        kept = RATE_FORGETS ** (num_passes * cost)
        self.rate = self.rate * kept + tokens / max(cost, 1e-3) * (1.0 - kept)

    @property
    def numbers(self) -> Numbers:
        average = self.average
        return {
            "text": self.text.numbers,
            "draft": self.draft.numbers,
            "drafted": self.drafted.numbers,
            "average": [average.tokens, average.cost, average.count] if average is not None else [],
        }

    def restore(self, numbers: Numbers) -> None:
        """Continue from `numbers`.

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
    """The statistics of every kind of answer."""

    def __init__(self) -> None:
        self._by_kind: dict[str, AcceptanceStats] = {}
        self._begun: set[str] = set()  # kinds of answers of this process

    def begin(self, kind: str, *, greedy: bool) -> AcceptanceStats:
        """Begin an answer of this kind; return its statistics, to be updated."""
        self._begun.add(kind)
        stats = self._by_kind.setdefault(kind, AcceptanceStats(greedy=greedy))
        stats.begin()
        return stats

    @property
    def numbers(self) -> dict[str, Numbers]:
        return {kind: stats.numbers for kind, stats in self._by_kind.items() if kind in self._begun}

    def restore(self, kept: Mapping[str, Numbers]) -> None:
        """Continue from `numbers` of an earlier start.

        Raises:
            ValueError, LookupError, TypeError: these cannot be such numbers.
        """
        for kind, numbers in kept.items():
            stats = AcceptanceStats(greedy=kind.endswith("greedy"))
            stats.restore(numbers)
            self._by_kind[kind] = stats
