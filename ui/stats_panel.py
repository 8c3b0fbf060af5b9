"""The pane on the right: live figures of the answer in the making, then of the last one."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from engine.records import RunStats, Source
from ui.figures import INSET_PX, LargeFigure, LegendRow, LineFigure
from ui.formatting import (
    UNKNOWN,
    acceptance,
    count,
    duration,
    figure,
    hover,
    milliseconds,
    per_pass,
    percent,
    times_plain,
)
from ui.language import mark, translate
from ui.plots import DepthBars, LengthBars, Part, Sparkline, StackedBar
from ui.theme import Theme

HELP = {
    "speed": mark(
        "StatsPanel", "Tokens of this answer per second, measured from the end of reading the prompt to the last token."
    ),
    "per_pass": mark(
        "StatsPanel", "Tokens this answer gained per forward pass of the target. Plain decoding is exactly 1."
    ),
    "spark": mark("StatsPanel", "Tokens per pass between two updates, over the course of this answer."),
    "speedup": mark(
        "StatsPanel",
        "Speed against plain decoding, whose cost was measured on this model and machine while it was idle "
        "and is corrected while it runs.",
    ),
    "lengths": mark("StatsPanel", "How many passes kept exactly so many of the drafted tokens."),
    "accepted": mark("StatsPanel", "Share of the drafted tokens that the target kept, and how many were drafted."),
    "depth": mark(
        "StatsPanel", "Of the passes that drafted this far, the share in which every token up to here was kept."
    ),
    "passes": mark("StatsPanel", "Forward passes of the target for this answer."),
    "tokens": mark("StatsPanel", "Tokens of this answer so far, the end-of-answer token included."),
    "first": mark("StatsPanel", "Time from the start of the request to the first token, reading the prompt included."),
    "p50": mark(
        "StatsPanel", "Half of the tokens came faster than this. A pass's time is spread over the tokens that it gave."
    ),
    "p95": mark(
        "StatsPanel", "19 of 20 tokens came faster than this. A pass's time is spread over the tokens that it gave."
    ),
    "p99": mark(
        "StatsPanel", "99 of 100 tokens came faster than this. A pass's time is spread over the tokens that it gave."
    ),
    "prompt": mark("StatsPanel", "Tokens of the prompt, and how many of them were kept from the turn before."),
    "split": mark(
        "StatsPanel", "Where the time of a pass goes, summed over this answer and measured around each step."
    ),
    "why": mark("StatsPanel", "Why the engine drafts as it does now. Earlier reasons of this answer:"),
    "source": mark("StatsPanel", "Where each token of this answer came from."),
}
SOURCES = {
    Source.DRAFT: (
        mark("StatsPanel", "Draft"),
        "draft",
        mark("StatsPanel", "Proposed by the draft model and kept by the target."),
    ),
    Source.NGRAM: (
        mark("StatsPanel", "N-gram"),
        "ngram",
        mark("StatsPanel", "Proposed from earlier text of this conversation and kept by the target."),
    ),
    Source.RECOVERED: (
        mark("StatsPanel", "Recovered"),
        "recovered",
        mark("StatsPanel", "Drawn by the target in place of a drafted token it refused."),
    ),
    Source.BONUS: (
        mark("StatsPanel", "Bonus"),
        "bonus",
        mark("StatsPanel", "The extra token of a pass in which every drafted token was kept."),
    ),
    Source.TARGET: (
        mark("StatsPanel", "Target"),
        "target",
        mark("StatsPanel", "Drawn by the target alone, nothing was drafted."),
    ),
}
SPLIT = (
    ("draft", mark("StatsPanel", "Draft"), "draft"),
    ("verify", mark("StatsPanel", "Verify"), "verify"),
    ("sample", mark("StatsPanel", "Sample"), "sample"),
    ("rest", mark("StatsPanel", "Rest"), "rest"),
)


def _help(key: str) -> str:
    return translate("StatsPanel", HELP[key])


def _inset(widget: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(INSET_PX, 0, INSET_PX, 0)
    row.addWidget(widget)
    return row


class StatsPanel(QFrame):
    """Takes `RunStats` a few times a second.

    Signals:
        sources_wanted(object): the frozenset of `Source` whose tokens are to be marked in the answers.
    """

    sources_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._previous: RunStats | None = None
        self.setObjectName("statsPanel")
        self.setAccessibleName(translate("StatsPanel", "Statistics"))
        self.state = QLabel(translate("StatsPanel", "no answer yet"))
        self.state.setProperty("kind", "caption")
        self.speed = LargeFigure(theme, translate("StatsPanel", "tok/s"), _help("speed"))
        self.per_pass = LargeFigure(theme, translate("StatsPanel", "tokens per pass"), _help("per_pass"))
        self.speedup = LargeFigure(theme, translate("StatsPanel", "times plain"), _help("speedup"))
        self.spark = Sparkline(theme, translate("StatsPanel", "Tokens per pass over time"))
        self.spark.setToolTip(hover(_help("spark")))
        self.accepted = LineFigure(theme, translate("StatsPanel", "Accepted"), _help("accepted"))
        self.by_depth = DepthBars(theme, translate("StatsPanel", "Acceptance by depth"))
        self.by_depth.setToolTip(hover(_help("depth")))
        self.lengths = LengthBars(theme, translate("StatsPanel", "Passes by tokens kept"))
        self.lengths.setToolTip(hover(_help("lengths")))
        self.why = QLabel()
        self.why.setWordWrap(True)
        self.why.setProperty("kind", "caption")
        self.why.setAccessibleName(translate("StatsPanel", "Why it drafts as it does"))
        self.rows = {
            key: LineFigure(theme, name, _help(key))
            for key, name in (
                ("tokens", translate("StatsPanel", "Tokens")),
                ("passes", translate("StatsPanel", "Passes")),
                ("first", translate("StatsPanel", "First token")),
                ("p50", translate("StatsPanel", "Between tokens, p50")),
                ("p95", translate("StatsPanel", "Between tokens, p95")),
                ("p99", translate("StatsPanel", "Between tokens, p99")),
                ("prompt", translate("StatsPanel", "Prompt")),
            )
        }
        self.split = StackedBar(theme, translate("StatsPanel", "Time of a pass"))
        self.split.setToolTip(hover(_help("split")))
        self.split_parts = {
            name: LineFigure(theme, translate("StatsPanel", words), _help("split"), field)
            for name, words, field in SPLIT
        }
        self.origin = StackedBar(theme, translate("StatsPanel", "Where the tokens came from"))
        self.origin.setToolTip(hover(_help("source")))
        self.sources = {
            key: LegendRow(theme, translate("StatsPanel", name), translate("StatsPanel", text), field)
            for key, (name, field, text) in SOURCES.items()
        }
        for row in self.sources.values():
            row.toggled.connect(self._tell_wanted)
        self._arrange()
        self.clear()

    def _arrange(self) -> None:
        content = QWidget()
        content.setObjectName("statsContent")
        column = QVBoxLayout(content)
        column.setContentsMargins(10, 14, 10, 10)
        column.setSpacing(4)
        top = QHBoxLayout()
        top.addWidget(self._heading(translate("StatsPanel", "Speed")))
        top.addStretch(1)
        top.addWidget(self.state)
        top.setContentsMargins(INSET_PX, 0, INSET_PX, 0)
        column.addLayout(top)
        large = QGridLayout()
        large.setContentsMargins(INSET_PX, 0, INSET_PX, 0)
        large.setHorizontalSpacing(16)
        large.addWidget(self.speed, 0, 0)
        large.addWidget(self.speedup, 0, 1)
        large.addWidget(self.per_pass, 1, 0)
        large.addWidget(self.spark, 1, 1)
        large.setColumnStretch(0, 1)
        large.setColumnStretch(1, 1)
        column.addLayout(large)
        self._section(column, translate("StatsPanel", "Acceptance"), [self.accepted, self.by_depth])
        self._section(column, translate("StatsPanel", "Passes by tokens kept"), [self.lengths])
        self._section(column, translate("StatsPanel", "This answer"), list(self.rows.values()))
        self._section(column, translate("StatsPanel", "Time of a pass"), [self.split, *self.split_parts.values()])
        self._section(column, translate("StatsPanel", "Where tokens came from"), [self.origin, *self.sources.values()])
        self._section(column, translate("StatsPanel", "Why"), [self.why])  # last: it may take one line or three
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidget(content)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName(translate("StatsPanel", "Statistics"))
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def _heading(self, text: str) -> QLabel:
        label = QLabel(text)
        label.setProperty("kind", "section")
        return label

    def _section(self, column: QVBoxLayout, title: str, widgets: list[QWidget]) -> None:
        column.addSpacing(10)
        column.addLayout(_inset(self._heading(title)))
        column.addSpacing(2)
        for widget in widgets:
            if isinstance(widget, LegendRow):
                column.addWidget(widget)
            else:
                column.addLayout(_inset(widget))

    # ---- values ------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Nothing is known."""
        self._previous = None
        self.spark.clear()
        self._fill(RunStats())
        self.set_state(translate("StatsPanel", "no answer yet"), live=False)

    def begin(self) -> None:
        """A new answer begins."""
        self.clear()
        self.set_state(translate("StatsPanel", "live"), live=True)

    def set_state(self, text: str, *, live: bool) -> None:
        """Say what the figures are of."""
        self.state.setText(f"● {text}" if live else text)
        self.state.setProperty("kind", "live" if live else "caption")
        self.state.style().unpolish(self.state)
        self.state.style().polish(self.state)

    def show_stats(self, stats: RunStats) -> None:
        """Show the counters so far."""
        self._add_spark(stats)
        self._previous = stats
        self._fill(stats)

    def end(self, stats: RunStats | None) -> None:
        """The answer ended with these counters."""
        if stats is not None:
            self.show_stats(stats)
        self.set_state(translate("StatsPanel", "last answer"), live=False)

    def _tell_wanted(self) -> None:
        self.sources_wanted.emit(frozenset(key for key, row in self.sources.items() if row.isChecked()))

    def _add_spark(self, stats: RunStats) -> None:
        before = self._previous or RunStats()
        passes = stats.passes - before.passes
        if passes > 0:
            self.spark.add((stats.tokens - before.tokens) / passes)

    def _fill(self, stats: RunStats) -> None:
        self.speed.set_value(figure(stats.tokens_per_second))
        self.per_pass.set_value(per_pass(stats.tokens_per_pass))
        self.accepted.set_value(acceptance(stats))
        self.by_depth.set_shares(stats.acceptance_by_depth)
        self.lengths.set_counts(stats.accepted_lengths)
        self.speedup.set_value(times_plain(stats.speedup))
        reasons = [reason[:1].upper() + reason[1:] for reason in stats.decisions]
        self.why.setText(f"{reasons[-1]}." if reasons else UNKNOWN)
        self.why.setToolTip(hover(" ".join([_help("why"), *(f"{reason}." for reason in reasons)])))
        known = stats.passes > 0
        prompt = translate("StatsPanel", "{number}, {kept} kept").format(
            number=count(stats.prompt_tokens), kept=count(stats.prompt_cached_tokens)
        )
        texts = {
            "tokens": count(stats.tokens) if known else UNKNOWN,
            "passes": count(stats.passes) if known else UNKNOWN,
            "first": duration(stats.time_to_first_token_s),
            "p50": milliseconds(stats.inter_token_ms_p50),
            "p95": milliseconds(stats.inter_token_ms_p95),
            "p99": milliseconds(stats.inter_token_ms_p99),
            "prompt": prompt if stats.prompt_tokens else UNKNOWN,
        }
        for key, text in texts.items():
            self.rows[key].set_value(text)
        self._fill_split(stats)
        self._fill_sources(stats)

    def _fill_split(self, stats: RunStats) -> None:
        amounts = {"draft": stats.draft_s, "verify": stats.verify_s, "sample": stats.sample_s}
        amounts["rest"] = max(stats.decode_s - sum(amounts.values()), 0.0)
        total = sum(amounts.values())
        for name, line in self.split_parts.items():
            line.set_value(percent(amounts[name] / total) if total > 0 else UNKNOWN)
        self.split.set_parts(
            [Part(translate("StatsPanel", words), amounts[name], field) for name, words, field in SPLIT]
        )

    def _fill_sources(self, stats: RunStats) -> None:
        for source, line in self.sources.items():
            number = stats.provenance.get(source, 0)
            line.set_value(count(number) if stats.tokens else UNKNOWN)
        parts = [
            Part(translate("StatsPanel", name), stats.provenance.get(key, 0), field)
            for key, (name, field, _) in SOURCES.items()
        ]
        self.origin.set_parts(parts)
