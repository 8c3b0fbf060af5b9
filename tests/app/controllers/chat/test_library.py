"""Search, folders, copies and unsent texts through the whole app but the engine."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSlider, QLineEdit
from pytestqt.qtbot import QtBot

from app.domain.conversations import ConversationRow
from app.domain.errors import StorageError
from tests.app.fakes import Desk, open_desk
from ui.conversations.model import Heading


def answer(desk: Desk, qtbot: QtBot, question: str, text: str) -> int:
    num_finished = len(desk.window.finished)
    desk.window.message_submitted.emit(question)
    desk.engine.say(text)
    desk.engine.finish()
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished)
    conversation = desk.controller.conversations.current_id
    assert conversation is not None
    return conversation


def lines(desk: Desk) -> list[str]:
    model = desk.window.sidebar.list.rows
    items = [model.item(model.index(row, 0)) for row in range(model.rowCount())]
    return [f"[{item.text}]" if isinstance(item, Heading) else item.title for item in items if item]


def test_typing_finds_and_enter_opens_at_the_message_in_its_branch(desk: Desk, qtbot: QtBot) -> None:
    first = answer(desk, qtbot, "animals", "the zebra runs")
    zebra = desk.messages()[1].id
    desk.window.regenerate_requested.emit(zebra)
    desk.engine.say("the giraffe runs")
    desk.engine.finish()
    qtbot.waitUntil(lambda: len(desk.window.finished) == 2)
    desk.window.new_chat_requested.emit()
    answer(desk, qtbot, "plants", "the oak stands")
    sidebar = desk.window.sidebar
    qtbot.keyClick(desk.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(sidebar.search, "zeb")
    qtbot.waitUntil(lambda: bool(sidebar.results.hits))
    qtbot.keyClick(sidebar.search, Qt.Key.Key_Return)
    assert desk.controller.conversations.current_id == first
    assert [view.text for view in desk.messages()] == ["animals", "the zebra runs"]
    qtbot.waitUntil(lambda: not desk.window.transcript.is_building)
    assert zebra in [card.message_id for card in desk.window.transcript.cards]


def test_what_was_found_follows_names_and_deletions(desk: Desk, qtbot: QtBot) -> None:
    for question in ("zebras", "more zebras", "zebras again"):
        desk.window.new_chat_requested.emit()
        answer(desk, qtbot, question, "They run.")
    opened = desk.controller.conversations.current_id
    sidebar = desk.window.sidebar
    desk.window.activateWindow()
    qtbot.waitUntil(desk.window.isActiveWindow)
    qtbot.keyClick(desk.window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(sidebar.search, "zebra")
    qtbot.waitUntil(lambda: bool(sidebar.results.hits))
    qtbot.keyClick(sidebar.search, Qt.Key.Key_Down)
    for _ in range(2):
        qtbot.keyClick(sidebar.results, Qt.Key.Key_Down)
    chosen = sidebar.results.hits[sidebar.results.currentIndex().row()]
    desk.window.conversation_rename_requested.emit(opened, "Striped horses")
    qtbot.waitUntil(lambda: "Striped horses" in {hit.title for hit in sidebar.results.hits})
    after = sidebar.results.hits[sidebar.results.currentIndex().row()]
    assert (after.conversation_id, after.message_id) == (chosen.conversation_id, chosen.message_id)
    desk.window.conversation_delete_requested.emit(opened)
    qtbot.waitUntil(lambda: opened not in {hit.conversation_id for hit in sidebar.results.hits})
    assert sidebar.results.currentIndex().isValid()
    qtbot.keyClick(desk.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: opened in {hit.conversation_id for hit in sidebar.results.hits})


def test_a_failing_search_shows_nothing_and_harms_nothing(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise StorageError("no")

    monkeypatch.setattr("app.storage.chats.search.find", broken)
    qtbot.keyClicks(desk.window.sidebar.search, "z")
    with qtbot.waitSignal(desk.controller.library.found):
        qtbot.keyClicks(desk.window.sidebar.search, "e")
    assert desk.window.sidebar.results.hits == []


def test_pin_folder_archive_and_order_are_shown_and_kept(desk: Desk, qtbot: QtBot) -> None:
    chats = []
    for question in ("one", "two", "three"):
        desk.window.new_chat_requested.emit()
        chats.append(answer(desk, qtbot, question, "yes"))
    library_signals = desk.window.sidebar.library_signals
    library_signals.pinned.emit(chats[0], True)
    library_signals.folder_made.emit(chats[1])
    editor = desk.window.sidebar.list.findChild(QLineEdit)
    assert editor is not None  # a new folder is named at once
    editor.selectAll()
    qtbot.keyClicks(editor, "Work")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [folder.name for folder in desk.store.library.folders()] == ["Work"], timeout=30_000)
    library_signals.archived.emit(chats[2], True)
    assert lines(desk) == ["[Pinned]", "one", "[Work]", "two", "[Archived]"]
    folder = desk.store.library.folders()[0].id
    library_signals.folder_folded.emit(folder, True)
    desk.close()
    again = open_desk()
    assert lines(again) == ["[Pinned]", "one", "[Work]", "[Archived]"]
    again.close()


def test_a_duplicate_is_opened(desk: Desk, qtbot: QtBot) -> None:
    chat = answer(desk, qtbot, "one", "yes")
    desk.window.sidebar.library_signals.duplicated.emit(chat)
    assert desk.controller.conversations.current_id != chat
    assert [view.text for view in desk.messages()] == ["one", "yes"]
    assert sorted(desk.rows()) == ["one", "one (copy)"]


class TestUnsent:
    """What stands in the composer."""

    def test_it_belongs_to_its_chat(self, desk: Desk, qtbot: QtBot) -> None:
        chat = answer(desk, qtbot, "one", "yes")
        edit = desk.window.composer.edit
        qtbot.keyClicks(edit, "more of this")
        desk.window.new_chat_requested.emit()
        assert desk.window.composer.text == ""
        qtbot.keyClicks(edit, "something new")
        desk.window.conversation_selected.emit(chat)
        assert desk.window.composer.text == "more of this"
        desk.window.new_chat_requested.emit()
        assert desk.window.composer.text == "something new"

    def test_it_is_in_the_file_soon_after_the_last_key(self, desk: Desk, qtbot: QtBot) -> None:
        qtbot.keyClicks(desk.window.composer.edit, "not sent")
        qtbot.waitUntil(lambda: desk.store.library.unsent(None) == "not sent", timeout=30_000)

    def test_it_is_back_after_a_restart(self, desk: Desk, qtbot: QtBot) -> None:
        answer(desk, qtbot, "one", "yes")
        qtbot.keyClicks(desk.window.composer.edit, "half a thou")
        desk.close()
        again = open_desk()
        assert again.window.composer.text == "half a thou"
        again.close()

    def test_what_was_sent_does_not_come_back(self, desk: Desk, qtbot: QtBot) -> None:
        qtbot.keyClicks(desk.window.composer.edit, "send this")
        qtbot.waitUntil(lambda: desk.store.library.unsent(None) == "send this", timeout=30_000)
        qtbot.keyClick(desk.window.composer.edit, Qt.Key.Key_Return)
        assert desk.store.library.unsent(None) == ""
        assert desk.window.composer.text == ""
        desk.window.new_chat_requested.emit()
        assert desk.window.composer.text == ""


def test_renaming_the_open_chat_leaves_its_messages_where_they_are(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "animals", "the zebra runs\n\n" * 60)
    page, listing = desk.window.transcript, desk.window.sidebar.list
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
    qtbot.waitUntil(lambda: desk.window.header.title.text() == "Zebras")
    assert desk.window.windowTitle() == "Zebras"
    assert lines(desk)[-1] == "Zebras"
    assert page.cards[0] is card
    assert bar.value() == 0


@pytest.mark.parametrize("place", ["folder", "archive"])
def test_f2_opens_what_the_open_chat_lies_in_and_renames_it_there(desk: Desk, qtbot: QtBot, place: str) -> None:
    chat = answer(desk, qtbot, "animals", "the zebra runs")
    listing = desk.window.sidebar.list
    if place == "folder":
        folder = desk.store.library.create_folder("Work")
        listing.rows.library_signals.foldered.emit(chat, folder)
        listing.rows.library_signals.folder_folded.emit(folder, True)
    else:
        listing.rows.library_signals.archived.emit(chat, True)
    assert "animals" not in lines(desk)
    edit = desk.window.composer.edit
    edit.setFocus()
    qtbot.keyClick(edit, Qt.Key.Key_F2)
    assert "animals" in lines(desk)
    box = listing.findChild(QLineEdit)
    assert box is not None
    qtbot.waitUntil(box.hasFocus)
    box.selectAll()
    qtbot.keyClicks(box, "Zebras")
    qtbot.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: desk.window.header.title.text() == "Zebras")
    assert "Zebras" in lines(desk)
    qtbot.waitUntil(edit.hasFocus)


def test_keys_go_on_beside_what_was_archived(desk: Desk, qtbot: QtBot) -> None:
    listing = desk.window.sidebar.list
    for question in ("one", "two", "three"):
        desk.window.new_chat_requested.emit()
        answer(desk, qtbot, question, "yes")
    listing.setFocus(Qt.FocusReason.TabFocusReason)
    current = desk.controller.conversations.current_id
    assert current is not None
    assert listing.currentIndex() == listing.rows.index_of(current)
    listing.rows.library_signals.archived.emit(current, True)
    item = listing.rows.item(listing.currentIndex())
    assert isinstance(item, ConversationRow)
    assert item.title == "two"


def test_the_list_shows_where_the_keys_begin(desk: Desk, qtbot: QtBot) -> None:
    answer(desk, qtbot, "one", "yes")
    desk.window.new_chat_requested.emit()
    listing, search = desk.window.sidebar.list, desk.window.sidebar.search
    assert not listing.currentIndex().isValid()
    search.setFocus(Qt.FocusReason.ShortcutFocusReason)
    qtbot.keyClick(search, Qt.Key.Key_Down)
    item = listing.rows.item(listing.currentIndex())
    assert isinstance(item, ConversationRow)
    assert item.title == "one"
