"""A lane of a race: its statistics, its progress, and its answer with the tokens marked by source."""

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from app.core.domain.speed.races import LaneChoice, LaneResult
from engine.records import RunStats, Source, TokenSpan
from ui.race.words import lane_name
from ui.statistics.words import statistic_help, statistic_name
from ui.text.formatting import UNKNOWN, acceptance, decimal_text, duration, milliseconds, per_pass, times_plain
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.page_growth import run_layouts
from ui.transcript.cards.text_part import TextPart
from ui.transcript.marks.provenance import SourceRuns
from ui.transcript.selection import SelectableArea, TranscriptSelection
from ui.widgets.building import ElidedLabel, Stretch, hbox, label, vbox
from ui.widgets.metrics import BarMetric, LargeMetric, LineMetric

tr = Translator("Race")

TEXT_MARGIN_PX = 14
MIN_TEXT_PX = 120  # minimum height
LINE_ORDER = ("per_pass", "accepted", "rollback", "p50", "p95", "drafting")
LINES = {  # the others are those of the statistics
    "per_pass": (
        tr.mark("Tokens per pass"),
        tr.mark("Tokens per pass of the target. Without drafting it is exactly 1."),
    ),
    "rollback": (
        tr.mark("Lost to rollback"),
        tr.mark("Time that dropping rejected tokens took, with the bookkeeping after a pass."),
    ),
    "drafting": (tr.mark("Drafting"), tr.mark("Time that proposing tokens took.")),
}


class LaneTextView(SelectableArea, QScrollArea):
    """A lane's answer. It stays scrolled to the end while it grows, unless the user scrolled up."""

    message_id, role, shows_reasoning = 0, "assistant", True

    def __init__(self, theme: Theme, name: str) -> None:
        super().__init__()
        self._theme = theme
        self.text, self._runs, self._wanted = "", SourceRuns(), frozenset[Source]()
        self._follows = True
        self.body = AnswerBody(theme, self)
        self.selection = TranscriptSelection(theme, self, lambda: [self])
        self.setAccessibleName(tr("Answer of the lane {name}").format(name=name))
        inner = QWidget()
        inner.setObjectName("laneText")
        vbox(self.body, Stretch(), parent=inner, margins=(TEXT_MARGIN_PX, 8, TEXT_MARGIN_PX, 12))
        self.setWidget(inner)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setMinimumHeight(MIN_TEXT_PX)
        self.verticalScrollBar().rangeChanged.connect(self._on_range)
        self.verticalScrollBar().actionTriggered.connect(lambda _action: QTimer.singleShot(0, self, self._set_follows))

    @property
    def raw_text(self) -> str:
        return self.text

    @property
    def parts(self) -> Sequence[TextPart]:
        return self.body.parts

    def set_wholly_selected(self, *, selected: bool) -> None:
        """Do nothing: a lane has only text parts, which are highlighted already."""

    def clear(self) -> None:
        self.selection.clear()
        self.text, self._runs, self._follows = "", SourceRuns(), True
        self.body.restart()
        self.body.mark_new_tokens(self.text, self._runs, self._wanted)
        self.body.grow_in = self._grow

    def append(self, text: str, spans: Iterable[TokenSpan]) -> None:
        self.text += text
        self._runs.extend(spans)
        self.body.mark_new_tokens(self.text, self._runs, self._wanted)
        self.body.append(text)
        if self._wanted:
            self.body.mark(self.text, self._runs, self._wanted, afresh=False)
        self.selection.refresh()
        run_layouts()

    @staticmethod
    def _grow(_body: QWidget, change: Callable[[], None]) -> None:
        change()
        run_layouts()

    def finish(self) -> None:
        self.body.finish()
        if self._wanted:
            self.body.mark(self.text, self._runs, self._wanted)
        run_layouts()

    def set_text(self, text: str, spans: Iterable[TokenSpan]) -> None:
        self.clear()
        self._follows = False
        self.text = text
        self._runs.extend(spans)
        self.body.set_text(text)
        self.body.mark(self.text, self._runs, self._wanted)

    def mark_sources(self, wanted: frozenset[Source]) -> None:
        self._wanted = wanted
        self.body.mark(self.text, self._runs, wanted)

    def _on_range(self, _least: int, most: int) -> None:
        if self._follows:
            self.verticalScrollBar().setValue(most)

    def _set_follows(self) -> None:
        bar = self.verticalScrollBar()
        self._follows = bar.value() >= bar.maximum()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        self._set_follows()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell the body its width before it lays out new widgets."""
        super().resizeEvent(event)
        self.body.expect_width(max(self.viewport().width() - 2 * TEXT_MARGIN_PX, 40))


class LaneCard(QFrame):
    """A lane: name, statistics, progress and answer. The values of a round stay until the next round has values."""

    def __init__(self, theme: Theme, choice: LaneChoice, base_name: str) -> None:
        """``base_name``: the lane that this one is compared with; empty for the baseline itself."""
        super().__init__()
        self.choice = choice
        self._theme = theme
        self.stats = RunStats()
        self.setObjectName("card")
        name = lane_name(choice)
        self.setAccessibleName(tr("Lane {name}").format(name=name))
        self.name_label = ElidedLabel(name, "heading")
        self.state_label = label("", "caption")
        self.speed = LargeMetric(
            theme, tr("tok/s"), tr("Tokens per second of this lane's own time, without reading the prompt.")
        )
        self.ratio = LargeMetric(
            theme,
            tr("the speed of {base}").format(base=base_name) if base_name else tr("reference"),
            tr("Speed relative to the reference lane."),
        )
        texts = {key: (tr(title), tr(words)) for key, (title, words) in LINES.items()}
        texts |= {key: (statistic_name(key), statistic_help(key)) for key in ("accepted", "p50", "p95")}
        self.lines = {key: LineMetric(theme, *texts[key]) for key in LINE_ORDER}
        about = tr(
            "Tokens written so far, and the seconds that this lane has computed. Lanes take turns, so the clock "
            "of a lane stands still while another one computes."
        )
        self.bar = BarMetric(theme, tr("Progress"), about, "accent" if base_name else "rest")
        self.text = LaneTextView(theme, name)
        theme.set_font(self.state_label, -1)
        top = hbox((self.name_label, 1), self.state_label, margins=(6, 0, 6, 0))
        large = hbox((self.speed, 1), (self.ratio, 1))
        column = vbox(top, large, self.bar, vbox(*self.lines.values(), spacing=2), margins=(10, 12, 10, 8), spacing=8)
        rule = QFrame()
        rule.setObjectName("rule")
        vbox(column, rule, (self.text, 1), parent=self, margins=1, spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def reset(self) -> None:
        """Clear everything before a race."""
        self.stats = RunStats()
        for each in (self.speed, self.ratio, *self.lines.values()):
            each.set_value("")

    def begin_round(self) -> None:
        """Called when the lane reads the question; the previous answer stays until a new one begins."""
        self.state_label.setText(tr("reading the question"))
        self._show_bar(RunStats(), 0.0)

    def _show_bar(self, stats: RunStats, share: float) -> None:
        self.bar.show_share(duration(stats.decode_s), share, tr("%n tokens", None, stats.tokens))

    def begin_text(self) -> None:
        self.text.clear()
        self.state_label.setText(tr("writing"))

    def show_progress(self, stats: RunStats, max_tokens: int, *, finished: bool) -> None:
        if finished or stats.inter_token_ms_p50 is not None:  # most values are unknown after one pass
            self._show_stats(stats)
        self._show_bar(stats, 1.0 if finished else stats.tokens / max_tokens)
        if finished:
            self.text.finish()
            self.state_label.setText(tr("done in {time}").format(time=duration(stats.decode_s)))

    def show_ratio(self, ratio: float | None) -> None:
        self.ratio.set_value(UNKNOWN if ratio is None else times_plain(ratio))

    def show_result(self, result: LaneResult, num_rounds: int, longest: int) -> None:
        """Show the totals of all rounds and the last answer; ``longest`` tokens fill the bar."""
        stats = result.stats
        self._show_stats(stats)
        self._show_bar(stats, stats.tokens / max(longest, 1))
        self.state_label.setText(tr("over %n rounds", None, num_rounds) if num_rounds > 1 else tr("done"))
        if self.text.text != result.text:
            self.text.set_text(result.text, result.spans)

    def _show_stats(self, stats: RunStats) -> None:
        self.stats = stats
        self.speed.set_value(decimal_text(stats.tokens_per_second))
        values = {
            "per_pass": per_pass(stats.tokens_per_pass),
            "accepted": acceptance(stats),
            "rollback": duration(stats.rollback_s) if stats.proposed else UNKNOWN,
            "p50": milliseconds(stats.inter_token_ms_p50),
            "p95": milliseconds(stats.inter_token_ms_p95),
            "drafting": duration(stats.draft_s) if stats.proposed else UNKNOWN,
        }
        for key, value in values.items():
            self.lines[key].set_value(value)
