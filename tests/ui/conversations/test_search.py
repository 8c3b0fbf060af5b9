"""Tests search while typing: every key searches, results are listed, Enter and Down select them, Esc leaves."""

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import SearchHit
from tests.ui.conftest import rows
from ui.conversations.search_results import excerpt
from ui.window.main_window import MainWindow

HITS = (
    SearchHit(3, "Trip notes", None, "", (("Trip", True), (" notes", False))),
    SearchHit(3, "Trip notes", 31, "user", (("the ", False), ("trip", True), (" to the sea", False))),
    SearchHit(1, "Weekend plans", 12, "assistant", (("a ", False), ("trip", True))),
)


@pytest.fixture
def searching(window: MainWindow, qtbot: QtBot) -> MainWindow:
    window.sidebar.set_rows(rows(), 1)
    qtbot.keyClick(window, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier)
    assert window.sidebar.search.hasFocus()
    qtbot.keyClicks(window.sidebar.search, "trip")
    window.sidebar.show_results(HITS)
    return window


def shown(window: MainWindow) -> list[str]:
    return [" | ".join((row.title, *row.lines)) for row in window.sidebar.results.rows.rows]


def test_results_name_their_conversation(searching: MainWindow) -> None:
    assert shown(searching) == ["Trip notes", "Trip notes | the trip to the sea", "Weekend plans | a trip"]
    assert searching.sidebar.lists.currentWidget() is searching.sidebar.results
    assert searching.sidebar.empty.isHidden()


def test_enter_takes_the_first_place(searching: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(searching.sidebar.results.hit_chosen) as caught:
        qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Return)
    assert caught.args == [3, None, HITS[0].parts]


def test_enter_waits_for_what_was_typed_last(searching: MainWindow, qtbot: QtBot) -> None:
    taken: list[tuple[object, ...]] = []
    searching.sidebar.results.hit_chosen.connect(lambda *told: taken.append(told))
    qtbot.keyClicks(searching.sidebar.search, "s to")
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Return)
    assert taken == [], "these are still the places of other words"
    searching.sidebar.show_results(HITS[2:])
    assert [told[:2] for told in taken] == [(1, 12)]
    searching.sidebar.show_results(HITS)  # searched again, as after a deletion
    assert len(taken) == 1


def test_who_types_on_after_enter_is_led_nowhere(searching: MainWindow, qtbot: QtBot) -> None:
    taken: list[tuple[object, ...]] = []
    searching.sidebar.results.hit_chosen.connect(lambda *told: taken.append(told))
    qtbot.keyClicks(searching.sidebar.search, "s")
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Return)
    qtbot.keyClicks(searching.sidebar.search, " ")
    searching.sidebar.show_results(HITS)
    assert taken == []


def test_down_walks_into_the_results_and_up_comes_back(searching: MainWindow, qtbot: QtBot) -> None:
    results = searching.sidebar.results
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Down)
    assert results.hasFocus()
    for _ in range(2):
        qtbot.keyClick(results, Qt.Key.Key_Down)
    with qtbot.waitSignal(searching.sidebar.results.hit_chosen) as caught:
        qtbot.keyClick(results, Qt.Key.Key_Return)
    assert caught.args == [1, 12, HITS[2].parts]
    for _ in range(3):
        qtbot.keyClick(results, Qt.Key.Key_Up)
    assert searching.sidebar.search.hasFocus()


def test_escape_leaves_the_search(searching: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Escape)
    assert searching.sidebar.search.text() == ""
    assert searching.sidebar.lists.currentWidget() is searching.sidebar.list
    assert searching.composer.edit.hasFocus()


def test_escape_leaves_the_results_too(searching: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Down)
    qtbot.keyClick(searching.sidebar.results, Qt.Key.Key_Escape)
    assert searching.sidebar.lists.currentWidget() is searching.sidebar.list
    assert searching.composer.edit.hasFocus()


def test_what_is_archived_says_so(searching: MainWindow) -> None:
    searching.sidebar.show_results([SearchHit(1, "Old", 2, "user", (("trip", True),), archived=True)])
    assert shown(searching) == ["Old · archived | trip"]


def test_nothing_found_says_so_and_late_results_stay_away(searching: MainWindow) -> None:
    searching.sidebar.show_results(())
    assert searching.sidebar.empty.isVisible()
    assert "No chats" in searching.sidebar.empty.text()
    searching.sidebar.search.clear()
    searching.sidebar.show_results(HITS)
    assert searching.sidebar.lists.currentWidget() is searching.sidebar.list


def test_what_was_written_goes_along_with_what_is_shown(searching: MainWindow, qtbot: QtBot) -> None:
    written = (("a **", False), ("trip", True), ("**", False))
    hit = SearchHit(1, "Weekend plans", 12, "assistant", (("a ", False), ("trip", True)), source=written)
    searching.sidebar.show_results([hit])
    assert shown(searching) == ["Weekend plans | a trip"]
    results = searching.sidebar.results
    place = results.visualRect(results.model().index(0, 0)).center()
    with qtbot.waitSignal(searching.sidebar.results.hit_chosen) as caught:
        qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert caught.args == [1, 12, written]


def test_the_match_is_near_the_beginning_of_its_row() -> None:
    before = "...now is Saturday, 2026-11-28 01:34:35, UTC+01:00 (Europe/"
    parts = ((before, False), ("Berlin", True), (") and more", False))
    assert excerpt(parts) == "…(Europe/Berlin) and more"
    assert excerpt(parts[1:]) == "Berlin) and more"
