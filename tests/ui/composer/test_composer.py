"""Tests writing, sending, stopping and the options beside the text box, with real keys and clicks."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import MIN_DRAFTED_PARAMETERS, EngineState, EngineView
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.settings.layers import LAYERED_FIELDS, Layer, Layers, LayersView
from app.core.domain.settings.table import FIELD_BY_KEY
from engine.records import Mode, ThinkingOption
from tests.ui.conftest import NO_DRAFT, READY, model
from ui.composer.composer import Composer, thinking_line, thinking_name
from ui.composer.message_edit import MAX_LINES
from ui.theme.theme import Theme
from ui.window.main_window import MainWindow

ANSWERING = replace(READY, state=EngineState.ANSWERING)
OPTIONS = (ThinkingOption("medium"), ThinkingOption("low"), ThinkingOption("high"))
CHOICES = [value for value, _ in FIELD_BY_KEY["thinking"].choices if value]


def test_enter_sends_and_empties_the_box(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClicks(window.composer.edit, "hello")
    with qtbot.waitSignal(window.composer.submitted) as caught:
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    assert caught.args == ["hello"]
    assert window.composer.text == ""


def test_shift_enter_breaks_the_line(window: MainWindow, qtbot: QtBot) -> None:
    sent: list[str] = []
    window.composer.submitted.connect(sent.append)
    height = window.composer.edit.height()
    qtbot.keyClicks(window.composer.edit, "one")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(window.composer.edit, "two")
    assert sent == []
    assert window.composer.text == "one\ntwo"
    assert window.composer.edit.height() > height
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Enter)
    assert sent == ["one\ntwo"]
    assert window.composer.edit.height() == height


def test_a_narrow_composer_shows_the_arrow_and_cuts_no_button(theme: Theme, qtbot: QtBot) -> None:
    around = QWidget()  # without a layout: side panes may leave the composer less width than it prefers
    qtbot.addWidget(around)
    composer = Composer(theme)
    composer.setParent(around)
    composer.set_engine(READY)
    around.resize(900, 200)
    composer.resize(900, 120)
    around.show()
    row = (composer.attach_button, composer.modes, composer.send_button)
    words = composer.send_button.text()
    for width in (900, 180, 900):
        composer.resize(width, 120)
        qtbot.wait(1)  # button texts are laid out in a separate event loop iteration
        assert all(each.width() >= each.minimumSizeHint().width() for each in row)
        assert composer.send_button.geometry().right() <= composer.card.width()
        assert composer.send_button.text() == (words if width == 900 else "")
        assert bool(composer.stop_button.text()) is (width == 900)
    composer.resize(180, 120)
    qtbot.keyClicks(composer.edit, "hi")
    assert composer.send_button.accessibleName()
    with qtbot.waitSignal(composer.submitted):
        qtbot.mouseClick(composer.send_button, Qt.MouseButton.LeftButton)


def test_nothing_is_sent_without_a_model_and_the_reason_is_said(window: MainWindow, qtbot: QtBot) -> None:
    sent: list[str] = []
    window.composer.submitted.connect(sent.append)
    window.set_engine(EngineView())
    qtbot.keyClicks(window.composer.edit, "hello")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    assert sent == []
    assert window.composer.text == "hello"
    assert "No model" in window.composer.reason.text()


def test_esc_stops_an_answer_and_nothing_else(window: MainWindow, qtbot: QtBot) -> None:
    stops: list[bool] = []
    window.composer.stop_requested.connect(lambda: stops.append(True))
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Escape)
    assert stops == []
    window.set_engine(ANSWERING)
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Escape)
    assert len(stops) == 1
    qtbot.keyClick(window.transcript, Qt.Key.Key_Escape)
    assert len(stops) == 2


def test_the_stop_button_takes_the_place_of_send(window: MainWindow, qtbot: QtBot) -> None:
    window.begin_answer(MessageView(1, "assistant", "", MessageState.STREAMING))
    assert window.composer.stop_button.isVisible()
    assert not window.composer.send_button.isVisible()
    with qtbot.waitSignal(window.composer.stop_requested):
        qtbot.mouseClick(window.composer.stop_button, Qt.MouseButton.LeftButton)
    window.finish_answer(MessageView(1, "assistant", "", MessageState.STOPPED))
    assert window.composer.send_button.isVisible()


def test_enter_during_an_answer_keeps_the_text(window: MainWindow, qtbot: QtBot) -> None:
    sent: list[str] = []
    window.composer.submitted.connect(sent.append)
    window.set_engine(ANSWERING)
    qtbot.keyClicks(window.composer.edit, "next")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_Return)
    assert sent == []
    assert window.composer.text == "next"


def test_ctrl_d_cycles_through_the_modes_that_can_run(window: MainWindow, qtbot: QtBot) -> None:
    seen: list[Mode] = []
    window.composer.mode_chosen.connect(seen.append)
    every = [*list(Mode)[1:], Mode.OFF]
    for _ in every:
        qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert seen == every
    seen.clear()
    window.set_engine(NO_DRAFT)
    left = [mode for mode in every if mode not in (Mode.DRAFT, Mode.HEAD)]
    for _ in left:
        qtbot.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert seen == left


def test_where_a_draft_is_lacking_a_button_leads_to_pairs(window: MainWindow, qtbot: QtBot) -> None:
    composer = window.composer
    assert composer.find_draft_button.isHidden()
    window.set_engine(NO_DRAFT)
    assert composer.find_draft_button.isHidden(), "none pays for so small a model"
    assert composer.reason.text() == ""
    assert NO_DRAFT.target is not None
    window.set_engine(replace(NO_DRAFT, target=replace(NO_DRAFT.target, num_params=MIN_DRAFTED_PARAMETERS)))
    assert composer.find_draft_button.isVisible()
    assert composer.reason.text() == ""
    assert "No draft model is loaded." in composer.find_draft_button.toolTip()
    qtbot.mouseClick(composer.find_draft_button, Qt.MouseButton.LeftButton)
    assert window.models.page == "recommended"


def test_where_no_draft_would_help_words_say_why(window: MainWindow) -> None:
    reasons = dict.fromkeys((Mode.NGRAM, Mode.SUFFIX, Mode.DRAFT), "This model cannot go back.")
    window.set_engine(replace(NO_DRAFT, unavailable=reasons))
    assert window.composer.find_draft_button.isHidden()
    assert window.composer.reason.text() == "This model cannot go back."


def test_files_are_not_pasted_as_text(window: MainWindow, qtbot: QtBot) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile("/files/x.md")])
    mime.setText("file:///files/x.md")
    with qtbot.waitSignal(window.composer.files_offered) as caught:
        window.composer.edit.insertFromMimeData(mime)
    assert caught.args == [["/files/x.md"]]
    assert window.composer.text == ""


def copied_file() -> QMimeData:
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile("/files/x.md")])
    return mime


def test_a_copied_address_is_pasted_as_text(window: MainWindow) -> None:
    mime = QMimeData()
    mime.setUrls([QUrl("https://example.org/")])
    mime.setText("https://example.org/")
    window.composer.edit.insertFromMimeData(mime)
    assert window.composer.text == "https://example.org/"


def test_a_click_between_the_controls_goes_to_the_text(window: MainWindow, qtbot: QtBot) -> None:
    composer = window.composer
    composer.attach_button.setFocus()
    assert not composer.edit.hasFocus()
    qtbot.mouseClick(composer.card, Qt.MouseButton.LeftButton, pos=QPoint(composer.card.width() // 2, 3))
    qtbot.waitUntil(composer.edit.hasFocus)


def test_a_pasted_picture_is_offered_to_be_attached(window: MainWindow) -> None:
    mime, offered = QMimeData(), list[QImage]()
    window.composer.edit.picture_pasted.connect(offered.append)
    mime.setImageData(QImage(4, 4, QImage.Format.Format_RGB32))
    window.composer.edit.insertFromMimeData(mime)
    assert window.composer.text == ""
    assert [image.width() for image in offered] == [4]
    mime.setText("x")  # spreadsheets and word processors copy text and a picture of it
    window.composer.edit.insertFromMimeData(mime)
    assert window.composer.text == "x"


def test_words_without_end_never_hold_the_box_up(window: MainWindow, qtbot: QtBot) -> None:
    edit, anywhere = window.composer.edit, QTextOption.WrapMode.WrapAnywhere
    for _ in range(3):  # each paste alone is short enough for the box
        QGuiApplication.clipboard().setText("A" * 19_000)
        qtbot.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert window.composer.text == "A" * 57_000
    assert edit.wordWrapMode() == anywhere, "Qt would take seconds for every key"
    window.composer.set_text("a few words")
    assert edit.wordWrapMode() != anywhere
    window.composer.set_text("A" * 57_000)  # text that was left in this chat
    assert edit.wordWrapMode() == anywhere


@pytest.mark.parametrize("line", ["words", "words 你好 مرحبا नमस्ते 👩‍👧"], ids=["one script", "many scripts"])
def test_every_line_is_seen_until_there_are_too_many(window: MainWindow, line: str, qtbot: QtBot) -> None:
    edit = window.composer.edit
    for size in ("normal", "larger", "small"):
        window.set_text_size(size)
        window.composer.set_text("")
        for number in range(1, MAX_LINES + 1):
            QGuiApplication.clipboard().setText(line)
            qtbot.keyClick(edit, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
            qtbot.waitUntil(lambda: edit.verticalScrollBar().maximum() == 0)
            assert edit.viewport().height() < (number + 1.6) * edit.blockBoundingRect(edit.document().begin()).height()
            qtbot.keyClick(edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        assert edit.verticalScrollBar().maximum() > 0


def load(window: MainWindow, options: tuple[ThinkingOption, ...]) -> None:
    window.set_engine(replace(READY, target=model(thinking=options)))


def show_chat(window: MainWindow, own: dict[str, str]) -> None:
    layers = Layers(chat=own)
    view = LayersView(
        LAYERED_FIELDS, {layer: layers.values(layer) for layer in (Layer.CHAT, Layer.MODEL, Layer.GLOBAL)}
    )
    window.chat_settings.set_view(view, 1)


def test_it_is_there_only_where_there_is_a_choice(window: MainWindow) -> None:
    load(window, ())
    assert window.composer.thinking.isHidden()
    load(window, OPTIONS)
    assert window.composer.thinking.isVisible()
    assert window.composer.thinking.text() == "Thinking: Medium"
    assert window.composer.thinking.accessibleName() == "Thinking: Medium"
    signs = [
        (each.icon().pixmap(14, 14).toImage(), each.layoutDirection())
        for each in (window.composer.thinking, window.composer.modes)
    ]
    assert signs[0] == signs[1], "that it opens a menu, as the modes have it"


@pytest.mark.parametrize(
    ("own", "shown"), [({}, "Medium"), ({"thinking": "high"}, "High"), ({"thinking": "off"}, "Medium")]
)
def test_it_shows_what_holds_in_the_chat_as_far_as_the_model_has_it(
    window: MainWindow, own: dict[str, str], shown: str
) -> None:
    load(window, OPTIONS)
    show_chat(window, own)
    assert window.composer.thinking.text() == f"Thinking: {shown}"


def test_a_choice_is_made_by_keys_and_kept_for_the_chat(window: MainWindow, qtbot: QtBot) -> None:
    load(window, OPTIONS)
    button = window.composer.thinking
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Space)
    menu = button.popup
    qtbot.waitUntil(menu.isVisible)
    assert [row.title for row in menu.list.rows.rows] == ["Medium", "Low", "High"]
    assert [row.side for row in menu.list.rows.rows] == ["usual", "", ""]
    QTest.keyClick(menu.list, Qt.Key.Key_Down)
    with qtbot.waitSignal(window.chat_settings.changed) as caught:
        QTest.keyClick(menu.list, Qt.Key.Key_Return)
    assert caught.args == [Layer.CHAT, {"thinking": "low"}]
    assert button.text() == "Thinking: Low"
    assert not menu.isVisible()


@pytest.mark.parametrize("name", CHOICES)
def test_each_choice_of_the_settings_has_words(name: str) -> None:
    assert thinking_name(name)[0].isupper()
    assert not thinking_line(name).endswith(".")


def test_a_budget_is_in_tokens() -> None:
    assert thinking_name("2048") == "Up to 2,048 tokens"
