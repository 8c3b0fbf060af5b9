"""Chooses for each pass among text, a draft model, both in turn and nothing, as the pacer finds it worth.

Knows the drafters and the pacer; the pacer knows no tokens.
"""

from __future__ import annotations

from time import perf_counter

from engine.drafters.base import Draft, Drafter
from engine.drafters.chain import Chain
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix import SuffixDrafter
from engine.pacer import MAX_DEPTH, Choice, Pacer
from engine.records import Source
from engine.sampling import History, Sampler

_NOTHING = Draft([], Source.TARGET)
_TEXT_DEPTH = 24
# A text match says nothing about itself but its length; the pacer learns what each of these is really worth.
_LENGTH_CONFIDENCE = ((2, 0.4), (3, 0.6), (4, 0.75), (8, 0.85), (16, 0.93))
_LONGEST_CONFIDENCE = 0.98
_SEEN_ONCE = 0.75  # what frequencies alone say where one thing followed, once
_REST = 1.0 - _SEEN_ONCE


class PacedDrafter:
    """Implements `Drafter` over the drafters that a mode allows.

    With suffix matching and a draft model a proposal can be a chain: the model drafts, and gives way to text as soon as
    what it has drawn matches what came before and the text promises more. (The other way round, the model going on
    from the end of the text, gained nothing: the best length of a text leaves no room where another token would pay.)
    """

    def __init__(
        self, pacer: Pacer, text: Drafter | None, model: DraftModelDrafter | None, *, may_rest: bool = True
    ) -> None:
        """``may_rest`` lets it propose nothing where that is faster; without it drafting was asked for by name."""
        self._pacer = pacer
        self._may_rest = may_rest
        self._text = text
        self._model = model
        self._choice = Choice.PLAIN
        self._chain = Chain()
        self._draft_ms = 0.0
        self.source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare the drafters."""
        self._pacer.begin()
        for drafter in (self._text, self._model):
            if drafter is not None:
                drafter.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """What the pacer finds worth most; possibly nothing."""
        text = self._text.propose(history, min(limit, _TEXT_DEPTH)) if self._text is not None else _NOTHING
        confidences = confidences_of(text)
        self._choice, depth = self._pacer.choose(
            confidences, has_model=self._model is not None, limit=min(limit, MAX_DEPTH), may_rest=self._may_rest
        )
        self._chain, self._draft_ms = Chain(), 0.0
        if self._choice is Choice.PLAIN:
            return _NOTHING
        if self._choice is Choice.TEXT:
            self._chain.add(text, confidences[:depth])
        elif self._model is not None:
            started = perf_counter()
            self._run_model(self._model, history, depth)
            self._draft_ms = (perf_counter() - started) * 1000.0
        return self._chain.draft()

    def _run_model(self, model: DraftModelDrafter, history: History, limit: int) -> None:
        """Let the model draft, and text follow where that promises more."""
        gate = _Gate(self._pacer, self._text if isinstance(self._text, SuffixDrafter) else None, limit)
        drawn = model.propose(history, limit, gate)
        self._chain.add(drawn, drawn.scores or [])
        self._chain.add(*gate.following)

    def observe(self, num_accepted: int) -> None:
        """Tell the drafter and the pacer what was kept."""
        if self._text is not None:
            self._text.observe(num_accepted if self._choice is Choice.TEXT else 0)
        if self._model is not None and self._choice is Choice.MODEL:
            self._model.observe(num_accepted)
        if self._choice is Choice.PLAIN:
            self._pacer.observe_plain()
        else:
            self._pacer.observe(self._chain.parts, num_accepted, self._draft_ms)


class _Gate:
    """Implements `draft_model.Gate` for one proposal: goes on while that pays, and notices where text pays more."""

    def __init__(self, pacer: Pacer, text: SuffixDrafter | None, limit: int) -> None:
        self._pacer = pacer
        self._text = text
        self._room = limit
        self._drawn = 0
        self._alive = 1.0
        self.following: tuple[Draft, list[float]] = (_NOTHING, [])

    def worth_drawing(self, confidence: float) -> bool:
        """See `draft_model.Gate`."""
        if not self._pacer.worth_drawing(self._drawn, self._alive, confidence, self._room):
            return False
        self._alive *= self._pacer.chance(confidence)
        self._drawn += 1
        self._room -= 1
        return True

    def worth_running(self, drawn_id: int) -> bool:
        """See `draft_model.Gate`."""
        gain = self._pacer.gain_of_running(self._drawn, self._alive, self._room)
        if self._text is not None:
            text = self._text.propose_after((drawn_id,), min(self._room, _TEXT_DEPTH))
            confidences = confidences_of(text)
            text_gain, depth = self._pacer.text_gain(confidences, self._drawn, self._alive)
            if text_gain > max(gain, 0.0):
                self.following = (text, confidences[:depth])
                return False
        return gain > 0.0


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
