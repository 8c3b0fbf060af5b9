"""Tests search, folders, copies and drafts of messages in the whole app with a scripted engine."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSlider, QLineEdit
from pytestqt.qtbot import QtBot

from app.core.domain.errors import StorageError
from tests.app.fakes import AppHarness, open_app
from tests.signals import emitted
from ui.conversations.model import Heading


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

    monkeypatch.setattr("app.core.storage.chats.search.find", broken)
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


def test_a_duplicate_is_opened(harness: AppHarness, qtbot: QtBot) -> None:
    chat = answer(harness, qtbot, "one", "yes")
    harness.window.sidebar.library_signals.duplicated.emit(chat)
    assert harness.controller.state.chat_id != chat
    assert [view.text for view in harness.messages()] == ["one", "yes"]
    assert sorted(harness.rows()) == ["one", "one (copy)"]


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
