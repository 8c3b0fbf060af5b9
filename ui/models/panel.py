"""The Models panel: its pages, the page list, and banners below."""

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QStackedWidget, QWidget

from app.core.domain.models import (
    CatalogRow,
    Download,
    DownloadStatus,
    PairView,
    Suitability,
)
from engine.records import FitLevel, Problem
from ui.models.downloads_page import DownloadsPage
from ui.models.library_page import LibraryPage
from ui.models.pair_card import PairCard
from ui.models.parts import WELCOME, EmptyPagePlaceholder, ModelsRequests, list_side, put_side_by_side, verdict_side
from ui.models.remote_servers_page import RemoteServersPage
from ui.models.search_page import LinkDialog, SearchPage
from ui.models.welcome_page import WelcomePage
from ui.models.words import DRAFTING_WORDS, FIT, bytes_or_unknown, speed_words
from ui.text.language import Translator, mark, translate
from ui.theme.theme import Theme
from ui.widgets.banner import Banner
from ui.widgets.building import button, empty_layout, grid, hbox, label, vbox
from ui.widgets.choice_list import Choice, ChoiceList, grouped

tr = Translator("RecommendedPage")

NAV_PX, NARROW_NAV_PX = 200, 60
NARROW_PX = 1120
NAME_MARGIN_PX = 76  # margins, an icon, and the number of downloads
PAGES = (
    ("recommended", mark("Place", "Recommended"), "sparkles"),
    ("search", mark("Place", "Search"), "search"),
    ("library", mark("Place", "Library"), "library"),
    ("downloads", mark("Place", "Downloads"), "download"),
    ("engines", mark("Place", "Remote servers"), "server"),
)
_TOP = Qt.AlignmentFlag.AlignTop


def _rows_of_level(rows: Sequence[CatalogRow], level: FitLevel) -> list[CatalogRow]:
    return [row for row in rows if row.fit is level]


def _num_bytes(row: CatalogRow) -> int:
    draft = row.pair.draft
    return (row.pair.target.size_bytes or 0) + ((draft.size_bytes or 0) if draft else 0)


def _pair_choice(row: CatalogRow) -> Choice:
    return Choice(
        key=row.key,
        title=row.name,
        lines=tuple(filter(None, (row.good_for, speed_words(row)))),
        side=bytes_or_unknown(row.pair.missing_bytes) if not row.pair.is_here else tr("downloaded"),
        icon=FIT[row.fit].icon,
        tone=FIT[row.fit].tone,
        spoken=FIT[row.fit].words,
        wraps=True,
    )


class RecommendedPage(QWidget):
    def __init__(self, theme: Theme, requests: ModelsRequests) -> None:
        super().__init__()
        self._theme, self._requests = theme, requests
        self._rows: dict[str, CatalogRow] = {}
        self.heading = label(tr("Recommended pairs"), "heading")
        self.words = label(
            tr("Each comes with a way to draft: a small model, heads, or repeated text."), "caption", wrap=True
        )
        self.list = ChoiceList(theme, tr("Recommended pairs"))
        self.list.chosen.connect(self._on_chosen)
        self.empty = EmptyPagePlaceholder(theme, "sparkles")
        self.title = label("", "heading", wrap=True)
        self.good_for = label("", "", wrap=True)
        self.facts_box = QWidget()
        self.facts = grid(gaps=(16, 6), parent=self.facts_box, margins=0)
        self.card = PairCard(theme, requests)
        self._arrange()
        self.empty.show_text(tr("Recommended pairs"), tr("Looking for models that fit this computer…"))

    def _arrange(self) -> None:
        left, column = list_side(self._theme, 14, 4)
        for words in (self.heading, self.words):
            words.setContentsMargins(10, 0, 8, 0)
            column.addWidget(words)
        column.addWidget(self.list, 1)
        pieces = [self.title, self.good_for, self.facts_box, self.card]
        self.right = verdict_side(self.empty, pieces, tr("Pair"))
        put_side_by_side(self, left, self.right)

    def start(self) -> None:
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)
        if not self._rows:
            self._requests.recommendations_requested.emit()

    def set_rows(self, rows: Sequence[CatalogRow]) -> None:
        self._rows = {row.key: row for row in rows}
        # Models that run well first; the rest grouped by their fit, smallest first.
        well = sorted(
            (row for row in rows if row.suits >= Suitability.WELL), key=lambda row: row.preference, reverse=True
        )
        rest = sorted((row for row in rows if row.suits < Suitability.WELL), key=_num_bytes)
        groups = (
            (tr("Run well on this computer"), well),
            (tr("Fit this computer"), _rows_of_level(rest, FitLevel.FITS)),
            (tr("A tight fit"), _rows_of_level(rest, FitLevel.TIGHT)),
            (tr("Not checked yet"), _rows_of_level(rest, FitLevel.UNKNOWN)),
            (tr("Too large for this computer"), _rows_of_level(rest, FitLevel.TOO_LARGE)),
        )
        self.list.set_rows(grouped((heading, [_pair_choice(row) for row in found]) for heading, found in groups))
        current = self._rows.get(self.list.current_key())
        if current is not None and self.right.currentIndex() == 1:
            self._show(current)
        if current is None:
            self.list.choose_first()
        if not rows:
            search = button(tr("Search models"), lambda: self._requests.page_requested.emit("search"), kind="primary")
            text = tr("The list of recommended pairs is empty. Search for models yourself.")
            self.empty.show_text(tr("No recommendations"), text, search)
            self.right.setCurrentIndex(0)

    def set_problem(self, problem: Problem) -> None:
        self.empty.show_problem(problem, self._requests.recommendations_requested.emit)
        self.right.setCurrentIndex(0)

    def set_pair(self, key: str, pair: PairView) -> None:
        """Show the verdict on a pair, unless another pair is shown by now."""
        if key == self.list.current_key():
            self.card.set_pair(pair)

    def _on_chosen(self, key: str) -> None:
        self._show(self._rows[key])
        self._requests.catalog_requested.emit(key)

    def _show(self, row: CatalogRow) -> None:
        self.title.setText(row.name)
        self.good_for.setText(row.good_for)
        empty_layout(self.facts)
        lines = (
            (tr("Drafting"), translate("Words", DRAFTING_WORDS[row.pair.drafting])),
            (tr("Licence"), row.licence),
            (tr("On this computer"), speed_words(row)),
            (tr("Hub"), row.checked),
        )
        for line, (name, text) in enumerate(pair for pair in lines if pair[1]):
            words = label(text, "", wrap=True)
            self.facts.addWidget(label(name, "muted"), line, 0, _TOP)
            self.facts.addWidget(words, line, 1)
        self.facts.setColumnStretch(1, 1)
        self.card.set_pair(row.pair)
        self.right.setCurrentIndex(1)


Page = RecommendedPage | SearchPage | LibraryPage | DownloadsPage | RemoteServersPage | WelcomePage


class ModelsPanel(QWidget):
    """The Models panel. The requests of all pages are emitted by `requests`."""

    back = Signal()  # return to the chat

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.page = ""
        self._num_open = 0
        self._is_narrow = False
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.requests = ModelsRequests(self)
        self.recommended = RecommendedPage(theme, self.requests)
        self.search = SearchPage(theme, self.requests)
        self.library = LibraryPage(theme, self.requests)
        self.downloads = DownloadsPage(theme, self.requests)
        self.engines = RemoteServersPage(theme, self.requests)
        self.welcome = WelcomePage(theme, self.requests)
        self._by_name: dict[str, Page] = {
            "recommended": self.recommended,
            "search": self.search,
            "library": self.library,
            "downloads": self.downloads,
            "engines": self.engines,
            WELCOME: self.welcome,
        }
        self.back_button = button(
            translate("ModelsPanel", " Back to the chat"),
            self.close_panel,
            name=translate("ModelsPanel", "Back to the chat"),
            tip=translate("ModelsPanel", "Back to the chat (Esc)"),
        )
        self.welcome_button = button(
            translate("ModelsPanel", " Get started"),
            lambda: self.show_page(WELCOME),
            name=translate("ModelsPanel", "Get started"),
            tip=translate("ModelsPanel", "The models that suit this computer"),
        )
        self.nav = QListWidget()
        self.problem = Banner(theme, problem=True)
        self.notice = Banner(theme, problem=False)
        self.pages = QStackedWidget()
        self._make()
        self._arrange()
        theme.changed.connect(self._recolor)
        self._recolor()

    def _make(self) -> None:
        for made in (self.back_button, self.welcome_button):
            made.setProperty("kind", "side")
            made.setIconSize(QSize(16, 16))
            made.setCursor(Qt.CursorShape.PointingHandCursor)
        self.nav.setObjectName("hubNav")
        self.nav.setAccessibleName(translate("ModelsPanel", "Models"))
        self.nav.setIconSize(QSize(16, 16))
        self.nav.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for key, name, _icon in PAGES:
            item = QListWidgetItem(translate("Place", name))
            item.setData(Qt.ItemDataRole.UserRole, key)
            self.nav.addItem(item)
        self.nav.itemClicked.connect(self._focus_page)
        self.nav.itemActivated.connect(self._focus_page)
        self.nav.currentRowChanged.connect(self._on_row)
        self.requests.page_requested.connect(self.show_page)
        self.requests.link_dialog_requested.connect(self.ask_link)

    def _arrange(self) -> None:
        self.side = side = QFrame()
        side.setObjectName("sidebar")
        side.setFixedWidth(NAV_PX)
        self.heading = label(translate("ModelsPanel", "Models"), "section")
        self.heading.setContentsMargins(10, 10, 0, 0)
        vbox(self.back_button, self.heading, (self.nav, 1), self.welcome_button, parent=side, margins=12, spacing=8)
        for page in self._by_name.values():
            self.pages.addWidget(page)
        foot = vbox(self.problem, self.notice, margins=(24, 0, 24, 12), spacing=8)
        self.foot = QWidget()
        self.foot.setLayout(foot)
        self.foot.hide()
        for banner in (self.problem, self.notice):
            banner.installEventFilter(self)
        right = vbox((self.pages, 1), self.foot, spacing=0)
        hbox(side, (right, 1), parent=self, margins=0, spacing=0)

    def open(self, page: str = "") -> None:
        self.show_page(page or self.page or "recommended")

    def close_panel(self) -> None:
        if self.page == WELCOME:
            self.requests.welcome_done.emit()
        self.requests.closed.emit()
        self.back.emit()

    def show_page(self, page: str) -> None:
        self.page = page
        self.problem.hide()
        shown = self._by_name[page]
        row = next((row for row, (key, _name, _icon) in enumerate(PAGES) if key == page), -1)
        had_focus = self.nav.hasFocus()
        self.nav.blockSignals(True)
        self.nav.setCurrentRow(row)
        self.nav.blockSignals(False)
        self.pages.setCurrentWidget(shown)
        self.requests.page_shown.emit(page)
        shown.start()
        if had_focus:  # keep the focus in the list, where arrow keys choose a page
            self.nav.setFocus()

    def show_problem(self, problem: Problem) -> None:
        self.problem.show_problem(problem)

    def show_notice(self, text: str) -> None:
        self.notice.show_notice(text)

    def ask_link(self) -> LinkDialog:
        dialog = LinkDialog(self.requests, self.window())
        dialog.open()
        return dialog

    def set_downloads(self, rows: Sequence[Download]) -> None:
        self.downloads.set_rows(rows)
        self._num_open = sum(row.status is not DownloadStatus.DONE for row in rows)
        self._show_names()

    def _show_names(self) -> None:
        """In a narrow window show only icons; names remain as tool tips and for screen readers."""
        narrow = self._is_narrow
        self.side.setFixedWidth(NARROW_NAV_PX if narrow else self._nav_px())
        self.heading.setVisible(not narrow)
        self.back_button.setText("" if narrow else translate("ModelsPanel", " Back to the chat"))
        self.welcome_button.setText("" if narrow else translate("ModelsPanel", " Get started"))
        for row, (key, english, _icon) in enumerate(PAGES):
            name = translate("Place", english)
            words = f"{name}  {self._num_open}" if key == "downloads" and self._num_open else name
            item = self.nav.item(row)
            item.setText("" if narrow else words)
            item.setToolTip(words if narrow else "")
            item.setData(Qt.ItemDataRole.AccessibleTextRole, words)

    def _nav_px(self) -> int:
        words = [translate("Place", english) for _key, english, _icon in PAGES]
        words += [translate("ModelsPanel", " Back to the chat"), translate("ModelsPanel", " Get started")]
        return max(NAV_PX, ceil(max(self._theme.text_width(name) for name in words)) + NAME_MARGIN_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < NARROW_PX
        if narrow != self._is_narrow:
            self._is_narrow = narrow
            self._show_names()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Show the bottom bar only while one of its banners is visible."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.foot.setVisible(not (self.problem.isHidden() and self.notice.isHidden()))
        return super().eventFilter(watched, event)

    def _focus_page(self, item: QListWidgetItem) -> None:
        page = str(item.data(Qt.ItemDataRole.UserRole))
        if page != self.page:
            self.show_page(page)
        self._by_name[page].start()

    def _on_row(self, row: int) -> None:
        # A row that only got the focus is current without being selected: the user did not choose it.
        if row >= 0 and self.nav.item(row).isSelected():
            self.show_page(PAGES[row][0])

    def _recolor(self) -> None:
        self._show_names()  # the text size may have changed
        tokens = self._theme.tokens
        self.back_button.setIcon(self._theme.icon("arrow-left", tokens.text_muted))
        self.welcome_button.setIcon(self._theme.icon("circle-question-mark", tokens.text_muted))
        for row, (_key, _name, icon) in enumerate(PAGES):
            self.nav.item(row).setIcon(self._theme.icon(icon, tokens.text_muted))
