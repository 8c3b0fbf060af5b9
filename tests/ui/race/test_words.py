"""Tests the texts of a race and of its uncertainty."""

from dataclasses import replace

import pytest

from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneChoice
from engine.records import Mode
from tests.race_results import RESULT, VERDICT
from ui.race.track import verdict_title
from ui.race.words import lane_name, pair_name, result_line

LANES = [PLAIN_LANE, AUTO_LANE]
pytestmark = pytest.mark.usefixtures("qapp")


def test_lanes_have_names() -> None:
    choices = [PLAIN_LANE, AUTO_LANE, LaneChoice(Mode.DRAFT, 3)]
    assert [lane_name(choice) for choice in choices] == ["Off", "Auto", "Draft, draft length 3"]
    assert lane_name(LaneChoice(Mode.DRAFT, 3, "/models/other.gguf")) == "Draft with other, draft length 3"


def test_the_title_does_not_claim_more_than_the_interval() -> None:
    assert verdict_title(VERDICT, LANES) == "Auto is faster than Off"
    assert verdict_title(replace(VERDICT, ratio=0.8, low=0.7, high=0.9), LANES) == "Auto is slower than Off"
    assert verdict_title(replace(VERDICT, low=0.9), LANES) == "Too close to call between Auto and Off"
    one_round = replace(VERDICT, low=None, high=None)
    assert verdict_title(one_round, LANES) == "Auto was faster than Off this time"
    assert verdict_title(None, LANES) == "The first round is not over yet"


def test_a_result_says_how_it_was_made() -> None:
    assert result_line(RESULT) == "4 rounds · up to 128 tokens · temperature 0"
    assert result_line(replace(RESULT, is_complete=False)).startswith("a round that was cut short · ")
    assert pair_name("target", "draft") == "target with draft"
    assert pair_name("target", "") == "target"
