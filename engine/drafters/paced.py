"""Chooses for each pass among a text drafter, a draft model and nothing, as the pacer finds it worth.

Knows the drafters and the pacer; the pacer knows no tokens.
"""

from __future__ import annotations

from time import perf_counter

from engine.drafters.base import Draft, Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.pacer import MAX_DEPTH, Choice, Pacer
from engine.records import Source
from engine.sampling import History, Sampler

_NOTHING = Draft([], Source.TARGET)
_TEXT_DEPTH = 24
# A text match says nothing about itself but its length; the pacer learns what each of these is really worth.
_LENGTH_CONFIDENCE = ((2, 0.4), (3, 0.6), (4, 0.75), (8, 0.85), (16, 0.93))
_LONGEST_CONFIDENCE = 0.98


class PacedDrafter:
    """Implements `Drafter` over the drafters that a mode allows."""

    def __init__(
        self, pacer: Pacer, text: Drafter | None, model: DraftModelDrafter | None, *, may_rest: bool = True
    ) -> None:
        """``may_rest`` lets it propose nothing where that is faster; without it drafting was asked for by name."""
        self._pacer = pacer
        self._may_rest = may_rest
        self._text = text
        self._model = model
        self._choice = Choice.PLAIN
        self._draft = _NOTHING
        self._confidences: list[float] = []
        self._draft_ms = 0.0
        self.source = Source.TARGET

    def begin(self, history: History, sampler: Sampler) -> None:
        """Prepare the drafters."""
        for drafter in (self._text, self._model):
            if drafter is not None:
                drafter.begin(history, sampler)

    def propose(self, history: History, limit: int) -> Draft:
        """What the pacer finds worth most; possibly nothing."""
        text = self._text.propose(history, min(limit, _TEXT_DEPTH)) if self._text is not None else _NOTHING
        confidences = _confidences(text)
        has_model = self._model is not None
        self._choice, depth = self._pacer.choose(
            confidences, has_model=has_model, limit=min(limit, MAX_DEPTH), may_rest=self._may_rest
        )
        self._confidences = []
        if self._choice is Choice.TEXT:
            self._confidences = confidences[:depth]
            self._draft = Draft(text.ids[:depth], text.source, None, self._confidences, text.match_length)
        elif self._choice is Choice.MODEL and self._model is not None:
            started = perf_counter()
            self._draft = self._model.propose(history, depth, self._pacer)
            self._draft_ms = (perf_counter() - started) * 1000.0
            self._confidences = self._draft.scores or []
        else:
            self._draft = _NOTHING
        return self._draft

    def observe(self, num_accepted: int) -> None:
        """Tell the drafter and the pacer what was kept."""
        if self._text is not None:
            self._text.observe(num_accepted if self._choice is Choice.TEXT else 0)
        if self._choice is Choice.TEXT:
            self._pacer.observe_text(self._confidences, num_accepted)
        elif self._choice is Choice.MODEL and self._model is not None:
            self._model.observe(num_accepted)
            self._pacer.observe_model(self._confidences, num_accepted, self._draft_ms)
        else:
            self._pacer.observe_plain()


def _confidences(draft: Draft) -> list[float]:
    """How sure each token of a text match is: its own estimate, or what a match of this length is worth at first."""
    if draft.scores is not None:
        return draft.scores
    confidence = next((value for length, value in _LENGTH_CONFIDENCE if draft.match_length <= length), None)
    return [_LONGEST_CONFIDENCE if confidence is None else confidence] * len(draft.ids)
