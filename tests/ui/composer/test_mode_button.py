"""Tests the mode button and its popup."""

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QListView
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState, EngineView
from engine.records import Mode
from tests.ui.conftest import NO_DRAFT, READY, model
from ui.text.formatting import mode_label
from ui.text.mode_words import MODE_ORDER, mode_summary
from ui.widgets.choice_list import Choice
from ui.widgets.popups import ChoicePopup
from ui.window.main_window import MainWindow

OFFERED = tuple(mode for mode in MODE_ORDER if mode is not Mode.HEAD)  # offered for a model without a head


def opened(window: MainWindow) -> ChoicePopup:
    QTest.mouseClick(window.composer.modes, Qt.MouseButton.LeftButton)
    menu = window.composer.modes.popup
    assert menu.isVisible()
    return menu


def row_of(menu: ChoicePopup, mode: Mode) -> Choice:
    return next(row for row in menu.list.rows.rows if row.key == mode.value)


def click(listing: QListView, row: int) -> None:
    place = listing.visualRect(listing.model().index(row, 0)).center()
    QTest.mouseClick(listing.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_each_mode_has_a_line_of_plain_words_and_the_one_in_force_a_tick(window: MainWindow) -> None:
    window.composer.set_mode(Mode.AUTO)
    menu = opened(window)
    rows = menu.list.rows.rows
    modes = OFFERED
    assert [row.title for row in rows] == [mode_label(mode) for mode in modes]
    assert [row.lines for row in rows] == [(mode_summary(mode),) for mode in modes]
    assert Mode.DRAFT in modes
    assert [row.title for row in rows if row.icon == "check"] == ["Auto"]


def test_arrows_and_enter_take_a_mode(window: MainWindow, qtbot: QtBot) -> None:
    window.composer.set_mode(Mode.AUTO)
    menu = opened(window)
    assert menu.list.current_key() == Mode.AUTO
    QTest.keyClick(menu.list, Qt.Key.Key_Down)
    assert window.composer.modes.mode is Mode.AUTO, "a look is no choice"
    with qtbot.waitSignal(window.composer.mode_chosen) as caught:
        QTest.keyClick(menu.list, Qt.Key.Key_Return)
    assert caught.args == [Mode.OFF]


def test_a_mode_that_cannot_run_says_why_and_is_not_taken(window: MainWindow) -> None:
    window.composer.set_mode(Mode.AUTO)
    seen: list[Mode] = []
    window.composer.mode_chosen.connect(seen.append)
    window.set_engine(NO_DRAFT)
    menu = opened(window)
    row = row_of(menu, Mode.DRAFT)
    assert not row.enabled
    assert row.lines == ("No draft model is loaded.",)
    click(menu.list, OFFERED.index(Mode.DRAFT))
    assert seen == []
    assert menu.isVisible()
    for _ in OFFERED:  # the arrow keys cannot reach it either
        QTest.keyClick(menu.list, Qt.Key.Key_Down)
        assert menu.list.current_key() != Mode.DRAFT
    menu.close()


def test_of_draft_model_and_head_one_suffices(window: MainWindow) -> None:
    none = {Mode.DRAFT: "No draft model is loaded.", Mode.HEAD: "This model has no head."}
    for unavailable, reason in (
        (none, "No draft model is loaded."),
        ({Mode.HEAD: "This model has no head."}, ""),
        ({Mode.DRAFT: "A head drafts."}, ""),
        (dict.fromkeys(Mode, "It runs plain."), "It runs plain."),
    ):
        window.set_engine(EngineView(EngineState.READY, NO_DRAFT.target, unavailable=unavailable))
        assert window.composer.reason.text() in (reason, "")
        assert window.composer.modes.reason == reason


def test_heads_are_listed_where_the_model_has_some_or_one_is_chosen(window: MainWindow) -> None:
    broken = {Mode.HEAD: "The model's own heads cannot be used."}
    for view, is_listed in (
        (READY, False),
        (NO_DRAFT, False),
        (replace(NO_DRAFT, unavailable={}, own_head=model(head_method="MTP"), has_heads=True), True),
        (replace(READY, draft=model("head", head_method="EAGLE-3")), True),
        (replace(READY, unavailable=broken, has_heads=True), True),  # shown to explain why it cannot run
    ):
        window.set_engine(view)
        menu = opened(window)
        assert (Mode.HEAD in [row.key for row in menu.list.rows.rows]) is is_listed
        menu.close()
    assert not row_of(menu, Mode.HEAD).enabled
    assert row_of(menu, Mode.HEAD).lines == (broken[Mode.HEAD],)


def test_the_mode_in_force_is_listed_whatever_the_model_has(window: MainWindow) -> None:
    window.composer.set_mode(Mode.HEAD)
    assert row_of(opened(window), Mode.HEAD).icon == "check"
