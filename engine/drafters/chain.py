"""One proposal put together from several drafters: text that came before, then a draft model, and text again.

Knows who proposed what; not why.
"""

from __future__ import annotations

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
        self.sources: list[Source] = []
        self._q: list[Distribution | None] = []
        self._match_length = 0

    def add(self, draft: Draft, count: int) -> None:
        """Go on with the first ``count`` tokens of ``draft``."""
        self.ids += draft.ids[:count]
        self.sources += [draft.source] * count
        self._q += draft.q[:count] if draft.q is not None else [None] * count
        self._match_length = self._match_length or draft.match_length

    def draft(self) -> Draft:
        """The whole proposal."""
        if not self.ids:
            return Draft([], Source.TARGET)
        q = [point_mass(token_id) if q is None else q for token_id, q in zip(self.ids, self._q, strict=True)]
        drawn = any(one is not None for one in self._q)
        return Draft(self.ids, self.sources[0], q if drawn else None, None, self._match_length, self.sources)
