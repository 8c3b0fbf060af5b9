"""Tests answers in several chats, parallel or queued, with clicks and keys and a scripted engine."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.messages import MessageState
from app.core.domain.settings.layers import Layer
from app.core.tools.interface import ToolResult, arguments_of
from engine.records import (
    EngineEnded,
    EngineFailed,
    EngineReady,
    FinishReason,
    PrefillProgress,
    Problem,
    RunStats,
    StatsUpdate,
    SummaryUpdate,
)
from tests.app.controllers.chat.test_conversations import sign
from tests.app.controllers.chat.test_tools import ScriptedTools, opened, written
from tests.app.fakes import TARGET, AppHarness, info
from ui.conversations.model import UNSEEN
from ui.transcript.cards.answer_card import AnswerCard

WAIT_MS = 30_000
LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
ENDED = Problem("The engine ended", "The engine ended unexpectedly (signal SIGABRT).", "")


@pytest.fixture
def two(harness: AppHarness, qtbot: QtBot) -> AppHarness:
    """The app with a model that makes two answers in parallel."""
    harness.engine.tell(EngineReady(info("models/two.gguf", parallel=2)))
    qtbot.waitUntil(lambda: harness.controller.state.models.num_parallel == 2)
    return harness


def send(harness: AppHarness, qtbot: QtBot, question: str) -> None:
    """Type a question and press Enter."""
    qtbot.keyClicks(harness.window.composer.edit, question)
    qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)


def send_anew(harness: AppHarness, qtbot: QtBot, question: str) -> int:
    """Ask in a new chat; returns the number of the request."""
    qtbot.mouseClick(harness.window.sidebar.new_button, LEFT)
    send(harness, qtbot, question)
    number = harness.controller.state.chat_id
    assert number is not None
    return number


def click(harness: AppHarness, qtbot: QtBot, title: str) -> None:
    """Open a chat by clicking its row."""
    listing = harness.window.sidebar.list
    number = next(row.id for row in harness.store.conversations() if row.title == title)
    place = listing.visualRect(listing.rows.index_of(number)).center()
    qtbot.mouseClick(listing.viewport(), LEFT, NONE, place)
    assert harness.window.header.title.text() == title


def shown(harness: AppHarness) -> str:
    """The text of the last answer on the page."""
    card = harness.window.transcript.last_answer()
    assert isinstance(card, AnswerCard)
    return card.raw_text


def told(harness: AppHarness) -> str:
    """The notice of the answer before its first token."""
    card = harness.window.transcript.last_answer()
    assert isinstance(card, AnswerCard)
    return "" if card.progress_label.isHidden() else card.progress_label.text()


def text_of(harness: AppHarness, conversation_id: int) -> str:
    return harness.store.messages(conversation_id)[-1].text


def call_in(harness: AppHarness, qtbot: QtBot, tools: ScriptedTools, path: str) -> None:
    """Let the model call a tool in the chat of the last request."""
    num_calls = len(tools.calls)
    harness.engine.say(written(("read", path)))
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(tools.calls) > num_calls)


def test_two_chats_are_answered_at_once_and_each_has_its_own_words(two: AppHarness, qtbot: QtBot) -> None:
    first = send_anew(two, qtbot, "first")
    two.engine.say("one ", 0)
    second = send_anew(two, qtbot, "second")
    assert len(two.engine.requests) == 2
    assert {request.conversation_id for request in two.engine.requests} == {first, second}
    for words, place in (("alpha ", 1), ("and ", 0), ("beta", 1), ("two", 0)):
        two.engine.say(words, place)
    qtbot.waitUntil(lambda: shown(two) == "alpha beta")
    qtbot.waitUntil(lambda: text_of(two, first) == "one and two")
    click(two, qtbot, "first")
    assert shown(two) == "one and two"
    two.engine.say(" go", 0)
    two.engine.say(" on", 1)
    two.engine.say(" on.", 0)
    qtbot.waitUntil(lambda: shown(two) == "one and two go on.")
    two.engine.finish(place=1)
    qtbot.waitUntil(lambda: sign(two, "second") == UNSEEN)
    assert two.window.composer.stop_button.isVisible(), "this one is still being written"
    two.engine.finish(place=0)
    qtbot.waitUntil(lambda: not two.controller.state.answers)
    assert (text_of(two, first), text_of(two, second)) == ("one and two go on.", "alpha beta on")
    assert {two.store.messages(chat)[-1].state for chat in (first, second)} == {MessageState.COMPLETE}


def test_stop_is_of_the_chat_that_is_shown(two: AppHarness, qtbot: QtBot) -> None:
    first, second = send_anew(two, qtbot, "first"), send_anew(two, qtbot, "second")
    two.engine.say("one", 0)
    two.engine.say("two", 1)
    qtbot.waitUntil(lambda: text_of(two, first) == "one" and shown(two) == "two")
    click(two, qtbot, "first")
    qtbot.mouseClick(two.window.composer.stop_button, LEFT)
    assert two.engine.cancelled == [two.engine.requests[0].request_id]
    two.engine.finish(FinishReason.CANCELLED, 0)
    qtbot.waitUntil(lambda: two.window.engine.state is EngineState.READY)
    assert two.window.composer.send_button.isVisible()
    two.engine.say(" more", 1)
    qtbot.waitUntil(lambda: text_of(two, second) == "two more")
    click(two, qtbot, "second")
    qtbot.keyClick(two.window, Qt.Key.Key_Escape)
    assert two.engine.cancelled == [request.request_id for request in two.engine.requests]
    assert two.store.messages(first)[-1].state is MessageState.STOPPED


def test_where_one_is_given_at_a_time_the_second_says_what_it_waits_for(harness: AppHarness, qtbot: QtBot) -> None:
    send_anew(harness, qtbot, "first")
    harness.engine.tell(PrefillProgress(harness.engine.requests[0].request_id, 1, 2))
    second = send_anew(harness, qtbot, "second")
    assert len(harness.engine.requests) == 2, "its place in the queue is taken"
    assert told(harness) == "Waiting for the answer in “first”"
    third = send_anew(harness, qtbot, "third")
    assert told(harness) == "Waiting for the answers in 2 other chats"
    harness.engine.say("one", 0)
    harness.engine.finish(place=0)
    qtbot.waitUntil(lambda: told(harness) == "Waiting for the answer in “second”")
    click(harness, qtbot, "second")
    assert told(harness) == "Reading the prompt"
    harness.engine.say("two", 1)
    harness.engine.finish(place=1)
    harness.engine.say("three", 2)
    harness.engine.finish(place=2)
    qtbot.waitUntil(lambda: not harness.controller.state.answers)
    assert (text_of(harness, second), text_of(harness, third)) == ("two", "three")


def test_two_at_once_wait_for_nothing_and_a_third_does(two: AppHarness, qtbot: QtBot) -> None:
    send_anew(two, qtbot, "first")
    send_anew(two, qtbot, "second")
    assert told(two) == "Reading the prompt"
    two.engine.tell(PrefillProgress(two.engine.requests[1].request_id, 0, 9))
    qtbot.waitUntil(lambda: told(two) == "Reading the prompt · 0 of 9 tokens")
    send_anew(two, qtbot, "third")
    assert told(two) == "Waiting for the answers in 2 other chats"


def test_one_that_waits_is_stopped_at_once(harness: AppHarness, qtbot: QtBot) -> None:
    send_anew(harness, qtbot, "first")
    second = send_anew(harness, qtbot, "second")
    qtbot.mouseClick(harness.window.composer.stop_button, LEFT)
    assert harness.engine.cancelled == [harness.engine.requests[1].request_id]
    assert harness.store.messages(second)[-1].state is MessageState.STOPPED
    assert harness.window.composer.send_button.isVisible()
    harness.engine.say("one", 0)
    harness.engine.finish(place=0)
    harness.engine.finish(FinishReason.CANCELLED, 1)  # when its turn comes
    qtbot.waitUntil(lambda: not harness.controller.state.answers)
    assert [view.text for view in harness.messages()] == ["second", ""]
    assert len(harness.window.finished) == 1


def test_in_another_chat_all_is_allowed_and_in_the_same_one_nothing_more(two: AppHarness, qtbot: QtBot) -> None:
    other = send_anew(two, qtbot, "other")
    two.engine.say("an answer")
    two.engine.finish()
    qtbot.waitUntil(lambda: not two.controller.state.answers)
    first = send_anew(two, qtbot, "first")
    two.window.transcript.regenerate_requested.emit(two.messages()[-1].id)
    assert len(two.engine.requests) == 2, "this chat is being answered"
    assert "still writing an answer" in two.window.notices[-1]
    click(two, qtbot, "other")
    card = two.window.transcript.last_answer()
    assert isinstance(card, AnswerCard)
    qtbot.mouseClick(card.regenerate_button, LEFT)
    assert len(two.engine.requests) == 3
    two.engine.say("another", 2)
    two.engine.finish(place=2)
    qtbot.waitUntil(lambda: text_of(two, other) == "another" and not two.window.composer.is_busy)
    question = two.messages()[0]
    two.window.transcript.edited.emit(question.id, "edited")
    assert two.engine.requests[-1].messages[-1].content == "edited"
    two.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: not two.window.composer.is_busy)
    two.window.transcript.delete_requested.emit(two.messages()[-1].id)
    assert [view.text for view in two.messages()] == ["edited"]
    two.window.sidebar.list.delete_requested.emit(other)
    assert two.rows() == ["first"]
    assert two.engine.cancelled == [], "none of it was of the chat that is being answered"
    two.engine.say("untouched", 1)
    qtbot.waitUntil(lambda: text_of(two, first) == "untouched")


def test_a_deleted_chat_ends_its_own_answer_only(two: AppHarness, qtbot: QtBot) -> None:
    first, second = send_anew(two, qtbot, "first"), send_anew(two, qtbot, "second")
    two.engine.say("one", 0)
    two.engine.say("two", 1)
    two.window.sidebar.list.delete_requested.emit(first)
    two.window.undo_bar.dismiss()
    assert {*two.engine.cancelled} == {two.engine.requests[0].request_id}
    two.engine.finish(FinishReason.CANCELLED, 0)
    qtbot.waitUntil(lambda: two.controller.state.answering == {second})
    two.engine.finish(place=1)
    qtbot.waitUntil(lambda: not two.controller.state.answers)
    assert two.rows() == ["second"]
    assert text_of(two, second) == "two"


def test_figures_are_those_of_the_chat_that_is_shown(two: AppHarness, qtbot: QtBot) -> None:
    send_anew(two, qtbot, "first")
    send_anew(two, qtbot, "second")
    for place, tokens in ((0, 111), (1, 222)):
        stats = RunStats(tokens=tokens, passes=tokens, decode_s=1.0, context_used=tokens, context_size=512)
        two.engine.tell(StatsUpdate(two.engine.requests[place].request_id, stats))
    qtbot.waitUntil(lambda: two.window.composer.context_used == 222)
    assert two.controller.context.meter.parts.last_answer == 222
    click(two, qtbot, "first")
    assert two.window.composer.context_used == 111, "at once, not with its next figures"
    two.engine.tell(
        StatsUpdate(two.engine.requests[1].request_id, RunStats(tokens=333, context_used=333, context_size=512))
    )
    two.engine.say("words", 1)
    two.engine.say("words", 0)
    qtbot.waitUntil(lambda: shown(two) == "words")
    assert two.window.composer.context_used == 111
    assert two.window.engine.state is EngineState.ANSWERING
    qtbot.mouseClick(two.window.sidebar.new_button, LEFT)
    assert two.window.engine.state is EngineState.READY


def test_each_summary_is_skipped_and_shown_in_its_own_chat(two: AppHarness, qtbot: QtBot) -> None:
    for question in ("first", "second"):
        send_anew(two, qtbot, question)
        two.engine.say("answer")
        two.engine.finish()
        qtbot.waitUntil(lambda: not two.window.composer.is_busy)
        send(two, qtbot, f"more of {question}")
    numbers = [two.engine.requests[place].request_id for place in (1, 3)]
    for number, words in zip(numbers, ("sum of one", "sum of two"), strict=True):
        two.engine.tell(SummaryUpdate(number, 2, words, 1, 2))
    lines = two.window.transcript.summaries
    qtbot.waitUntil(lambda: [view.text for view in lines._views.values()] == ["sum of two"])
    click(two, qtbot, "first")
    assert [view.text for view in lines._views.values()] == ["sum of one"]
    lines.skip_requested.emit()
    assert two.engine.skipped == [numbers[0]]


def test_when_the_engine_ends_all_are_told_and_keep_their_words(two: AppHarness, qtbot: QtBot) -> None:
    chats = [send_anew(two, qtbot, "first"), send_anew(two, qtbot, "second")]
    two.engine.say("half of one", 0)
    two.engine.say("half of two", 1)
    num_loads = len(two.engine.loads)
    two.engine.tell(EngineEnded("signal SIGABRT"))
    for request in two.engine.requests:
        two.engine.tell(EngineFailed(ENDED, request.request_id, engine_ended=True))
    qtbot.waitUntil(lambda: not two.controller.state.answers)
    ends = [two.store.messages(chat)[-1] for chat in chats]
    assert [view.text for view in ends] == ["half of one", "half of two"]
    assert {view.state for view in ends} == {MessageState.INTERRUPTED}
    assert all("SIGABRT" in view.notice for view in ends)
    assert len(two.engine.loads) == num_loads + 1
    two.engine.ready()
    qtbot.waitUntil(lambda: two.window.engine.state is EngineState.READY)
    send(two, qtbot, "again")
    two.engine.say("whole")
    two.engine.finish()
    qtbot.waitUntil(lambda: text_of(two, chats[1]) == "whole")


def test_another_model_is_loaded_when_all_answers_are_finished(two: AppHarness, qtbot: QtBot) -> None:
    send_anew(two, qtbot, "first")
    two.window.dialogs.file_chosen.emit(TARGET, "target")
    assert two.window.notices[-1].startswith("This happens when the answer is finished.")
    two.engine.ready()
    qtbot.waitUntil(lambda: two.controller.state.models.num_parallel == 1)
    send_anew(two, qtbot, "second")
    two.window.dialogs.file_chosen.emit(TARGET, "target")
    assert two.window.notices[-1].startswith("This happens when all answers are finished.")


def test_two_chats_have_calls_of_tools_at_once(qtbot: QtBot) -> None:
    harness, tools = opened(qtbot)
    first = send_anew(harness, qtbot, "first")
    harness.controller.conversations.change(Layer.CHAT, {"depth": 3})
    harness.engine.finish()
    qtbot.waitUntil(lambda: not harness.controller.state.answers)
    send(harness, qtbot, "read one")
    call_in(harness, qtbot, tools, "one.txt")
    second = send_anew(harness, qtbot, "second")
    call_in(harness, qtbot, tools, "two.txt")
    assert [arguments_of(call)["path"] for call in tools.calls] == ["one.txt", "two.txt"]
    assert harness.controller.state.answering == {first, second}
    tools.done[0](ToolResult(tools.calls[0].call_id, "one"))
    qtbot.waitUntil(lambda: len(harness.engine.requests) == 4)
    assert harness.engine.requests[-1].conversation_id == first
    assert (harness.engine.requests[-1].depth, harness.engine.requests[2].depth) == (3, None), "by its own settings"
    harness.engine.say("read", 3)
    harness.engine.finish(place=3)
    qtbot.waitUntil(lambda: text_of(harness, first) == "read")
    assert harness.window.composer.stop_button.isVisible()
    qtbot.mouseClick(harness.window.composer.stop_button, LEFT)
    assert tools.cancelled == [tools.calls[1].call_id]
    assert not harness.controller.state.answers
    harness.close()
