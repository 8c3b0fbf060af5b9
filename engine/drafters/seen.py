"""Tokens that might be proposed, and how sure a drafter is of each. Knows no costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.distribution import Distribution
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
    q: list[Distribution] | None = None  # to draw each from, where it is not to be taken as it is

    def part(self, start: int, end: int | None = None) -> Seen:
        """Some of them."""
        q = self.q[start:end] if self.q is not None else None
        return Seen(self.ids[start:end], self.confidences[start:end], self.source, q)

    def drawn(self, uniform: Callable[[], float]) -> Seen:
        """Each drawn from its distribution, up to the first that comes out otherwise: what follows it was not seen."""
        if self.q is None:
            return self
        ids: list[int] = []
        for token_id, q in zip(self.ids, self.q, strict=True):
            ids.append(q.draw(uniform()))
            if ids[-1] != token_id:
                break
        count = len(ids)
        return Seen(ids, self.confidences[:count], self.source, self.q[:count])

    @property
    def draft(self) -> Draft:
        """As a proposal."""
        return Draft(self.ids, self.source, self.q)


def num_equal(ids: list[int], others: list[int]) -> int:
    """How many tokens at the beginning of both are the same."""
    pairs = enumerate(zip(ids, others, strict=False))
    return next((i for i, (one, other) in pairs if one != other), min(len(ids), len(others)))


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
