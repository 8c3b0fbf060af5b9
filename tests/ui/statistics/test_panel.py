"""Tests the statistics: correct numbers, units, dashes for unknown values, explanations by mouse and keys."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import MIN_DRAFTED_PARAMETERS, EngineState, EngineView
from app.core.domain.messages import MessageState, MessageView
from app.core.domain.sums import PairSums, Sums
from engine.records import MemoryUse, Mode, RunStats, Source
from tests.ui.conftest import NO_DRAFT, READY, STATS, model
from ui.statistics.panel import ALL, NOW, StatsPanel
from ui.statistics.plots import DEPTHS
from ui.text.formatting import UNKNOWN
from ui.theme.theme import Theme
from ui.widgets.metrics import MetricWidget
from ui.window.main_window import MainWindow

ROWS = (
    PairSums(
        "big-Q4_K_M",
        "small",
        "auto",
        Sums(3, replace(STATS, plain_ms=None, interval_counts={236: 96, 300: 4}), 15.0, 9.0, 0.0, STATS.tokens),
    ),
    PairSums("big-Q4_K_M", "", "off", Sums(2, RunStats(tokens=50, passes=50, decode_s=5.0))),
    PairSums("other", "", "psychic", Sums(1, RunStats(tokens=7, passes=7, decode_s=7.0))),
)
MEASURED = MemoryUse(4_000_000, 2_000_000, 500_000)


@pytest.fixture
def panel(theme: Theme, qtbot: QtBot) -> StatsPanel:
    result = StatsPanel(theme)
    qtbot.addWidget(result)
    result.resize(272, 900)
    return result


@pytest.fixture
def shown(panel: StatsPanel, qtbot: QtBot) -> StatsPanel:
    panel.end(STATS)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    qtbot.waitUntil(panel.isActiveWindow, timeout=30_000)
    return panel


def test_figures_of_an_answer(panel: StatsPanel) -> None:
    panel.now.show_stats(STATS)
    page = panel.now
    assert page.speed.now.value == "41.2 tok/s"
    assert page.per_pass.value == "2.71"
    assert page.acceptance.rate.value == "68% of 210"
    shown = {key: row.value for key, row in page.rows.items()}
    assert (shown["passes"], shown["first"], shown["p50"], shown["p95"]) == ("143", "213 ms", "22.1 ms", "61.4 ms")
    assert page.acceptance.by_depth.description == "position 1: 91%, position 2: 31%"
    assert page.sources[Source.RECOVERED].value == "200"


def named(panel: StatsPanel) -> set[Source]:
    return {source for source, row in panel.now.sources.items() if not row.isHidden()}


def test_only_sources_that_are_offered_or_gave_tokens_have_a_row(panel: StatsPanel) -> None:
    always = {Source.NGRAM, Source.RECOVERED, Source.BONUS, Source.TARGET}
    panel.end(RunStats(tokens=3, passes=3, provenance={Source.TARGET: 3, Source.HEAD: 0}))
    for view, offered in (
        (NO_DRAFT, always),
        (READY, always | {Source.DRAFT}),
        (replace(READY, draft=model("head", head_method="EAGLE-3")), always | {Source.HEAD}),
        (replace(NO_DRAFT, unavailable={}, own_head=model(head_method="MTP")), always | {Source.HEAD}),
        (replace(NO_DRAFT, unavailable=dict.fromkeys(set(Mode) - {Mode.OFF}, "Plain.")), {Source.TARGET}),
    ):
        panel.now.set_engine(view)
        assert named(panel) == offered
    panel.now.set_engine(NO_DRAFT)
    panel.end(replace(STATS, provenance={Source.HEAD: 4, Source.TARGET: 1}))
    assert named(panel) == always | {Source.HEAD}, "it gave tokens, though it is not loaded any more"
    assert panel.now.origin.description == "Head 80%, Target 20%"


def test_gain(panel: StatsPanel) -> None:
    panel.now.show_stats(replace(STATS, plain_ms=39.3))
    speed = panel.now.speed
    assert speed.headline.value == "1.62\N{MULTIPLICATION SIGN} faster"
    assert (speed.now.value, speed.plain.value) == ("41.2 tok/s", "25.4 tok/s")
    assert (speed.now.share, speed.plain.share) == (1.0, pytest.approx(1 / 1.62, rel=0.01))


def test_memory_is_as_reported(panel: StatsPanel) -> None:
    memory = panel.now.memory
    panel.now.set_engine(EngineView(EngineState.READY, model(memory=MEASURED), model(memory=MEASURED)))
    assert [memory[key].value for key in memory] == ["6.50 MB", "6.50 MB"]
    assert "As llama.cpp reported it" in memory["target_memory"].accessibleDescription()
    panel.now.set_engine(EngineView(EngineState.READY, model(memory=MEASURED)))
    assert memory["draft_memory"].value == "-"
    panel.now.set_engine(EngineView())
    assert {line.value for line in memory.values()} == {"-"}


def test_nothing_known_is_a_dash_not_a_zero(panel: StatsPanel) -> None:
    panel.now.show_stats(RunStats())
    values = [each.accessibleName().rsplit(": ", 1)[1] for each in panel.now.figures if hasattr(each, "value")]
    assert len(values) >= 15
    assert set(values) == {"-"}
    panel.show_all(())
    values = [
        each.accessibleName().rsplit(": ", 1)[1]
        for each in panel.all.findChildren(MetricWidget)
        if hasattr(each, "value")
    ]
    assert set(values) == {"-"}


def test_without_an_answer_one_sentence_stands_in_place_of_the_figures(shown: StatsPanel) -> None:
    page = shown.now
    assert not page.empty.isVisible()
    shown.clear()
    assert page.empty.isVisible()
    assert "No answer yet." in page.empty.text()
    assert page.figures == []
    shown.now.set_engine(EngineView(EngineState.READY, model(memory=MEASURED)))
    figures = page.figures
    assert figures == list(page.memory.values())
    assert page.empty.isVisible()
    assert [each for each in figures if each.focusPolicy() is Qt.FocusPolicy.StrongFocus] == figures[:1]
    shown.now.begin()
    assert page.speed.headline.isVisible()
    assert page.acceptance.by_depth.isVisible()
    assert not page.empty.isVisible()
    assert page.speed.headline.focusPolicy() is Qt.FocusPolicy.StrongFocus


def test_an_answer_in_which_nothing_was_drafted_says_why(shown: StatsPanel) -> None:
    page = shown.now
    plain = RunStats(tokens=5, passes=5, decode_s=1.0, decisions=("drafting is off",))
    shown.now.begin()
    shown.now.show_stats(plain)
    assert page.acceptance.by_depth.isVisible()  # nothing moves during an answer
    shown.end(plain)
    assert not page.acceptance.rate.isVisible()
    assert not page.acceptance.by_depth.isVisible()
    assert page.not_drafted.text().startswith("No tokens were proposed")
    assert page.not_drafted.text().endswith("Drafting is off.")
    shown.end(STATS)
    assert not page.not_drafted.isVisible()


def test_where_nothing_was_drafted_for_want_of_a_draft_one_can_be_found(shown: StatsPanel, qtbot: QtBot) -> None:
    page, plain = shown.now, RunStats(tokens=5, passes=5, decode_s=1.0)
    assert NO_DRAFT.target is not None
    shown.now.set_engine(NO_DRAFT)
    shown.end(plain)
    assert not page.find_draft_button.isVisible(), "none pays for so small a model"
    shown.now.set_engine(replace(NO_DRAFT, target=replace(NO_DRAFT.target, num_params=MIN_DRAFTED_PARAMETERS)))
    shown.end(STATS)
    assert not page.find_draft_button.isVisible()
    shown.end(plain)
    with qtbot.waitSignal(page.find_draft):
        qtbot.mouseClick(page.find_draft_button, Qt.MouseButton.LeftButton)
    shown.now.set_engine(READY)
    assert not page.find_draft_button.isVisible()


@pytest.mark.parametrize(
    ("plain_ms", "words", "is_gain"),
    [
        (39.3, "1.62\N{MULTIPLICATION SIGN} faster", True),
        (24.28, "About the same speed", False),
        (25.3, "About the same speed", False),  # 1.04: may be chance
        (23.2, "About the same speed", False),
        (16.19, "1.50\N{MULTIPLICATION SIGN} slower", False),
        (None, "41.2 tok/s", False),
    ],
)
def test_the_headline_says_in_words_what_drafting_gained(
    shown: StatsPanel, theme: Theme, plain_ms: float | None, words: str, is_gain: bool
) -> None:
    shown.end(replace(STATS, plain_ms=plain_ms))
    headline = shown.now.speed.headline
    assert headline.value == words
    assert headline.accessibleName() == f"Speed: {words}"
    image = headline.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert (theme.tokens.accent_text in colours) is is_gain
    assert (shown.now.speed.plain.value == UNKNOWN) is (plain_ms is None)
    assert shown.now.speed.plain.isVisible()


@pytest.mark.parametrize("key", [NOW, ALL])
def test_every_figure_explains_itself_in_a_sentence(panel: StatsPanel, key: str) -> None:
    panel.show_all(ROWS)
    figures = (panel.now if key == NOW else panel.all).findChildren(MetricWidget)
    assert len(figures) > 15
    for each in figures:
        assert each.toolTip().endswith("."), each.name
        assert each.accessibleDescription().endswith("."), each.name
        assert each.accessibleName()


def test_live_then_last_answer(window: MainWindow) -> None:
    window.begin_answer(MessageView(1, "assistant", "", MessageState.STREAMING))
    assert "live" in window.stats.now.state.text()
    window.stats.now.show_stats(STATS)
    window.finish_answer(MessageView(1, "assistant", "x", stats=STATS))
    assert window.stats.now.state.text() == "last answer"
    assert window.stats.accessibleDescription() == (
        "Statistics of this answer. 41.2 tokens per second, 2.71 tokens per pass, 68% of 210 drafted tokens accepted."
    )


def test_the_lines_of_acceptance_are_parts_of_the_sum_above_them(panel: StatsPanel) -> None:
    """Drafts of 32 tokens, accepted up to the 20th: no line may show 100% for all greater depths."""
    stats = RunStats(
        tokens=84,
        passes=4,
        proposed=128,
        accepted=80,
        proposed_by_depth=(4,) * 32,
        accepted_by_depth=(4,) * 20 + (0,) * 12,
    )
    panel.now.show_stats(stats)
    assert panel.now.acceptance.by_depth.description.endswith("position 9–16: 100%, position 17–32: 25%")
    shares = [stats.acceptance_from(*depths) for depths in DEPTHS]
    weights = [last - first + 1 for first, last in DEPTHS]
    assert sum(s * w for s, w in zip(shares, weights, strict=True) if s) / 32 == stats.acceptance_rate


def test_the_newest_reason_is_shown_and_the_earlier_ones_on_hover(panel: StatsPanel) -> None:
    assert panel.now.why.text() == "-"
    panel.now.show_stats(
        RunStats(
            decisions=("auto: drafts when it saves time here", "draft paused: 31% of its first tokens are accepted")
        )
    )
    assert panel.now.why.text() == "Draft paused: 31% of its first tokens are accepted."
    assert "Auto: drafts when it saves time here." in panel.now.why.toolTip()


class _Layouts(QObject):
    """Counts layout requests."""

    def __init__(self) -> None:
        super().__init__()
        self.num = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.num += event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize)
        return False


def test_a_live_update_arranges_nothing_anew(shown: StatsPanel, qtbot: QtBot) -> None:
    shown.now.begin()
    shown.now.show_stats(replace(STATS, tokens=10, passes=5))
    QApplication.processEvents()
    layouts = _Layouts()
    shown.now.content.installEventFilter(layouts)
    shown.installEventFilter(layouts)
    for number in range(2, 40):
        shown.now.show_stats(
            replace(
                STATS,
                tokens=STATS.tokens * number,
                passes=5 * number,
                inter_token_ms_p95=9.0 * number,
                proposed=210 * number,
            )
        )
        QApplication.processEvents()
    qtbot.waitUntil(lambda: shown.now.rows["passes"].value == "195", timeout=30_000)
    qtbot.waitUntil(lambda: shown.now.is_filled, timeout=30_000)
    assert layouts.num == 0


# ---- pages --------------------------------------------------------------------------------------------------------


def test_pages_by_mouse_and_by_arrows(shown: StatsPanel, qtbot: QtBot) -> None:
    with qtbot.waitSignal(shown.totals_requested, timeout=30_000):
        qtbot.mouseClick(shown.switch.buttons[ALL], Qt.MouseButton.LeftButton)
    assert shown.page == ALL
    shown.switch.buttons[ALL].setFocus()
    qtbot.keyClick(shown.switch.buttons[ALL], Qt.Key.Key_Right)
    assert shown.page == ALL
    qtbot.keyClick(shown.switch.buttons[ALL], Qt.Key.Key_Left)
    assert shown.page == NOW


def test_sums_of_all_time(shown: StatsPanel) -> None:
    shown.show_page(ALL)
    assert shown.all.empty.isVisible()
    shown.show_all(ROWS)
    page = shown.all
    assert not page.empty.isVisible()
    assert (page.answers.value, page.speedup.value) == ("6", "1.67\N{MULTIPLICATION SIGN}")
    assert page.lines["saved"].value == "6.00 s"
    lines = {key: (line.name, line.value) for key, line in page.pair_lines.items()}
    assert lines["big-Q4_K_M", "small", "auto"] == ("Auto", "41.2 tok/s · 1.67\N{MULTIPLICATION SIGN}")
    assert lines["big-Q4_K_M", "", "off"] == ("Off", "10.0 tok/s")
    assert lines["other", "", "psychic"] == ("psychic", "1.00 tok/s")
    assert "All time" not in shown.accessibleDescription()
    (row, *_), sums = ROWS, ROWS[0].sums
    shown.show_all([replace(row, sums=replace(sums, plain_s=3.0))])
    assert "41.2 tokens per second, 0.33" in shown.accessibleDescription()
    assert list(page.pair_lines) == [("big-Q4_K_M", "small", "auto")]
    assert page.lines["saved"].value == "\N{MINUS SIGN}6.00 s"
    shown.show_all([replace(row, sums=replace(sums, stats=replace(sums.stats, accepted=0)))])
    assert page.speedup.value == UNKNOWN


def test_arrows_go_through_the_figures_and_say_what_they_mean(shown: StatsPanel, qtbot: QtBot) -> None:
    first, second = shown.now.figures[:2]
    assert first is shown.now.speed.headline
    assert first.focusPolicy() is Qt.FocusPolicy.StrongFocus
    first.setFocus(Qt.FocusReason.TabFocusReason)
    plain = second.grab().toImage()
    qtbot.keyClick(first, Qt.Key.Key_Down)
    assert second.hasFocus()
    assert second.grab().toImage() != plain
    assert (first.focusPolicy(), second.focusPolicy()) == (Qt.FocusPolicy.ClickFocus, Qt.FocusPolicy.StrongFocus)
    qtbot.keyClick(second, Qt.Key.Key_End)
    last = shown.now.figures[-1]
    assert last.hasFocus()
    assert last is shown.now.memory["draft_memory"]
    qtbot.keyClick(last, Qt.Key.Key_Home)
    qtbot.keyClick(first, Qt.Key.Key_Up)
    assert first.hasFocus()


def test_what_an_engine_of_others_does_not_tell_has_no_rows(panel: StatsPanel) -> None:
    page = panel.now
    target = replace(READY.target, engine_url="http://192.168.1.5:8000", memory=None)  # type: ignore[type-var]
    panel.now.set_engine(replace(READY, target=target, draft=None))
    panel.now.begin()
    panel.end(RunStats(tokens=10, passes=8, decode_s=1.0))
    assert page.per_pass.isVisibleTo(page)
    assert not page.origin.isVisibleTo(page)
    assert not page.why.isVisibleTo(page)
    panel.now.set_engine(READY)
    assert not page.origin.isVisibleTo(page), "the answer is the engine's all the same"
    panel.now.begin()
    assert page.origin.isVisibleTo(page)
    panel.end(STATS)
    assert page.origin.isVisibleTo(page)


def test_a_reset_is_asked_for_and_can_be_declined(shown: StatsPanel, qtbot: QtBot) -> None:
    resets: list[bool] = []
    shown.reset_requested.connect(lambda: resets.append(True))
    assert not shown.reset_button.isVisible()
    shown.show_page(ALL)
    shown.show_all(ROWS)
    for label, wanted in (("Cancel", []), ("Reset", [True])):
        qtbot.mouseClick(shown.reset_button, Qt.MouseButton.LeftButton)
        buttons = shown.window().findChildren(QPushButton)
        (action,) = [each for each in buttons if each.text() == label and each.isVisible()]
        qtbot.mouseClick(action, Qt.MouseButton.LeftButton)
        assert resets == wanted
    shown.show_all(())
    assert not shown.reset_button.isEnabled()
