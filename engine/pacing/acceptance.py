"""How likely a proposed token is to be kept, learnt from what was kept.

What a drafter says of its tokens (how sure it is, how long a match was) falls into classes; each begins with what real
models gave and counts what becomes of it, forgetting slowly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from engine.drafters.base import Draft
from engine.pacing.constants import (
    AMBIGUOUS_CHANCES,
    ANSWER_WEIGHT,
    CONFIDENCES,
    DECAY,
    DRAWN_CHANCES,
    GREEDY_CHANCES,
    MATCH_CHANCES,
    MATCH_LENGTHS,
    PRIOR_WEIGHT,
)

_ONCE_OF_ONCE = 0.75  # the share that suffix decoding states where one thing followed, once
_MAX_COUNT = 1e4  # no count reaches it, since observations decay
_PLACES = len(MATCH_CHANCES[0])
TEXT_PRIORS = (*AMBIGUOUS_CHANCES, *(chance for chances in MATCH_CHANCES for chance in chances))


class AcceptanceEstimate:
    """The chance to be kept, by class, of a token where all before it were kept."""

    def __init__(self, priors: Sequence[float], *, adapts_to_answer: bool = False) -> None:
        """``priors``: a chance for each class. With ``adapts_to_answer`` an answer's own text counts for more."""
        self._priors = tuple(priors)
        self._kept, self._observed = [0.0] * len(priors), [0.0] * len(priors)
        self._mean = list(priors)
        self._adapts = adapts_to_answer
        self.begin()

    def begin(self) -> None:
        """Begin an answer, whose text may be unlike the others'."""
        self._answer_kept = self._answer_expected = ANSWER_WEIGHT
        self._answer_factor = 1.0

    @property
    def is_observed(self) -> bool:
        """Whether anything was ever looked at; until then a chance is what others' models gave."""
        return any(self._observed)

    def chance(self, kind: int) -> float:
        """Give the chance of a token of this class."""
        return self._mean[kind] * self._answer_factor

    @property
    def chances(self) -> list[float]:
        """`chance` of every class, as of now: for who asks about many tokens."""
        return [usual * self._answer_factor for usual in self._mean]

    def observe(self, kinds: Sequence[int], num_kept: int) -> None:
        """Record that of tokens of these classes the first so many were kept; the one after them, if any, was not."""
        for depth, kind in enumerate(kinds[: num_kept + 1]):
            is_kept = depth < num_kept
            if self._adapts:
                self._answer_expected += self.chance(kind)
                self._answer_kept += is_kept
                self._answer_factor = min(1.0, self._answer_kept / self._answer_expected)
            self._kept[kind] = self._kept[kind] * DECAY + is_kept
            self._observed[kind] = self._observed[kind] * DECAY + 1.0
            self._learn(kind)

    def _learn(self, kind: int) -> None:
        kept, seen = self._kept[kind] + PRIOR_WEIGHT * self._priors[kind], self._observed[kind] + PRIOR_WEIGHT
        self._mean[kind] = kept / seen

    @property
    def numbers(self) -> list[float]:
        """What was learnt, for keeping it: kept and seen ones of each class."""
        return [*self._kept, *self._observed]

    def restore(self, numbers: Sequence[float]) -> None:
        """Go on from what `numbers` gave.

        Raises:
            ValueError: these cannot be such numbers.
        """
        count = len(self._priors)
        kept, seen = [float(one) for one in numbers[:count]], [float(one) for one in numbers[count:]]
        if len(seen) != count or not all(0.0 <= a <= b <= _MAX_COUNT for a, b in zip(kept, seen, strict=True)):
            raise ValueError("these are not counts of observations")
        self._kept, self._observed = kept, seen
        for kind in range(count):
            self._learn(kind)


def text_estimate() -> AcceptanceEstimate:
    """Make the estimate of tokens of text, whose classes `text_kinds` gives."""
    return AcceptanceEstimate(TEXT_PRIORS, adapts_to_answer=True)


def draft_estimate(*, greedy: bool) -> AcceptanceEstimate:
    """Make the estimate of tokens of a draft model, whose classes `draft_kind` gives."""
    return AcceptanceEstimate(GREEDY_CHANCES if greedy else DRAWN_CHANCES)


def draft_kind(confidence: float) -> int:
    """Give the class of a token of which the draft is so sure."""
    return bisect_right(CONFIDENCES, confidence)


def text_kinds(draft: Draft) -> list[int]:
    """Give each token's class in a text match: whether only one thing ever followed, the match's length, its place."""
    ambiguous = int(draft.match_length > 1)
    whole = len(AMBIGUOUS_CHANCES) + _PLACES * bisect_left(MATCH_LENGTHS, draft.match_length)
    scores = draft.scores if draft.scores is not None else [_ONCE_OF_ONCE] * len(draft.ids)
    last = _PLACES - 1
    return [
        whole + (place if place < last else last) if score >= _ONCE_OF_ONCE else ambiguous
        for place, score in enumerate(scores)
    ]
