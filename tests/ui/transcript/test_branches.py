"""Tests editing in place, switching versions and message menus, with real keys and clicks."""

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.messages import MessageState, MessageView
from engine.records import Mode
from tests.ui.conftest import NO_DRAFT, STATS
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.user_card import UserCard
from ui.transcript.finder import plain_text
from ui.transcript.message_menus import make_menu
from ui.window.main_window import MainWindow

VIEWS = (
    MessageView(1, "user", "First words"),
    MessageView(2, "assistant", "An *early* answer", stats=STATS),
    MessageView(3, "user", "More words", versions=(3, 7, 9)),
    MessageView(4, "assistant", "The answer", MessageState.STOPPED, stats=STATS, versions=(2, 4)),
)


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.show_conversation("t", VIEWS)
    qtbot.waitUntil(lambda: not window.transcript.is_building)
    return window


def user_card(page: MainWindow, index: int) -> UserCard:
    card = page.transcript.cards[index]
    assert isinstance(card, UserCard)
    return card


def answer_card(page: MainWindow, index: int) -> AnswerCard:
    card = page.transcript.cards[index]
    assert isinstance(card, AnswerCard)
    return card


def actions(menu: QMenu) -> dict[str, QAction]:
    return {action.text(): action for action in menu.actions() if action.text()}


def test_editing_happens_in_place_and_enter_sends(page: MainWindow, qtbot: QtBot) -> None:
    card = user_card(page, 0)
    qtbot.mouseClick(card.edit_button, Qt.MouseButton.LeftButton)
    assert card.editor is not None
    assert card.body.isHidden()
    assert card.editor.edit.hasFocus()
    qtbot.keyClicks(card.editor.edit, " and")
    qtbot.keyClick(card.editor.edit, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClicks(card.editor.edit, "more")
    with qtbot.waitSignal(page.transcript.edited) as caught:
        qtbot.keyClick(card.editor.edit, Qt.Key.Key_Return)
    assert caught.args == [1, "First words and\nmore"]


def test_escape_leaves_the_message_as_it_was(page: MainWindow, qtbot: QtBot) -> None:
    card = user_card(page, 0)
    qtbot.keyClick(page, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    last = user_card(page, 2)
    assert last.editor is not None
    qtbot.keyClicks(last.editor.edit, "xyz")
    qtbot.keyClick(last.editor.edit, Qt.Key.Key_Escape)
    assert last.editor is None
    assert last.body.isVisible()
    assert last.text == "More words"
    assert card.editor is None


def test_tab_walks_through_all_actions_of_a_message(page: MainWindow, qtbot: QtBot) -> None:
    card = user_card(page, 0)
    card._copy_button.setFocus(Qt.FocusReason.TabFocusReason)
    names = []
    for _ in range(3):
        focus = QApplication.focusWidget()
        assert focus is not None
        names.append(focus.accessibleName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert names == ["Copy message", "Edit message", "More actions for this message"]
    answer_card(page, 1).regenerate_button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(answer_card(page, 1).regenerate_button, Qt.Key.Key_Tab)
    assert answer_card(page, 1).more_button.hasFocus()


@pytest.mark.parametrize("typed", [False, True])
def test_a_new_version_takes_the_focus_unless_a_key_was_pressed(page: MainWindow, qtbot: QtBot, typed: bool) -> None:
    card = answer_card(page, 3)
    card.body.segments[0].setFocus(Qt.FocusReason.TabFocusReason)
    page.transcript.version_requested.emit(4)
    page.composer.setFocus()
    if typed:
        qtbot.keyClick(page.composer.edit, Qt.Key.Key_A)
    page.transcript.jump_finished.emit(4)
    assert card.has_focus is not typed
    assert page.composer.text == ("a" if typed else "")


def test_editing_makes_no_narrow_page_wider(page: MainWindow, qtbot: QtBot) -> None:
    page.resize(640, 600)
    qtbot.waitUntil(lambda: page.width() == 640)
    user_card(page, 0).begin_edit()
    QApplication.processEvents()
    transcript = page.transcript
    assert transcript.widget().width() <= transcript.viewport().width()
    assert transcript.widget().minimumSizeHint().width() <= transcript.viewport().width()


def test_an_empty_edit_is_not_sent(page: MainWindow, qtbot: QtBot) -> None:
    card = user_card(page, 0)
    card.begin_edit()
    assert card.editor is not None
    card.editor.edit.clear()
    with qtbot.assertNotEmitted(page.transcript.edited):
        qtbot.keyClick(card.editor.edit, Qt.Key.Key_Return)


def test_versions_switch_by_click_and_by_key(page: MainWindow, qtbot: QtBot) -> None:
    switch = user_card(page, 2).versions
    assert switch is not None
    assert switch.label.text() == "1 of 3"
    assert not switch.back.isEnabled()
    with qtbot.waitSignal(page.transcript.version_requested) as caught:
        qtbot.mouseClick(switch.forth, Qt.MouseButton.LeftButton)
    assert caught.args == [7]
    page.composer.edit.setFocus()
    with qtbot.waitSignal(page.transcript.version_requested) as caught:  # the last message with versions
        qtbot.keyClick(page, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert caught.args == [2]
    switch.forth.setFocus()
    with qtbot.waitSignal(page.transcript.version_requested) as caught:  # the focused message
        qtbot.keyClick(page, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert caught.args == [7]
    assert user_card(page, 0).versions is None


def test_ctrl_r_regenerates_and_ctrl_shift_enter_continues(page: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.transcript.regenerate_requested) as caught:
        qtbot.keyClick(page, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert caught.args == [4]
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    with qtbot.waitSignal(page.transcript.continue_requested) as caught:
        qtbot.keyClick(page, Qt.Key.Key_Return, both)
    assert caught.args == [4]


def test_the_menu_copies_in_two_forms(page: MainWindow) -> None:
    menu = actions(make_menu(answer_card(page, 1)))
    menu["Copy as Markdown"].trigger()
    assert QApplication.clipboard().text() == "An *early* answer"
    menu["Copy as text"].trigger()
    assert QApplication.clipboard().text() == "An early answer"
    assert "Continue" not in menu
    assert plain_text("# Head\n\n- one\n- `two`") == "Head\n\none\ntwo"


def test_the_menu_regenerates_in_another_mode_and_deletes(page: MainWindow, qtbot: QtBot) -> None:
    menu = actions(make_menu(answer_card(page, 3)))
    again = menu["Regenerate in mode"].menu()
    assert isinstance(again, QMenu)
    assert len(again.actions()) == len(Mode)
    with qtbot.waitSignal(page.transcript.regenerate_in_mode) as caught:
        again.actions()[0].trigger()
    assert caught.args == [4, Mode.OFF]
    with qtbot.waitSignal(page.transcript.continue_requested):
        menu["Continue"].trigger()
    with qtbot.waitSignal(page.transcript.delete_requested) as caught:
        menu["Delete from here on"].trigger()
    assert caught.args == [4]


def test_the_menu_offers_no_mode_that_cannot_run(page: MainWindow, qtbot: QtBot) -> None:
    page.set_engine(NO_DRAFT)
    card = answer_card(page, 3)
    qtbot.mouseClick(card.more_button, Qt.MouseButton.LeftButton)
    menu = card.findChild(QMenu)
    assert menu is not None
    again = actions(menu)["Regenerate in mode"].menu()
    assert isinstance(again, QMenu)
    offered = actions(again)
    assert not offered["Draft"].isEnabled()
    assert offered["Draft"].toolTip() == "No draft model is loaded."
    assert offered["N-gram"].isEnabled()
    menu.close()


def ink(widget: QWidget, part: QWidget) -> tuple[int, int]:
    """The first and last columns of ``part`` that contain ink, in pixels of ``widget``."""
    place = part.mapTo(widget, QPoint(0, 0))
    image = widget.grab(QRect(place, part.size())).toImage()
    ground = image.pixel(0, 0)
    columns = [
        x for x in range(image.width()) if any(image.pixel(x, y) != ground for y in range(4, image.height() - 4))
    ]
    return place.x() + columns[0], place.x() + columns[-1]


def test_the_arrows_of_versions_end_with_the_text(page: MainWindow) -> None:
    page.composer.setFocus()
    question = user_card(page, 2)
    assert question.versions is not None
    text_end = question.body.mapTo(question, QPoint(0, 0)).x() + question.body.width() - 1
    assert abs(ink(question, question.versions.forth)[1] - text_end) <= 2  # text rarely ends exactly at its edge
    assert question.versions.geometry().right() < question.width()
