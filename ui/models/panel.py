"""The panel of the models: its pages, the list that leads to them, and banners below."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QListWidget, QListWidgetItem, QStackedWidget, QWidget
from shiboken6 import isValid

from app.core.domain.models import Download, DownloadStatus, LinkView, ScanView
from engine.records import Problem
from ui.models.downloads_page import DownloadsPage
from ui.models.drafts_page import DraftsPage
from ui.models.engines_page import EnginesPage
from ui.models.library_page import LibraryPage
from ui.models.recommended_page import RecommendedPage
from ui.models.requests import WELCOME, ModelsRequests
from ui.models.search_page import LinkDialog, SearchPage
from ui.models.welcome_page import WelcomePage
from ui.text.language import mark, translate
from ui.theme.theme import Theme
from ui.widgets.banner import Banner
from ui.widgets.building import button, hbox, label, vbox

NAV_PX, NARROW_NAV_PX = 200, 60
NARROW_PX = 1120
BESIDE_NAME_PX = 76  # margins, an icon, and the number of downloads
PAGES = (
    ("recommended", mark("Place", "Recommended"), "sparkles"),
    ("search", mark("Place", "Search"), "search"),
    ("drafts", mark("Place", "Drafts"), "puzzle"),
    ("library", mark("Place", "Library"), "library"),
    ("downloads", mark("Place", "Downloads"), "download"),
    ("engines", mark("Place", "Engines"), "server"),
)
Page = RecommendedPage | SearchPage | DraftsPage | LibraryPage | DownloadsPage | EnginesPage | WelcomePage


class ModelsPanel(QWidget):
    """What the user asks for in any of its pages comes by the signals of `requests`.

    Signals:
        back: the chat is wanted.
    """

    back = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.page = ""
        self._num_open = 0
        self._is_narrow = False
        self.link: LinkDialog | None = None
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.requests = ModelsRequests(self)
        self.recommended = RecommendedPage(theme, self.requests)
        self.search = SearchPage(theme, self.requests)
        self.drafts = DraftsPage(theme, self.requests)
        self.library = LibraryPage(theme, self.requests)
        self.downloads = DownloadsPage(theme, self.requests)
        self.engines = EnginesPage(theme, self.requests)
        self.welcome = WelcomePage(theme, self.requests)
        self._by_name: dict[str, Page] = {
            "recommended": self.recommended,
            "search": self.search,
            "drafts": self.drafts,
            "library": self.library,
            "downloads": self.downloads,
            "engines": self.engines,
            WELCOME: self.welcome,
        }
        self.back_button = button(
            translate("ModelsPanel", " Back to the chat"),
            self.leave,
            name=translate("ModelsPanel", "Back to the chat"),
            tip=translate("ModelsPanel", "Back to the chat (Esc)"),
        )
        self.welcome_button = button(
            translate("ModelsPanel", " Get started"),
            lambda: self.show_page(WELCOME),
            name=translate("ModelsPanel", "Get started"),
            tip=translate("ModelsPanel", "This computer and the models that suit it"),
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
        self.nav.itemClicked.connect(self._go_in)
        self.nav.itemActivated.connect(self._go_in)
        self.nav.currentRowChanged.connect(self._on_row)
        self.requests.page_requested.connect(self.show_page)
        self.requests.link_wanted.connect(self.ask_link)

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
        """Show this page, or the one that was shown last."""
        self.show_page(page or self.page or "recommended")

    def leave(self) -> None:
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
        if had_focus:  # arrows walk through the pages
            self.nav.setFocus()

    def show_problem(self, problem: Problem) -> None:
        self.problem.show_problem(problem)

    def show_notice(self, text: str) -> None:
        self.notice.show_notice(text)

    def ask_link(self) -> LinkDialog:
        self.link = dialog = LinkDialog(self._theme, self.requests, self.window())
        dialog.open()
        return dialog

    def show_link(self, view: LinkView) -> None:
        """Show what is behind the address that was given; nothing where the dialog was closed meanwhile."""
        if self.link is not None and isValid(self.link):
            self.link.set_view(view)

    def show_scan(self, view: ScanView | None) -> None:
        """Show how far the scan of a folder is; None: there is nothing to tell."""
        for page in (self.library, self.welcome):
            page.scan.set_view(view)

    def set_downloads(self, rows: Sequence[Download]) -> None:
        self.downloads.set_rows(rows)
        self._num_open = sum(row.status is not DownloadStatus.DONE for row in rows)
        self._show_names()

    def _show_names(self) -> None:
        """In a narrow window icons must do; names stay for the pointer and for screen readers."""
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
        """As wide as the longest name: text and language decide."""
        words = [translate("Place", english) for _key, english, _icon in PAGES]
        words += [translate("ModelsPanel", " Back to the chat"), translate("ModelsPanel", " Get started")]
        return max(NAV_PX, ceil(max(self._theme.text_width(name) for name in words)) + BESIDE_NAME_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = event.size().width() < NARROW_PX
        if narrow != self._is_narrow:
            self._is_narrow = narrow
            self._show_names()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The foot takes room only while one of its banners speaks."""
        if event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.foot.setVisible(not (self.problem.isHidden() and self.notice.isHidden()))
        return super().eventFilter(watched, event)

    def _go_in(self, item: QListWidgetItem) -> None:
        """Clicked, or Enter: what comes next is meant for the page, such as the words to search for."""
        page = str(item.data(Qt.ItemDataRole.UserRole))
        if page != self.page:
            self.show_page(page)
        self._by_name[page].start()

    def _on_row(self, row: int) -> None:
        # A row that only got the focus is current without being selected: it was not asked for.
        if row >= 0 and self.nav.item(row).isSelected():
            self.show_page(PAGES[row][0])

    def _recolor(self) -> None:
        self._show_names()  # the text may have another size
        tokens = self._theme.tokens
        self.back_button.setIcon(self._theme.icon("arrow-left", tokens.text_muted))
        self.welcome_button.setIcon(self._theme.icon("circle-question-mark", tokens.text_muted))
        for row, (_key, _name, icon) in enumerate(PAGES):
            self.nav.item(row).setIcon(self._theme.icon(icon, tokens.text_muted))
