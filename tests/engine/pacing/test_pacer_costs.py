"""Tests the pacer's cost of a pass: rows separate from it, drafting separate from reading, and unmeasured parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.pacing.constants import MAX_DEPTH, MAX_PASS
from engine.pacing.cost_curve import CostCurve
from engine.pacing.pacer import Choice, Pacer
from tests.engine.pacing.test_pacer import STAIRCASE, text

TINY = {1: 0.3, 16: 2.0, 32: 4.0}
STAIRS_MS = {1: 10.0, 2: 18.0, 4: 20.0, 8: 25.0, 16: 37.0, 17: 54.0, 33: 78.0}


def test_looking_at_many_rows_does_not_make_plain_decoding_look_dear() -> None:
    pacer = Pacer(CostCurve(TINY), 0.1)
    for _ in range(200):
        pacer.observe_step(0.35, 0.05, 0, 0)
        pacer.observe_step(2.69, 0.05 + 16 * 0.04, 16, 8)
    assert pacer.prices.overhead_ms == pytest.approx(0.05, rel=0.05)
    assert pacer.prices.row_ms == pytest.approx(0.04, rel=0.05)
    assert pacer.prices.plain_ms == pytest.approx(0.35, rel=0.05)


def test_one_slow_moment_beside_the_passes_says_little() -> None:
    pacer = Pacer(CostCurve(TINY), 0.1)
    before, row_ms = pacer.prices.overhead_ms, pacer.prices.row_ms
    pacer.observe_step(500.0, 500.0, 0, 0)
    pacer.observe_step(500.0, 500.0, 4, 0)
    assert pacer.prices.overhead_ms < 1.5 * before
    assert pacer.prices.row_ms < 1.5 * row_ms


def test_plain_passes_in_a_row_count_one_by_one() -> None:
    one, many = (Pacer(CostCurve(STAIRCASE), 3.0) for _ in range(2))
    for pacer in (one, many):
        for _ in range(20):
            pacer.observe_step(20.0, 1.0, 7, 4)
    for _ in range(40):
        one.observe_run([7.0], 0.08)
    many.observe_run([7.0] * 40, 0.08)
    assert many.prices.overhead_ms == pytest.approx(one.prices.overhead_ms, rel=0.01)
    assert many.acceptance.rate == pytest.approx(one.acceptance.rate, rel=0.02)
    assert many._probe_budget == pytest.approx(one._probe_budget, rel=0.01)


def test_one_slow_token_of_a_draft_does_not_make_it_dear() -> None:
    pacer = Pacer(CostCurve(TINY), 0.1)
    pacer.prices.observe_drafting(50.0)
    assert pacer.prices.draft_step_ms < 0.15


@pytest.mark.parametrize(("times", "drafts"), [(1.0, True), (2.0, False)])
def test_drafting_that_takes_longer_than_its_parts_is_given_up(times: float, drafts: bool) -> None:
    pacer = Pacer(CostCurve({1: 7.0, 8: 19.0, 16: 26.0, 32: 55.0}), 0.4)
    pacer.begin()
    last: list[Choice] = []
    for _ in range(300):
        decision = pacer.decide([], has_model=True, limit=7)
        if decision.choice is Choice.DRAFT:
            elapsed_ms = times * (19.0 + 0.05 + 7 * pacer.prices.row_ms + 2.8)
            pacer.observe_step(elapsed_ms, 0.05, 7, 5)
            pacer.observe_draft([0.95] * 7, 5, elapsed_ms)
        else:
            pacer.observe_step(pacer.prices.plain_ms, 0.05, 0, 0)
        last.append(decision.choice)
    assert (last[-50:].count(Choice.DRAFT) > 40) is drafts


def test_a_reason_is_put_into_words_only_where_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    pacer = Pacer(CostCurve(TINY), 0.6)
    pacer.begin()
    asked: list[int] = []
    monkeypatch.setattr("engine.pacing.pacer.draft_sentence", lambda *_args, **_more: asked.append(1) or "draft paused")
    for _ in range(50):
        pacer.decide([], has_model=True, limit=16)
        pacer.observe_step(pacer.prices.plain_ms, 0.05, 0, 0)
    assert len(asked) == 1
    assert pacer.reason.startswith("draft paused")


def test_text_saves_what_is_kept_less_what_the_larger_pass_costs() -> None:
    pacer, kinds = Pacer(CostCurve(STAIRS_MS)), text(7, 32)
    chances = [pacer.acceptance.text.probability(kind) for kind in kinds]
    alive = [1.0]
    for chance in chances:
        alive.append(alive[-1] * chance)
    gain, depth = pacer.text_gain(kinds)
    assert depth == 7
    assert gain == pytest.approx(sum(alive[1:]) * pacer.prices.plain_ms - (25.0 - 10.0) - 7 * pacer.prices.row_ms)


def test_a_token_is_worth_less_where_tokens_take_less_on_the_average() -> None:
    pacer = Pacer(CostCurve(STAIRS_MS))
    before = pacer.text_gain(text(7, 32))[0]
    for _ in range(100):
        pacer.observe_step(25.0, 0.05, 7, 7)
    assert pacer.token_ms < 0.5 * pacer.prices.plain_ms
    assert pacer.text_gain(text(7, 32))[0] < before
    for _ in range(300):
        pacer.observe_step(80.0, 0.05, 7, 0)  # a plain pass always gives one token
    assert pacer.token_ms == pytest.approx(pacer.prices.plain_ms)


@given(st.lists(st.floats(1.0, 50.0), min_size=MAX_PASS, max_size=MAX_PASS), st.integers(1, MAX_DEPTH))
def test_no_choice_of_text_is_better_than_the_one_that_is_made(points: list[float], count: int) -> None:
    pacer, kinds = Pacer(CostCurve(dict(enumerate(points, 1)))), text(count, 8)
    gain, depth = pacer.text_gain(kinds)
    alive, expected, gains = 1.0, 0.0, [0.0]
    for number, kind in enumerate(kinds, 1):
        alive *= pacer.acceptance.text.probability(kind)
        expected += alive
        cost_ms = pacer.curve.cost_ms(number + 1) + number * pacer.prices.row_ms - pacer.curve.cost_ms(1)
        gains.append(expected * pacer.token_ms - cost_ms)
    assert gain == pytest.approx(max(gains))
    assert gains[depth] == pytest.approx(gain)


def test_drafting_that_takes_long_goes_less_far() -> None:
    quick, slow = Pacer(CostCurve(STAIRS_MS), 0.5), Pacer(CostCurve(STAIRS_MS), 20.0)
    assert quick.should_run_model(1, 0.9, 14)
    assert not slow.should_run_model(1, 0.9, 14)
    assert not quick.should_run_model(1, 0.02, 14)  # hardly any token would be accepted


def test_a_later_step_of_the_stairs_is_foreseen() -> None:
    """The tokens before it cost more than they bring; those at the step compensate."""
    curve = CostCurve({n: 10.0 if n == 1 else 28.0 if n < 16 else 37.0 for n in range(1, 34)})
    pacer = Pacer(curve, 0.1)
    for _ in range(100):
        pacer.acceptance.drafted.observe([0] * 8, 8)
    assert pacer.should_sample(0, 1.0, 0.999, 15)
    assert not pacer.should_sample(0, 1.0, 0.999, 1)


def test_a_requested_draft_samples_one_token_whatever_it_costs() -> None:
    pacer = Pacer(CostCurve({1: 1.0, 2: 50.0, 33: 900.0}), 5.0)
    pacer.decide([], has_model=True, limit=8, may_pause=False)
    assert pacer.should_sample(0, 1.0, 0.01, 8)
    assert not pacer.should_sample(1, 0.1, 0.01, 7)


def test_what_is_read_before_drafting_is_spread_over_an_answer() -> None:
    pacer = Pacer(CostCurve(STAIRCASE))
    pacer.use_draft_prices(0.5, 0.2)
    gains = [pacer.decide([], has_model=True, limit=8, num_unread=num).draft_gain_ms or 0.0 for num in (1, 101, 20_001)]
    assert gains[0] > gains[1] > 0.0 > gains[2]
    assert pacer.pause_length(has_model=True, num_unread=101) == 0
    assert pacer.pause_length(has_model=True, num_unread=20_001) > 0


def test_what_reading_takes_is_learnt() -> None:
    pacer = Pacer(CostCurve(STAIRCASE), 0.5)
    for _ in range(20):
        pacer.prices.observe_reading(1000, 3000.0)
    assert pacer.prices.draft_read_ms == pytest.approx(3.0, rel=0.01)
