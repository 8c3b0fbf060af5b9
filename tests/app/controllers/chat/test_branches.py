"""Tests edited questions, versions, continued answers and deleted branches, from the window to the file and back."""

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from engine.records import EngineFailed, FinishReason, Message, Mode, Problem
from tests.app.fakes import AppHarness
from ui.transcript.cards.answer_card import AnswerCard


def finish(harness: AppHarness, qtbot: QtBot, text: str, reason: FinishReason = FinishReason.END) -> None:
    num_finished = len(harness.window.finished)
    harness.engine.say(text)
    harness.engine.finish(reason)
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished)


def answer(harness: AppHarness, qtbot: QtBot, question: str, text: str) -> None:
    harness.window.composer.submitted.emit(question)
    finish(harness, qtbot, text)


def texts(views: tuple[MessageView, ...]) -> list[str]:
    return [view.text for view in views]


def test_an_edited_question_is_a_version_and_nothing_is_lost(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    answer(harness, qtbot, "two", "second")
    question = harness.messages()[0].id
    harness.window.transcript.edited.emit(question, "uno")
    assert harness.engine.requests[-1].messages == (Message("user", "uno"),)
    finish(harness, qtbot, "primo")
    assert texts(harness.messages()) == ["uno", "primo"]
    assert harness.messages()[0].versions[0] == question
    harness.window.transcript.version_requested.emit(question)
    assert texts(harness.window.shown[-1][1]) == ["one", "first", "two", "second"]
    assert texts(harness.messages()) == ["one", "first", "two", "second"]


def test_the_shown_path_is_asked_and_remembered(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    first = harness.messages()[1].id
    harness.window.transcript.regenerate_requested.emit(first)
    finish(harness, qtbot, "again")
    harness.window.transcript.version_requested.emit(first)
    answer(harness, qtbot, "two", "second")
    assert texts(harness.messages()) == ["one", "first", "two", "second"]
    conversation = harness.controller.state.chat_id
    harness.window.sidebar.new_chat.emit()
    harness.window.sidebar.list.chosen.emit(conversation)
    assert texts(harness.window.shown[-1][1]) == ["one", "first", "two", "second"]


def test_another_mode_for_one_answer_leaves_the_chats_mode(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    mode = harness.controller.state.chat.mode
    harness.window.transcript.regenerate_in_mode.emit(harness.messages()[1].id, Mode.OFF)
    assert harness.engine.requests[-1].mode is Mode.OFF
    assert mode is not Mode.OFF
    finish(harness, qtbot, "again")
    assert harness.controller.state.chat.mode is mode


def test_a_cut_answer_goes_on_in_the_same_message(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("one")
    finish(harness, qtbot, "Half an \n", FinishReason.LENGTH)
    half = harness.messages()[1]
    assert half.cut
    assert half.can_continue
    harness.window.transcript.continue_requested.emit(half.id)
    assert harness.engine.requests[-1].messages == (Message("user", "one"), Message("assistant", "Half an"))
    assert harness.window.text == "Half an"
    finish(harness, qtbot, " answer.")
    whole = harness.messages()[1]
    assert (whole.id, whole.text, whole.state) == (half.id, "Half an answer.", MessageState.COMPLETE)
    assert sum(span.num_chars for span in whole.spans) == len(whole.text)
    assert half.stats is not None
    assert whole.stats is not None
    assert whole.stats.tokens == 2 * half.stats.tokens
    assert not whole.can_continue
    assert whole.versions == ()


def test_a_continuation_that_fails_leaves_the_answer_as_it_was(harness: AppHarness, qtbot: QtBot) -> None:
    harness.window.composer.submitted.emit("one")
    finish(harness, qtbot, "Half", FinishReason.CANCELLED)
    before = harness.messages()
    harness.window.transcript.continue_requested.emit(before[1].id)
    broken = Problem("The model's computation failed", "A pass failed.", "Try again.")
    harness.engine.tell(EngineFailed(broken, harness.engine.requests[-1].request_id))
    qtbot.waitUntil(lambda: bool(harness.window.problems))
    assert harness.messages() == before


def test_a_whole_answer_does_not_go_on(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    harness.window.transcript.continue_requested.emit(harness.messages()[1].id)
    assert len(harness.engine.requests) == 1
    assert "cut off" in harness.window.notices[-1]


def test_while_an_answer_grows_its_chat_stays_as_it_is(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    views = harness.messages()
    harness.window.composer.submitted.emit("two")
    page = harness.window.transcript
    page.edited.emit(views[0].id, "uno")
    page.version_requested.emit(views[1].id)
    page.delete_requested.emit(views[0].id)
    page.continue_requested.emit(views[1].id)
    assert len(harness.engine.requests) == 2
    assert len(harness.window.notices) >= 4
    finish(harness, qtbot, "second")
    assert texts(harness.messages()) == ["one", "first", "two", "second"]


def test_closing_while_an_answer_is_given_again_keeps_both(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    first = harness.messages()[1]
    harness.window.transcript.regenerate_requested.emit(first.id)
    harness.engine.say("half")
    qtbot.waitUntil(lambda: harness.window.text == "half")
    harness.controller.answers.close()
    assert [harness.messages()[1].text, harness.messages()[1].state] == ["half", MessageState.INTERRUPTED]
    assert len(harness.messages()[1].versions) == 2


def test_a_new_chat_from_here_is_a_copy_and_the_other_stays(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "first")
    answer(harness, qtbot, "two", "second")
    before, source = harness.messages(), harness.controller.state.chat_id
    assert source is not None
    harness.window.transcript.branch_requested.emit(before[1].id)
    copied = harness.controller.state.chat_id
    assert copied not in {None, source}
    assert texts(harness.messages()) == ["one", "first"]
    assert harness.messages()[1].stats == before[1].stats
    assert harness.messages()[1].spans == before[1].spans
    answer(harness, qtbot, "other", "way")
    assert [message.content for message in harness.engine.requests[-1].messages] == ["one", "first", "other"]
    harness.window.sidebar.list.chosen.emit(source)
    assert harness.messages() == before


def test_an_edited_answer_is_a_version_that_the_chat_goes_on_from(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "<think>\nhm\n</think>\n\nfirst")
    answer(harness, qtbot, "two", "second")
    before = harness.messages()
    page = harness.window.transcript
    card = next(card for card in page.cards if isinstance(card, AnswerCard))
    card.begin_edit()
    assert card.editor is not None
    assert card.editor.edit.exact_text() == "first"
    card.editor.edit.selectAll()
    qtbot.keyClicks(card.editor.edit, "better")
    harness.controller.conversations.edits.save()
    conversation = harness.controller.state.chat_id
    assert conversation is not None
    qtbot.waitUntil(
        lambda: harness.store.edits.of_conversation(conversation) == {before[1].id: "better"}
    )  # stored: a kill now would lose nothing
    qtbot.keyClick(card.editor.edit, Qt.Key.Key_Return)
    shown = harness.messages()
    assert texts(shown) == ["one", "<think>\nhm\n</think>\n\nbetter"]
    assert shown[1].notice == "Edited by you."
    assert shown[1].stats is None
    assert before[1].id in shown[1].versions
    assert harness.store.edits.of_conversation(conversation) == {}
    answer(harness, qtbot, "three", "third")
    page.version_requested.emit(before[1].id)
    assert texts(harness.messages()) == texts(before)
