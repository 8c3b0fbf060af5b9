"""How large the window is that nobody gave a size, on whatever screen there is."""

from __future__ import annotations

from ui.main_window import MainWindow


def test_a_window_that_nobody_sized_is_no_larger_than_its_screen(window: MainWindow) -> None:
    room = window.screen().availableSize()
    window.resize(room.width() + 300, room.height() + 300)
    window.layout_state.fit_screen()
    assert room.width() - 20 <= window.width() < room.width()
    assert room.height() - 60 <= window.height() < room.height()
    window.resize(700, 500)
    window.layout_state.fit_screen()
    assert (window.width(), window.height()) == (700, 500)


def test_a_window_that_fills_its_screen_is_left_so(window: MainWindow) -> None:
    window.showMaximized()
    filled = window.size()
    window.layout_state.fit_screen()
    assert window.size() == filled


def test_a_size_that_was_remembered_is_left_too(window: MainWindow) -> None:
    room = window.screen().availableSize()
    window.restore_layout(window.save_layout())
    window.resize(room.width() + 300, room.height())  # it may span two screens
    window.layout_state.fit_screen()
    assert window.width() == room.width() + 300
