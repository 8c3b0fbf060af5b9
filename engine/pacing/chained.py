"""Drafts up to a fixed depth, alternating between good suffix matches and a draft model.

If costs are measured, `engine.pacing.drafter` chooses the depth instead.
"""

from __future__ import annotations

from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.acceptance import AcceptanceEstimate, text_estimate, text_kinds
from engine.pacing.constants import DRAFTED_CHANCE
from engine.records import Source
from engine.sampling.distribution import Distribution, point_mass
from engine.sampling.sampler import History, Sampler

_EMPTY = Draft([], Source.TARGET)


class ChainedDraft:
    """A proposal whose parts come from suffix matching or from the draft model.

    A suffix token is deterministic given the tokens before it, so its q is a point mass. If the draft model sampled one
    of the tokens, every token of the proposal gets a q, so that the proposal can be verified as a whole.
    """

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.sources: list[Source] = []
        self._q: list[Distribution | None] = []
        self._match_length = 0
        self._predicted: list[int] = []

    def add(self, draft: Draft, count: int) -> None:
        """Append the first ``count`` tokens of ``draft``."""
        self._predicted += [len(self.ids) + index for index in draft.predicted if index < count]
        self.ids += draft.ids[:count]
        self.sources += [draft.source] * count
        self._q += draft.q[:count] if draft.q is not None else [None] * count
        self._match_length = self._match_length or draft.match_length

    def draft(self) -> Draft:
        if not self.ids:
            return _EMPTY
        q = [point_mass(token_id) if q is None else q for token_id, q in zip(self.ids, self._q, strict=True)]
        sampled = any(one is not None for one in self._q)
        return Draft(
            self.ids,
            self.sources[0],
            q if sampled else None,
            None,
            self._match_length,
            self.sources,
            predicted=self._predicted,
        )


class ChainedDrafter:
    """Implements `Drafter`: each token comes from the source with the higher recent acceptance.

    The choice depends on earlier passes and on earlier tokens, never on the token itself.
    """

    source = Source.DRAFT

    def __init__(self, text: SuffixDrafter, model: DraftModelDrafter) -> None:
        self._text = text
        self._model = model
        self._text_chances, self._model_chance = text_estimate(), AcceptanceEstimate([DRAFTED_CHANCE])
        self._chain = ChainedDraft()
        self._kinds: list[int] = []  # classes of the proposed tokens; 0 for the model's tokens
        self._model_ran = False

    def begin(self, history: History, sampler: Sampler) -> None:
        self._text.begin(history, sampler)
        self._model.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Propose ``limit`` tokens, or fewer if a token ends the answer."""
        self._chain, self._kinds = chain, kinds = ChainedDraft(), []
        self._model_ran = False
        text = self._text.propose(history, limit)
        while True:
            good = self.likely_classes(text)
            chain.add(text, len(good))
            kinds += good
            room = limit - len(chain.ids)
            if room <= 0:
                break
            self._text.propose_after(text.ids[: len(good)], 0)
            gate, self._model_ran = _TextMatchGate(self, self._text, room), True
            drawn = self._model.propose(history, room, gate, chain.ids)
            chain.add(drawn, len(drawn.ids))
            kinds += [0] * len(drawn.ids)
            text = gate.matched_text
            if not text.ids:
                break
        return chain.draft()

    def observe(self, num_accepted: int) -> None:
        """Update the acceptance of each source."""
        self._text.observe(num_accepted)
        if self._model_ran:
            self._model.observe(num_accepted)
        for i, kind in enumerate(self._kinds[: num_accepted + 1]):
            of_model = self._chain.sources[i] is self._model.source
            (self._model_chance if of_model else self._text_chances).observe([kind], int(i < num_accepted))

    def likely_classes(self, text: Draft) -> list[int]:
        """Classes of the leading tokens of ``text`` that are likelier to be accepted than drafted tokens."""
        kinds, model_chance = text_kinds(text), self._model_chance.probability(0)
        for i, kind in enumerate(kinds):
            if self._text_chances.probability(kind) < model_chance:
                return kinds[:i]
        return kinds


class _TextMatchGate:
    """Implements `draft_model.Gate`: lets the model draft until its tokens match earlier text."""

    def __init__(self, drafter: ChainedDrafter, text: SuffixDrafter, room: int) -> None:
        self._drafter = drafter
        self._text = text
        self._room = room
        self.matched_text = _EMPTY

    def should_sample(self, confidence: float) -> bool:  # noqa: ARG002  (the protocol's signature)
        self._room -= 1
        return True

    def should_run_model(self, sampled_id: int) -> bool:
        text = self._text.propose_after((sampled_id,), self._room)
        if not self._drafter.likely_classes(text):
            return True
        self.matched_text = text
        return False
