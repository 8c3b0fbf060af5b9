"""One proposal put together from several drafters: text that came before, then a draft model, and text again.

Knows who proposed what; not why.
"""

from __future__ import annotations

from engine.acceptance import Part
from engine.distribution import Distribution, point_mass
from engine.drafters.base import Draft
from engine.records import Source


class Chain:
    """Collects the tokens of one proposal.

    A text token is no choice: given the tokens before it, its q is a point mass. Where a draft model drew one of the
    tokens, every token of the proposal gets its q, so that it can be verified as a whole.
    """

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.parts: list[Part] = []
        self._q: list[Distribution | None] = []
        self._match_length = 0

    def add(self, draft: Draft, confidences: list[float], *, are_stated: bool = True) -> None:
        """Go on with as many tokens of ``draft`` as there are ``confidences``, guesses if they are not stated."""
        count = len(confidences)
        if not count:
            return
        self.ids += draft.ids[:count]
        self._q += draft.q[:count] if draft.q is not None else [None] * count
        if self.parts and self.parts[-1].source is draft.source:
            confidences = [*self.parts.pop().confidences, *confidences]
        self.parts.append(Part(draft.source, confidences, are_stated))
        self._match_length = self._match_length or draft.match_length

    def draft(self) -> Draft:
        """The whole proposal."""
        if not self.parts:
            return Draft([], Source.TARGET)
        scores = [confidence for part in self.parts for confidence in part.confidences]
        sources = [part.source for part in self.parts for _ in part.confidences]
        return Draft(self.ids, sources[0], self._distributions(), scores, self._match_length, sources)

    def _distributions(self) -> list[Distribution] | None:
        if all(q is None for q in self._q):
            return None
        return [point_mass(token_id) if q is None else q for token_id, q in zip(self.ids, self._q, strict=True)]
