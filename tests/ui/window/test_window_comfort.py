"""Tests common comforts: Enter presses a button, keys change the text size, notices disappear."""

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from engine.records import Problem
from ui.widgets import banner
from ui.window.main_window import MainWindow

CTRL = Qt.KeyboardModifier.ControlModifier


def test_enter_presses_the_button_in_focus(window: MainWindow, qtbot: QtBot) -> None:
    window.sidebar.new_button.setFocus(Qt.FocusReason.TabFocusReason)
    with qtbot.waitSignal(window.sidebar.new_chat, timeout=30_000):
        qtbot.keyClick(window.sidebar.new_button, Qt.Key.Key_Return)
    switch = window.header.stats_button
    switch.setFocus(Qt.FocusReason.TabFocusReason)
    shown = window.stats.isVisible()
    qtbot.keyClick(switch, Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    assert window.stats.isVisible() is not shown


def test_enter_opens_a_menu_button(window: MainWindow, qtbot: QtBot) -> None:
    button = window.sidebar.help_button
    menu = button.menu()
    assert menu is not None
    shown: list[bool] = []
    menu.aboutToShow.connect(lambda: shown.append(True))
    menu.aboutToShow.connect(lambda: QTimer.singleShot(0, menu.close))  # the menu runs its own event loop
    button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert shown == [True]


def test_keys_make_the_text_larger_and_smaller(window: MainWindow, qtbot: QtBot) -> None:
    sizes: list[str] = []

    def take(values: dict[str, str]) -> None:
        sizes.append(values["text_size"])
        window.set_text_size(values["text_size"])

    window.dialogs.saved.connect(take)
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Plus):
        qtbot.keyClick(window.composer.edit, key, CTRL)
    assert sizes == ["large", "larger", "150"]
    for _ in range(4):
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Minus, CTRL)
    assert sizes[3:] == ["larger", "large", "normal", "small"]
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_0, CTRL)
    assert sizes[-1] == "normal"


def test_a_notice_goes_by_itself_but_not_while_somebody_is_at_it(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(banner, "NOTICE_MS", 60)
    window.show_notice("1 chat imported.")
    window.notice_banner.close_button.setFocus(Qt.FocusReason.TabFocusReason)
    checks: list[bool] = []
    window.notice_banner._leave_timer.timeout.connect(lambda: checks.append(window.notice_banner.isVisible()))
    qtbot.waitUntil(lambda: len(checks) >= 3, timeout=30_000)
    assert all(checks)
    window.composer.setFocus()
    qtbot.mouseMove(window.composer.edit, QPoint(5, 5))
    qtbot.waitUntil(window.notice_banner.isHidden, timeout=30_000)


def test_what_is_said_stands_on_every_page_and_waits_for_who_is_away(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(banner, "NOTICE_MS", 60)
    states = iter([Qt.ApplicationState.ApplicationInactive] * 3)
    active = Qt.ApplicationState.ApplicationActive
    monkeypatch.setattr(QApplication, "applicationState", lambda: next(states, active))
    window.show_problem(Problem("Downloads", "The download has stopped.", "Try again."))
    window.models.toggle()
    window.show_notice("The model is there.")
    rounds: list[bool] = []
    window.notice_banner._leave_timer.timeout.connect(lambda: rounds.append(window.notice_banner.isVisible()))
    for bar in (window.notice_banner, window.problem_banner):
        qtbot.waitUntil(bar.isVisible)
        corner = bar.mapTo(window, QPoint(0, 0))
        assert corner.y() > window.height() // 2
    qtbot.waitUntil(window.notice_banner.isHidden, timeout=30_000)
    assert len(rounds) == 4  # three of them were missed
    window.models.toggle()
    qtbot.waitUntil(window.problem_banner.isVisible)
    qtbot.wait(0)
    assert window.composer.mapTo(window, QPoint(0, 0)).y() > window.problem_banner.mapTo(window, QPoint(0, 0)).y()


def test_ctrl_q_closes_the_window(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closing):
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Q, CTRL)
    assert window.isHidden()


def test_ctrl_k_and_without_a_chat_ctrl_f_go_to_the_search(window: MainWindow, qtbot: QtBot) -> None:
    window.show_conversation("", [])
    for key in (Qt.Key.Key_F, Qt.Key.Key_K):
        window.composer.edit.setFocus()
        qtbot.keyClick(window.composer.edit, key, CTRL)
        assert window.sidebar.search.hasFocus()


def test_the_side_panes_grow_with_the_text(window: MainWindow, qtbot: QtBot) -> None:
    window.dialogs.saved.connect(lambda values: window.set_text_size(values["text_size"]))
    window.resize(1400, 800)
    before = window.splitter.sizes()
    for _ in range(2):
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_Plus, CTRL)
    larger = window.splitter.sizes()
    assert larger[0] > before[0]
    assert larger[2] > before[2]
    qtbot.waitUntil(lambda: window.stats.width() == larger[2], timeout=30_000)
    tabs = [button for button in window.stats.findChildren(QToolButton) if button.text().strip()]
    assert len(tabs) == 2
    cut = [tab.text() for tab in tabs if tab.width() < tab.fontMetrics().horizontalAdvance(tab.text())]
    assert cut == []
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_0, CTRL)
    assert all(abs(now - was) <= 2 for now, was in zip(window.splitter.sizes(), before, strict=True))
