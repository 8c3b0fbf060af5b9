"""Tests actions that only menus offer, by keys, with a scripted engine: of chats, messages, models and presets."""

import sys

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import ConversationRow
from engine.records import Mode
from tests.app.controllers.chat.test_answers import answer
from tests.app.fakes import AppHarness
from tests.menus import come_back, take
from ui.settings.chat_panel import ChatSettingsPanel
from ui.widgets.dialogs import ConfirmDialog


def row(harness: AppHarness, title: str) -> ConversationRow:
    return next(row for row in harness.store.conversations() if row.title == title)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system opens the menu by this key")
def test_a_keyboard_without_a_menu_key_opens_the_menus_too(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "yes")
    listing, shift = harness.window.sidebar.list, Qt.KeyboardModifier.ShiftModifier
    come_back(listing, qtbot)
    listing.setFocus()
    listing.setCurrentIndex(listing.rows.index_of(row(harness, "one").id))
    qtbot.keyClick(listing, Qt.Key.Key_F10, shift)
    take(qtbot, "Pin")
    assert row(harness, "one").pinned
    come_back(listing, qtbot)
    card = harness.window.transcript.last_answer()
    assert card is not None
    card.copy_button.setFocus()
    qtbot.waitUntil(card.copy_button.hasFocus)
    qtbot.keyClick(card.copy_button, Qt.Key.Key_F10, shift)
    take(qtbot, "Delete from here on")
    assert [view.text for view in harness.messages()] == ["one"]
    edit = harness.window.composer.edit
    come_back(edit, qtbot)
    edit.setFocus()
    qtbot.waitUntil(edit.hasFocus)
    QApplication.clipboard().setText("words")
    qtbot.keyClick(edit, Qt.Key.Key_F10, shift)
    take(qtbot, "&Paste")
    assert edit.toPlainText() == "words"


def test_the_menu_of_an_answer(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "yes, *indeed*")
    shown = harness.window.transcript.last_answer()
    assert shown is not None
    button = shown.more_button
    for words, copied in (("Copy as Markdown", "yes, *indeed*"), ("Copy as text", "yes, indeed")):
        button.setFocus()
        qtbot.keyClick(button, Qt.Key.Key_Space)
        take(qtbot, words)
        assert QApplication.clipboard().text() == copied
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    take(qtbot, "Regenerate in mode", "Suffix")
    assert harness.engine.requests[-1].mode is Mode.SUFFIX
    harness.engine.say("no")
    harness.engine.finish()
    qtbot.waitUntil(lambda: len(harness.window.finished) == 2)
    assert [view.text for view in harness.messages()] == ["one", "no"]
    shown = harness.window.transcript.last_answer()
    assert shown is not None
    shown.more_button.setFocus()
    qtbot.keyClick(shown.more_button, Qt.Key.Key_Space)
    take(qtbot, "Delete")
    qtbot.waitUntil(lambda: [view.text for view in harness.messages()] != ["one", "no"])
    come_back(harness.window, qtbot)
    qtbot.keyClick(harness.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: [view.text for view in harness.messages()] == ["one", "no"])


def test_a_preset_is_saved_and_taken_by_another_chat(harness: AppHarness, qtbot: QtBot) -> None:
    answer(harness, qtbot, "one", "yes")
    dialog = open_chat_settings(harness, qtbot)
    edit = dialog.rows["temperature"].row.findChild(QLineEdit)
    assert edit is not None
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, "0.3")
    take_preset(dialog, qtbot, "Save these values")
    question = dialog.findChild(ConfirmDialog)
    assert question is not None
    name = question.findChild(QLineEdit)
    assert name is not None
    qtbot.keyClicks(name, "Calm")
    qtbot.keyClick(name, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dialog.presets.text() == "Preset: Calm")
    come_back(dialog, qtbot)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    come_back(harness.window, qtbot)
    qtbot.keyClick(harness.window, Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    dialog = open_chat_settings(harness, qtbot)
    assert dialog.rows["temperature"].row.value() == 0.8, "nothing goes from one chat to another"
    take_preset(dialog, qtbot, "Calm")
    qtbot.waitUntil(lambda: dialog.rows["temperature"].row.value() == 0.3)
    come_back(dialog, qtbot)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    answer(harness, qtbot, "two", "no")
    assert harness.engine.requests[-1].sampling.temperature == 0.3


def open_chat_settings(harness: AppHarness, qtbot: QtBot) -> ChatSettingsPanel:
    qtbot.keyClick(harness.window, Qt.Key.Key_Period, Qt.KeyboardModifier.ControlModifier)
    dialog = harness.window.chat_settings.panel
    assert dialog is not None
    come_back(dialog, qtbot)
    return dialog


def take_preset(dialog: ChatSettingsPanel, qtbot: QtBot, words: str) -> None:
    """Open the menu by Space and take an entry; Qt shows the menu of such a button in a loop of its own."""
    come_back(dialog, qtbot)
    dialog.presets.setFocus()
    QTimer.singleShot(0, dialog, lambda: take(qtbot, words))
    qtbot.keyClick(dialog.presets, Qt.Key.Key_Space)
