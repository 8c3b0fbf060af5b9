"""The figures: right numbers, units, dashes for what is unknown, and words for screen readers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from engine.records import RunStats, Source
from tests.ui.conftest import STATS
from ui.main_window import MainWindow
from ui.records import MessageState, MessageView
from ui.stats_panel import StatsPanel
from ui.theme import Theme


@pytest.fixture
def panel(theme: Theme, qtbot: QtBot) -> StatsPanel:
    result = StatsPanel(theme)
    qtbot.addWidget(result)
    return result


def test_figures_of_an_answer(panel: StatsPanel) -> None:
    panel.show_stats(STATS)
    assert panel.speed.value_label.text() == "41.2"
    assert panel.per_pass.value_label.text() == "2.71"
    assert panel.accepted.value_label.text() == "68 % of 210"
    shown = {key: row.value_label.text() for key, row in panel.rows.items()}
    assert shown["passes"] == "143"
    assert shown["first"] == "213 ms"
    assert shown["p50"] == "22.1 ms"
    assert shown["p95"] == "61.4 ms"
    assert panel.by_depth.accessibleDescription() == "depth 1: 91 %, depth 2: 31 %"
    assert panel.sources[Source.RECOVERED].value_label.text() == "200"


def test_gain_and_lengths(panel: StatsPanel) -> None:
    panel.show_stats(replace(STATS, plain_ms=39.3))
    assert panel.speedup.value_label.text() == "1.62\N{MULTIPLICATION SIGN}"
    assert panel.lengths.counts == (12, 93, 25)
    assert panel.lengths.accessibleDescription() == "0 kept: 12 passes, 1 kept: 93 passes, 2 kept: 25 passes"
    panel.lengths.set_counts([1] * 33)
    assert len(panel.lengths.counts) == panel.lengths.MOST_COLUMNS
    assert sum(panel.lengths.counts) == 33


def test_the_split_adds_up(panel: StatsPanel) -> None:
    panel.show_stats(STATS)
    shown = [line.value_label.text() for line in panel.split_parts.values()]
    assert shown == ["18 %", "79 %", "1 %", "2 %"]
    assert "Verify 79 %" in panel.split.accessibleDescription()


def test_nothing_known_is_a_dash_not_a_zero(panel: StatsPanel) -> None:
    panel.show_stats(RunStats())
    values = [label.text() for label in panel.findChildren(QLabel) if label.accessibleName().count(": ")]
    assert len(values) >= 18
    assert set(values) == {"-"}


def test_the_sparkline_shows_what_each_update_gained(panel: StatsPanel) -> None:
    panel.begin()
    panel.show_stats(replace(STATS, tokens=10, passes=5))
    panel.show_stats(replace(STATS, tokens=40, passes=15))
    panel.show_stats(replace(STATS, tokens=40, passes=15))
    assert panel.spark.values == [2.0, 3.0]
    panel.begin()
    assert panel.spark.values == []


def test_every_figure_explains_itself(panel: StatsPanel) -> None:
    figures = [
        panel.speed,
        panel.speedup,
        panel.per_pass,
        panel.accepted,
        *panel.rows.values(),
        *panel.sources.values(),
    ]
    plots = [panel.spark, panel.by_depth, panel.lengths, panel.split, panel.origin]
    for widget in [*figures, *panel.split_parts.values(), *plots]:
        assert widget.toolTip().endswith(".")


def test_large_figures_keep_their_unit_in_sight(panel: StatsPanel) -> None:
    assert panel.speed.name_label.text() == "tok/s"
    assert panel.per_pass.name_label.text() == "tokens per pass"


def test_live_then_last_answer(window: MainWindow) -> None:
    window.begin_answer(MessageView(1, "assistant", "", MessageState.STREAMING))
    assert "live" in window.stats.state.text()
    window.show_stats(STATS)
    assert window.composer.context_label.text() == "Context 1,204 / 4,096"
    window.finish_answer(MessageView(1, "assistant", "x", stats=STATS))
    assert window.stats.state.text() == "last answer"


def test_plots_paint_what_they_hold(panel: StatsPanel, theme: Theme) -> None:
    panel.resize(272, 800)
    empty = panel.by_depth.grab().toImage()
    panel.show_stats(STATS)
    panel.show_stats(replace(STATS, tokens=500, passes=170))
    for plot in (panel.by_depth, panel.split, panel.origin, panel.spark):
        plot.resize(240, plot.height())
    assert panel.by_depth.grab().toImage() != empty
    image = panel.split.grab().toImage()
    colours = {image.pixelColor(x, image.height() // 2).name() for x in range(image.width())}
    assert {theme.tokens.draft, theme.tokens.verify} <= colours


def test_many_depths_are_shown_by_some_that_stand_for_all(panel: StatsPanel) -> None:
    panel.show_stats(RunStats(tokens=24, passes=1, proposed_by_depth=(10,) * 24, accepted_by_depth=(9,) * 24))
    words = panel.by_depth.accessibleDescription().split(", ")
    assert [word.split(":")[0] for word in words] == [f"depth {n}" for n in (1, 2, 3, 4, 6, 8, 16)]


def test_the_newest_reason_is_shown_and_the_earlier_ones_on_hover(panel: StatsPanel) -> None:
    assert panel.why.text() == "-"
    panel.show_stats(RunStats(decisions=("auto, paced by measured costs", "draft paused: 31% accepted at depth 1")))
    assert panel.why.text() == "Draft paused: 31% accepted at depth 1."
    assert "Auto, paced by measured costs." in panel.why.toolTip()


def test_a_depth_more_pushes_the_rest_down_at_once(panel: StatsPanel) -> None:
    panel.resize(260, 900)
    panel.show()
    panel.show_stats(RunStats(tokens=2, passes=1, proposed_by_depth=(1,) * 7, accepted_by_depth=(1,) * 7))
    below = panel.rows["tokens"]
    assert below.y() >= panel.by_depth.y() + panel.by_depth.height()
