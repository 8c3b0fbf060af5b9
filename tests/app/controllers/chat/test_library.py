"""Tests search, folders, copies and drafts of messages in the whole app with a scripted engine."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSlider, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.domain.errors import StorageError
from app.core.domain.messages import MessageState
from engine.records import FinishReason
from tests.app.controllers.chat.test_branches import texts
from tests.app.fakes import AppHarness, open_app
from tests.signals import emitted
from ui.conversations.model import Heading
from ui.widgets.banner import UNDO_SHOWN_MS, UndoBar
from ui.widgets.choice_list import ChoiceList
from ui.widgets.dialogs import ConfirmDialog


def answer(harness: AppHarness, qtbot: QtBot, question: str, text: str) -> int:
    num_finished = len(harness.window.finished)
    harness.window.composer.submitted.emit(question)
    harness.engine.say(text)
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) > num_finished)
    conversation = harness.controller.state.chat_id
    assert conversation is not None
    return conversation


def lines(harness: AppHarness) -> list[str]:
    model = harness.window.sidebar.list.rows
    items = [model.item(model.index(row, 0)) for row in range(model.rowCount())]
    return [f"[{item.text}]" if isinstance(item, Heading) else item.title for item in items if item]


def test_typing_finds_and_enter_opens_at_the_message_in_its_branch(harness: AppHarness, qtbot: QtBot) -> None:
    first = answer(harness, qtbot, "animals", "the zebra runs")
    zebra = harness.messages()[1].id
    harness.window.transcript.regenerate_requested.emit(zebra)
    harness.engine.say("the giraffe runs")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == 2)
    harness.window.sidebar.new_chat.emit()
    answer(harness, qtbot, "plants", "the oak stands")
    sidebar = harness.window.sidebar
    qtbot.keyClick(harness.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(sidebar.search, "zeb")
    qtbot.waitUntil(lambda: bool(sidebar.results.hits))
    qtbot.keyClick(sidebar.search, Qt.Key.Key_Return)
    # While only hits of a part of the words are shown, Enter waits for those of all words.
    qtbot.waitUntil(lambda: harness.controller.state.chat_id == first)
    assert [view.text for view in harness.messages()] == ["animals", "the zebra runs"]
    qtbot.waitUntil(lambda: not harness.window.transcript.is_building)
    assert zebra in [card.message_id for card in harness.window.transcript.cards]


def test_what_was_found_follows_names_and_deletions(harness: AppHarness, qtbot: QtBot) -> None:
    for question in ("zebras", "more zebras", "zebras again"):
        harness.window.sidebar.new_chat.emit()
        answer(harness, qtbot, question, "They run.")
    opened = harness.controller.state.chat_id
    sidebar = harness.window.sidebar
    harness.window.activateWindow()
    qtbot.waitUntil(harness.window.isActiveWindow)
    qtbot.keyClick(harness.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(sidebar.search, "zebra")
    qtbot.waitUntil(lambda: bool(sidebar.results.hits))
    qtbot.keyClick(sidebar.search, Qt.Key.Key_Down)
    for _ in range(2):
        qtbot.keyClick(sidebar.results, Qt.Key.Key_Down)
    chosen = sidebar.results.hits[sidebar.results.currentIndex().row()]
    harness.window.sidebar.list.rename_requested.emit(opened, "Striped horses")
    qtbot.waitUntil(lambda: "Striped horses" in {hit.title for hit in sidebar.results.hits})
    after = sidebar.results.hits[sidebar.results.currentIndex().row()]
    assert (after.conversation_id, after.message_id) == (chosen.conversation_id, chosen.message_id)
    harness.window.sidebar.list.delete_requested.emit(opened)
    qtbot.waitUntil(lambda: opened not in {hit.conversation_id for hit in sidebar.results.hits})
    assert sidebar.results.currentIndex().isValid()
    qtbot.keyClick(harness.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: opened in {hit.conversation_id for hit in sidebar.results.hits})


def test_a_failing_search_shows_nothing_and_harms_nothing(
    harness: AppHarness, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise StorageError("no")

    monkeypatch.setattr("app.core.storage.chats.library.find", broken)
    qtbot.keyClicks(harness.window.sidebar.search, "z")
    with emitted(qtbot, harness.controller.library.found):
        qtbot.keyClicks(harness.window.sidebar.search, "e")
    assert harness.window.sidebar.results.hits == []


def test_pin_folder_archive_and_order_are_shown_and_kept(harness: AppHarness, qtbot: QtBot) -> None:
    chats = []
    for question in ("one", "two", "three"):
        harness.window.sidebar.new_chat.emit()
        chats.append(answer(harness, qtbot, question, "yes"))
    library_signals = harness.window.sidebar.library_signals
    library_signals.pinned.emit(chats[0], True)
    library_signals.folder_created.emit(chats[1])
    editor = harness.window.sidebar.list.findChild(QLineEdit)
    assert editor is not None  # a new folder is named immediately
    editor.selectAll()
    qtbot.keyClicks(editor, "Work")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [folder.name for folder in harness.store.library.folders()] == ["Work"])
    library_signals.archived.emit(chats[2], True)
    assert lines(harness) == ["[Pinned]", "one", "[Work]", "two", "[Archived]"]
    folder = harness.store.library.folders()[0].id
    library_signals.folder_folded.emit(folder, True)
    harness.close()
    again = open_app()
    assert lines(again) == ["[Pinned]", "one", "[Work]", "[Archived]"]
    again.close()


class TestUnsent:
    """Text in the composer."""

    def test_it_belongs_to_its_chat(self, harness: AppHarness, qtbot: QtBot) -> None:
        chat = answer(harness, qtbot, "one", "yes")
        edit = harness.window.composer.edit
        qtbot.keyClicks(edit, "more of this")
        harness.window.sidebar.new_chat.emit()
        assert harness.window.composer.text == ""
        qtbot.keyClicks(edit, "something new")
        harness.window.sidebar.list.chosen.emit(chat)
        assert harness.window.composer.text == "more of this"
        harness.window.sidebar.new_chat.emit()
        assert harness.window.composer.text == "something new"

    def test_it_is_in_the_file_soon_after_the_last_key(self, harness: AppHarness, qtbot: QtBot) -> None:
        qtbot.keyClicks(harness.window.composer.edit, "not sent")
        qtbot.waitUntil(lambda: harness.store.library.unsent(None) == "not sent")

    def test_it_is_back_after_a_restart(self, harness: AppHarness, qtbot: QtBot) -> None:
        answer(harness, qtbot, "one", "yes")
        qtbot.keyClicks(harness.window.composer.edit, "half a thou")
        harness.close()
        again = open_app()
        assert again.window.composer.text == "half a thou"
        again.close()

    def test_what_was_sent_does_not_come_back(self, harness: AppHarness, qtbot: QtBot) -> None:
        qtbot.keyClicks(harness.window.composer.edit, "send this")
        qtbot.waitUntil(lambda: harness.store.library.unsent(None) == "send this")
        qtbot.keyClick(harness.window.composer.edit, Qt.Key.Key_Return)
        assert harness.store.library.unsent(None) == ""
        assert harness.window.composer.text == ""
        harness.window.sidebar.new_chat.emit()
        assert harness.window.composer.text == ""


def test_renaming_the_open_chat_leaves_its_messages_where_they_are(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "animals", "the zebra runs\n\n" * 60)
    page, listing = harness.window.transcript, harness.window.sidebar.list
    bar = page.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and bar.value() == bar.maximum())
    card = page.cards[0]
    bar.triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
    assert bar.value() == 0
    listing.setFocus(Qt.FocusReason.ShortcutFocusReason)
    qtbot.keyClick(listing, Qt.Key.Key_F2)
    box = listing.findChild(QLineEdit)
    assert box is not None
    box.selectAll()
    qtbot.keyClicks(box, "Zebras")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: harness.window.header.title.text() == "Zebras")
    assert harness.window.windowTitle() == "Zebras"
    assert lines(harness)[-1] == "Zebras"
    assert page.cards[0] is card
    assert bar.value() == 0


@pytest.fixture
def chats(harness: AppHarness, qtbot: QtBot) -> AppHarness:
    """Two chats; the second is open."""
    answer(harness, qtbot, "about zebras", "Zebras have stripes.")
    harness.window.sidebar.new_chat.emit()
    answer(harness, qtbot, "about giraffes", "Giraffes are tall.")
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    return harness


def bar(harness: AppHarness) -> UndoBar:
    return harness.window.undo_bar


def press_del(harness: AppHarness, qtbot: QtBot) -> int:
    """Delete the open chat by keyboard; returns its id."""
    listing, current = harness.window.sidebar.list, harness.controller.state.chat_id
    assert current is not None
    listing.setFocus()
    listing.setCurrentIndex(listing.rows.index_of(current))
    qtbot.keyClick(listing, Qt.Key.Key_Delete)
    return current


def wiped(harness: AppHarness) -> bool:
    found = harness.store.read(
        lambda db: db.execute("SELECT count(*) FROM messages WHERE text LIKE '%iraffe%'").fetchone()
    )
    return bool(found == (0,))


def test_a_deleted_chat_comes_back_by_the_button(chats: AppHarness, qtbot: QtBot) -> None:
    gone = press_del(chats, qtbot)
    assert chats.rows() == ["about zebras"]
    assert chats.window.shown[-1] == ("", ())
    assert not bar(chats).isHidden()
    assert "about giraffes" in bar(chats).message.text()
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton)
    assert bar(chats).isHidden()
    assert chats.rows() == ["about giraffes", "about zebras"]
    assert chats.controller.state.chat_id == gone
    assert texts(chats.messages()) == ["about giraffes", "Giraffes are tall."]


def test_the_composer_keeps_its_own_undo(chats: AppHarness, qtbot: QtBot) -> None:
    edit = chats.window.composer.edit
    chats.window.activateWindow()
    press_del(chats, qtbot)
    edit.setFocus()
    qtbot.keyClicks(edit, "word")
    QTest.keyClick(chats.window.windowHandle(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert edit.toPlainText() == ""
    assert chats.rows() == ["about zebras"]
    edit.document().clearUndoRedoStacks()
    QTest.keyClick(chats.window.windowHandle(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert chats.rows() == ["about giraffes", "about zebras"]


def test_after_some_seconds_it_can_be_restored_from_recently_deleted(chats: AppHarness, qtbot: QtBot) -> None:
    gone = press_del(chats, qtbot)
    assert bar(chats)._leave_timer.interval() == UNDO_SHOWN_MS
    bar(chats)._leave_timer.start(1)
    qtbot.waitUntil(bar(chats).isHidden)
    assert not wiped(chats)
    assert chats.engine.forgotten_states == [gone]
    assert chats.engine.num_forgotten >= 1
    chats.controller.deletions.undo_deletion()  # the bar has expired: nothing happens
    assert chats.rows() == ["about zebras"]
    dialog, rows = recently_deleted(chats)
    assert [(row.title, row.side) for row in rows.rows.rows] == [("about giraffes", "30 days left")]
    qtbot.mouseClick(dialog.accept_button, Qt.MouseButton.LeftButton)
    assert chats.rows() == ["about giraffes", "about zebras"]
    assert chats.controller.state.chat_id == gone
    assert texts(chats.messages()) == ["about giraffes", "Giraffes are tall."]


def recently_deleted(harness: AppHarness) -> tuple[ConfirmDialog, ChoiceList]:
    harness.window.sidebar.library_signals.deleted_chats_requested.emit()
    dialog = next(each for each in harness.window.findChildren(ConfirmDialog) if each.isVisible())
    rows = dialog.findChild(ChoiceList)
    assert rows is not None
    return dialog, rows


def test_what_is_deleted_for_good_leaves_nothing(chats: AppHarness, qtbot: QtBot) -> None:
    gone = press_del(chats, qtbot)
    qtbot.mouseClick(bar(chats).close_button, Qt.MouseButton.LeftButton)
    assert bar(chats).isHidden()
    dialog, rows = recently_deleted(chats)
    button = next(each for each in dialog.findChildren(QPushButton) if each.text() == "Delete for good")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert rows.rows.rows == ()
    assert not button.isEnabled()
    assert not dialog.accept_button.isEnabled()
    assert wiped(chats)
    assert gone in chats.engine.forgotten_states
    dialog.reject()
    assert chats.rows() == ["about zebras"]


def test_several_chats_are_selected_deleted_and_taken_back_at_once(chats: AppHarness, qtbot: QtBot) -> None:
    listing, control = chats.window.sidebar.list, Qt.KeyboardModifier.ControlModifier
    shown = list(chats.window.shown)
    other = next(row.id for row in chats.store.conversations() if row.id != chats.controller.state.chat_id)
    place = listing.visualRect(listing.rows.index_of(other)).center()
    qtbot.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, control, place)
    assert list(chats.window.shown) == shown  # no chat was opened
    assert len(listing.selected_ids) == 2
    menu = listing.make_menu(listing.rows.index_of(listing.selected_ids[0]))
    assert menu is not None
    assert [action.text() for action in menu.actions()] == ["Archive 2 chats", "Delete 2 chats\tDel"]
    listing.setFocus()
    qtbot.keyClick(listing, Qt.Key.Key_Backspace)
    assert chats.rows() == []
    assert bar(chats).message.text() == "Deleted 2 chats."
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton)
    assert chats.rows() == ["about giraffes", "about zebras"]


def test_a_second_deletion_lets_go_of_the_first(chats: AppHarness, qtbot: QtBot) -> None:
    press_del(chats, qtbot)
    chats.window.sidebar.list.delete_requested.emit(chats.store.conversations()[0].id)
    assert chats.rows() == []
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton)
    assert chats.rows() == ["about zebras"]
    _dialog, rows = recently_deleted(chats)
    assert [row.title for row in rows.rows.rows] == ["about giraffes"]


def folder_with(harness: AppHarness, *chats: int) -> int:
    """A folder with these chats, shown in the list."""
    folder = harness.store.library.create_folder("Animals")
    for chat in chats:
        harness.window.sidebar.library_signals.moved_to_folder.emit(chat, folder)
    harness.controller.conversations.refresh()
    return folder


def press_del_on_folder(harness: AppHarness, qtbot: QtBot, folder: int) -> None:
    """Delete a folder by keyboard."""
    listing = harness.window.sidebar.list
    listing.setFocus()
    listing.setCurrentIndex(listing.rows.index_of_folder(folder))
    qtbot.keyClick(listing, Qt.Key.Key_Delete)


def folders_of(harness: AppHarness) -> list[int | None]:
    return [row.folder_id for row in harness.store.conversations()]


def test_a_deleted_folder_says_what_becomes_of_its_chats_and_comes_back(chats: AppHarness, qtbot: QtBot) -> None:
    folder = folder_with(chats, *(row.id for row in chats.store.conversations()))
    assert folders_of(chats) == [folder, folder]
    press_del_on_folder(chats, qtbot, folder)
    assert chats.store.library.folders() == ()
    assert folders_of(chats) == [None, None]
    assert bar(chats).message.text() == "Deleted the folder “Animals”; its 2 chats were kept."
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton)
    assert bar(chats).isHidden()
    assert [one.name for one in chats.store.library.folders()] == ["Animals"]
    assert folders_of(chats) == [folder, folder]
    assert chats.window.sidebar.list.rows.index_of_folder(folder).isValid()


def test_a_folder_that_nobody_wants_back_takes_nothing_along(chats: AppHarness, qtbot: QtBot) -> None:
    folder = folder_with(chats)
    press_del_on_folder(chats, qtbot, folder)
    assert bar(chats).message.text() == "Deleted the empty folder “Animals”."
    bar(chats).dismiss()
    assert chats.engine.forgotten_states == []
    assert len(chats.rows()) == 2
    qtbot.keyClick(chats.window.sidebar.list, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert chats.store.library.folders() == ()
    press_del(chats, qtbot)
    press_del_on_folder(chats, qtbot, folder_with(chats))
    chats.controller.deletions.undo_deletion()  # the bar undoes only the last deletion
    assert chats.rows() == ["about zebras"]


def test_one_message_goes_without_those_after_it_and_is_in_no_prompt(chats: AppHarness, qtbot: QtBot) -> None:
    answer(chats, qtbot, "more", "Much more.")
    before = texts(chats.messages())
    gone = chats.messages()[1]
    chats.window.transcript.delete_one_requested.emit(gone.id)
    assert texts(chats.messages()) == [before[0], *before[2:]]
    assert texts(chats.window.shown[-1][1]) == [before[0], *before[2:]]
    answer(chats, qtbot, "and then", "That.")
    assert gone.text not in [message.content for message in chats.engine.requests[-1].messages]
    chats.window.transcript.delete_one_requested.emit(chats.messages()[0].id)
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert texts(chats.messages()) == [before[0], *before[2:], "and then", "That."]


def test_messages_come_back_as_well(chats: AppHarness, qtbot: QtBot) -> None:
    answer(chats, qtbot, "more", "Much more.")
    before = texts(chats.messages())
    chats.window.transcript.delete_requested.emit(chats.messages()[2].id)
    assert texts(chats.messages()) == before[:2]
    assert texts(chats.window.shown[-1][1]) == before[:2]
    assert "2" in bar(chats).message.text()
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert texts(chats.messages()) == before
    assert texts(chats.window.shown[-1][1]) == before


def test_a_chat_that_is_deleted_while_it_is_answered_keeps_what_there_is(chats: AppHarness, qtbot: QtBot) -> None:
    chats.window.composer.submitted.emit("more")
    chats.engine.say("begun")
    qtbot.waitUntil(lambda: chats.window.text.endswith("begun"))
    press_del(chats, qtbot)
    assert chats.engine.num_stops == 1
    chats.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: not chats.controller.state.answers)
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton)
    assert texts(chats.messages())[-2:] == ["more", "begun"]
    assert chats.messages()[-1].state is MessageState.STOPPED


def test_deleted_chats_can_be_restored_after_a_restart(chats: AppHarness, qtbot: QtBot) -> None:
    press_del(chats, qtbot)
    chats.close()
    again = open_app()
    assert again.rows() == ["about zebras"]
    dialog, _rows = recently_deleted(again)
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert again.rows() == ["about giraffes", "about zebras"]
    again.close()


def test_taking_messages_back_leaves_the_answer_in_the_making_in_sight(chats: AppHarness, qtbot: QtBot) -> None:
    answer(chats, qtbot, "more", "Much more.")
    first = chats.messages()[2]
    chats.window.transcript.delete_requested.emit(first.id)
    chats.window.composer.submitted.emit("better")
    chats.engine.say("Begun")
    qtbot.waitUntil(lambda: chats.window.text == "Begun")
    qtbot.mouseClick(bar(chats).action_button, Qt.MouseButton.LeftButton)
    assert texts(chats.messages())[-2:] == ["better", "Begun"]
    assert chats.window.transcript.is_streaming
    chats.engine.say(" and ended.")
    chats.engine.finish()
    qtbot.waitUntil(lambda: chats.window.engine.state is EngineState.READY)
    last = chats.window.transcript.last_answer()
    assert last is not None
    assert last.view.text == "Begun and ended."
    assert first.id in chats.messages()[-2].versions
    chats.window.transcript.version_requested.emit(first.id)
    assert texts(chats.messages())[-2:] == ["more", "Much more."]


def test_an_answer_whose_chat_is_gone_for_good_leaves_nothing_behind(chats: AppHarness, qtbot: QtBot) -> None:
    chats.window.sidebar.new_chat.emit()
    chats.window.composer.submitted.emit("about okapis")
    chats.engine.say("Okapis hide.")
    press_del(chats, qtbot)
    dialog, _rows = recently_deleted(chats)
    next(each for each in dialog.findChildren(QPushButton) if each.text() == "Delete for good").click()
    dialog.reject()
    assert not chats.controller.state.answering
    chats.engine.say(" Nobody reads this.")
    chats.engine.finish(FinishReason.CANCELLED)
    qtbot.waitUntil(lambda: not chats.controller.state.answers)
    words = "SELECT count(*) FROM messages WHERE text LIKE '%kapi%'"
    qtbot.waitUntil(lambda: chats.store.read(lambda db: db.execute(words).fetchone()) == (0,))
    assert chats.window.problems == []
