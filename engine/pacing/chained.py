"""Text where it matches well, a draft model elsewhere, in turn up to a fixed depth.

For answers whose depth is not paced: `engine.pacing.drafter` chooses where costs are known.
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
    """One proposal of several parts, each from the text or from the draft model.

    A text token is no choice: given the tokens before it, its q is a point mass. Where a draft model drew one of the
    tokens, every token of the proposal gets its q, so that it can be verified as a whole.
    """

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.sources: list[Source] = []
        self._q: list[Distribution | None] = []
        self._match_length = 0
        self._predicted: list[int] = []

    def add(self, draft: Draft, count: int) -> None:
        """Go on with the first ``count`` tokens of ``draft``."""
        self._predicted += [len(self.ids) + place for place in draft.predicted if place < count]
        self.ids += draft.ids[:count]
        self.sources += [draft.source] * count
        self._q += draft.q[:count] if draft.q is not None else [None] * count
        self._match_length = self._match_length or draft.match_length

    def draft(self) -> Draft:
        """Give the whole proposal."""
        if not self.ids:
            return _EMPTY
        q = [point_mass(token_id) if q is None else q for token_id, q in zip(self.ids, self._q, strict=True)]
        drawn = any(one is not None for one in self._q)
        return Draft(
            self.ids,
            self.sources[0],
            q if drawn else None,
            None,
            self._match_length,
            self.sources,
            predicted=self._predicted,
        )


class ChainedDrafter:
    """Implements `Drafter`: each token comes from the source whose tokens were accepted more often lately.

    Which source that is depends on earlier passes and on the tokens before, never on the token itself.
    """

    source = Source.DRAFT

    def __init__(self, text: SuffixDrafter, model: DraftModelDrafter) -> None:
        self._text = text
        self._model = model
        self._text_chances, self._model_chance = text_estimate(), AcceptanceEstimate([DRAFTED_CHANCE])
        self._chain = ChainedDraft()
        self._kinds: list[int] = []  # of the proposed tokens: the class of each of text
        self._model_ran = False

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare both."""
        self._text.begin(history, sampler)
        self._model.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """Give as many tokens as ``limit`` allows, unless one of them ends the answer."""
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
            gate, self._model_ran = _UntilTextMatches(self, self._text, room), True
            drawn = self._model.propose(history, room, gate, chain.ids)
            chain.add(drawn, len(drawn.ids))
            kinds += [0] * len(drawn.ids)
            text = gate.following
            if not text.ids:
                break
        return chain.draft()

    def observe(self, num_accepted: int) -> None:
        """Learn which of the two is kept more often."""
        self._text.observe(num_accepted)
        if self._model_ran:
            self._model.observe(num_accepted)
        for i, kind in enumerate(self._kinds[: num_accepted + 1]):
            of_model = self._chain.sources[i] is self._model.source
            (self._model_chance if of_model else self._text_chances).observe([kind], int(i < num_accepted))

    def likely_classes(self, text: Draft) -> list[int]:
        """Give the classes of the first tokens of ``text`` that are likelier to be accepted than the draft model's."""
        kinds, model_chance = text_kinds(text), self._model_chance.chance(0)
        for i, kind in enumerate(kinds):
            if self._text_chances.chance(kind) < model_chance:
                return kinds[:i]
        return kinds


class _UntilTextMatches:
    """Implements `draft_model.Gate`: the model drafts until what it has drawn matches what came before."""

    def __init__(self, drafter: ChainedDrafter, text: SuffixDrafter, room: int) -> None:
        self._drafter = drafter
        self._text = text
        self._room = room
        self.following = _EMPTY

    def worth_drawing(self, confidence: float) -> bool:  # noqa: ARG002  (the protocol's signature)
        """Draft up to the depth that was asked for."""
        self._room -= 1
        return True

    def worth_running(self, drawn_id: int) -> bool:
        """Say whether no text promises more."""
        text = self._text.propose_after((drawn_id,), self._room)
        if not self._drafter.likely_classes(text):
            return True
        self.following = text
        return False
