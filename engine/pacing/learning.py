"""Statistics by kind of answer: acceptance of proposals, and gain of drafting."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.pacing.acceptance import AcceptanceEstimate, draft_estimate, draft_kind, text_estimate
from engine.pacing.constants import DRAFTED_CHANCE, INITIAL_DRAFT_COUNT, MIN_DRAFT_WEIGHT, RATE_DECAY
from engine.storage.json_store import JsonStore

FILE_NAME = "experience.json"
_FORMAT = 2  # version of the file
_MAX_AVERAGE = 1e4  # upper limit of valid averages
MAX_KINDS = 12
SavedStats = dict[str, list[float]]
SavedKinds = dict[str, SavedStats]  # by kind of answer


@dataclass(slots=True)
class DraftAverage:
    """Average tokens and cost (relative to a plain pass) of ``count`` passes with the draft model."""

    tokens: float
    cost: float
    count: float = INITIAL_DRAFT_COUNT

    def observe(self, tokens: float, cost: float) -> None:
        self.count += 1.0
        weight = max(MIN_DRAFT_WEIGHT, 1.0 / self.count)
        self.tokens += (tokens - self.tokens) * weight
        self.cost += (cost - self.cost) * weight


class AcceptanceStats:
    """Acceptance of answers of one kind, and costs relative to a plain pass, valid at any speed of the machine.

    Attributes:
        text: acceptance of n-gram draft tokens, by class of match.
        draft: acceptance of drafted tokens, by the draft's confidence.
        drafted: acceptance of drafted tokens of all confidences.
        average: drafting passes of all answers; None: never drafted.
        in_answer: drafting passes of the current answer, starting with ``average``.
        rate: recent tokens per time of a plain pass.
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
        """Record tokens and relative cost of a pass with the draft. The average starts from ``expected``."""
        if self.in_answer is None:
            self.in_answer = DraftAverage(expected.tokens, expected.cost)
        if self.average is None:
            self.average = DraftAverage(expected.tokens, expected.cost)
        self.average.observe(tokens, cost)
        self.in_answer.observe(tokens, cost)

    def observe_rate(self, tokens: float, cost: float, num_passes: int = 1) -> None:
        """Record passes with ``tokens`` each, at ``cost`` times a plain pass."""
        kept = RATE_DECAY ** (num_passes * cost)
        self.rate = self.rate * kept + tokens / max(cost, 1e-3) * (1.0 - kept)

    @property
    def saved(self) -> SavedStats:
        average = self.average
        return {
            "text": self.text.saved,
            "draft": self.draft.saved,
            "drafted": self.drafted.saved,
            "average": [average.tokens, average.cost, average.count] if average is not None else [],
        }

    def restore(self, saved: SavedStats) -> None:
        """Continue from `saved`.

        Raises:
            ValueError, LookupError, TypeError: ``saved`` is invalid.
        """
        self.text.restore(saved["text"])
        self.draft.restore(saved["draft"])
        self.drafted.restore(saved["drafted"])
        if saved["average"]:
            tokens, cost, count = (float(one) for one in saved["average"])
            if not all(0.0 < one < _MAX_AVERAGE for one in (tokens, cost, count)):  # also False for NaN
                raise ValueError("a figure is outside its range")
            self.average = DraftAverage(tokens, cost, count)


class StatsByKind:
    """Statistics for each kind of answer."""

    def __init__(self) -> None:
        self._by_kind: dict[str, AcceptanceStats] = {}  # the last used one at the end

    def begin(self, kind: str, *, greedy: bool) -> AcceptanceStats:
        """Begin an answer of this kind; return the kind's statistics, which the answer updates."""
        stats = self._by_kind.pop(kind) if kind in self._by_kind else AcceptanceStats(greedy=greedy)
        self._by_kind[kind] = stats
        stats.begin()
        return stats

    @property
    def saved(self) -> SavedKinds:
        """The statistics of the last `MAX_KINDS` kinds, for `restore`."""
        return {kind: stats.saved for kind, stats in list(self._by_kind.items())[-MAX_KINDS:]}

    def restore(self, kept: Mapping[str, SavedStats]) -> None:
        """Load `saved` of an earlier start.

        Raises:
            ValueError, LookupError, TypeError: ``kept`` is invalid.
        """
        for kind, saved in kept.items():
            stats = AcceptanceStats(greedy=kind.endswith("greedy"))
            stats.restore(saved)
            self._by_kind[kind] = stats


class AcceptanceStore(JsonStore[SavedKinds]):
    """Statistics by pair of models and kind of answer, without any text, in memory, or in ``folder`` if given."""

    def __init__(self, folder: Path | None) -> None:
        super().__init__(folder, FILE_NAME, "pairs", _FORMAT, _saved_kinds, _rounded_kinds)


def _rounded_kinds(kinds: SavedKinds) -> SavedKinds:
    return {
        kind: {name: [float(f"{one:.4g}") for one in values] for name, values in numbers.items()}
        for kind, numbers in kinds.items()
    }


def _saved_kinds(entry: Any) -> SavedKinds:  # noqa: ANN401  (any JSON)
    """Parse an entry of the file, and check it so that `AcceptanceStats.restore` cannot fail."""
    kinds: SavedKinds = {}
    for kind, numbers in entry.items():
        kinds[str(kind)] = {str(name): [float(one) for one in values] for name, values in numbers.items()}
        AcceptanceStats(greedy=True).restore(kinds[str(kind)])
    return kinds
