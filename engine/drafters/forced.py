"""Drafts under a grammar: proposes forced tokens at no cost, and drops tokens that the grammar refuses."""

from __future__ import annotations

from engine.drafters.base import Draft, Drafter
from engine.grammar.constraint import ForcedText, GrammarConstraint
from engine.records import Source
from engine.sampling.sampler import History, Sampler


class GrammarDrafter:
    """Implements `Drafter` around another one.

    If the grammar leaves no choice of characters, the tokens of that text are proposed: they are nearly always
    accepted. Else the other drafter is asked. A draft model samples under the same grammar, so only n-gram tokens can
    be refused here. The draft is cut there, with sampled tokens after it: whether a token is proposed then depends on
    those before it alone, so that the output stays exact.
    """

    def __init__(self, inner: Drafter, constraint: GrammarConstraint, forced: ForcedText) -> None:
        self.inner = inner
        self._constraint = constraint
        self._forced = forced
        self._is_forced = False  # the last proposal
        self._num_seen = 0  # tokens of the history that `forced` has read
        self.source = inner.source

    def begin(self, history: History, sampler: Sampler) -> None:
        self._num_seen = len(history)
        self.inner.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Forced tokens, or the other drafter's as far as the grammar allows them."""
        state = self._constraint.state(history)
        self._is_forced = False
        if state is None or limit <= 0:
            return self.inner.propose(history, limit)
        forced = self._forced.after(state, history[self._num_seen :].tolist())[:limit]
        self._num_seen = len(history)
        if forced:
            self._is_forced = True
            return Draft(forced, Source.NGRAM, num_forced=len(forced))
        draft = self.inner.propose(history, limit)
        return self._as_far_as_allowed(draft, history)

    def _as_far_as_allowed(self, draft: Draft, history: History) -> Draft:
        for count in range(1, len(draft.ids) + 1):
            # After an end-of-generation token there is no state; it is the last token of a draft.
            if self._constraint.state(history, draft.ids[:count]) is None:
                last = draft.ids[count - 1]
                may_end = self._constraint.allows(history, draft.ids[: count - 1], [last])
                return draft.cut(count if may_end is not None and may_end[0] else count - 1)
        return draft

    def observe(self, num_accepted: int) -> None:
        """Let the other drafter learn, if the proposal was its own."""
        if not self._is_forced:
            self.inner.observe(num_accepted)
