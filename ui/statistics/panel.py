"""The statistics pane: this answer, this chat, all time; export and reset."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QFrame, QLabel, QStackedWidget, QToolButton, QWidget

from app.core.domain.engine_view import EngineView
from app.core.domain.speed.pair_speed import PairSpeed
from app.core.domain.speed.speed_forecast import losing_words, measured_words
from app.core.domain.speed.verdict import answer_verdict
from app.core.domain.sums import PairSums, Sums
from engine.records import RunStats
from ui.statistics.answer_page import AnswerPage
from ui.statistics.page import AcceptanceWidgets, StatsPage, TimeSplitWidgets, large_metric, source_parts, two_columns
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
    times_text,
)
from ui.text.formatting import without_markup
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language
from ui.theme.theme import Theme
from ui.widgets.building import ElidedLabel, PageSwitch, Stretch, button, hbox, label, show_text, vbox
from ui.widgets.dialogs import ConfirmDialog
from ui.widgets.icon_button import IconButton
from ui.widgets.metrics import INSET_PX, LineMetric
from ui.widgets.popups import Menu

tr = Translator("StatsPanel")

NOW, CHAT, ALL = "now", "chat", "all"
PAGES = (
    (NOW, tr.mark("Now")),
    (CHAT, tr.mark("This chat")),
    (ALL, tr.mark("All time")),
)
SCOPES = (
    ("answer", tr.mark("This answer…")),
    ("chat", tr.mark("This chat…")),
    ("everything", tr.mark("All answers of all chats…")),
    ("totals", tr.mark("Totals of all time…")),
)
ROWS = ("tokens", "passes", "time", "saved", "p50", "p95", "p99")


class TotalsPage(StatsPage):
    """Totals of all rows, then one line per pair and mode."""

    def __init__(self, theme: Theme, name: str, empty: str) -> None:
        super().__init__(theme, name)
        self._theme = theme
        self.rows: tuple[PairSums, ...] = ()
        self.sums = Sums()
        self._speeds: dict[tuple[str, str], PairSpeed] = {}
        self.recent: dict[tuple[str, str], QLabel] = {}
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
        self.times_lines: dict[tuple[str, str], LineMetric] = {}
        words = tr("The rows come from different questions. A race compares modes on the same question.")
        self.add_section(statistic_name("pair"), [label(words, "caption", wrap=True)])
        self.column.addWidget(self.by_pair)
        self.acceptance = AcceptanceWidgets(theme)
        self.add_section(tr("Acceptance"), [self.acceptance.rate, self.acceptance.by_depth])
        self.split = TimeSplitWidgets(theme)
        self.add_section(statistic_name("split"), self.split.widgets)
        self.origin = StackedBar(theme, statistic_name("source"), statistic_help("source"))
        self.add_section(statistic_name("source"), [self.origin])
        self.column.addStretch(1)
        self.show_rows((), Sums())

    def show_rows(
        self, rows: Sequence[PairSums], sums: Sums, speeds: Mapping[tuple[str, str], PairSpeed] | None = None
    ) -> None:
        """Show the totals; ``speeds``: the last answers of each pair."""
        self.rows, self.sums, self._speeds = tuple(rows), sums, dict(speeds or {})
        self.empty.setVisible(not self.rows)
        texts = sums_texts(sums)
        for key, figure in (("speed", self.speed), ("speedup", self.speedup), ("per_pass", self.per_pass)):
            figure.set_value(texts[key])
        self.answers.set_value(texts["answers"])
        for key, figure_line in self.lines.items():
            figure_line.set_value(texts[key])
        self.acceptance.rate.set_value(texts["accepted"])
        self.acceptance.by_depth.show_acceptance(sums.stats)
        self.split.show(sums.stats)
        self.origin.set_parts(source_parts(sums.stats))
        keys = [(row.target, row.draft, row.mode) for row in self.rows]
        wanted = [pair for pair in dict.fromkeys(key[:2] for key in keys) if pair in self._speeds]
        if keys != list(self.pair_lines) or wanted != list(self.recent):
            self._make_pairs()
        for row in self.rows:
            self.pair_lines[row.target, row.draft, row.mode].set_value(row_text(row.sums))
        for pair, recent in self.recent.items():
            words = measured_words(self._speeds[pair]), losing_words(self._speeds[pair])
            show_text(recent, " ".join(in_language(each) for each in words if each))
        for pair, named in self.times_lines.items():
            named.set_value(times_text(row for row in self.rows if (row.target, row.draft) == pair))

    def _add_title(self, row: PairSums) -> None:
        for text, kind, name in ((target_title(row), "strong", row.target), (draft_title(row), "caption", row.draft)):
            label = ElidedLabel(text, kind)
            label.setContentsMargins(INSET_PX, 4 if kind == "strong" else 0, INSET_PX, 0)
            label.setToolTip(without_markup(name or text))  # the file's name shows the quantization
            self._pairs.addWidget(label)

    def _add_line(self, row: PairSums, name: str, words: str) -> LineMetric:
        made = LineMetric(self._theme, name, words)
        made.setAccessibleDescription(f"{pair_title(row)}. {words}")
        self._pairs.addWidget(made)
        return made

    def _make_pairs(self) -> None:
        while (item := self._pairs.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.pair_lines, self.times_lines, self.recent = {}, {}, {}
        for (target, draft), group in groupby(self.rows, lambda row: (row.target, row.draft)):
            rows = list(group)
            self._add_title(rows[0])
            for row in rows:
                named = self._add_line(row, mode_title(row.mode), statistic_help("pair"))
                self.pair_lines[target, draft, row.mode] = named
            self.times_lines[target, draft] = self._add_line(rows[0], statistic_name("between"), sums_help("between"))
            if (target, draft) in self._speeds:
                self.recent[target, draft] = recent = label("", "caption", wrap=True)
                recent.setContentsMargins(INSET_PX, 0, INSET_PX, 4)
                self._pairs.addWidget(recent)
        for made in self.by_pair.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            made.show()


class StatsPanel(QFrame):
    """The statistics pane. It requests totals only while they are visible."""

    sums_requested = Signal(str)  # "chat" or "all" is visible and may have changed; answer by `show_chat` or `show_all`
    export_requested = Signal(str)  # export "answer", "chat", "everything" or "totals"
    reset_requested = Signal()  # reset the all-time totals; the user has confirmed

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setObjectName("statsPanel")
        self.setAccessibleName(tr("Statistics"))
        self.now = AnswerPage(theme)
        self._sums: dict[str, TotalsPage] = {}
        pages = [(key, tr(words)) for key, words in PAGES]
        spoken = tr("Statistics: {page}")
        self.switch = PageSwitch(tr("Statistics of"), pages, spoken=spoken, stretch=1)
        self.switch.chosen.connect(self.show_page)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.now)
        self._ask = QTimer(self, singleShot=True, interval=0)
        self._ask.timeout.connect(self._ask_for_sums)
        self._arrange()
        self.show_page(NOW)

    def _arrange(self) -> None:
        top = hbox(self.switch, margins=(10 + INSET_PX - 2, 10, 10 + INSET_PX - 2, 4))
        self.export_button = IconButton(self._theme, "download", tr("Export statistics"))
        self.reset_button = button(translate("StatsDialogs", "Reset…"), self._ask_reset, kind="side")
        menu = Menu(self.export_button)
        for scope, words in SCOPES:
            menu.addAction(tr(words)).triggered.connect(
                lambda _checked=False, scope=scope: self.export_requested.emit(scope)
            )
        self.export_button.setMenu(menu)
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        middle = Qt.AlignmentFlag.AlignVCenter  # the default would make the row only as high as its small buttons
        foot = hbox(
            self.reset_button,
            Stretch(),
            (self.export_button, 0, middle),
            margins=(10 + INSET_PX - 4, 4, 10 + INSET_PX - 4, 8),
            spacing=4,
        )
        vbox(top, (self.stack, 1), foot, parent=self, margins=0, spacing=0)

    @property
    def pages(self) -> dict[str, StatsPage]:
        return {NOW: self.now, **self._sums}

    @property
    def chat(self) -> TotalsPage:
        name = tr("Statistics of this chat")
        empty = tr("No answers in this chat yet. Its statistics will be added up here.")
        return self._ensure_page(CHAT, name, empty)

    @property
    def all(self) -> TotalsPage:
        name = tr("Statistics of all time")
        empty = tr("Nothing counted yet. The totals remain even when chats are deleted.")
        return self._ensure_page(ALL, name, empty)

    def _ensure_page(self, key: str, name: str, empty: str) -> TotalsPage:
        if key not in self._sums:
            self._sums[key] = TotalsPage(self._theme, name, empty)
            self.stack.addWidget(self._sums[key])
        return self._sums[key]

    def page_of(self, key: str) -> StatsPage:
        return self.now if key == NOW else self.chat if key == CHAT else self.all

    @property
    def page(self) -> str:
        return next(key for key, page in self.pages.items() if page is self.stack.currentWidget())

    def show_page(self, key: str) -> None:
        self.switch.buttons[key].setChecked(True)
        page = self.page_of(key)
        self.stack.setCurrentWidget(page)
        self.reset_button.setVisible(key == ALL)
        page.ensure_tab_stop()
        self._summarise()
        self._ask.start()

    def show_chat(self, rows: tuple[PairSums, ...], sums: Sums) -> None:
        self.chat.show_rows(rows, sums)
        self._summarise()

    def show_all(self, rows: tuple[PairSums, ...], sums: Sums, speeds: tuple[PairSpeed, ...] = ()) -> None:
        """Show the all-time totals, and the speed of each pair's last answers."""
        self.all.show_rows(rows, sums, {(each.target, each.draft): each for each in speeds})
        self.reset_button.setEnabled(bool(rows))
        self._summarise()

    def _ask_for_sums(self) -> None:
        if self.page != NOW:
            self.sums_requested.emit(self.page)

    def _summarise(self) -> None:
        page = self.pages[self.page]
        stats = self.now.stats
        texts = sums_texts(page.sums) if isinstance(page, TotalsPage) else stats_texts(stats, answer_verdict(stats))
        self.setAccessibleDescription(f"{page.accessibleName()}. {summary_text(texts)}".strip())

    def clear(self) -> None:
        self.now.clear()
        self._summarise()
        self._ask.start()

    def begin(self) -> None:
        self.now.begin()

    def show_stats(self, stats: RunStats) -> None:
        self.now.show_stats(stats)

    def end(self, stats: RunStats | None) -> None:
        self.now.end(stats)
        self._summarise()
        self._ask.start()

    def set_engine(self, view: EngineView) -> None:
        self.now.set_engine(view)

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
