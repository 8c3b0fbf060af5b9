"""Tests the server's page: state, models and requests of the server, and the page's signals."""

import pytest
from pytestqt.qtbot import QtBot

from app.core.domain.local_server import (
    ALL_ADDRESSES,
    GONE,
    Activity,
    LoggedRequest,
    RequestState,
    ServerState,
    ServerView,
)
from app.core.domain.settings.table import FIELDS
from app.core.paths import assets_dir
from ui.server.page import ServerPage, request_cells, status_words
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
    assert not page.queue.isVisible()
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


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (LoggedRequest(1, 0.0, state=RequestState.WAITING), "Waiting"),
        (LoggedRequest(1, 0.0, state=RequestState.DONE, status=200), "200"),
        (LoggedRequest(1, 0.0, state=RequestState.DONE, status=401), "401, no key, or a wrong one"),
        (LoggedRequest(1, 0.0, state=RequestState.DONE, status=GONE), "Disconnected"),
        (LoggedRequest(1, 0.0, state=RequestState.DONE), "-"),
    ],
)
def test_a_status_says_what_it_means(row: LoggedRequest, words: str) -> None:
    assert status_words(row) == words


def test_what_is_not_known_is_a_dash() -> None:
    assert request_cells(LoggedRequest(1, 0.0, path="/v1/models"))[1:] == ("-", "/v1/models", "-", "-", "-", "Arriving")


def test_rows_change_in_place_and_the_newest_is_the_first(page: ServerPage, qtbot: QtBot) -> None:
    page.set_requests([LoggedRequest(1, 0.0, path="/a")])

    def is_selected() -> bool:
        page.table.selectRow(0)  # selects nothing before the columns are laid out
        return bool(page.table.selectedIndexes())

    qtbot.waitUntil(is_selected)
    page.set_requests([LoggedRequest(1, 0.0, path="/a", state=RequestState.DONE, status=200)])
    assert [index.data() for index in page.table.selectedIndexes()][2::4] == ["/a", "200"]
    page.set_requests([LoggedRequest(2, 0.0, path="/b"), LoggedRequest(1, 0.0, path="/a")])
    assert page.table.item(0, 2).text() == "/b"
    assert page.table.isVisible()
    assert not page.nothing.isVisible()


def test_a_usual_models_name_is_whole_in_the_list(page: ServerPage, qtbot: QtBot) -> None:
    name = "qwen2.5-coder-1.5b-instruct-q4_k_m"
    page.resize(1280, 900)
    page.set_requests([LoggedRequest(1, 0.0, "curl/8", "/v1/chat/completions", name)])
    table = page.table
    qtbot.waitUntil(lambda: table.columnWidth(3) > table.fontMetrics().horizontalAdvance(name))
    assert table.columnWidth(2) > table.fontMetrics().horizontalAdvance("/v1/chat/completions")
