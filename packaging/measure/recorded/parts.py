"""Disables single parts of pacing for `replay.py --without`, to measure the gain of each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import engine.pacing.drafter
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.pacing import acceptance, learning, pacer
from engine.pacing.acceptance import TEXT_PRIORS, AcceptanceEstimate
from engine.pacing.chained import ChainedDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.learning import AcceptanceStats
from engine.pacing.pacer import Pacer
from engine.pacing.prices import Prices

_MIDDLE_CLASS = 4  # class of `GREEDY_CHANCES` with the value 0.75
_LONGER_MATCH = 6  # the first of four classes of matches of 2 tokens


def _put(value: object, *places: tuple[Any, str]) -> Callable[[], None]:
    """Return a function that sets these attributes to ``value``."""

    def put() -> None:
        for place, name in places:
            setattr(place, name, value)

    return put


def _kinds_by_place(draft: Draft) -> list[int]:
    return [_LONGER_MATCH + min(place, 3) for place in range(len(draft.ids))]


def _forget(self: Pacer, kind: str = "", *, greedy: bool = True) -> None:
    self._kinds = learning.StatsByKind()
    _BEGIN(self, kind, greedy=greedy)


def _skip_unproposed(self: PacedDrafter, history: Any) -> None:  # noqa: ANN401
    self._unproposed, self._num_history, self._num_unsearched = None, len(history), 0


def _averages_copy(self: AcceptanceStats) -> object:
    return replace(self.average) if self.average is not None else None


def _text_else_draft(self: ChainedDrafter, history: Any, limit: int) -> Draft:  # noqa: ANN401
    text = self._text.propose(history, limit)
    self._model_ran, self._kinds = not text.ids, []
    return text if text.ids else self._model.propose(history, limit)


_BEGIN = Pacer.begin
PARTS: dict[str, Callable[[], None]] = {
    "rollback": _put(lambda *_: 0.0, (Prices, "rollback_ms")),
    "graph-replay": _put(0.0, (GraphReplayCost, "start_ms")),
    "graph-replay-all": lambda: (
        _put(0.0, (GraphReplayCost, "start_ms"))(),
        _put(lambda _self, _n, passes_ms: passes_ms, (GraphReplayCost, "observe"))(),
    )[0],
    "own-text": _put(
        lambda: AcceptanceEstimate(TEXT_PRIORS), (acceptance, "text_estimate"), (learning, "text_estimate")
    ),
    "earlier-answers": _put(_forget, (Pacer, "begin")),
    "this-answer": _put(property(_averages_copy, lambda _self, _value: None), (AcceptanceStats, "in_answer")),
    "confidence": _put(
        lambda _c: _MIDDLE_CLASS, (pacer, "draft_kind"), (learning, "draft_kind"), (engine.pacing.drafter, "draft_kind")
    ),
    "match-length": _put(_kinds_by_place, (engine.pacing.drafter, "text_kinds")),
    "unproposed-text": _put(_skip_unproposed, (PacedDrafter, "_learn")),
    "search": _put(lambda _self, _history: False, (PacedDrafter, "ends_pause")),
    "follow": _put(lambda _self: None, (CostCurve, "_follow_observed")),
    "corrections": _put(lambda *_: None, (CostCurve, "observe")),
    "tries": _put(lambda *_: None, (CostCurve, "_try")),
    "draft-scaling": _put(lambda *_: None, (Prices, "_scale_drafting")),
    "gate": _put(lambda *_: True, (Pacer, "worth_sampling"), (Pacer, "worth_running")),
    "reading": _put(lambda *_: 0, (DraftModelDrafter, "num_unread")),
    "chained": _put(_text_else_draft, (ChainedDrafter, "propose")),
    "uncertain": _put(False, (CostCurve, "is_plain_uncertain")),
}
