"""The page of the current or last answer: live statistics, memory of the models, and reasons."""

from collections.abc import Collection, Mapping, Sequence
from math import ceil

from PySide6.QtCore import QEvent, QRectF, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from app.core.domain.engine_view import EngineView
from app.core.domain.speed.verdict import MissingReason, SpeedVerdict, answer_verdict
from engine.records import RunStats, Source
from ui.statistics.page import (
    AcceptanceWidgets,
    StatsPage,
    large_metric,
    line_metric,
    section_heading,
    source_counts,
    source_parts,
)
from ui.statistics.plots import BarSegment, StackedBar
from ui.statistics.words import (
    MEASURED,
    MEMORY_KEYS,
    PASS_STEPS,
    SOURCES,
    memory_texts,
    statistic_help,
    statistic_name,
    stats_texts,
    step_seconds,
)
from ui.text.answer_metrics import decision_words, drafting_sentences, nothing_drafted, plain_speed_words, verdict_words
from ui.text.formatting import UNKNOWN, percent, speed, tooltip
from ui.text.language import Translator, translate
from ui.text.setting_words import sentence
from ui.theme.theme import SEMIBOLD, Theme
from ui.transcript.marks.marks import paint_marks
from ui.widgets.building import Stretch, button, hbox, label, set_style_property
from ui.widgets.icon_button import IconButton
from ui.widgets.metrics import GAP_PX, INSET_PX, SWATCH_PX, BarMetric, LegendRow, LineMetric, MetricWidget, ValueMetric

tr = Translator("StatsPanel")

ROWS = ("tokens", "passes", "first", "p50", "p95", "p99", "prompt")
PAUSE_MS = 8  # the page is not drawn together with text that arrives
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)


class Headline(ValueMetric):
    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, statistic_name("headline"), statistic_help("headline"))
        self._has_gain = False

    def fit(self) -> None:
        self.setFixedHeight(round(self.theme.paint_cache.metrics(self._step, SEMIBOLD).height()) + 2)
        self.update()

    @property
    def _step(self) -> int:
        return self.theme.type.headline - self.theme.type.base

    def show_verdict(self, verdict: SpeedVerdict, stats: RunStats) -> None:
        if verdict.is_gain != self._has_gain:
            self._has_gain = verdict.is_gain
            self.update()
        self.set_value(verdict_words(verdict, stats))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        cache, tokens, painter = self.theme.paint_cache, self.theme.tokens, QPainter(self)
        step, width = self._step, self.width() - 2 * INSET_PX
        while step > 0 and cache.metrics(step, SEMIBOLD).horizontalAdvance(self.value) > width:
            step -= 1
        painter.setFont(cache.font(step, SEMIBOLD))
        painter.setPen(cache.color(tokens.accent_text if self._has_gain else tokens.text))
        painter.drawText(QRectF(INSET_PX, 0.0, width, self.height()), _LEFT, self.value)
        self.paint_focus_ring(painter)


class SpeedPart:
    """The headline, its two bars, and the basis of the comparison. Every answer has the same rows."""

    def __init__(self, theme: Theme) -> None:
        self.headline = Headline(theme)
        self.now = BarMetric(theme, statistic_name("now"), statistic_help("now"), "accent")
        self.plain = BarMetric(theme, statistic_name("plain"), statistic_help("plain"), "target")
        self.basis = label("", "caption", wrap=True)
        self.basis.setContentsMargins(INSET_PX, 0, INSET_PX, 0)

    @property
    def figures(self) -> list[MetricWidget]:
        return [self.headline, self.now, self.plain]

    def show(self, stats: RunStats, *, live: bool = False) -> None:
        verdict = answer_verdict(stats)
        now, speedup = stats.tokens_per_second, verdict.speedup
        plain = now / speedup if now is not None and speedup else None
        if verdict.missing is MissingReason.NOTHING_DRAFTED:
            plain = now
        most = max(now or 0.0, plain or 0.0)
        self.headline.show_verdict(verdict, stats)
        for bar, tokens_per_s in ((self.now, now), (self.plain, plain)):
            bar.show_share(speed(tokens_per_s) if tokens_per_s else UNKNOWN, (tokens_per_s or 0.0) / (most or 1.0))
        words = plain_speed_words(verdict, stats, live=live)
        if words != self.basis.text():
            self.basis.setText(words)


class SourceRow(LegendRow):
    """A source with its count. When checked, its tokens are marked in the answers, and its name in the same way."""

    def __init__(self, theme: Theme, source: Source, name: str, help_text: str, field: str) -> None:
        super().__init__(theme, name, help_text, field)
        self._source = source

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isChecked():
            width, height = self._theme.text_width(self.name, -1), ceil(self._theme.text_height(-1))
            top = (self.height() - height) // 2
            name = QRectF(INSET_PX + SWATCH_PX + GAP_PX, top, ceil(width), height)
            tokens = self._theme.tokens
            paint_marks(QPainter(self), [(name, name.bottom() - 2, self._source)], tokens, self.devicePixelRatioF())


class SourceSwitch(IconButton):
    """Switches all rows of a legend together, and shows their state.

    The row of the target's own tokens is neither switched nor counted.
    """

    def __init__(self, theme: Theme, legend: Mapping[Source, QAbstractButton]) -> None:
        super().__init__(theme, "highlighter", translate("SourceSwitch", "Mark tokens by source"))
        self.setCheckable(True)
        self._rows = [row for source, row in legend.items() if source is not Source.TARGET]
        for row in self._rows:
            row.toggled.connect(self._on_wanted_changed)
        self.clicked.connect(self._switch)

    def _switch(self, wanted: bool) -> None:
        changed = [row for row in self._rows if row.isChecked() is not wanted]
        for row in changed[:-1]:
            with QSignalBlocker(row):  # the answers are marked once, not once per row
                row.setChecked(wanted)
        for row in changed[-1:]:
            row.setChecked(wanted)

    def _on_wanted_changed(self) -> None:
        is_any = any(row.isChecked() for row in self._rows)
        self.setChecked(is_any)
        self.set_marked(is_any)


class AnswerPage(StatsPage):
    """Shows an answer's `RunStats`, updated a few times a second.

    While an answer streams, the page is updated in separate event loop iterations, not together with the text.
    """

    sources_selected = Signal(object)  # the frozenset of `Source` whose tokens to mark in the answers
    find_draft = Signal()  # find a draft for the target, which has none

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Statistics of this answer"))
        self.stats = RunStats()
        self._live = False
        self.is_filled = True  # the page shows the newest counters
        self._fill_timer = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._fill_timer.timeout.connect(self._fill)
        self.state = label("", "caption")
        self.speed = SpeedPart(theme)
        self.per_pass = large_metric(theme, "per_pass")
        self.acceptance = AcceptanceWidgets(theme)
        self.rows = {key: line_metric(theme, key) for key in ROWS}
        self.split = StackedBar(theme, statistic_name("split"), statistic_help("split"))
        self.steps = {key: LineMetric(theme, tr(name), tr(words), key) for key, (name, words) in PASS_STEPS.items()}
        self.origin = StackedBar(theme, statistic_name("source"), statistic_help("source"))
        self.sources = {
            source: SourceRow(theme, source, tr(name), tr(words), field)
            for source, (name, field, words) in SOURCES.items()
        }
        for row in self.sources.values():
            row.toggled.connect(self._emit_marks)
        self.memory = {key: line_metric(theme, key) for key in MEMORY_KEYS}
        self.why = label("", "caption", wrap=True)
        self.why.setAccessibleName(statistic_name("why"))
        self._shown_decisions: tuple[tuple[str, ...], bool] | None = None
        self.empty = label("", "caption", wrap=True)
        self.not_drafted = label("", "caption", wrap=True)
        self.find_draft_button = button(translate("Composer", "Find a draft"), self.find_draft.emit)
        self._wants_draft = False
        self._needs: dict[QWidget, frozenset[str]] = {}  # a widget is shown if all its conditions hold
        self._shown_parts: tuple[object, object] | None = None  # the parts shown last, to skip equal updates
        self._offered: frozenset[Source] = frozenset()  # possible sources of the answer's tokens
        self._has_memory = self._is_away = False
        self._arrange()
        self.clear()
        self.set_engine(EngineView())

    def _arrange(self) -> None:
        speed = section_heading(tr("Speed"))
        self.add([self.empty])
        self.column.addLayout(hbox(speed, Stretch(), self.state, margins=(INSET_PX, 0, INSET_PX, 0)))
        for each in (*self.speed.figures, self.speed.basis):
            self.column.addWidget(each)
        self.column.addLayout(hbox(self.per_pass, margins=(0, 4, INSET_PX, 0)))
        first = (speed, self.state, self.speed.basis, *self.speed.figures, self.per_pass)
        self._needs |= dict.fromkeys(first, frozenset({"answer"}))
        self._add_part(tr("Acceptance"), [], "answer")
        self.add([self.not_drafted])
        self.column.addLayout(hbox(self.find_draft_button, Stretch(), margins=(INSET_PX, 4, INSET_PX, 0)))
        self.add([self.acceptance.rate, self.acceptance.by_depth])
        self._needs |= {
            self.not_drafted: frozenset({"answer", "no drafts"}),
            self.find_draft_button: frozenset({"answer", "no drafts", "wants a draft"}),
            self.acceptance.rate: frozenset({"answer", "drafts"}),
            self.acceptance.by_depth: frozenset({"answer", "drafts", "local"}),
        }
        self._add_part(statistic_name("source"), [self.origin, *self.sources.values()], "answer", "local")
        self._add_part(tr("Why"), [self.why], "answer", "local")
        self._add_part(tr("This answer"), list(self.rows.values()), "answer")
        self._add_part(statistic_name("split"), [self.split, *self.steps.values()], "answer")
        self._add_part(tr("Memory"), list(self.memory.values()), "memory")
        self.column.addStretch(1)

    def _add_part(self, title: str, widgets: Sequence[QWidget], *needs: str) -> None:
        self._needs |= dict.fromkeys([self.add_section(title, widgets), *widgets], frozenset(needs))

    def clear(self) -> None:
        self._begin(tr("no answer yet"), live=False)
        self.empty.setText(tr("No answer yet. Its statistics will appear here."))
        self._show_parts(has_answer=False)

    def begin(self) -> None:
        self._begin(tr("live"), live=True)
        self._show_parts(has_answer=True)

    def show_stats(self, stats: RunStats) -> None:
        self.stats = stats
        self._show_parts(has_answer=True)
        self.is_filled = False
        if not self._live:
            self._fill()
        elif not (self._fill_timer.isActive() or (not self.isVisible() and self.window().isVisible())):
            self._fill_timer.start()

    def showEvent(self, event: QShowEvent) -> None:
        """Show the counters that arrived while the page was hidden."""
        super().showEvent(event)
        if not self.is_filled:
            self._fill()

    def end(self, stats: RunStats | None) -> None:
        self._live = False
        stats = stats or self.stats
        self.show_stats(stats)
        self._set_state(tr("last answer"))
        if stats == RunStats():  # the answer failed before its first token
            self.empty.setText(tr("The last answer failed before its first word, so it has no statistics."))
            self._show_parts(has_answer=False)

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks in the answers: names of sources."""
        return tuple(source.value for source, row in self.sources.items() if row.isChecked())

    def set_marks(self, marks: Collection[object]) -> None:
        """Mark exactly these in the answers; unknown names are ignored."""
        for source, row in self.sources.items():
            row.setChecked(source.value in marks)

    def set_engine(self, view: EngineView) -> None:
        texts = memory_texts(view.target, view.drafter)
        models = (view.target, view.drafter)
        self._has_memory = any(model is not None and model.memory is not None for model in models)
        self._wants_draft = view.wants_draft
        self._offered = view.sources
        self._is_away = view.target is not None and bool(view.target.engine_url)
        self._show_parts(has_answer=self.empty.isHidden())
        for key, figure_line in self.memory.items():
            figure_line.set_value(texts[key])
            words = f"{statistic_help(key)} {tr(MEASURED)}" if self._has_memory else statistic_help(key)
            figure_line.setToolTip(tooltip(words))
            figure_line.setAccessibleDescription(words)

    def _begin(self, state: str, *, live: bool) -> None:
        self._live = live
        self.stats = RunStats()
        self._fill()
        self._set_state(state)

    def _show_parts(self, *, has_answer: bool) -> None:
        """Show the parts that have data; during an answer show all, so that nothing moves."""
        stats = self.stats
        has_drafts = self._live or not stats.passes or bool(stats.proposed or stats.proposed_by_depth)
        if not has_drafts:
            self.not_drafted.setText(nothing_drafted(stats))
        is_local = not self._is_away if self._live else bool(stats.provenance or stats.decisions or not stats.passes)
        conditions = {
            "answer": has_answer,
            "drafts": has_drafts,
            "no drafts": not has_drafts,
            "wants a draft": self._wants_draft,
            "local": is_local,  # remote servers do not report all
            "memory": self._has_memory or has_answer,
        }
        true_conditions = {name for name, holds in conditions.items() if holds}
        sources = self._offered | stats.sources
        if (true_conditions, sources) == self._shown_parts:
            return
        self._shown_parts = true_conditions, sources
        self.empty.setVisible(not has_answer)
        absent = {row for source, row in self.sources.items() if source not in sources}
        for widget, needs in self._needs.items():
            widget.setVisible(needs <= true_conditions and widget not in absent)
        if has_answer:
            self.move_tab_stop(self.speed.headline)
        elif "memory" in true_conditions:
            self.move_tab_stop(next(iter(self.memory.values())))
        # Lay out at once: otherwise a frame with overlapping lines may be painted.
        self.column.activate()
        QApplication.sendEvent(self, QEvent(QEvent.Type.LayoutRequest))

    def _set_state(self, text: str) -> None:
        self.state.setText(f"● {text}" if self._live else text)
        set_style_property(self.state, "kind", "live" if self._live else "caption")

    def _emit_marks(self) -> None:
        self.sources_selected.emit(frozenset(key for key, row in self.sources.items() if row.isChecked()))

    def _fill(self) -> None:
        self._fill_timer.stop()
        self.is_filled, stats = True, self.stats
        texts = stats_texts(stats, answer_verdict(stats))
        self.speed.show(stats, live=self._live)
        self.per_pass.set_value(texts["per_pass"])
        for key, row in self.rows.items():
            row.set_value(texts[key])
        self.acceptance.rate.set_value(texts["accepted"])
        self.acceptance.by_depth.show_acceptance(stats, settled=not self._live)
        amounts = step_seconds(stats)
        whole = sum(amounts.values())
        for key, line in self.steps.items():
            line.set_value(percent(amounts[key] / whole) if whole > 0 else UNKNOWN)
        self.split.set_parts([BarSegment(self.steps[key].name, amount, key) for key, amount in amounts.items()])
        self.origin.set_parts(source_parts(stats))
        counts = source_counts(stats)
        for source in Source:
            self.sources[source].set_value(counts[source])
        self._fill_why(stats)

    def _fill_why(self, stats: RunStats) -> None:
        shown = stats.decisions, self._live
        if shown == self._shown_decisions:
            return
        self._shown_decisions = shown
        decisions = [decision_words(each) for each in stats.decisions]
        last = [f"{sentence(words)}." for words, place in decisions[-1:] if not place]
        text = " ".join(dict.fromkeys((*drafting_sentences(stats, live=self._live), *last))) or UNKNOWN
        self.why.setText(text)
        at_token = tr("Token {place} · {reason}")
        reasons = [at_token.format(place=place, reason=reason) if place else reason for reason, place in decisions]
        words = " ".join([statistic_help("why"), *(f"{sentence(reason)}." for reason in reasons)])
        self.why.setToolTip(tooltip(words))
        self.why.setAccessibleDescription(words)
