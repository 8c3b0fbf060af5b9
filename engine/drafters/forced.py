"""Drafts under a grammar: proposes forced tokens at no cost, and drops tokens that the grammar forbids."""

from __future__ import annotations

from engine.drafters.base import Draft, Drafter
from engine.grammar.constraint import ForcedText, GrammarConstraint
from engine.records import Source
from engine.sampling.sampler import History, Sampler


class GrammarDrafter:
    """Wraps another drafter.

    If the grammar allows only one text, this drafter proposes its tokens, which are nearly always accepted. Else the
    inner drafter proposes. A draft model samples under the same grammar, so only n-gram tokens can be forbidden. The
    draft ends before the first forbidden token: then proposing a token depends only on the tokens before it, and the
    output stays exact.
    """

    def __init__(self, inner: Drafter, constraint: GrammarConstraint, forced: ForcedText) -> None:
        self.inner = inner
        self._constraint = constraint
        self._forced = forced
        self._is_forced = False  # whether the grammar made the last proposal
        self._num_read = 0  # tokens of the history that the constraint has read
        self.source = inner.source

    def begin(self, history: History, sampler: Sampler) -> None:
        self._num_read = len(history)
        self.inner.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Propose forced tokens, or the inner drafter's as far as the grammar allows."""
        state = self._constraint.state(history)
        self._is_forced = False
        if state is None or limit <= 0:
            return self.inner.propose(history, limit)
        forced = self._forced.forced_ids(state, history[self._num_read :].tolist())[:limit]
        self._num_read = len(history)
        if forced:
            self._is_forced = True
            return Draft(forced, Source.NGRAM, num_forced=len(forced))
        draft = self.inner.propose(history, limit)
        for count in range(1, len(draft.ids) + 1):
            # An end-of-generation token leads to no state, but is allowed as the last token of a draft.
            if self._constraint.state(history, draft.ids[:count]) is None:
                last = draft.ids[count - 1]
                may_end = self._constraint.allows(history, draft.ids[: count - 1], [last])
                return draft.cut(count if may_end is not None and may_end[0] else count - 1)
        return draft

    def observe(self, num_accepted: int) -> None:
        """Forward the result to the inner drafter if it made the proposal."""
        if not self._is_forced:
            self.inner.observe(num_accepted)
