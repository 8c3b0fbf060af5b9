"""Tests the indicator of the local server in the header."""

import pytest

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
    assert ("2 waiting" in button.accessibleName()) is (view is BUSY)
    assert all(part in button.accessibleDescription() for part in words)
    assert text in button.accessibleName()
    window.local_server.set_view(ServerView())
    assert not button.isVisible()
