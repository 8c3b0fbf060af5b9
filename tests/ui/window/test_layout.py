"""Tests the initial size of a window on different screens."""

import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.ui.filled_window import ASSETS, make_window
from ui.widgets.dialogs import FOLDERS
from ui.window.layout import SIDEBAR_PX, STATS_PX
from ui.window.main_window import MainWindow

CTRL = Qt.KeyboardModifier.ControlModifier


def test_a_window_that_nobody_sized_is_no_larger_than_its_screen(window: MainWindow) -> None:
    room = window.screen().availableSize()
    window.resize(room.width() + 300, room.height() + 300)
    window.layout_state.fit_screen()
    assert room.width() - 20 <= window.width() < room.width()
    assert room.height() - 60 <= window.height() < room.height()
    window.resize(700, 500)
    window.layout_state.fit_screen()
    assert (window.width(), window.height()) == (700, 500)


def test_panes_begin_as_wide_as_they_were_drawn(window: MainWindow, qtbot: QtBot) -> None:
    window.resize(1280, 800)
    qtbot.waitUntil(lambda: window.sidebar.width() == SIDEBAR_PX)
    assert window.stats.width() == STATS_PX


@pytest.fixture
def very_large(qapp: QApplication) -> Iterator[None]:
    """A system with 18 pt text."""
    before, font = qapp.font(), QFont(qapp.font())
    font.setPixelSize(24)
    qapp.setFont(font)
    yield
    qapp.setFont(before)


def beyond(window: MainWindow) -> list[str]:
    """The panes that extend beyond the window."""
    panes = [pane for pane in (window.sidebar, window.header, window.stats) if pane.isVisible()]
    return [pane.objectName() for pane in panes if pane.mapTo(window, pane.rect().topRight()).x() >= window.width()]


@pytest.mark.parametrize("size", ["normal", "larger"])
def test_very_large_text_leaves_all_panes_within_a_window_of_1280_pixels(
    size: str, very_large: None, qtbot: QtBot
) -> None:
    window = make_window(qtbot)
    window.setMinimumWidth(0)
    window.resize(1280, 800)
    window.set_text_size(size)
    window.setMinimumWidth(0)
    window.resize(1280, 800)
    for _ in range(3):
        assert window.width() == 1280
        qtbot.waitUntil(lambda: beyond(window) == [])
        qtbot.keyClick(window.composer.edit, Qt.Key.Key_B, CTRL | Qt.KeyboardModifier.ShiftModifier)
    window.layout_state.toggle_sidebar()
    qtbot.waitUntil(lambda: beyond(window) == [])


def test_very_large_text_leaves_all_panes_within_a_remembered_window(very_large: None, qtbot: QtBot) -> None:
    window = make_window(qtbot)
    kept = {**json.loads(window.layout_state.save()), "stats": True, "geometry": ""}  # not stored: the screen shrank
    window.set_text_size("larger")
    window.setMinimumWidth(0)
    window.resize(1280, 800)
    window.layout_state.restore(json.dumps(kept).encode())
    qtbot.waitUntil(lambda: beyond(window) == [])
    assert window.width() == 1280


@pytest.mark.parametrize("more_room", ["smaller text", "wider window"])
def test_a_sidebar_that_had_no_room_comes_back_when_it_has(more_room: str, very_large: None, qtbot: QtBot) -> None:
    window = make_window(qtbot)
    window.set_text_size("small")
    window.setMinimumWidth(0)
    window.resize(1060, 700)
    assert window.sidebar.isVisible()
    window.set_text_size("larger")
    assert not window.sidebar.isVisible()
    assert window.header.sidebar_button.isVisible()
    if more_room == "smaller text":
        window.set_text_size("small")
    else:
        window.resize(1400, 700)
    qtbot.waitUntil(window.sidebar.isVisible)
    assert not window.header.sidebar_button.isVisible()
    qtbot.waitUntil(lambda: beyond(window) == [])


def test_a_sidebar_that_somebody_hid_stays_away_whatever_the_room(very_large: None, qtbot: QtBot) -> None:
    window = make_window(qtbot)
    window.set_text_size("small")
    qtbot.keyClick(window.composer.edit, Qt.Key.Key_B, CTRL)
    for size, width in (("larger", 790), ("small", 790), ("small", 1400)):
        window.set_text_size(size)
        window.resize(width, 700)
        assert not window.sidebar.isVisible()


def test_a_sidebar_without_room_is_remembered_as_wanted(very_large: None, qtbot: QtBot) -> None:
    window = make_window(qtbot)
    window.setMinimumWidth(0)
    window.resize(1060, 700)
    window.set_text_size("larger")
    assert not window.sidebar.isVisible()
    kept = window.layout_state.save()
    again = make_window(qtbot)
    again.set_text_size("larger")
    again.layout_state.restore(kept)
    assert not again.sidebar.isVisible()
    again.resize(1400, 700)
    assert again.sidebar.isVisible()


def test_panes_begin_wider_where_the_text_is_larger(qtbot: QtBot) -> None:
    window = MainWindow(ASSETS, ())
    qtbot.addWidget(window)
    window.layout_state.fit_text(26)
    window.resize(2000, 800)
    window.show()
    qtbot.waitUntil(lambda: window.stats.width() == min(2 * STATS_PX, window.stats.maximumWidth()))
    assert window.sidebar.width() == 2 * SIDEBAR_PX


def test_the_folders_of_dialogs_are_kept_with_the_layout(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FOLDERS, "model", "/models")
    kept = window.layout_state.save()
    monkeypatch.setitem(FOLDERS, "model", "/elsewhere")
    window.layout_state.restore(kept)
    assert FOLDERS["model"] == "/models"
    window.layout_state.restore(json.dumps(json.loads(kept) | {"folders": {"model": 3}}).encode())
    assert FOLDERS["model"] == "/models"
