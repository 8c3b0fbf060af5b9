"""Tests a message through the whole app: stored, submitted, streamed, finished; and everything that may interfere."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.errors import StorageFullError
from app.core.domain.messages import MessageState
from app.core.domain.settings.layers import Layer
from engine.records import (
    ChatRequest,
    EngineFailed,
    Finished,
    FinishReason,
    Message,
    Mode,
    PrefillProgress,
    Problem,
    RunStats,
    StatsUpdate,
)
from engine.requests import Request
from tests.app.fakes import AppHarness

BROKEN = Problem("The model's computation failed", "A pass failed.", "Try again.")


def answer(harness: AppHarness, qtbot: QtBot, question: str, text: str) -> None:
    """One complete turn."""
    num_finished = len(harness.window.finished)
    harness.window.composer.submitted.emit(question)
    harness.engine.say(text)
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished)


def test_a_question_is_stored_before_it_is_asked(harness: AppHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_when_asked = []

    def remember(request: Request, _on_event: object = None) -> None:
        if isinstance(request, ChatRequest):
            stored_when_asked.append([view.text for view in harness.messages()])

    monkeypatch.setattr(harness.engine, "submit", remember)
    harness.window.composer.submitted.emit("What is a paceline?")
    assert stored_when_asked == [["What is a paceline?", ""]]


def test_an_answer_streams_is_counted_and_ends(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("Hello")
    assert harness.window.engine.state is EngineState.READING
    request = harness.engine.requests[0]
    harness.engine.tell(PrefillProgress(request.request_id, 1, 2))
    harness.engine.say("Good ")
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.ANSWERING)
    harness.engine.say("day.")
    harness.engine.tell(StatsUpdate(request.request_id, RunStats(tokens=2, passes=1)))
    harness.engine.finish()
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert harness.window.text == "Good day."
    view = harness.window.finished[0]
    assert (view.text, view.state) == ("Good day.", MessageState.COMPLETE)
    assert view.stats is not None
    assert view.stats.tokens == 3
    assert sum(span.num_chars for span in view.spans) == len(view.text)
    assert harness.window.engine.state is EngineState.READY
    assert harness.messages()[-1] == view
    assert harness.rows() == ["Hello"]
    assert harness.window.shown[-1][0] == "Hello"


def test_the_mode_and_depth_of_the_moment_are_asked(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.mode_chosen.emit(Mode.NGRAM)
    harness.window.chat_settings.changed.emit(Layer.CHAT, {"depth": 5})
    answer(harness, qtbot, "one", "first")
    harness.window.composer.mode_chosen.emit(Mode.OFF)
    harness.window.composer.submitted.emit("two")
    assert [(request.mode, request.depth) for request in harness.engine.requests] == [(Mode.NGRAM, 5), (Mode.OFF, 5)]
    assert len(harness.engine.loads) == 1


def test_stop_keeps_what_is_there(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("Hello")
    harness.engine.say("Half")
    harness.window.composer.stop_requested.emit()
    assert harness.engine.num_stops == 1
    harness.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert (harness.messages()[-1].text, harness.messages()[-1].state) == ("Half", MessageState.STOPPED)


@pytest.mark.parametrize(
    ("reason", "word"),
    [
        (FinishReason.LENGTH, "maximum length"),
        (FinishReason.CONTEXT, "context"),
        (FinishReason.LOOP, "repeated itself"),
    ],
)
def test_an_answer_cut_short_says_why(harness: AppHarness, qtbot: QtBot, reason: FinishReason, word: str) -> None:
    harness.window.composer.submitted.emit("Hello")
    harness.engine.say("Half")
    harness.engine.finish(reason)
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert word in harness.messages()[-1].notice


def test_a_failed_answer_is_marked_and_reported(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("Hello")
    harness.engine.say("Half")
    harness.engine.tell(EngineFailed(BROKEN, harness.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    view = harness.messages()[-1]
    words = f"{BROKEN.message} {BROKEN.advice}"
    assert (view.text, view.state, view.notice) == ("Half", MessageState.FAILED, words)
    assert harness.window.problems == [], "it is told once, where the answer would be"
    assert harness.window.engine.state is EngineState.READY


def test_the_problem_of_an_answer_goes_with_its_chat(harness: AppHarness, qtbot: QtBot) -> None:
    window, banner = harness.window, harness.window.problem_banner
    answer(harness, qtbot, "Hello", "An answer")
    window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
    harness.engine.tell(EngineFailed(BROKEN, harness.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(window.problems))
    assert harness.messages()[-1].text == "An answer", "as before: there is no other place to tell it"
    assert not banner.isHidden()
    qtbot.mouseClick(window.sidebar.new_button, Qt.MouseButton.LeftButton)
    assert banner.isHidden()
    window.show_problem(BROKEN)  # for example of the disk: it is valid in every chat
    QTest.keyClick(window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: harness.controller.state.chat_id is not None)
    assert not banner.isHidden()


def test_a_second_question_meanwhile_goes_back_to_the_composer(harness: AppHarness) -> None:
    harness.window.composer.submitted.emit("one")
    harness.window.composer.submitted.emit("two")
    assert harness.window.restored == ["two"]
    assert len(harness.engine.requests) == 1


def test_what_cannot_be_stored_is_not_sent(harness: AppHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise StorageFullError("There is no space left in here.")

    monkeypatch.setattr(harness.store, "begin_turn", refuse)
    harness.window.composer.submitted.emit("precious words")
    assert harness.window.restored == ["precious words"]
    assert harness.window.problems[-1].title == "The disk is full"
    assert harness.engine.requests == []


def test_an_answer_goes_on_in_the_background(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "first chat", "answer one")
    first = harness.controller.state.chat_id
    harness.window.sidebar.new_chat.emit()
    harness.window.composer.submitted.emit("second chat")
    second = harness.controller.state.chat_id
    harness.engine.say("grow")
    qtbot.waitUntil(lambda: harness.window.text == "grow")
    harness.window.sidebar.list.chosen.emit(first)
    assert [view.text for view in harness.window.shown[-1][1]] == ["first chat", "answer one"]
    harness.engine.say("ing in")
    qtbot.waitUntil(lambda: harness.store.messages(second)[-1].text == "growing in")
    assert harness.window.text == "grow"
    assert harness.window.engine.state is EngineState.READY, "of the chat that is shown"
    harness.window.sidebar.list.chosen.emit(second)
    assert harness.window.text == "growing in"
    harness.engine.say(" the back")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == 2)
    assert harness.window.text == "growing in the back"
    assert harness.messages()[-1].text == "growing in the back"


def test_deleting_the_conversation_stops_its_answer(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("question")
    harness.engine.say("begun")
    harness.window.sidebar.list.delete_requested.emit(harness.controller.state.chat_id)
    assert harness.engine.num_stops == 1
    harness.engine.say(" and more")
    harness.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: not harness.controller.state.answers)
    assert harness.rows() == []
    assert harness.window.problems == []


class TestRegenerate:
    """Regenerating the last answer."""

    def test_the_new_answer_takes_the_old_ones_place(self, harness: AppHarness, qtbot: QtBot) -> None:
        answer(harness, qtbot, "question", "old")
        harness.window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
        assert [view.text for view in harness.window.shown[-1][1]] == ["question"]
        assert harness.engine.requests[-1].messages == (Message("user", "question"),)
        harness.engine.say("new")
        harness.engine.finish()
        qtbot.waitUntil(lambda: len(harness.window.finished) == 2)
        assert [view.text for view in harness.messages()] == ["question", "new"]
        assert len(harness.messages()[1].versions) == 2

    def test_a_failure_gives_the_old_one_back(self, harness: AppHarness, qtbot: QtBot) -> None:
        answer(harness, qtbot, "question", "old")
        harness.window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
        harness.engine.tell(EngineFailed(BROKEN, harness.engine.requests[-1].request_id))
        qtbot.waitUntil(lambda: bool(harness.window.problems))
        assert [view.text for view in harness.messages()] == ["question", "old"]
        assert [view.text for view in harness.window.shown[-1][1]] == ["question", "old"]

    def test_stopping_keeps_the_new_one(self, harness: AppHarness, qtbot: QtBot) -> None:
        answer(harness, qtbot, "question", "old")
        harness.window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
        harness.engine.say("half")
        harness.engine.finish(FinishReason.CANCELLED)
        qtbot.waitUntil(lambda: len(harness.window.finished) == 2)
        assert [view.text for view in harness.messages()] == ["question", "half"]

    def test_an_earlier_answer_begins_a_branch_and_loses_nothing(self, harness: AppHarness, qtbot: QtBot) -> None:
        answer(harness, qtbot, "one", "first")
        first = harness.messages()[-1].id
        answer(harness, qtbot, "two", "second")
        harness.window.transcript.regenerate_requested.emit(first)
        assert harness.engine.requests[-1].messages == (Message("user", "one"),)
        harness.engine.say("another")
        harness.engine.finish()
        qtbot.waitUntil(lambda: len(harness.window.finished) == 3)
        assert [view.text for view in harness.messages()] == ["one", "another"]
        harness.store.show_message(first)
        assert [view.text for view in harness.messages()] == ["one", "first", "two", "second"]

    def test_one_without_a_word_that_is_stopped_at_once_gives_the_old_one_back(
        self, harness: AppHarness, qtbot: QtBot
    ) -> None:
        answer(harness, qtbot, "question", "old")
        harness.window.transcript.regenerate_requested.emit(harness.messages()[-1].id)
        harness.engine.finish(FinishReason.CANCELLED)
        qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
        assert [view.text for view in harness.messages()] == ["question", "old"]


def test_an_answer_without_a_word_is_whose_it_would_have_been(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("Hello")
    harness.engine.tell(EngineFailed(BROKEN, harness.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert harness.messages()[-1].target == "target", "in the file, not the app's name on the card"
    assert harness.window.finished[-1].target == "target"


def test_an_answer_without_a_word_says_so(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("Well?")
    harness.engine.tell(
        Finished(harness.engine.requests[-1].request_id, FinishReason.END, RunStats(tokens=1, passes=1))
    )
    qtbot.waitUntil(lambda: bool(harness.window.finished))
    assert harness.messages()[-1].notice == "The model gave an empty answer. Ask again, or rephrase the question."
