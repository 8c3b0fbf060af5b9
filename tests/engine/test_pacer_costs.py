"""What the pacer takes a pass to cost: rows apart from it, drafting apart from reading, and what nobody measures."""

from __future__ import annotations

import pytest

from engine.acceptance import Part
from engine.choice import Choice
from engine.cost_curve import CostCurve
from engine.pacer import Pacer
from engine.records import Source

TINY = {1: 0.3, 16: 2.0, 32: 4.0}


def test_looking_at_many_rows_does_not_make_plain_decoding_look_dear() -> None:
    pacer = Pacer(CostCurve(TINY), 0.1)
    for _ in range(200):
        pacer.observe_overhead(0.05)
        pacer.observe_overhead(0.05 + 16 * 0.04, num_proposed=16)
    assert pacer.overhead_ms == pytest.approx(0.05, rel=0.05)
    assert pacer.row_ms == pytest.approx(0.04, rel=0.05)
    assert pacer.plain_ms == pytest.approx(0.35, rel=0.05)


def test_a_draft_that_takes_longer_than_the_target_is_not_tried() -> None:
    pacer = Pacer(CostCurve(TINY), 0.1)
    for _ in range(200):
        pacer.observe_drafting(0.5)
    pacer.begin()
    choices = {pacer.choose([], has_model=True, limit=16, looks=True)[0] for _ in range(600)}
    assert choices == {Choice.PLAIN}
    assert "cannot pay" in pacer.reason
    asked_for = pacer.choose([], has_model=True, limit=16, may_rest=False)
    assert asked_for[0] is Choice.MODEL


def test_one_slow_token_of_a_draft_does_not_make_it_dear() -> None:
    pacer = Pacer(CostCurve(TINY), 0.1)
    pacer.observe_drafting(50.0)
    assert pacer.draft_step_ms < 0.15


@pytest.mark.parametrize(("times", "drafts"), [(1.0, True), (2.0, False)])
def test_drafting_that_takes_longer_than_its_parts_is_given_up(times: float, drafts: bool) -> None:
    pacer = Pacer(CostCurve({1: 7.0, 8: 19.0, 16: 26.0, 32: 55.0}), 0.4)
    pacer.begin()
    last: list[Choice] = []
    for _ in range(300):
        choice, limit = pacer.choose([], has_model=True, limit=7)
        if choice is Choice.MODEL:
            pacer.observe([Part(Source.DRAFT, [0.95] * limit)], 5 if limit > 5 else limit, 0.4 * limit)
            pacer.observe_elapsed(times * (19.0 + 0.05 + 7 * pacer.row_ms + 2.8))
        else:
            pacer.observe_plain()
            pacer.observe_elapsed(pacer.plain_ms)
        last.append(choice)
    assert (last[-50:].count(Choice.MODEL) > 40) is drafts


def test_a_reason_is_put_into_words_only_where_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    pacer = Pacer(CostCurve(TINY), 0.6)
    pacer.begin()
    asked: list[int] = []
    monkeypatch.setattr(Pacer, "break_even", lambda _self: asked.append(1))
    for _ in range(50):
        pacer.choose([], has_model=True, limit=16)
        pacer.observe_plain()
    assert len(asked) == 1
