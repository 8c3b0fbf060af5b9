"""Estimates the acceptance of proposed tokens from earlier passes.

Tokens fall into classes by the draft's confidence or the length of the match. Each class starts with a prior that was
measured on real models, and counts its acceptances with slow decay.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from engine.drafters.base import Draft
from engine.pacing.constants import (
    AMBIGUOUS_CHANCES,
    ANSWER_WEIGHT,
    CONFIDENCES,
    DECAY,
    GREEDY_CHANCES,
    MATCH_CHANCES,
    MATCH_LENGTHS,
    PRIOR_WEIGHT,
    SAMPLED_CHANCES,
)

_SINGLE_OCCURRENCE_SCORE = (
    0.75  # the score that suffix decoding gives the only continuation of a text that occurred once
)
_MAX_COUNT = 1e4  # counts stay below this, since observations decay
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

    @property
    def saved(self) -> list[float]:
        """The counts of accepted and observed tokens of each class, for `restore`."""
        return [*self._accepted, *self._observed]

    def restore(self, numbers: Sequence[float]) -> None:
        """Load counts that `saved` returned.

        Raises:
            ValueError: the counts are invalid.
        """
        count = len(self._priors)
        kept, seen = [float(one) for one in numbers[:count]], [float(one) for one in numbers[count:]]
        if len(seen) != count or not all(0.0 <= a <= b <= _MAX_COUNT for a, b in zip(kept, seen, strict=True)):
            raise ValueError("these are not counts of observations")
        self._accepted, self._observed = kept, seen
        for kind in range(count):
            self._learn(kind)


def text_estimate() -> AcceptanceEstimate:
    return AcceptanceEstimate(TEXT_PRIORS, adapts_to_answer=True)


def draft_estimate(*, greedy: bool) -> AcceptanceEstimate:
    return AcceptanceEstimate(GREEDY_CHANCES if greedy else SAMPLED_CHANCES)


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
