"""The statistics pane: this answer, and all time; reset."""

from collections.abc import Sequence
from itertools import groupby

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from app.core.domain.speed.verdict import answer_verdict
from app.core.domain.sums import PairSums, Sums, total
from engine.records import RunStats
from ui.statistics.answer_page import AnswerPage
from ui.statistics.page import AcceptanceWidgets, StatsPage, large_metric, source_parts, two_columns
from ui.statistics.plots import StackedBar
from ui.statistics.words import (
    draft_title,
    mode_title,
    pair_title,
    row_text,
    statistic_help,
    statistic_name,
    stats_texts,
    summary_text,
    sums_help,
    sums_texts,
    target_title,
)
from ui.text.formatting import without_markup
from ui.text.language import Translator, translate
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, PageSwitch, Stretch, button, hbox, label, vbox
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.metrics import INSET_PX, LineMetric

tr = Translator("StatsPanel")

NOW, ALL = "now", "all"
PAGES = ((NOW, tr.mark("This answer")), (ALL, tr.mark("All time")))
ROWS = ("tokens", "passes", "time", "saved", "p50", "p95", "p99")


class TotalsPage(StatsPage):
    """Totals of all rows, then one line per pair and mode."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Statistics of all time"))
        self._theme = theme
        self.rows: tuple[PairSums, ...] = ()
        self.sums = Sums()
        empty = tr("Nothing counted yet. The totals remain even when chats are deleted.")
        self.empty = label(empty, "caption", wrap=True)
        self.add([self.empty])
        self.speed, self.speedup, self.per_pass, self.answers = (
            large_metric(theme, key) for key in ("speed", "speedup", "per_pass", "answers")
        )
        cells = (self.speed, self.speedup, self.per_pass, self.answers)
        self.column.addLayout(two_columns(cells))
        self.lines = {key: LineMetric(theme, statistic_name(key), sums_help(key)) for key in ROWS}
        self.add_section(tr("Together"), list(self.lines.values()))
        self.by_pair = QWidget()
        self._pairs = vbox(parent=self.by_pair, margins=0, spacing=4)
        self.pair_lines: dict[tuple[str, str, str], LineMetric] = {}
        words = tr("The rows come from different questions. A race compares modes on the same question.")
        self.add_section(statistic_name("pair"), [label(words, "caption", wrap=True)])
        self.column.addWidget(self.by_pair)
        self.acceptance = AcceptanceWidgets(theme)
        self.add_section(tr("Acceptance"), [self.acceptance.rate, self.acceptance.by_depth])
        self.origin = StackedBar(theme, statistic_name("source"), statistic_help("source"))
        self.add_section(statistic_name("source"), [self.origin])
        self.column.addStretch(1)
        self.show_rows(())

    def show_rows(self, rows: Sequence[PairSums]) -> None:
        self.rows, self.sums = tuple(rows), total(rows)
        sums = self.sums
        self.empty.setVisible(not self.rows)
        texts = sums_texts(sums)
        for key, figure in (("speed", self.speed), ("speedup", self.speedup), ("per_pass", self.per_pass)):
            figure.set_value(texts[key])
        self.answers.set_value(texts["answers"])
        for key, figure_line in self.lines.items():
            figure_line.set_value(texts[key])
        self.acceptance.rate.set_value(texts["accepted"])
        self.acceptance.by_depth.show_acceptance(sums.stats)
        self.origin.set_parts(source_parts(sums.stats))
        keys = [(row.target, row.draft, row.mode) for row in self.rows]
        if keys != list(self.pair_lines):
            self._make_pairs()
        for row in self.rows:
            self.pair_lines[row.target, row.draft, row.mode].set_value(row_text(row.sums))

    def _add_title(self, row: PairSums) -> None:
        for text, kind, name in ((target_title(row), "strong", row.target), (draft_title(row), "caption", row.draft)):
            label = ElidedLabel(text, kind)
            label.setContentsMargins(INSET_PX, 4 if kind == "strong" else 0, INSET_PX, 0)
            label.setToolTip(without_markup(name or text))  # the file's name shows the quantization
            self._pairs.addWidget(label)

    def _make_pairs(self) -> None:
        while (item := self._pairs.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.pair_lines = {}
        for (target, draft), group in groupby(self.rows, lambda row: (row.target, row.draft)):
            rows = list(group)
            self._add_title(rows[0])
            for row in rows:
                line = LineMetric(self._theme, mode_title(row.mode), statistic_help("pair"))
                line.setAccessibleDescription(f"{pair_title(row)}. {statistic_help('pair')}")
                self._pairs.addWidget(line)
                self.pair_lines[target, draft, row.mode] = line
        for made in self.by_pair.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            made.show()


class StatsPanel(QFrame):
    """The statistics pane. It requests totals only while they are visible."""

    totals_requested = Signal()  # the totals are visible and may have changed; answer by `show_all`
    reset_requested = Signal()  # reset the all-time totals; the user has confirmed

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("statsPanel")
        self.setAccessibleName(tr("Statistics"))
        self.now = AnswerPage(theme)
        self._all: TotalsPage | None = None  # made when it is first shown
        pages = [(key, tr(words)) for key, words in PAGES]
        spoken = tr("Statistics: {page}")
        self.switch = PageSwitch(tr("Statistics of"), pages, spoken=spoken, stretch=1)
        self.switch.chosen.connect(self.show_page)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.now)
        self._ask = QTimer(self, singleShot=True, interval=0)
        self._ask.timeout.connect(self._ask_for_totals)
        self._arrange()
        self.show_page(NOW)

    def _arrange(self) -> None:
        top = hbox(self.switch, margins=(10 + INSET_PX - 2, 10, 10 + INSET_PX - 2, 4))
        self.reset_button = button(translate("StatsDialogs", "Reset…"), self._ask_reset, kind="side")
        foot = hbox(self.reset_button, Stretch(), margins=(10 + INSET_PX - 4, 4, 10 + INSET_PX - 4, 8))
        vbox(top, (self.stack, 1), foot, parent=self, margins=0, spacing=0)

    @property
    def all(self) -> TotalsPage:
        if self._all is None:
            self._all = TotalsPage(self._theme)
            self.stack.addWidget(self._all)
        return self._all

    @property
    def page(self) -> str:
        return NOW if self.stack.currentWidget() is self.now else ALL

    def show_page(self, key: str) -> None:
        self.switch.buttons[key].setChecked(True)
        page = self.now if key == NOW else self.all
        self.stack.setCurrentWidget(page)
        self.reset_button.setVisible(key == ALL)
        page.ensure_tab_stop()
        self._summarise()
        self._ask.start()

    def show_all(self, rows: Sequence[PairSums]) -> None:
        """Show the all-time totals."""
        self.all.show_rows(rows)
        self.reset_button.setEnabled(bool(rows))
        self._summarise()

    def _ask_for_totals(self) -> None:
        if self.page == ALL:
            self.totals_requested.emit()

    def _summarise(self) -> None:
        page: StatsPage = self.now
        texts = stats_texts(self.now.stats, answer_verdict(self.now.stats))
        if self.page == ALL:
            page, texts = self.all, sums_texts(self.all.sums)
        self.setAccessibleDescription(f"{page.accessibleName()}. {summary_text(texts)}".strip())

    def clear(self) -> None:
        self.now.clear()
        self._summarise()
        self._ask.start()

    def end(self, stats: RunStats | None) -> None:
        self.now.end(stats)
        self._summarise()
        self._ask.start()

    def _ask_reset(self) -> None:
        question = ConfirmDialog(
            self.window(),
            translate("StatsDialogs", "Reset the totals?"),
            translate(
                "StatsDialogs",
                "The all-time totals will be deleted permanently. Your chats and their statistics are kept.",
            ),
            translate("StatsDialogs", "Reset"),
            danger=True,
        )
        question.accepted.connect(self.reset_requested)
        question.open()
