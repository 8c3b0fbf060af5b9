"""The pane on the right: the answer now, this chat, all time; copying, exporting and explaining what is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QStackedWidget, QToolButton, QWidget

from app.core.domain.engine_view import EngineView
from app.core.domain.speed.pair_speed import PairSpeed
from app.core.domain.sums import PairSums, Sums
from engine.records import RunStats
from ui.statistics.dialogs import ExplanationsDialog, TotalsTable
from ui.statistics.now import NowPage
from ui.statistics.page import StatsPage
from ui.statistics.text import page_text
from ui.statistics.totals import TotalsPage
from ui.statistics.words import answer_texts, summary, sums_texts
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.widgets.building import Stretch, button, hbox, vbox
from ui.widgets.figures import INSET_PX
from ui.widgets.icon_button import IconButton
from ui.widgets.page_switch import PageSwitch
from ui.widgets.popups import Menu

NOW, CHAT, ALL = "now", "chat", "all"
PAGES = (
    (NOW, mark("StatsPanel", "Now")),
    (CHAT, mark("StatsPanel", "This chat")),
    (ALL, mark("StatsPanel", "All time")),
)
SCOPES = (
    ("answer", mark("StatsPanel", "This answer…")),
    ("chat", mark("StatsPanel", "This chat…")),
    ("everything", mark("StatsPanel", "All answers of all chats…")),
    ("totals", mark("StatsPanel", "Totals of all time…")),
)


class StatsPanel(QFrame):
    """Takes `RunStats` a few times a second; asks for sums only while they are looked at.

    Signals:
        sources_selected(object): the frozenset of `Source` whose tokens are to be marked in the answers.
        sums_requested(str): "chat" or "all" is looked at and may have changed; answer by `show_chat` or `show_all`.
        export_requested(str): "answer", "chat", "everything" or "totals" into a file.
        find_draft(): a draft is wanted for the target, which has none.
        reset_requested(): the lifetime totals are to begin anew; it was confirmed.
    """

    sources_selected = Signal(object)
    refused_toggled = Signal(bool)
    sums_requested = Signal(str)
    export_requested = Signal(str)
    reset_requested = Signal()
    find_draft = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("statsPanel")
        self.setAccessibleName(translate("StatsPanel", "Statistics"))
        self.now = NowPage(theme)
        self._sums: dict[str, TotalsPage] = {}
        pages = [(key, translate("StatsPanel", words)) for key, words in PAGES]
        spoken = translate("StatsPanel", "Statistics: {page}")
        self.switch = PageSwitch(translate("StatsPanel", "Statistics of"), pages, spoken=spoken, stretch=1)
        self.switch.chosen.connect(self.show_page)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.now)
        self.table: TotalsTable | None = None
        self._ask = QTimer(self, singleShot=True, interval=0)
        self._ask.timeout.connect(self._ask_for_sums)
        self.now.sources_selected.connect(self.sources_selected)
        self.now.refused_toggled.connect(self.refused_toggled)
        self.now.find_draft.connect(self.find_draft)
        self._arrange()
        self.show_page(NOW)

    def _arrange(self) -> None:
        top = hbox(self.switch, margins=(10 + INSET_PX - 2, 10, 10 + INSET_PX - 2, 4))
        self.help_button = IconButton(
            self._theme, "circle-question-mark", translate("StatsPanel", "What do these mean?"), self.explain
        )
        self.copy_button = IconButton(
            self._theme, "copy", translate("StatsPanel", "Copy the statistics as text"), self.copy
        )
        self.export_button = IconButton(self._theme, "download", translate("StatsPanel", "Export statistics"))
        self.table_button = button(
            translate("StatsPanel", "Show as table…"),
            self.open_table,
            kind="side",
            name=translate("StatsPanel", "Show the totals as a table"),
        )
        menu = Menu(self.export_button)
        for scope, words in SCOPES:
            menu.addAction(translate("StatsPanel", words)).triggered.connect(
                lambda _checked=False, scope=scope: self.export_requested.emit(scope)
            )
        self.export_button.setMenu(menu)
        self.export_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        middle = Qt.AlignmentFlag.AlignVCenter  # without, the row would be no higher than the small buttons
        foot = hbox(
            (self.help_button, 0, middle),
            self.table_button,
            Stretch(),
            (self.copy_button, 0, middle),
            (self.export_button, 0, middle),
            margins=(10 + INSET_PX - 4, 4, 10 + INSET_PX - 4, 8),
            spacing=4,
        )
        vbox(top, (self.stack, 1), foot, parent=self, margins=0, spacing=0)

    # ---- pages -------------------------------------------------------------------------------------------------

    @property
    def pages(self) -> dict[str, StatsPage]:
        """The pages that were looked at, or filled."""
        return {NOW: self.now, **self._sums}

    @property
    def chat(self) -> TotalsPage:
        name = translate("StatsPanel", "Statistics of this chat")
        empty = translate("StatsPanel", "No answers in this chat yet. Its statistics will be added up here.")
        return self._ensure_page(CHAT, name, empty)

    @property
    def all(self) -> TotalsPage:
        name = translate("StatsPanel", "Statistics of all time")
        empty = translate("StatsPanel", "Nothing counted yet. The totals remain even when chats are deleted.")
        return self._ensure_page(ALL, name, empty)

    def _ensure_page(self, key: str, name: str, empty: str) -> TotalsPage:
        """Make a page when it is first wanted: few look at sums, and a start would wait for them."""
        if key not in self._sums:
            self._sums[key] = TotalsPage(self._theme, name, empty)
            self.stack.addWidget(self._sums[key])
            self._theme.apply_density(self._sums[key])
        return self._sums[key]

    def page_of(self, key: str) -> StatsPage:
        """The page "now", "chat" or "all"."""
        return self.now if key == NOW else self.chat if key == CHAT else self.all

    @property
    def page(self) -> str:
        return next(key for key, page in self.pages.items() if page is self.stack.currentWidget())

    def show_page(self, key: str) -> None:
        """Look at "now", "chat" or "all"."""
        self.switch.buttons[key].setChecked(True)
        page = self.page_of(key)
        self.stack.setCurrentWidget(page)
        self.table_button.setVisible(key == ALL)
        page.ensure_tab_stop()
        self._summarise()
        self._ask.start()

    def show_chat(self, rows: tuple[PairSums, ...], sums: Sums) -> None:
        self.chat.show_rows(rows, sums)
        self._summarise()

    def show_all(self, rows: tuple[PairSums, ...], sums: Sums, speeds: tuple[PairSpeed, ...] = ()) -> None:
        """Show the sums of all time, and how fast each pair was in its last answers."""
        self.all.show_rows(rows, sums, {(each.target, each.draft): each for each in speeds})
        if self.table is not None:
            self.table.show_rows(rows)
        self._summarise()

    def _ask_for_sums(self) -> None:
        if self.page != NOW:
            self.sums_requested.emit(self.page)

    def _summarise(self) -> None:
        page = self.pages[self.page]
        texts = sums_texts(page.sums) if isinstance(page, TotalsPage) else answer_texts(self.now.stats)
        self.setAccessibleDescription(f"{page.accessibleName()}. {summary(texts)}".strip())

    # ---- values of the answer ----------------------------------------------------------------------------------

    def clear(self) -> None:
        """Nothing is known of an answer: another chat was opened."""
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

    # ---- requests ----------------------------------------------------------------------------------------------

    def copy(self) -> None:
        """Put what is looked at on the clipboard, as text."""
        QGuiApplication.clipboard().setText(page_text(self.pages[self.page]))
        self.copy_button.confirm(translate("StatsPanel", "Copied"))

    def explain(self) -> None:
        ExplanationsDialog(self.window()).open()

    def open_table(self) -> None:
        self.table = TotalsTable(self.window())
        self.table.show_rows(self.all.rows)
        self.table.export_requested.connect(lambda: self.export_requested.emit("totals"))
        self.table.reset_requested.connect(self.reset_requested)
        self.table.finished.connect(self._forget_table)
        self.table.open()

    def _forget_table(self) -> None:
        self.table = None
