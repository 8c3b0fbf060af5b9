"""How much longer passes take than their parts say: learnt by kind, bounded, forgotten."""

from __future__ import annotations

import pytest

from engine.choice import Choice
from engine.slips import Slips


def test_at_first_a_pass_takes_what_it_should() -> None:
    assert Slips().of_model == 1.0


def test_a_pass_with_the_draft_model_is_set_against_a_plain_one() -> None:
    slips = Slips()
    for _ in range(100):
        slips.observe(Choice.MODEL, 3.0, 2.0)
    assert slips.of_model == pytest.approx(1.5)
    slips.observe_run(1.5, 1.0, 100)  # the machine is slow: plain passes take as much longer
    assert slips.of_model == pytest.approx(1.0)


def test_it_is_never_less_than_a_plain_pass_and_one_wild_pass_says_little() -> None:
    slips = Slips()
    slips.observe(Choice.MODEL, 0.001, 2.0)
    assert slips.of_model == 1.0
    slips = Slips()
    slips.observe(Choice.MODEL, 1e6, 2.0)
    assert slips.of_model == pytest.approx(1.4)


def test_where_nothing_was_expected_nothing_is_learnt() -> None:
    slips = Slips()
    slips.observe(Choice.MODEL, 5.0, 0.0)
    assert slips.of_model == 1.0


def test_runs_count_as_their_passes_one_by_one() -> None:
    whole, single = Slips(), Slips()
    whole.observe_run(2.0, 1.0, 3)
    for slips in (whole, single):
        slips.observe(Choice.MODEL, 6.0, 2.0)
    for _ in range(3):
        single.observe_run(2.0, 1.0, 1)
    assert whole.of_model == pytest.approx(single.of_model)
