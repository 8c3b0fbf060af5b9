"""Drafts under a grammar: proposes forced tokens at no cost, and drops tokens that the grammar forbids."""

from engine.drafters.base import Draft, Drafter
from engine.grammar.constraint import GrammarConstraint
from engine.records import Source
from engine.sampling.sampler import History, Sampler


class GrammarDrafter:
    """Wraps another drafter.

    If the grammar allows only one text, this drafter proposes its tokens, which are nearly always accepted. Else the
    inner drafter proposes. A draft model samples under the same grammar, so only n-gram tokens can be forbidden. The
    draft ends before the first forbidden token: then proposing a token depends only on the tokens before it, and the
    output stays exact.
    """

    def __init__(self, inner: Drafter, constraint: GrammarConstraint) -> None:
        self.inner = inner
        self._constraint = constraint
        self._is_forced = False  # whether the grammar made the last proposal
        self.source = inner.source

    def begin(self, history: History, sampler: Sampler) -> None:
        self.inner.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Propose forced tokens, or the inner drafter's as far as the grammar allows."""
        self._is_forced = False
        if limit <= 0 or not self._constraint.is_known(history):
            return self.inner.propose(history, limit)
        if forced := self._constraint.forced_ids(history)[:limit]:
            self._is_forced = True
            return Draft(forced, Source.NGRAM, num_forced=len(forced))
        draft = self.inner.propose(history, limit)
        for count in range(1, len(draft.ids) + 1):
            # An end-of-generation token leads to no state, but is allowed as the last token of a draft.
            if not self._constraint.is_known(history, draft.ids[:count]):
                last = draft.ids[count - 1]
                may_end = self._constraint.allows(history, draft.ids[: count - 1], [last])
                return draft.cut(count if may_end is not None and may_end[0] else count - 1)
        return draft

    def observe(self, num_accepted: int) -> None:
        """Forward the result to the inner drafter if it made the proposal."""
        if not self._is_forced:
            self.inner.observe(num_accepted)
