"""Tokens that might be proposed, and how sure a drafter is of each. Knows no costs."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.drafters.base import Draft
from engine.records import Source

# A text match says nothing about itself but its length; the pacer learns what each of these is really worth.
_LENGTH_CONFIDENCE = ((2, 0.4), (3, 0.6), (4, 0.75), (8, 0.85), (16, 0.93))
_LONGEST_CONFIDENCE = 0.98
_SEEN_ONCE = 0.75  # what frequencies alone say where one thing followed, once
_REST = 1.0 - _SEEN_ONCE


@dataclass(frozen=True, slots=True)
class Seen:
    """Tokens that might be proposed, and how sure each of them is."""

    ids: list[int] = field(default_factory=list)
    confidences: list[float] = field(default_factory=list)
    source: Source = Source.NGRAM

    def part(self, start: int, end: int | None = None) -> Seen:
        """Some of them."""
        return Seen(self.ids[start:end], self.confidences[start:end], self.source)

    def num_equal(self, ids: list[int]) -> int:
        """How many tokens at the beginning of both are the same."""
        pairs = enumerate(zip(self.ids, ids, strict=False))
        return next((i for i, (mine, other) in pairs if mine != other), min(len(self.ids), len(ids)))


def text_seen(draft: Draft) -> Seen:
    """What a text drafter found."""
    return Seen(draft.ids, confidences_of(draft), draft.source)


def confidences_of(draft: Draft) -> list[float]:
    """How sure each token of a text match is, by the length of the match and by how often the same followed.

    Where one thing alone ever followed, the length decides: it grows with every token that is kept. Each further time
    that it did makes up a part of what is missing.
    """
    if draft.scores is None:
        return [_confidence_of(draft.match_length)] * len(draft.ids)
    return [
        score if score < _SEEN_ONCE else 1.0 - (1.0 - _confidence_of(draft.match_length + i)) * (1.0 - score) / _REST
        for i, score in enumerate(draft.scores)
    ]


def _confidence_of(match_length: int) -> float:
    found = next((value for length, value in _LENGTH_CONFIDENCE if match_length <= length), None)
    return _LONGEST_CONFIDENCE if found is None else found
