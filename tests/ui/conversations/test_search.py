"""Tests search while typing: every key searches, results are marked, Enter and Down select them, Esc leaves."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QTextLayout
from pytestqt.qtbot import QtBot

from app.core.domain.conversations import SearchHit
from tests.ui.conftest import rows
from ui.conversations.search_results import cut_near_match, layout_text
from ui.theme.theme import Theme
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
    return ["".join(text for text, _ in hit.parts) for hit in window.sidebar.results.hits]


def test_results_stand_under_their_conversation(searching: MainWindow) -> None:
    assert shown(searching) == ["Trip notes", "the trip to the sea", "Weekend plans", "a trip"]
    assert searching.sidebar.lists.currentWidget() is searching.sidebar.results
    assert searching.sidebar.empty.isHidden()


def test_enter_takes_the_first_place(searching: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(searching.sidebar.results.chosen) as caught:
        qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Return)
    assert caught.args == [3, None, HITS[0].parts]


def test_enter_waits_for_what_was_typed_last(searching: MainWindow, qtbot: QtBot) -> None:
    taken: list[tuple[object, ...]] = []
    searching.sidebar.results.chosen.connect(lambda *told: taken.append(told))
    qtbot.keyClicks(searching.sidebar.search, "s to")
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Return)
    assert taken == [], "these are still the places of other words"
    searching.sidebar.show_results(HITS[2:])
    assert [told[:2] for told in taken] == [(1, 12)]
    searching.sidebar.show_results(HITS)  # searched again, as after a deletion
    assert len(taken) == 1


def test_who_types_on_after_enter_is_led_nowhere(searching: MainWindow, qtbot: QtBot) -> None:
    taken: list[tuple[object, ...]] = []
    searching.sidebar.results.chosen.connect(lambda *told: taken.append(told))
    qtbot.keyClicks(searching.sidebar.search, "s")
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Return)
    qtbot.keyClicks(searching.sidebar.search, " ")
    searching.sidebar.show_results(HITS)
    assert taken == []


def test_down_walks_into_the_results_and_up_comes_back(searching: MainWindow, qtbot: QtBot) -> None:
    results = searching.sidebar.results
    qtbot.keyClick(searching.sidebar.search, Qt.Key.Key_Down)
    assert results.hasFocus()
    for _ in range(3):
        qtbot.keyClick(results, Qt.Key.Key_Down)
    with qtbot.waitSignal(searching.sidebar.results.chosen) as caught:
        qtbot.keyClick(results, Qt.Key.Key_Return)
    assert caught.args == [1, 12, HITS[2].parts]
    for _ in range(4):
        qtbot.keyClick(results, Qt.Key.Key_Up)
    assert searching.sidebar.search.hasFocus()


def test_the_match_is_drawn_differently(searching: MainWindow) -> None:
    results = searching.sidebar.results
    marked = results.grab(results.visualRect(results.model().index(1, 0))).toImage()
    plain = tuple(
        SearchHit(
            hit.conversation_id, hit.title, hit.message_id, hit.role, tuple((text, False) for text, _ in hit.parts)
        )
        for hit in HITS
    )
    searching.sidebar.show_results(plain)
    assert results.grab(results.visualRect(results.model().index(1, 0))).toImage() != marked


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
    assert shown(searching) == ["Old · archived", "trip"]


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
    assert shown(searching) == ["Weekend plans", "a trip"]
    results = searching.sidebar.results
    place = results.visualRect(results.model().index(1, 0)).center()
    with qtbot.waitSignal(searching.sidebar.results.chosen) as caught:
        qtbot.mouseClick(results.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert caught.args == [1, 12, written]


def test_the_word_that_was_found_is_on_the_lines_that_are_shown(theme: Theme) -> None:
    metrics = QFontMetrics(theme.font(-1))
    before = "...now is Saturday, 2026-11-28 01:34:35, UTC+01:00 (Europe/"
    parts = ((before, False), ("Berlin", True), (") and much more that goes on and on from there", False))
    near = cut_near_match(parts, metrics, 180.0)
    assert near[1:] == list(parts[1:])
    assert near[0][0].startswith("…")
    assert near[0][0].endswith("(Europe/")
    shown = layout_text("".join(text for text, _ in near), [], theme.font(-1), 180.0, 2)
    assert "Berlin" in shown.text()
    assert cut_near_match(parts, metrics, 4000.0) == list(parts)
    assert cut_near_match((("Berlin", True),), metrics, 10.0)[-1] == ("Berlin", True)


@pytest.mark.parametrize("num_lines", [1, 2])
def test_what_has_no_room_ends_in_dots(theme: Theme, num_lines: int) -> None:
    text = (
        "Repeat this text exactly: the quiet river \N{GRINNING FACE} runs past the old stone bridge, and on to the sea."
    )
    mark = QTextLayout.FormatRange()
    mark.start, mark.length = 0, 6
    whole = layout_text(text, [mark], theme.font(), 4000.0, num_lines)
    assert whole.text() == text
    cut = layout_text(text, [mark], theme.font(), 150.0, num_lines)
    assert cut.text().endswith("…")
    assert text.startswith(cut.text()[:-1].rstrip())
    assert cut.lineCount() == num_lines
    last = cut.lineAt(num_lines - 1)
    assert last.naturalTextWidth() <= 150.0
    assert last.naturalTextWidth() > 100.0  # no more is cut than necessary
