"""Tests the sentences of a race: speed with its uncertainty, and whether the answers are the same."""

from dataclasses import replace

import pytest

from app.core.domain.speed.races import AnswerDifference, answers_sentence, speed_sentence
from tests.race_results import VERDICT


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
    assert speed_sentence(replace(VERDICT, **changes), ["Off", "Auto"]) == words  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "Same answer, token for token."),
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
