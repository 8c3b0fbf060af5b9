"""Edited questions, versions, answers that go on, and deleted branches, from the window to the file and back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.domain.engine_view import EngineState
from app.domain.messages import MessageState, MessageView
from engine.records import EngineFailed, FinishReason, Message, Mode, Problem
from tests.app.fakes import Desk
from ui.transcript.cards.answer_card import AnswerCard


def finish(desk: Desk, qtbot: QtBot, text: str, reason: FinishReason = FinishReason.END) -> None:
    num_finished = len(desk.window.finished)
    desk.engine.say(text)
    desk.engine.finish(reason)
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished)


def answer(desk: Desk, qtbot: QtBot, question: str, text: str) -> None:
    desk.window.message_submitted.emit(question)
    finish(desk, qtbot, text)


def texts(views: tuple[MessageView, ...]) -> list[str]:
    return [view.text for view in views]


def test_an_edited_question_is_a_version_and_nothing_is_lost(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    answer(desk, qtbot, "two", "second")
    question = desk.messages()[0].id
    desk.window.transcript.edited.emit(question, "uno")
    assert desk.engine.requests[-1].messages == (Message("user", "uno"),)
    finish(desk, qtbot, "primo")
    assert texts(desk.messages()) == ["uno", "primo"]
    assert desk.messages()[0].versions[0] == question
    desk.window.transcript.version_requested.emit(question)
    assert texts(desk.window.shown[-1][1]) == ["one", "first", "two", "second"]
    assert texts(desk.messages()) == ["one", "first", "two", "second"]


def test_the_shown_path_is_asked_and_remembered(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    first = desk.messages()[1].id
    desk.window.regenerate_requested.emit(first)
    finish(desk, qtbot, "again")
    desk.window.transcript.version_requested.emit(first)
    answer(desk, qtbot, "two", "second")
    assert texts(desk.messages()) == ["one", "first", "two", "second"]
    conversation = desk.controller.conversations.current_id
    desk.window.new_chat_requested.emit()
    desk.window.conversation_selected.emit(conversation)
    assert texts(desk.window.shown[-1][1]) == ["one", "first", "two", "second"]


def test_another_mode_for_one_answer_leaves_the_chats_mode(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    mode = desk.controller.conversations.mode
    desk.window.transcript.regenerate_in_mode.emit(desk.messages()[1].id, Mode.OFF)
    assert desk.engine.requests[-1].mode is Mode.OFF
    assert mode is not Mode.OFF
    finish(desk, qtbot, "again")
    assert desk.controller.conversations.mode is mode


def test_a_cut_answer_goes_on_in_the_same_message(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("one")
    finish(desk, qtbot, "Half an \n", FinishReason.LENGTH)
    half = desk.messages()[1]
    assert half.cut
    assert half.can_continue
    desk.window.transcript.continue_requested.emit(half.id)
    assert desk.engine.requests[-1].messages == (Message("user", "one"), Message("assistant", "Half an"))
    assert desk.window.text == "Half an"
    finish(desk, qtbot, " answer.")
    whole = desk.messages()[1]
    assert (whole.id, whole.text, whole.state) == (half.id, "Half an answer.", MessageState.COMPLETE)
    assert sum(span.num_chars for span in whole.spans) == len(whole.text)
    assert half.stats is not None
    assert whole.stats is not None
    assert whole.stats.tokens == 2 * half.stats.tokens
    assert not whole.can_continue
    assert whole.versions == ()


def test_a_continuation_that_fails_leaves_the_answer_as_it_was(desk: Desk, qtbot: QtBot) -> None:
    desk.window.message_submitted.emit("one")
    finish(desk, qtbot, "Half", FinishReason.CANCELLED)
    before = desk.messages()
    desk.window.transcript.continue_requested.emit(before[1].id)
    broken = Problem("The model stopped computing", "A pass failed.", "Try again.")
    desk.engine.tell(EngineFailed(broken, desk.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(desk.window.problems))
    assert desk.messages() == before


def test_a_whole_answer_does_not_go_on(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    desk.window.transcript.continue_requested.emit(desk.messages()[1].id)
    assert len(desk.engine.requests) == 1
    assert "cut off" in desk.window.notices[-1]


def test_while_an_answer_grows_its_chat_stays_as_it_is(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    views = desk.messages()
    desk.window.message_submitted.emit("two")
    page = desk.window.transcript
    page.edited.emit(views[0].id, "uno")
    page.version_requested.emit(views[1].id)
    page.delete_requested.emit(views[0].id)
    page.continue_requested.emit(views[1].id)
    assert len(desk.engine.requests) == 2
    assert len(desk.window.notices) >= 4
    finish(desk, qtbot, "second")
    assert texts(desk.messages()) == ["one", "first", "two", "second"]


def test_closing_while_an_answer_is_given_again_keeps_both(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "first")
    first = desk.messages()[1]
    desk.window.regenerate_requested.emit(first.id)
    desk.engine.say("half")
    qtbot.waitUntil(lambda: desk.window.text == "half")
    desk.controller.answers.close()
    assert [desk.messages()[1].text, desk.messages()[1].state] == ["half", MessageState.INTERRUPTED]
    assert len(desk.messages()[1].versions) == 2


def settle(desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY)
    qtbot.waitUntil(lambda: not desk.window.transcript.is_building)


def three_versions(desk: Desk, qtbot: QtBot) -> AnswerCard:
    """An answer given three times, the last time shown, and a message that is not sent yet."""
    desk.window.activateWindow()
    qtbot.waitUntil(desk.window.isActiveWindow)
    answer(desk, qtbot, "one", "first")
    for again in ("second", "third"):
        desk.window.regenerate_requested.emit(desk.messages()[1].id)
        finish(desk, qtbot, again)
    settle(desk, qtbot)
    desk.window.composer.set_text("not ready to be sent")
    card = desk.window.transcript.last_answer()
    assert card is not None
    assert card.versions is not None
    return card


@pytest.mark.parametrize("key", [Qt.Key.Key_Space, Qt.Key.Key_Return])
def test_keys_go_through_versions_and_never_into_the_message(desk: Desk, qtbot: QtBot, key: Qt.Key) -> None:
    card = three_versions(desk, qtbot)
    assert card.versions is not None
    card.versions.back.setFocus(Qt.FocusReason.TabFocusReason)
    shown = []
    for _ in range(3):  # the last one turns round at the first version
        qtbot.keyClick(QApplication.focusWidget(), key)
        settle(desk, qtbot)
        shown.append(desk.messages()[1].text)
    assert shown == ["second", "first", "second"]
    assert len(desk.engine.requests) == 3
    assert desk.window.composer.text == "not ready to be sent"


def test_alt_and_an_arrow_stay_with_the_message_that_is_read(desk: Desk, qtbot: QtBot) -> None:
    card = three_versions(desk, qtbot)
    answer(desk, qtbot, "two", "A")
    desk.window.regenerate_requested.emit(desk.messages()[3].id)
    finish(desk, qtbot, "B")
    settle(desk, qtbot)
    first = desk.messages()[1].id
    card = next(each for each in desk.window.transcript.cards if each.message_id == first)
    assert isinstance(card, AnswerCard)
    card.body.segments[0].setFocus(Qt.FocusReason.TabFocusReason)
    for key, shown in (
        (Qt.Key.Key_Left, ["one", "second"]),
        (Qt.Key.Key_Right, ["one", "third", "two", "B"]),
        (Qt.Key.Key_Left, ["one", "second"]),
    ):
        qtbot.keyClick(QApplication.focusWidget(), key, Qt.KeyboardModifier.AltModifier)
        settle(desk, qtbot)
        assert texts(desk.messages()) == shown


def test_a_click_on_an_arrow_leaves_the_keyboard_to_the_message(desk: Desk, qtbot: QtBot) -> None:
    card = three_versions(desk, qtbot)
    assert card.versions is not None
    qtbot.mouseClick(card.versions.back, Qt.MouseButton.LeftButton)
    settle(desk, qtbot)
    assert desk.messages()[1].text == "second"
    assert QApplication.focusWidget() is desk.window.composer.edit
