"""The last answers of each pair on the page of all time: plotted, told in words, with a hint where drafting loses."""

from __future__ import annotations

from pytestqt.qtbot import QtBot

from app.core.domain.speed.pair_speed import AnswerSpeed, PairSpeed, RaceSpeed
from app.core.domain.sums import PairSums, Sums
from engine.records import Mode, RunStats
from ui.statistics.plots import HistoryPlot
from ui.statistics.totals import RecentSpeed, TotalsPage
from ui.theme.theme import Theme


def answers(*speedups: float) -> tuple[AnswerSpeed, ...]:
    return tuple(AnswerSpeed(float(i), "auto", 0.8, 100, 1.0, each, 20, 5 + i) for i, each in enumerate(speedups))


def test_each_answer_is_a_point(theme: Theme, qtbot: QtBot) -> None:
    shown = RecentSpeed(theme, "T with D")
    qtbot.addWidget(shown)
    shown.show_speed(PairSpeed("T", "D", answers(1.2, 0.8, 1.5)))
    assert shown.speedup.values == (1.2, 0.8, 1.5)
    assert shown.acceptance.values == (0.25, 0.3, 0.35)
    assert "highest 1.5" in shown.speedup.description
    assert "1 answer slower" in shown.speedup.description
    assert "35%" in shown.acceptance.description
    assert shown.hint.isHidden()
    assert "over the last 3 answers" in shown.measured.text()


def test_a_pair_that_loses_has_a_hint(theme: Theme, qtbot: QtBot) -> None:
    shown = RecentSpeed(theme, "T with D")
    qtbot.addWidget(shown)
    shown.show_speed(PairSpeed("T", "D", answers(*[0.9] * 6)))
    assert not shown.hint.isHidden()
    assert "smaller draft" in shown.hint.text()


def test_one_answer_makes_no_line_but_a_race_is_reported(theme: Theme, qtbot: QtBot) -> None:
    shown = RecentSpeed(theme, "T with D")
    qtbot.addWidget(shown)
    shown.show_speed(PairSpeed("T", "D", answers(1.2), (RaceSpeed(1.0, "auto", 0.0, 1.62, 1.48, 1.77, 4),)))
    assert all(plot.isHidden() for plot in shown.plots)
    assert "1.62× plain decoding in a race" in shown.measured.text()


def test_the_plot_marks_what_plain_decoding_is(theme: Theme, qtbot: QtBot) -> None:
    plot = HistoryPlot(theme, "Speed-up", "", mark=1.0)
    qtbot.addWidget(plot)
    plot.resize(200, plot.height())
    empty = plot.grab().toImage()
    plot.set_values((1.5, 1.5))
    high = plot.grab().toImage()
    plot.set_values((0.5, 0.5))
    low = plot.grab().toImage()
    assert len({bytes(picture.constBits()) for picture in (empty, high, low)}) == 3


def test_pairs_of_which_answers_are_kept_have_plots(theme: Theme, qtbot: QtBot) -> None:
    page = TotalsPage(theme, "All", "Nothing")
    qtbot.addWidget(page)
    rows = tuple(
        PairSums(target, draft, "auto", Sums(1, RunStats(mode=Mode.AUTO, tokens=10, passes=5, decode_s=1.0)))
        for target, draft in (("T", "D"), ("U", ""))
    )
    page.show_rows(rows, Sums(), {("T", "D"): PairSpeed("T", "D", answers(1.2, 1.4)), ("X", ""): PairSpeed("X", "")})
    assert list(page.recent) == [("T", "D")]
    assert page.recent["T", "D"].speedup.values == (1.2, 1.4)
    page.show_rows(rows, Sums(), {("U", ""): PairSpeed("U", "", answers(1.1, 1.3))})
    assert list(page.recent) == [("U", "")]
    page.show_rows(rows, Sums())
    assert page.recent == {}
