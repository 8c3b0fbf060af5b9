"""Tests the race page: by keyboard alone, in both palettes, in a narrow window, and its choices."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from app.core.domain.speed.races import AUTO_LANE, PLAIN_LANE, LaneChoice, LaneProgress, RaceSetup
from engine.records import Mode, RunStats, Source
from tests.race_results import RESULT, THREE_LANES, VERDICT
from ui.race.page import RacePage
from ui.window.main_window import MainWindow


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> RacePage:
    """The race page, shown in its window."""
    window.race.show_page()
    shown = window.race.page
    shown.ask("Where does water flow?")
    qtbot.waitUntil(shown.isVisible)
    return shown


def press(qtbot: QtBot, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    qtbot.keyClick(focused, key, modifiers)


def walk(qtbot: QtBot, stops: int) -> list[QWidget]:
    """The widgets that Tab reaches, in order."""
    found = []
    for _ in range(stops):
        press(qtbot, Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        found.append(focused)
    return found


def test_tab_goes_from_the_question_over_lanes_and_options_to_the_start(page: RacePage, qtbot: QtBot) -> None:
    form = page.form
    assert form.question.hasFocus()
    expected = [
        form.rows[0].mode_box,
        form.rows[1].mode_box,  # the modes off and auto have no depth
        form.add_button,
        form.rounds,
        form.length,
        form.temperature,
        form.start_button,
    ]
    assert walk(qtbot, len(expected)) == expected


def test_a_race_is_set_up_and_started_by_keys_alone(page: RacePage, qtbot: QtBot) -> None:
    started: list[RaceSetup] = []
    page.start_requested.connect(started.append)
    form = page.form
    form.add_button.setFocus()
    press(qtbot, Qt.Key.Key_Space)
    assert form.rows[2].mode_box.hasFocus()
    form.rounds.setFocus()
    press(qtbot, Qt.Key.Key_Down)
    form.question.setFocus()
    press(qtbot, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert started == [
        RaceSetup("Where does water flow?", (PLAIN_LANE, AUTO_LANE, LaneChoice(Mode.SUFFIX)), 5, 256, greedy=True)
    ]


def test_two_lanes_alike_are_told_apart_by_their_depth(page: RacePage) -> None:
    form = page.form
    form.set_lanes((LaneChoice(Mode.DRAFT, 3), LaneChoice(Mode.DRAFT, 3)))
    assert form.problem.text() == "Two lanes are the same. Choose another mode, draft length or draft for one of them."
    assert not form.start_button.isEnabled()
    form.set_lanes((LaneChoice(Mode.DRAFT, 3), LaneChoice(Mode.DRAFT, 7)))
    assert form.start_button.isEnabled()
    assert form.setup.lanes == (LaneChoice(Mode.DRAFT, 3), LaneChoice(Mode.DRAFT, 7))


def test_other_drafts_can_be_chosen_where_there_are_some(page: RacePage) -> None:
    form = page.form
    form.set_lanes((PLAIN_LANE, LaneChoice(Mode.DRAFT, 3)))
    assert form.rows[1].draft_box.isHidden()
    page.form.set_drafts([("/models/other-0.5b.gguf", "Other 0.5B")])
    assert [row.draft_box.isHidden() for row in form.rows] == [True, False]
    form.rows[1].draft_box.setCurrentIndex(1)
    assert form.setup.lanes[1] == LaneChoice(Mode.DRAFT, 3, "/models/other-0.5b.gguf")
    page.form.set_unavailable({Mode.DRAFT: "No draft model is chosen."})
    assert form.start_button.isEnabled()  # the lane has its own draft
    form.rows[1].draft_box.setCurrentIndex(0)
    form.rows[1].changed.emit()
    assert not form.start_button.isEnabled()
    for mode in Mode:
        form.set_lanes((PLAIN_LANE, LaneChoice(mode)))
        assert form.rows[1].draft_box.isHidden() == (mode in (Mode.OFF, Mode.NGRAM, Mode.SUFFIX)), mode
    kept = LaneChoice(Mode.AUTO, None, "/models/gone.gguf", "Gone")
    form.set_lanes((PLAIN_LANE, kept))
    page.form.set_drafts([("/models/other.gguf", "Other")])
    assert form.setup.lanes[1] == kept


def test_the_setup_of_an_earlier_race_is_there_again(page: RacePage) -> None:
    page.show_result(THREE_LANES)
    page.show_setup()
    assert page.form.setup == replace(THREE_LANES.setup, rounds=page.form.rounds.currentData())
    assert page.form.includes_before.text() == "With the 2 earlier messages of the chat"


def test_a_result_shows_lanes_verdict_and_marks(page: RacePage, qtbot: QtBot) -> None:
    page.show_result(THREE_LANES)
    track = page.track
    assert track.verdict.title.text() == "Auto is faster than Off"
    assert "Draft, draft length 3: 0.90× the speed of Off (0.80 to 1.05 over 4 rounds)" in track.verdict.words.text()
    assert [lane.ratio.value for lane in track.lanes] == ["1.00×", "1.62×", "0.90×"]
    assert track.verdict.headline.property("kind") == ""
    page.show_result(replace(THREE_LANES, verdicts=(replace(VERDICT, low=0.9),)))
    assert track.verdict.headline.property("kind") == "unsure"  # no lane is significantly faster
    page.show_result(THREE_LANES)
    lane = track.lanes[1]
    assert {name: line.value for name, line in lane.lines.items()} == {
        "per_pass": "2.00",
        "accepted": "40% of 30",
        "rollback": "12.0 ms",
        "p50": "50.0 ms",
        "p95": "130 ms",
        "drafting": "100 ms",
    }
    (prose,) = lane.text.body.segments
    marked = {item.source for item in prose.marks.ranges}  # type: ignore[union-attr]
    assert marked == {Source.NGRAM, Source.RECOVERED, Source.BONUS}
    qtbot.mouseClick(track.legend[Source.NGRAM], Qt.MouseButton.LeftButton)
    assert Source.NGRAM not in {item.source for item in prose.marks.ranges}  # type: ignore[union-attr]


def test_a_race_begins_with_nothing_and_each_figure_comes_when_it_is_known(page: RacePage) -> None:
    page.show_result(THREE_LANES)
    page.begin(replace(THREE_LANES.setup, question="And what else?"))
    track = page.track

    def shown() -> list[str]:
        figures = [each.value for lane in track.lanes for each in (lane.speed, lane.ratio, *lane.lines.values())]
        return [track.verdict.headline.text(), *figures]

    assert set(shown()) == {""}, "nothing of the race before, and no dashes"
    width = track.verdict.headline.minimumWidth()
    page.begin_round(0)
    page.track.show_progress(LaneProgress(0, 0, RunStats(tokens=1, passes=1, decode_s=0.01), finished=False))
    assert set(shown()) == {""}
    stats = replace(RESULT.lanes[0].stats, tokens=80)
    page.track.show_progress(LaneProgress(0, 0, stats, finished=False))
    assert track.lanes[0].lines["p50"].value != ""
    assert set(shown()[9:]) == {""}, "the other lane has not begun"
    page.track.end_round(1, (VERDICT,))
    assert track.verdict.headline.text() == "1.62×"
    assert track.verdict.headline.minimumWidth() >= width > 0


def test_narrow_windows_have_lanes_below_each_other(page: RacePage, window: MainWindow, qtbot: QtBot) -> None:
    page.show_result(THREE_LANES)
    window.resize(1200, 800)
    qtbot.waitUntil(lambda: page.track._lane_box.direction() is QBoxLayout.Direction.LeftToRight)
    window.resize(660, 800)
    qtbot.waitUntil(lambda: page.track._lane_box.direction() is QBoxLayout.Direction.TopToBottom)
