"""Tests the server's page: state and models of the server, and the page's signals."""

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.local_server import (
    ALL_ADDRESSES,
    Activity,
    ServerState,
    ServerView,
)
from app.core.domain.settings.table import FIELDS
from app.core.paths import assets_dir
from ui.server.page import ServerPage
from ui.theme.theme import Theme


@pytest.fixture
def page(qtbot: QtBot) -> ServerPage:
    made = ServerPage(Theme(assets_dir() / "icons"), FIELDS)
    qtbot.addWidget(made)
    made.show()
    return made


def test_values_come_in_silently_and_a_switch_asks(page: ServerPage, qtbot: QtBot) -> None:
    changes: list[dict[str, object]] = []
    page.changed.connect(changes.append)
    page.set_values({"server": True, "server_loads": True, "server_host": ALL_ADDRESSES, "server_port": 9000})
    assert changes == []
    assert page.access.url.text() == "http://127.0.0.1:9000/v1"
    page.switches["server"].set_value(False)
    assert changes == [{"server": False}]


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"server_key": True}, False),
        ({"server_key": False}, True),
        ({"server_key": False, "server_host": ALL_ADDRESSES}, False),  # other computers always need the key
    ],
)
def test_it_says_where_a_key_is_not_needed(page: ServerPage, values: dict[str, object], told: bool) -> None:
    page.set_values(values)  # type: ignore[arg-type]
    assert page.access.hint.isVisibleTo(page) is told


def test_what_can_be_done_depends_on_what_it_does(page: ServerPage) -> None:
    page.set_view(ServerView(ServerState.FAILED), "Another program uses port 8080.")
    assert page.retry_button.isVisible()
    assert not page.requests.isVisible()
    page.set_view(ServerView(ServerState.ON, "http://127.0.0.1:8080", Activity(3, 2, 1)), "It is answered.")
    assert not page.retry_button.isVisible()
    assert page.stop_button.isVisible()
    assert page.queue.text() == "1 running, 2 waiting"
    assert page.stop_button.text() == "Stop the answer"
    busy = Activity(3, 0, 4, 31.25)
    page.set_view(ServerView(ServerState.ON, "http://127.0.0.1:8080", busy), "They are answered.")
    assert page.queue.text() == "4 running, 0 waiting, 31.2 tok/s in all"
    assert page.stop_button.text() == "Stop the answers"
    page.set_view(ServerView(ServerState.ON, "http://127.0.0.1:8080"), "The server is ready.")
    assert not page.stop_button.isVisible()


def test_the_models_are_named(page: ServerPage) -> None:
    page.set_target(None)
    assert page.own_model.text() == "No model is loaded. Programs are told to try again."
    assert not page.guest.isVisible()
    page.set_view(ServerView(ServerState.ON, guest="Small One"), "")
    assert page.guest.text() == "In memory now, for a program: Small One."
