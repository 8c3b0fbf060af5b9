"""A lane of a race: its statistics, its progress, and its answer with the tokens marked by source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QScrollArea, QSizePolicy, QWidget

from app.core.domain.speed.races import LaneChoice, LaneResult
from engine.records import RunStats, Source, TokenSpan
from ui.race.words import lane_name
from ui.text.formatting import UNKNOWN, acceptance, count, decimal_text, duration, milliseconds, per_pass, times_plain
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.transcript.area import MessageArea
from ui.transcript.cards.body import AnswerBody
from ui.transcript.cards.text_part import TextPart
from ui.transcript.marks.provenance import SourceRuns
from ui.transcript.selection import SelectableArea, TranscriptSelection
from ui.widgets.building import ElidedLabel, Stretch, hbox, label, vbox
from ui.widgets.figures import FigureWidget, LargeFigure, LineFigure, paint_bar

tr = Translator("Race")

TEXT_MARGIN_PX = 14
MIN_TEXT_PX = 120  # minimum height
LINE_MARGIN_PX = 100  # width of a row without its name: the number and margins
LINES = {
    "per_pass": (
        tr.mark("Tokens per pass"),
        tr.mark("Tokens per pass of the target. Without drafting it is exactly 1."),
    ),
    "accepted": (
        tr.mark("Accepted"),
        tr.mark("Share of the drafted tokens that the target accepted, and how many were drafted."),
    ),
    "rollback": (
        tr.mark("Lost to rollback"),
        tr.mark("Time that dropping rejected tokens took, with the bookkeeping after a pass."),
    ),
    "p50": (tr.mark("Between tokens, p50"), tr.mark("Half of the tokens came faster than this.")),
    "p95": (tr.mark("Between tokens, p95"), tr.mark("19 of 20 tokens came faster than this.")),
    "drafting": (tr.mark("Drafting"), tr.mark("Time that proposing tokens took.")),
}
BAR_PX, GAP_PX = 8, 6
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class LaneBar(FigureWidget):
    """Progress of a lane. ``share``: the filled fraction of the bar."""

    def __init__(self, theme: Theme) -> None:
        self._tokens, self._seconds, self._is_base = 0, 0.0, False
        self.share = 0.0
        super().__init__(
            theme,
            tr("Progress"),
            tr(
                "Tokens written so far, and the seconds that this lane has computed. Lanes take turns, so the clock "
                "of a lane stands still while another one computes."
            ),
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.fit()

    def fit(self) -> None:
        self.setFixedHeight(round(self.theme.paint_cache.metrics(-1).height()) + GAP_PX + BAR_PX + 2)
        self.update()

    def set_base(self, is_base: bool) -> None:
        self._is_base = is_base
        self.update()

    def show_progress(self, tokens: int, seconds: float, share: float) -> None:
        new = (tokens, seconds, min(max(share, 0.0), 1.0))
        if new != (self._tokens, self._seconds, self.share):
            self._tokens, self._seconds, self.share = new
            self.setAccessibleName(f"{self.name}: {self.words_left}, {self.words_right}")
            self.update()

    @property
    def words_left(self) -> str:
        return tr("%n tokens", None, self._tokens)

    @property
    def words_right(self) -> str:
        return duration(self._seconds) if self._seconds > 0.0 else count(0) + " s"

    def sizeHint(self) -> QSize:
        return QSize(200, self.minimumHeight())

    def minimumSizeHint(self) -> QSize:
        return QSize(80, self.minimumHeight())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter, tokens = QPainter(self), self.theme.tokens
        painter.setFont(self.theme.paint_cache.font(-1))
        painter.setPen(self.theme.paint_cache.color(tokens.text_muted))
        line = QRectF(6, 0, self.width() - 12, self.height() - BAR_PX - GAP_PX)
        painter.drawText(line, _LEFT, self.words_left)
        painter.drawText(line, _RIGHT, self.words_right)
        track = QRectF(6, self.height() - BAR_PX - 2, self.width() - 12, BAR_PX)
        paint_bar(
            painter, track, self.share, QColor(tokens.hover), QColor(tokens.rest if self._is_base else tokens.accent)
        )
        self.paint_focus_ring(painter)


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
        self.body.reset()
        self.body.grow_in = self._grow

    def append(self, text: str, spans: Iterable[TokenSpan]) -> None:
        self.text += text
        self._runs.extend(spans)
        self.body.mark_growing(self.text, self._runs, self._wanted)
        self.body.append(text)
        if self._wanted:
            self.body.mark(self.text, self._runs, self._wanted, afresh=False)
        self.selection.refresh()
        MessageArea.lay_out()

    @staticmethod
    def _grow(_body: QWidget, change: Callable[[], None]) -> None:
        change()
        MessageArea.lay_out()

    def finish(self) -> None:
        self.body.finish()
        if self._wanted:
            self.body.mark(self.text, self._runs, self._wanted)
        MessageArea.lay_out()

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
        self._scale, self.num_tokens = 1, 0
        self._reported = (0, 0.0)
        self.stats = RunStats()
        self.setObjectName("card")
        name = lane_name(choice)
        self.setAccessibleName(tr("Lane {name}").format(name=name))
        self.name_label = ElidedLabel(name, "heading")
        self.state_label = label("", "caption")
        self.speed = LargeFigure(
            theme, tr("tok/s"), tr("Tokens per second of this lane's own time, without reading the prompt.")
        )
        self.ratio = LargeFigure(
            theme,
            tr("the speed of {base}").format(base=base_name) if base_name else tr("reference"),
            tr("Speed relative to the reference lane."),
        )
        self.lines = {key: LineFigure(theme, tr(title), tr(words)) for key, (title, words) in LINES.items()}
        self.bar = LaneBar(theme)
        self.bar.set_base(not base_name)
        self.text = LaneTextView(theme, name)
        self._grid = QGridLayout()
        self._num_columns = 0
        self._arrange()
        theme.set_font(self.state_label, -1)

    def _arrange(self) -> None:
        top = hbox((self.name_label, 1), self.state_label, margins=(6, 0, 6, 0))
        large = hbox((self.speed, 1), (self.ratio, 1))
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(2)
        self._place_lines(2)
        column = vbox(top, large, self.bar, self._grid, margins=(10, 12, 10, 8), spacing=8)
        self.rule = QFrame()
        self.rule.setObjectName("rule")
        vbox(column, self.rule, (self.text, 1), parent=self, margins=1, spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def _place_lines(self, num_columns: int) -> None:
        if num_columns == self._num_columns:
            return
        self._num_columns = num_columns
        lines = list(self.lines.values())
        per_column = -(-len(lines) // num_columns)
        for number, line in enumerate(lines):
            self._grid.addWidget(line, number % per_column, number // per_column)
        self._grid.setColumnStretch(1, 1 if num_columns == 2 else 0)
        self._grid.setColumnStretch(0, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        longest = max(self._theme.text_width(line.name, -1) for line in self.lines.values())
        self._place_lines(2 if event.size().width() >= 2 * (longest + LINE_MARGIN_PX) else 1)

    def wait(self) -> None:
        """Clear everything before a race."""
        self.stats = RunStats()
        for each in (self.speed, self.ratio, *self.lines.values()):
            each.set_value("")

    def begin_round(self) -> None:
        """Called when the lane reads the question; the previous answer stays until a new one begins."""
        self.num_tokens = 0
        self.state_label.setText(tr("reading the question"))
        self._show_bar(0, 0.0)

    def _show_bar(self, tokens: int, seconds: float) -> None:
        """Show ``tokens`` and ``seconds``. The bar's length follows the text, which arrives before the counters."""
        self._reported = tokens, seconds
        self.bar.show_progress(tokens, seconds, self.num_tokens / self._scale)

    def begin_text(self) -> None:
        self.text.clear()
        self.state_label.setText(tr("writing"))

    def append(self, text: str, spans: tuple[TokenSpan, ...], scale: int) -> None:
        self.num_tokens += len(spans)
        self._scale = scale
        self.text.append(text, spans)

    def show_progress(self, stats: RunStats, scale: int, *, finished: bool) -> None:
        self._scale = scale
        self.num_tokens = max(self.num_tokens, stats.tokens) if not finished else stats.tokens
        if finished or stats.inter_token_ms_p50 is not None:  # most values are unknown after one pass
            self._show_stats(stats)
        self._show_bar(stats.tokens, stats.decode_s)
        if finished:
            self.text.finish()
            self.state_label.setText(tr("done in {time}").format(time=duration(stats.decode_s)))

    def show_scale(self, scale: int) -> None:
        self._scale = scale
        self._show_bar(*self._reported)

    def show_ratio(self, ratio: float | None) -> None:
        self.ratio.set_value(UNKNOWN if ratio is None else times_plain(ratio))

    def show_result(self, result: LaneResult, num_rounds: int, scale: int) -> None:
        """Show the totals of all rounds and the last answer; ``scale`` tokens fill the bar."""
        stats = result.stats
        self._show_stats(stats)
        self.num_tokens, self._scale = stats.tokens, max(scale, 1)
        self._show_bar(stats.tokens, stats.decode_s)
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
