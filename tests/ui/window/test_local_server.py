"""Tests the indicator of the local server in the header, and its menu, with mouse and keys."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.core.domain.local_server import Activity, ServerState, ServerView
from engine.records import Problem
from ui.window.main_window import MainWindow

ON = ServerView(ServerState.ON, "http://127.0.0.1:8080")
BUSY = ServerView(ServerState.ON, "http://127.0.0.1:8080", Activity(1_028, 2, 1))
FAILED = ServerView(ServerState.FAILED, problem=Problem("It could not start", "Port 8080 is taken.", "Choose another."))


@pytest.mark.parametrize(
    ("view", "text", "words"),
    [
        (ON, "Server on", ("http://127.0.0.1:8080/v1", "0 requests answered", "The server is ready.")),
        (BUSY, "Server answering", ("1,028 requests answered, 2 waiting", "is being answered.")),
        (FAILED, "Server off", ("Port 8080 is taken. Choose another.",)),
        (ServerView(ServerState.STARTING), "Server on", ("The server is starting.",)),
    ],
)
def test_the_sign_says_what_it_does(window: MainWindow, view: ServerView, text: str, words: tuple[str, ...]) -> None:
    button = window.local_server.button
    assert not button.isVisible(), "off"
    window.local_server.set_view(view)
    assert button.isVisible()
    assert button.text().strip() == text
    assert ("2 waiting" in button.accessibleName()) is (view is BUSY)
    assert all(part in button.accessibleDescription() for part in words)
    assert text in button.accessibleName()
    window.local_server.set_view(ServerView())
    assert not button.isVisible()


def test_it_stays_calm_between_two_requests(window: MainWindow, qtbot: QtBot) -> None:
    button = window.local_server.button
    window.local_server.set_view(BUSY)
    window.local_server.set_view(ON)
    assert button.text().strip().startswith("Server answering")
    window.local_server.set_view(BUSY)
    window.local_server.set_view(ON)
    qtbot.waitUntil(lambda: button.text().strip() == "Server on")


def test_the_menu_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    server = window.local_server
    server.set_view(BUSY)
    server.button.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.keyClick(server.button, Qt.Key.Key_Space)
    menu = server.button.menu_of_server
    qtbot.waitUntil(menu.isVisible)
    assert menu.activeAction() is server.button.copy_action
    assert not server.button.retry_action.isVisible()
    with qtbot.waitSignal(server.stop_requested):
        qtbot.keyClick(menu, Qt.Key.Key_Down)
        qtbot.keyClick(menu, Qt.Key.Key_Return)
    server.button.copy_action.trigger()
    assert QGuiApplication.clipboard().text() == "http://127.0.0.1:8080/v1"
    changes: list[dict[str, object]] = []
    window.dialogs.saved.connect(changes.append)
    server.button.off_action.trigger()
    assert changes == [{"server": False}]


def test_the_menu_follows_while_it_is_open(window: MainWindow) -> None:
    server = window.local_server
    server.set_view(BUSY)
    server.button.open_menu()
    server.set_view(ON)
    assert not server.button.stop_action.isEnabled()
    server.set_view(FAILED)
    assert server.button.retry_action.isVisible()
    assert not server.button.copy_action.isVisible()
    server.button.menu_of_server.close()
