"""How likely a proposed token is to be kept, learnt from what was kept. Knows no tokens and no costs.

A drafter's own confidence says something, but not the truth: a draft that is sure of 90 % may be kept 60 % of the
time. So confidences fall into classes, and each class counts what became of it, forgetting slowly: text changes
within an answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from engine.records import Source

CONFIDENCE_EDGES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.993, 0.998, 0.9995)
_MIDDLES = tuple((low + high) / 2 for low, high in pairwise((0.0, *CONFIDENCE_EDGES, 1.0)))
_FORGET = 0.985  # a look weighs half after about 46 more of its class
_PRIOR_WEIGHT = 2.0  # looks that the first guess is worth
_HERE_WEIGHT = 2.0  # looks that it takes to believe that an answer is unlike those before
_MOST_LOOKS = 1e4  # no count reaches it: looks are forgotten
_TRUST_WEIGHT = 4.0  # the same of how far stated confidences are believed at all
_MISS_WEIGHT = 1.0  # misses that are put to those foreseen, and to those seen: a few say little


@dataclass(frozen=True, slots=True)
class Part:
    """Proposed tokens in a row of one source, as the confidence in each; a guess where the source has not stated it."""

    source: Source
    confidences: list[float]
    is_stated: bool = True


@dataclass(slots=True)
class _Class:
    kept: float
    seen: float


class AcceptanceEstimate:
    """Chance to be kept by class of confidence; a class that was seldom seen is believed as far as the others were."""

    def __init__(self, prior_share: float = 0.95) -> None:
        """``prior_share``: what share of a stated confidence is believed before anything was seen."""
        self._classes = [_Class(0.0, 0.0) for _ in range(len(CONFIDENCE_EDGES) + 1)]
        self._trust = _Class(_TRUST_WEIGHT * prior_share, _TRUST_WEIGHT)  # kept ones against what was stated
        self._misses: float | None = 1.0  # for one that the stated confidences foresee; None: to be counted anew
        self._here: _Class | None = None  # in this answer: kept ones against what was expected

    def begin(self) -> None:
        """An answer begins whose text may be unlike the others': watch how far what is expected comes."""
        self._here = _Class(_HERE_WEIGHT, _HERE_WEIGHT)

    def chance(self, confidence: float) -> float:
        """Chance that a token of this confidence is kept, where all before it were."""
        found = self._classes[bisect_right(CONFIDENCE_EDGES, confidence)]
        believed = self._believed(confidence)
        here = min(1.0, self._here.kept / self._here.seen) if self._here is not None else 1.0
        return here * (found.kept + _PRIOR_WEIGHT * believed) / (found.seen + _PRIOR_WEIGHT)

    def _believed(self, confidence: float) -> float:
        """What a confidence is worth where its class was seldom seen.

        A token that is drawn from a draft much like the target is kept far more often than the draft is sure of it, as
        it may be any that both find likely. Unless that is foreseen, no unsure token is proposed, and nothing learnt.
        """
        trust = self._trust.kept / self._trust.seen
        if trust < 1.0:
            return confidence * trust
        if self._misses is None:
            self._misses = self._counted_misses()
        return max(confidence, 1.0 - (1.0 - confidence) * self._misses)

    @property
    def numbers(self) -> list[float]:
        """What was learnt, for keeping it: kept and seen ones of each class, and of all."""
        return [number for one in (*self._classes, self._trust) for number in (one.kept, one.seen)]

    def restore(self, numbers: Sequence[float]) -> None:
        """Go on from what `numbers` gave.

        Raises:
            ValueError: these cannot be such numbers.
        """
        *self._classes, self._trust = _classes_of(numbers, len(self._classes) + 1)
        if self._trust.seen == 0.0 or self._trust.kept == 0.0:  # no chance is ever learnt to be none at all
            raise ValueError("nothing was stated, or nothing of it kept")
        self._misses = None

    @property
    def is_seen(self) -> bool:
        """Whether anything was ever looked at; until then a chance is a guess."""
        return any(one.seen > 0.0 for one in self._classes)

    def observe(self, confidence: float, *, kept: bool, weight: float = 1.0) -> None:
        """Count one token that was looked at: all before it had been kept. A rare look may weigh more than one."""
        self.observe_all((confidence,), int(kept), weight)

    def observe_all(self, confidences: Sequence[float], num_kept: int, weight: float = 1.0) -> None:
        """The same of the tokens of one proposal: so many that were kept, and the first that was not, if any."""
        classes, trust, here, fading = self._classes, self._trust, self._here, _FORGET**weight
        looked_at = confidences[: num_kept + 1]
        if here is not None:  # what was expected is what was known before any of them was looked at
            here.seen += sum([self.chance(confidence) for confidence in looked_at])
            here.kept += min(num_kept, len(looked_at))
        for depth, confidence in enumerate(looked_at):
            counted = weight if depth < num_kept else 0.0
            found = classes[bisect_right(CONFIDENCE_EDGES, confidence)]
            found.kept = found.kept * fading + counted
            found.seen = found.seen * fading + weight
            trust.kept = trust.kept * fading + counted
            trust.seen = trust.seen * fading + weight * confidence
        self._misses = None

    def _counted_misses(self) -> float:
        foreseen = sum(one.seen * (1.0 - middle) for one, middle in zip(self._classes, _MIDDLES, strict=True))
        missed = sum(one.seen - one.kept for one in self._classes)
        return (missed + _MISS_WEIGHT) / (foreseen + _MISS_WEIGHT)


class AcceptanceByDepth:
    """Chance to be kept at each depth, whatever the confidence; a depth seldom reached leans on the one before."""

    def __init__(self, first: float, num_depths: int) -> None:
        self._classes = [_Class(0.0, 0.0) for _ in range(num_depths)]
        self._first = first
        self._chances = [first] * num_depths

    def chance(self, depth: int) -> float:
        """Chance of the token at ``depth`` (from 0), where all before it were kept."""
        return self._chances[depth] if depth < len(self._chances) else self._chances[-1]

    @property
    def chances(self) -> Sequence[float]:
        """`chance` of every depth, as of now."""
        return self._chances

    @property
    def is_seen(self) -> bool:
        """Whether anything was ever proposed; until then a chance is a guess."""
        return self._classes[0].seen > 0.0

    def observe(self, num_proposed: int, num_accepted: int, weight: float = 1.0, start: int = 0) -> None:
        """Count one proposal: the kept tokens, and the first that was not, if there was one.

        The first of them stands at the depth ``start``; all before it were kept.
        """
        fading = _FORGET**weight
        end = start + num_accepted
        for depth in range(start, min(end + 1, start + num_proposed, len(self._classes))):
            found = self._classes[depth]
            found.kept = found.kept * fading + (weight if depth < end else 0.0)
            found.seen = found.seen * fading + weight
        self._refresh()

    @property
    def numbers(self) -> list[float]:
        """What was learnt, for keeping it: kept and seen ones of each depth."""
        return [number for one in self._classes for number in (one.kept, one.seen)]

    def restore(self, numbers: Sequence[float]) -> None:
        """Go on from what `numbers` gave.

        Raises:
            ValueError: these cannot be such numbers.
        """
        self._classes = _classes_of(numbers, len(self._classes))
        self._refresh()

    def _refresh(self) -> None:
        before = self._first
        for depth, found in enumerate(self._classes):
            before = (found.kept + _PRIOR_WEIGHT * before) / (found.seen + _PRIOR_WEIGHT)
            self._chances[depth] = before


def _classes_of(numbers: Sequence[float], count: int) -> list[_Class]:
    classes = [_Class(kept, seen) for kept, seen in zip(numbers[::2], numbers[1::2], strict=True)]
    if len(classes) != count or not all(
        0.0 <= one.kept <= _MOST_LOOKS and 0.0 <= one.seen <= _MOST_LOOKS for one in classes
    ):
        raise ValueError("these are not counts of looks")
    return classes
