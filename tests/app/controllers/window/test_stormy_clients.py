"""The stress clients detect answers to other questions."""

import pytest

from tests.app.controllers.window import stormy_clients as stormy

FOX = stormy.Question("Repeat: fox.", ("The fox is by the river.", "The fox is by the stream."))
BEAR = stormy.Question("Repeat: bear.", ("A bear sits on the hill.",))


@pytest.mark.parametrize(
    ("text", "cut", "is_right", "is_fault"),
    [
        ("The fox is by the river.", False, True, False),
        ("The fox is by the stream.", False, True, False),
        ("The fox is", True, True, False),
        ("The fox is", False, False, False),  # neither complete nor truncated: counted as a different answer
        ("The fox is by the road.", False, False, False),  # a near tie that was not recorded
        ("A bear sits on the hill.", False, False, True),
        ("A bear sits on", True, False, True),
    ],
)
def test_an_answer_is_right_another_one_or_somebody_elses(
    text: str, *, cut: bool, is_right: bool, is_fault: bool
) -> None:
    tally = stormy.Tally()
    tally.judge(FOX, text, [FOX, BEAR], cut=cut)
    assert (tally.num_right == 1, len(tally.faults) == 1) == (is_right, is_fault)
    assert tally.num_right + tally.num_other + len(tally.faults) == 1


def test_questions_differ_and_a_seed_repeats_them() -> None:
    assert stormy.questions(1) == stormy.questions(1) != stormy.questions(2)
    assert len(set(stormy.questions(1))) == stormy.NUM_QUESTIONS
