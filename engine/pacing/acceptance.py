"""Estimates the acceptance of proposed tokens, and the gain of drafting, from earlier passes.

Tokens fall into classes by the draft's confidence or the length of the match. Each class starts with a prior that was
measured on real models, and counts its acceptances with slow decay.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from engine.drafters.base import Draft
from engine.pacing.constants import (
    AMBIGUOUS_CHANCES,
    ANSWER_WEIGHT,
    CONFIDENCES,
    DECAY,
    DRAFTED_CHANCE,
    GREEDY_CHANCES,
    INITIAL_DRAFT_COUNT,
    MATCH_CHANCES,
    MATCH_LENGTHS,
    MIN_DRAFT_WEIGHT,
    PRIOR_WEIGHT,
    RATE_DECAY,
    SAMPLED_CHANCES,
)

# The score that suffix decoding gives the only continuation of a text that occurred once.
_SINGLE_OCCURRENCE_SCORE = 0.75
_NUM_DEPTHS = len(MATCH_CHANCES[0])
TEXT_PRIORS = (*AMBIGUOUS_CHANCES, *(chance for chances in MATCH_CHANCES for chance in chances))


class AcceptanceEstimate:
    """For each class, the probability that a token is accepted if all tokens before it are.

    ``priors`` [num_classes] are the initial values. With ``adapts_to_answer`` the current answer has a higher weight.
    """

    def __init__(self, priors: Sequence[float], *, adapts_to_answer: bool = False) -> None:
        self._priors = tuple(priors)
        self._accepted, self._observed = [0.0] * len(priors), [0.0] * len(priors)
        self._mean = list(priors)
        self._adapts = adapts_to_answer
        self.begin()

    def begin(self) -> None:
        self._answer_accepted = self._answer_expected = ANSWER_WEIGHT
        self._answer_factor = 1.0

    @property
    def is_observed(self) -> bool:
        """Whether any token was observed; until then the chances are the priors."""
        return any(self._observed)

    def probability(self, kind: int) -> float:
        return self._mean[kind] * self._answer_factor

    @property
    def probabilities(self) -> list[float]:
        """`probability` of every class, for callers that need many."""
        return [usual * self._answer_factor for usual in self._mean]

    def observe(self, kinds: Sequence[int], num_kept: int) -> None:
        """Record that the first ``num_kept`` tokens of these classes were accepted and the next one was not."""
        for depth, kind in enumerate(kinds[: num_kept + 1]):
            is_kept = depth < num_kept
            if self._adapts:
                self._answer_expected += self.probability(kind)
                self._answer_accepted += is_kept
                self._answer_factor = min(1.0, self._answer_accepted / self._answer_expected)
            self._accepted[kind] = self._accepted[kind] * DECAY + is_kept
            self._observed[kind] = self._observed[kind] * DECAY + 1.0
            self._learn(kind)

    def _learn(self, kind: int) -> None:
        kept, seen = self._accepted[kind] + PRIOR_WEIGHT * self._priors[kind], self._observed[kind] + PRIOR_WEIGHT
        self._mean[kind] = kept / seen


def draft_kind(confidence: float) -> int:
    """Class of a drafted token by the draft's confidence."""
    return bisect_right(CONFIDENCES, confidence)


def text_kinds(draft: Draft) -> list[int]:
    """Class of each token of an n-gram draft, by score, match length and index."""
    ambiguous = int(draft.match_length > 1)
    whole = len(AMBIGUOUS_CHANCES) + _NUM_DEPTHS * bisect_left(MATCH_LENGTHS, draft.match_length)
    scores = draft.scores if draft.scores is not None else [_SINGLE_OCCURRENCE_SCORE] * len(draft.ids)
    last = _NUM_DEPTHS - 1
    return [
        whole + (index if index < last else last) if score >= _SINGLE_OCCURRENCE_SCORE else ambiguous
        for index, score in enumerate(scores)
    ]


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
        self.text = AcceptanceEstimate(TEXT_PRIORS, adapts_to_answer=True)
        self.draft = AcceptanceEstimate(GREEDY_CHANCES if greedy else SAMPLED_CHANCES)
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
