"""One message's walk through the app: stored first, asked, streamed, finished; and everything that may come between."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from app.domain.errors import StorageFullError
from app.domain.messages import MessageState
from engine.records import (
    ChatRequest,
    EngineFailed,
    FinishReason,
    Message,
    Mode,
    PrefillProgress,
    Problem,
    RunStats,
    StatsUpdate,
)
from tests.app.fakes import Desk

BROKEN = Problem("The model stopped computing", "A pass failed.", "Try again.")


def answer(desk: Desk, qtbot: QtBot, question: str, text: str) -> None:
    """One whole turn."""
    num_finished = len(desk.window.finished)
    desk.window.message_submitted.emit(question)
    desk.engine.say(text)
    desk.engine.finish()
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished)


def test_a_question_is_stored_before_it_is_asked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    stored_when_asked = []

    def remember(request: ChatRequest) -> None:
        stored_when_asked.append([view.text for view in desk.messages()])

    monkeypatch.setattr(desk.engine, "generate", remember)
    desk.window.message_submitted.emit("What is a paceline?")
    assert stored_when_asked == [["What is a paceline?", ""]]


def test_an_answer_streams_is_counted_and_ends(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("Hello")
    assert desk.window.engine.state is EngineState.READING
    request = desk.engine.requests[0]
    desk.engine.tell(PrefillProgress(request.request_id, 1, 2))
    desk.engine.say("Good ")
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.ANSWERING)
    desk.engine.say("day.")
    desk.engine.tell(StatsUpdate(request.request_id, RunStats(tokens=2, passes=1)))
    desk.engine.finish()
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    assert desk.window.text == "Good day."
    view = desk.window.finished[0]
    assert (view.text, view.state) == ("Good day.", MessageState.COMPLETE)
    assert view.stats is not None
    assert view.stats.tokens == 3
    assert sum(span.num_chars for span in view.spans) == len(view.text)
    assert desk.window.engine.state is EngineState.READY
    assert desk.messages()[-1] == view
    assert desk.rows() == ["Hello"]
    assert desk.window.shown[-1][0] == "Hello"


def test_the_conversation_so_far_is_asked_along(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    desk.window.message_submitted.emit("two")
    assert desk.engine.requests[-1].messages == (
        Message("user", "one"),
        Message("assistant", "first"),
        Message("user", "two"),
    )


def test_the_mode_and_depth_of_the_moment_are_asked(desk: Desk, qtbot: QtBot) -> None:
    desk.window.mode_changed.emit(Mode.NGRAM)
    desk.window.depth_changed.emit(5)
    answer(desk, qtbot, "one", "first")
    desk.window.mode_changed.emit(Mode.OFF)
    desk.window.message_submitted.emit("two")
    assert [(request.mode, request.depth) for request in desk.engine.requests] == [(Mode.NGRAM, 5), (Mode.OFF, 5)]
    assert len(desk.engine.loads) == 1


def test_stop_keeps_what_is_there(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("Hello")
    desk.engine.say("Half")
    desk.window.stop_requested.emit()
    assert desk.engine.num_stops == 1
    desk.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    assert (desk.messages()[-1].text, desk.messages()[-1].state) == ("Half", MessageState.STOPPED)


@pytest.mark.parametrize(
    ("reason", "word"), [(FinishReason.LENGTH, "maximum length"), (FinishReason.CONTEXT, "context")]
)
def test_an_answer_cut_short_says_why(desk: Desk, qtbot: QtBot, reason: FinishReason, word: str) -> None:
    desk.window.message_submitted.emit("Hello")
    desk.engine.finish(reason)
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    assert word in desk.messages()[-1].notice


def test_a_failed_answer_is_marked_and_told(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("Hello")
    desk.engine.say("Half")
    desk.engine.tell(EngineFailed(BROKEN, desk.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(desk.window.finished))
    view = desk.messages()[-1]
    assert (view.text, view.state, view.notice) == ("Half", MessageState.FAILED, BROKEN.message)
    assert desk.window.problems == [BROKEN]
    assert desk.window.engine.state is EngineState.READY


def test_the_problem_of_an_answer_goes_with_its_chat(desk: Desk, qtbot: QtBot) -> None:
    window, banner = desk.window, desk.window.problem_banner
    window.message_submitted.emit("Hello")
    desk.engine.tell(EngineFailed(BROKEN, desk.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(window.problems))
    assert not banner.isHidden()
    qtbot.mouseClick(window.sidebar.new_button, Qt.MouseButton.LeftButton)
    assert banner.isHidden()
    window.show_problem(BROKEN)  # of the disk, say: it holds in every chat
    QTest.keyClick(window, Qt.Key.Key_PageDown, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: desk.controller.conversations.current_id is not None)
    assert not banner.isHidden()


def test_a_second_question_meanwhile_goes_back_to_the_composer(desk: Desk) -> None:
    desk.window.message_submitted.emit("one")
    desk.window.message_submitted.emit("two")
    assert desk.window.restored == ["two"]
    assert len(desk.engine.requests) == 1


def test_what_cannot_be_stored_is_not_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise StorageFullError("There is no space left in here.")

    monkeypatch.setattr(desk.store, "begin_turn", refuse)
    desk.window.message_submitted.emit("precious words")
    assert desk.window.restored == ["precious words"]
    assert desk.window.problems[-1].title == "The disk is full"
    assert desk.engine.requests == []


def test_an_answer_goes_on_in_the_background(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "first chat", "answer one")
    first = desk.controller.conversations.current_id
    desk.window.new_chat_requested.emit()
    desk.window.message_submitted.emit("second chat")
    second = desk.controller.conversations.current_id
    desk.engine.say("grow")
    qtbot.waitUntil(lambda: desk.window.text == "grow")
    desk.window.conversation_selected.emit(first)
    assert [view.text for view in desk.window.shown[-1][1]] == ["first chat", "answer one"]
    desk.engine.say("ing in")
    qtbot.waitUntil(lambda: desk.store.messages(second)[-1].text == "growing in")
    assert desk.window.text == "grow"
    assert desk.window.engine.state is EngineState.ANSWERING
    desk.window.conversation_selected.emit(second)
    assert desk.window.text == "growing in"
    desk.engine.say(" the back")
    desk.engine.finish()
    qtbot.waitUntil(lambda: len(desk.window.finished) == 2)
    assert desk.window.text == "growing in the back"
    assert desk.messages()[-1].text == "growing in the back"


def test_an_answer_that_ends_unseen_is_stored(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("question")
    conversation = desk.controller.conversations.current_id
    desk.window.new_chat_requested.emit()
    desk.engine.say("unseen")
    desk.engine.finish()
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert desk.window.finished == []
    assert desk.store.messages(conversation)[-1].text == "unseen"
    assert desk.store.messages(conversation)[-1].state is MessageState.COMPLETE


def test_deleting_the_conversation_stops_its_answer(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("question")
    desk.engine.say("begun")
    desk.window.conversation_delete_requested.emit(desk.controller.conversations.current_id)
    assert desk.engine.num_stops == 1
    desk.engine.say(" and more")
    desk.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    assert desk.rows() == []
    assert desk.window.problems == []


class TestRegenerate:
    """Giving the last answer again."""

    def test_the_new_answer_takes_the_old_ones_place(self, desk: Desk, qtbot: QtBot) -> None:
        answer(desk, qtbot, "question", "old")
        desk.window.regenerate_requested.emit(desk.messages()[-1].id)
        assert [view.text for view in desk.window.shown[-1][1]] == ["question"]
        assert desk.engine.requests[-1].messages == (Message("user", "question"),)
        desk.engine.say("new")
        desk.engine.finish()
        qtbot.waitUntil(lambda: len(desk.window.finished) == 2)
        assert [view.text for view in desk.messages()] == ["question", "new"]
        assert len(desk.messages()[1].versions) == 2

    def test_a_failure_gives_the_old_one_back(self, desk: Desk, qtbot: QtBot) -> None:
        answer(desk, qtbot, "question", "old")
        desk.window.regenerate_requested.emit(desk.messages()[-1].id)
        desk.engine.tell(EngineFailed(BROKEN, desk.engine.requests[-1].request_id))
        qtbot.waitUntil(lambda: bool(desk.window.problems))
        assert [view.text for view in desk.messages()] == ["question", "old"]
        assert [view.text for view in desk.window.shown[-1][1]] == ["question", "old"]

    def test_stopping_keeps_the_new_one(self, desk: Desk, qtbot: QtBot) -> None:
        answer(desk, qtbot, "question", "old")
        desk.window.regenerate_requested.emit(desk.messages()[-1].id)
        desk.engine.say("half")
        desk.engine.finish(FinishReason.CANCELLED)
        qtbot.waitUntil(lambda: len(desk.window.finished) == 2)
        assert [view.text for view in desk.messages()] == ["question", "half"]

    def test_an_earlier_answer_begins_a_branch_and_loses_nothing(self, desk: Desk, qtbot: QtBot) -> None:
        answer(desk, qtbot, "one", "first")
        first = desk.messages()[-1].id
        answer(desk, qtbot, "two", "second")
        desk.window.regenerate_requested.emit(first)
        assert desk.engine.requests[-1].messages == (Message("user", "one"),)
        desk.engine.say("another")
        desk.engine.finish()
        qtbot.waitUntil(lambda: len(desk.window.finished) == 3)
        assert [view.text for view in desk.messages()] == ["one", "another"]
        desk.store.show_message(first)
        assert [view.text for view in desk.messages()] == ["one", "first", "two", "second"]

    def test_one_without_a_word_that_is_stopped_at_once_gives_the_old_one_back(self, desk: Desk, qtbot: QtBot) -> None:
        answer(desk, qtbot, "question", "old")
        desk.window.regenerate_requested.emit(desk.messages()[-1].id)
        desk.engine.finish(FinishReason.CANCELLED)
        qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
        assert [view.text for view in desk.messages()] == ["question", "old"]
