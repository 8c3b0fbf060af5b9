"""Disables single parts of pacing for `replay.py --without`, to measure the gain of each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import engine.pacing.drafter
from engine.drafters.base import Draft
from engine.drafters.draft_model import DraftModelDrafter
from engine.pacing import acceptance, pacer
from engine.pacing.acceptance import AcceptanceEstimate, AcceptanceStats
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.pacer import Pacer, PassPrices

_MIDDLE_CLASS = 4  # class of `GREEDY_CHANCES` with the value 0.75
_MATCH_OF_TWO = 6  # class of the first token after a match of 2 tokens; the next three tokens have the next classes


def _setter(value: object, *attributes: tuple[Any, str]) -> Callable[[], None]:
    """Return a function that sets these attributes to ``value``."""

    def set_all() -> None:
        for owner, name in attributes:
            setattr(owner, name, value)

    return set_all


def _kinds_by_position(draft: Draft) -> list[int]:
    return [_MATCH_OF_TWO + min(position, 3) for position in range(len(draft.ids))]


def _begin_without_statistics(self: Pacer, kind: str = "", *, greedy: bool = True) -> None:
    self.stats_by_kind = {}
    _BEGIN(self, kind, greedy=greedy)


def _skip_unproposed(self: PacedDrafter, history: Any) -> None:  # noqa: ANN401
    self._unproposed, self._num_history, self._num_unsearched = None, len(history), 0


def _averages_copy(self: AcceptanceStats) -> object:
    return replace(self.average) if self.average is not None else None


_BEGIN = Pacer.begin
PARTS: dict[str, Callable[[], None]] = {
    "rollback": _setter(lambda *_: 0.0, (PassPrices, "rollback_ms")),
    "graph-replay": _setter(0.0, (GraphReplayCost, "graph_replay_ms")),
    "graph-replay-all": lambda: (
        _setter(0.0, (GraphReplayCost, "graph_replay_ms"))(),
        _setter(lambda _self, _n, passes_ms: passes_ms, (GraphReplayCost, "observe"))(),
    )[0],
    "own-text": _setter(
        property(lambda _self: 1.0, lambda _self, _value: None), (AcceptanceEstimate, "_answer_factor")
    ),
    "earlier-answers": _setter(_begin_without_statistics, (Pacer, "begin")),
    "this-answer": _setter(property(_averages_copy, lambda _self, _value: None), (AcceptanceStats, "in_answer")),
    "confidence": _setter(
        lambda _c: _MIDDLE_CLASS,
        (pacer, "draft_kind"),
        (acceptance, "draft_kind"),
        (engine.pacing.drafter, "draft_kind"),
    ),
    "match-length": _setter(_kinds_by_position, (engine.pacing.drafter, "text_kinds")),
    "unproposed-text": _setter(_skip_unproposed, (PacedDrafter, "_learn")),
    "search": _setter(lambda _self, _history: False, (PacedDrafter, "ends_pause")),
    "corrections": _setter(lambda *_: None, (CostCurve, "observe")),
    "tries": _setter(lambda *_: None, (CostCurve, "_try")),
    "draft-scaling": _setter(lambda *_: None, (PassPrices, "_scale_drafting")),
    "gate": _setter(lambda *_: True, (Pacer, "should_sample"), (Pacer, "should_run_model")),
    "reading": _setter(lambda *_: 0, (DraftModelDrafter, "num_unread")),
    "uncertain": _setter(False, (CostCurve, "is_plain_uncertain")),
}
