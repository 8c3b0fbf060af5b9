"""Tests the texts of a race and of its uncertainty."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, AnswerDifference, LaneChoice
from engine.records import Mode
from tests.race_results import RESULT, VERDICT
from ui.race.track import verdict_title
from ui.race.words import against, answers_sentence, lane_name, pair_name, result_line, speed_sentence, when

LANES = [PLAIN_LANE, AUTO_LANE]
pytestmark = pytest.mark.usefixtures("qapp")


def test_lanes_have_names() -> None:
    choices = [PLAIN_LANE, AUTO_LANE, LaneChoice(Mode.DRAFT, 3)]
    assert [lane_name(choice) for choice in choices] == ["Off", "Auto", "Draft, draft length 3"]
    assert lane_name(LaneChoice(Mode.DRAFT, 3, "/models/other.gguf")) == "Draft with other, draft length 3"
    assert against(choices) == "Off against Auto, Draft, draft length 3"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Auto: 1.62× the speed of Off (1.48 to 1.77 over 4 rounds)."),
        (
            {"ratio": 1.02, "low": 0.96, "high": 1.09},
            "Auto: 1.02× the speed of Off (0.96 to 1.09 over 4 rounds), so it is not certain which is faster.",
        ),
        ({"low": None, "high": None}, "Auto: 1.62× the speed of Off. One round gives no interval."),
        ({"low": 0.5, "high": 4.0}, "Auto: 1.62× the speed of Off. The rounds were too different for an interval."),
        ({"is_complete": False}, "Auto: 1.62× the speed of Off, in a round that was cut short."),
        ({"ratio": None}, "Auto and Off cannot be compared."),
    ],
)
def test_the_speed_comes_with_how_sure_it_is(changes: dict[str, object], words: str) -> None:
    assert speed_sentence(replace(VERDICT, **changes), LANES) == words  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Same answer, token for token."),
        ({"are_alike": False}, "It is another model, so the answers are not compared."),
        ({"is_complete": False}, "Same text, up to the end of the shorter answer."),
        (
            {"parting": AnswerDifference(93, 4, "")},
            "The answers differ at token 93. "
            "This should not happen: answers are exact on this computer. Please report it.",
        ),
        (
            {"parting": AnswerDifference(93, 4, "On a GPU.")},
            "The answers differ at token 93. On a GPU.",
        ),
        ({"parting": AnswerDifference(93, 2)}, "The answers differ at token 93 in 2 of 4 rounds."),
    ],
)
def test_answers_are_compared_and_differences_explained(changes: dict[str, object], words: str) -> None:
    assert answers_sentence(replace(VERDICT, **changes)) == words  # type: ignore[arg-type]


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
    assert when("no date") == ""
    assert "2026" in when(RESULT.created) or "26" in when(RESULT.created)
