"""Another language by real clicks and keys while an answer streams: spoken at once, and nothing is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.domain.engine_view import EngineState
from app.domain.messages import MessageState
from app.domain.settings.layers import Prompt
from engine.records import Event, LoadRequest, Problem, Source, TextChunk
from tests.app.fakes import Desk, keep_settings, open_desk
from tests.fake_model import Script, ScriptedWorker
from ui.settings.dialog import SettingsDialog
from ui.settings.prompts_page import PromptsPage
from ui.settings.rows import ChoiceRow
from ui.text.catalogues import ENGLISH, speak
from ui.transcript.cards.user_card import UserCard
from ui.transcript.transcript import Transcript
from ui.window.main_window import MainWindow

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier
WAIT_MS = 30_000
WORDS = [f"word{number}" for number in range(300)]
STORY = " ".join(WORDS)
HELD_AT = WORDS[-12]
FOLDER = Path(__file__).resolve().parents[3] / "assets" / "translations"


class HeldWorker(ScriptedWorker):
    """Streams, and says its last words only when it is let go: no test depends on how fast it is."""

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self.let_go = threading.Event()
        self.num_loads = 0

        def held(event: Event) -> None:
            if isinstance(event, TextChunk) and HELD_AT in event.text:
                self.let_go.wait(WAIT_MS / 1000)
            on_event(event)

        super().__init__(held, Script(STORY, tokens_per_second=400.0))

    def load(self, request: LoadRequest) -> None:
        self.num_loads += 1
        super().load(request)


@pytest.fixture
def desk(qtbot: QtBot, qapp: QApplication) -> Iterator[Desk]:
    keep_settings({"language": "en"})
    opened = open_desk(HeldWorker)
    opened.window.resize(1100, 640)
    qtbot.waitUntil(lambda: opened.window.engine.state is EngineState.READY, timeout=WAIT_MS)
    yield opened
    opened.engine.let_go.set()
    opened.close()
    speak(qapp, FOLDER, ENGLISH)


def ask(desk: Desk, qtbot: QtBot, question: str) -> None:
    qtbot.keyClicks(desk.window.composer.edit, question)
    qtbot.keyClick(desk.window.composer.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "word30" in desk.window.text, timeout=WAIT_MS)


def finish(desk: Desk, qtbot: QtBot) -> None:
    desk.engine.let_go.set()
    num_finished = len(desk.window.finished)
    qtbot.waitUntil(lambda: len(desk.window.finished) > num_finished, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: desk.window.engine.state is EngineState.READY, timeout=WAIT_MS)


def settings_of(window: MainWindow) -> tuple[SettingsDialog, ChoiceRow]:
    """The open dialog, and its row of the language, in sight."""
    dialog = next(child for child in window.findChildren(SettingsDialog) if child.isVisible())
    row = dialog.rows["language"]
    assert isinstance(row, ChoiceRow)
    for place in range(dialog.pages.count()):
        page = dialog.pages.widget(place)
        if isinstance(page, QScrollArea) and page.isAncestorOf(row):
            dialog.show_page(place)
            page.ensureWidgetVisible(row)
    return dialog, row


def try_out(window: MainWindow, qtbot: QtBot, code: str) -> SettingsDialog:
    """Choose a language in the open settings with the mouse; the dialog that speaks it."""
    before = window.sidebar
    _, row = settings_of(window)
    qtbot.mouseClick(row.combo, LEFT)
    items = row.combo.view()
    qtbot.waitUntil(items.isVisible, timeout=WAIT_MS)
    place = items.visualRect(row.combo.model().index(row.combo.findData(code), 0)).center()
    qtbot.mouseMove(items.viewport(), place)

    def is_taken() -> bool:  # a list that has just opened takes no click for the time of a double click
        if row.value() != code:
            qtbot.mouseClick(items.viewport(), LEFT, pos=place)
        return row.value() == code

    qtbot.waitUntil(is_taken, timeout=WAIT_MS)
    qtbot.waitUntil(lambda: window.sidebar is not before, timeout=WAIT_MS)
    return next(child for child in window.findChildren(SettingsDialog) if child.isVisible())


def take(window: MainWindow, qtbot: QtBot, code: str) -> None:
    """Choose a language in the settings with the mouse, and save."""
    qtbot.mouseClick(window.sidebar.settings_button, LEFT)
    dialog = try_out(window, qtbot, code)
    qtbot.mouseClick(dialog.save_button, LEFT)
    qtbot.waitUntil(lambda: not any(each.isVisible() for each in window.findChildren(SettingsDialog)), timeout=WAIT_MS)


def test_the_mouse_takes_another_language_while_an_answer_streams(desk: Desk, qtbot: QtBot) -> None:
    window, controller = desk.window, desk.controller
    ask(desk, qtbot, "Tell me a story.")
    chat, loads = controller.conversations.current_id, desk.engine.num_loads
    qtbot.keyClicks(window.composer.edit, "not sent yet")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Left)
    window.resize(1260, 700)
    window.splitter.setSizes([300, 610, 348])
    qtbot.waitUntil(lambda: window.splitter.sizes() == [300, 610, 348], timeout=WAIT_MS)
    size = window.size()
    take(window, qtbot, "de")
    assert window.sidebar.new_button.accessibleName() == "Neuer Chat"
    assert window.composer.send_button.accessibleName() == "Senden"
    assert window.composer.stop_button.isVisible()
    assert window.transcript.is_streaming
    assert (window.composer.text, window.composer.edit.textCursor().position()) == ("not sent yet", 11)
    assert (window.size(), window.stats.isHidden(), window.splitter.sizes()) == (size, False, [300, 610, 348])
    assert (controller.conversations.current_id, desk.engine.num_loads) == (chat, loads)
    finish(desk, qtbot)
    answer = window.transcript.last_answer()
    assert answer is not None
    assert answer.text == desk.messages()[-1].text == STORY
    assert desk.messages()[-1].state is MessageState.COMPLETE
    assert desk.messages()[-1].notice == ""
    assert "Durchlauf" in answer.figures.accessibleName()


def test_the_keyboard_takes_it_and_gives_it_back(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    ask(desk, qtbot, "Tell me a story.")
    shown = window.stats.isHidden()
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_B, CTRL | Qt.KeyboardModifier.ShiftModifier)
    for code, name in (("de", "Neuer Chat"), ("en", "New chat")):
        before = window.sidebar
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Comma, CTRL)
        _, row = settings_of(window)
        row.combo.setFocus()
        qtbot.keyClick(row.combo, Qt.Key.Key_Down if code == "de" else Qt.Key.Key_Up)
        qtbot.waitUntil(lambda before=before: window.sidebar is not before, timeout=WAIT_MS)
        dialog, row = settings_of(window)
        assert dialog.focusWidget() is row.combo
        qtbot.keyClick(row.combo, Qt.Key.Key_Return)
        assert window.sidebar.new_button.accessibleName() == name
        assert window.stats.isHidden() is not shown
        assert window.transcript.is_streaming
        window.activateWindow()  # which a window manager does
        qtbot.waitUntil(window.isActiveWindow, timeout=WAIT_MS)
        hidden = window.sidebar.isHidden()
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_B, CTRL)  # by one shortcut, not by that of a part that is gone
        assert window.sidebar.isHidden() is not hidden
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_B, CTRL)
    finish(desk, qtbot)
    assert desk.messages()[-1].text == STORY


def test_the_next_message_is_sent_and_stopped_as_before(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    take(window, qtbot, "de")
    ask(desk, qtbot, "Tell me a story.")
    qtbot.mouseClick(window.composer.stop_button, LEFT)
    desk.engine.let_go.set()
    qtbot.waitUntil(lambda: bool(window.finished), timeout=WAIT_MS)
    assert window.finished[-1].state is MessageState.STOPPED
    answer = window.transcript.last_answer()
    assert answer is not None
    assert answer.shown_notice == "Gestoppt."


def test_what_was_read_and_edited_stays(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    desk.engine.let_go.set()
    for question in ("First question.", "Second question.", "Third question.", "Fourth question."):
        num_finished = len(window.finished)
        qtbot.keyClicks(window.composer.edit, question)
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda num=num_finished: len(window.finished) > num, timeout=WAIT_MS)
    second = card_of(window, "Second question.")
    second.begin_edit()
    assert second.editor is not None
    qtbot.keyClicks(second.editor.edit, " And one more thing")
    qtbot.waitUntil(lambda: second.height() > second.editor.height() > 0, timeout=WAIT_MS)
    bar = window.transcript.verticalScrollBar()
    third = card_of(window, "Third question.")
    bar.setValue(third.mapTo(window.transcript.widget(), QPoint(0, 0)).y() + 40)
    assert not window.transcript.sticks
    above = third.mapTo(window.transcript.viewport(), QPoint(0, 0)).y()
    take(window, qtbot, "de")
    qtbot.waitUntil(lambda: not window.transcript.is_building, timeout=WAIT_MS)

    def is_there() -> bool:
        card = card_of(window, "Third question.")
        return abs(card.mapTo(window.transcript.viewport(), QPoint(0, 0)).y() - above) <= 2

    qtbot.waitUntil(is_there, timeout=WAIT_MS)
    again = card_of(window, "Second question.")
    assert again is not second
    assert again.editor is not None
    assert again.editor.edit.toPlainText() == "Second question. And one more thing"


def card_of(window: MainWindow, text: str) -> UserCard:
    return next(card for card in window.transcript.cards if isinstance(card, UserCard) and card.text == text)


def test_what_was_deleted_can_still_be_taken_back(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    number = desk.store.create_conversation("To be kept")
    desk.controller.conversations.refresh()
    window.conversation_delete_requested.emit(number)
    assert desk.rows() == []
    take(window, qtbot, "de")
    assert window.undo_bar.words.text() == "„To be kept“ gelöscht."
    qtbot.mouseClick(window.undo_bar.undo_button, LEFT)
    assert desk.rows() == ["To be kept"]


def test_search_marks_problems_and_the_chats_settings_stay(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    desk.store.create_conversation("A tale of two rivers")
    desk.controller.conversations.refresh()
    qtbot.mouseClick(window.stats.now.sources[Source.NGRAM], LEFT)
    window.show_problem(Problem("No model is loaded", "Without a model nobody can answer.", "Open a GGUF file."))
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Period, CTRL)
    dialog = window.chat_settings.dialog
    assert dialog is not None
    place = dialog.geometry()
    qtbot.keyClicks(window.sidebar.search, "rivers")
    qtbot.waitUntil(lambda: bool(window.sidebar.results.hits), timeout=WAIT_MS)
    take(window, qtbot, "de")
    assert window.sidebar.search.text() == "rivers"
    qtbot.waitUntil(lambda: bool(window.sidebar.results.hits), timeout=WAIT_MS)
    assert window.stats.now.sources[Source.NGRAM].isChecked()
    assert window.problem_banner.title.text() == "Es ist kein Modell geladen"
    again = window.chat_settings.dialog
    assert again is not None
    assert again is not dialog
    assert (again.isVisible(), again.geometry(), again.windowTitle()) == (True, place, "Chat-Einstellungen")


def test_the_open_settings_stay_and_leaving_them_gives_the_language_back(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    qtbot.mouseClick(window.sidebar.settings_button, LEFT)
    dialog, _ = settings_of(window)
    size_row = dialog.rows["text_size"]
    assert isinstance(size_row, ChoiceRow)
    qtbot.keyClick(size_row.combo, Qt.Key.Key_Down)
    dialog.resize(760, 600)
    page, chosen, size = dialog.nav.currentRow(), size_row.value(), dialog.size()
    german = try_out(window, qtbot, "de")
    assert german is not dialog
    assert (german.windowTitle(), german.nav.currentRow(), german.size()) == ("Einstellungen", page, size)
    assert german.changed_values() == {"language": "de", "text_size": chosen}
    prompts = german.pages.widget(german.pages.count() - 1)
    assert isinstance(prompts, PromptsPage)
    german.show_page(german.pages.count() - 1)
    qtbot.mouseClick(prompts.add_button, LEFT)
    qtbot.keyClicks(prompts.name_edit, "mine")
    qtbot.keyClicks(prompts.text_edit, "Say it.")
    english = try_out(window, qtbot, "en")
    again = english.pages.widget(english.pages.count() - 1)
    assert isinstance(again, PromptsPage)
    assert again.prompts()[-1] == Prompt("mine", "Say it.")
    try_out(window, qtbot, "de")
    before = window.sidebar
    dialog, _ = settings_of(window)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: window.sidebar is not before, timeout=WAIT_MS)
    assert window.sidebar.new_button.accessibleName() == "New chat"
    assert desk.controller._parts.keeper.current.text("language") == "en"
    assert not any(each.isVisible() for each in window.findChildren(SettingsDialog))


def test_panes_keep_the_room_of_larger_text(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    window.set_text_size("larger")
    least = window.sidebar.minimumWidth(), window.stats.minimumWidth()
    take(window, qtbot, "de")
    assert (window.sidebar.minimumWidth(), window.stats.minimumWidth()) == least


def test_the_language_that_is_spoken_already_builds_nothing(desk: Desk, qtbot: QtBot) -> None:
    before = desk.window.sidebar
    desk.controller._on_settings({"language": "en"})
    desk.controller._speak("en")
    assert desk.window.sidebar is before


def test_nobody_keeps_a_part_that_is_gone(desk: Desk, qtbot: QtBot) -> None:
    window = desk.window
    old = [window.sidebar, window.composer, window.transcript, window.stats, window.hub.place, window.undo_bar]
    actions = len(window.actions())
    children = len(window.children())
    for code in ("de", "en", "de"):
        take(window, qtbot, code)
    qtbot.waitUntil(lambda: not any(isValid(part) for part in old), timeout=WAIT_MS)
    assert (len(window.actions()), len(window.findChildren(Transcript))) == (actions, 1)
    qtbot.waitUntil(lambda: len(window.children()) == children, timeout=WAIT_MS)
    gone = [path for path, part in held(desk.controller, "controller", set()) if not isValid(part)]
    assert gone == []


def held(owner: object, path: str, seen: set[int]) -> Iterator[tuple[str, QObject]]:
    """Every Qt object that the controllers hold in an attribute, and where."""
    if id(owner) in seen:
        return
    seen.add(id(owner))
    for name, value in vars(owner).items():
        if isinstance(value, QObject):
            yield f"{path}.{name}", value
        if type(value).__module__.startswith("app.") and not isinstance(value, QWidget) and hasattr(value, "__dict__"):
            yield from held(value, f"{path}.{name}", seen)
