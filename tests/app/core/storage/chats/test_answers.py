"""Tests running answers: what is written when, whatever happens during a write."""

from app.core.domain.messages import MessageState
from app.core.storage.chats.answers import FLUSH_S, AnswerEnding, StreamingAnswers


class Clock:
    """A clock set by the test."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_an_answer_that_ends_while_it_is_written_is_due_at_once() -> None:
    answers = StreamingAnswers(Clock())
    answers.begin(1)
    answers.append(1, "half", ())
    (first,) = answers.due()
    answers.end(1, AnswerEnding(MessageState.COMPLETE))
    answers.mark_written(first)
    (last,) = answers.due()
    assert last.ending is not None
    assert answers.wait_s() == 0.0


def test_text_that_comes_while_it_is_written_is_due_later() -> None:
    clock = Clock()
    answers = StreamingAnswers(clock)
    answers.begin(1)
    answers.append(1, "one ", ())
    (first,) = answers.due()
    answers.append(1, "two", ())
    answers.mark_written(first)
    assert answers.due() == []
    clock.now += FLUSH_S
    (second,) = answers.due()
    assert second.text == "one two"
