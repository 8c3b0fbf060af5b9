"""Switches between the chat, the Models panel, the race page and the server page."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget
from shiboken6 import isValid

from app.core.domain.settings.fields import SettingField
from ui.conversations.sidebar import Sidebar
from ui.models.parts import WELCOME
from ui.text.formatting import percent
from ui.text.language import Translator
from ui.theme.theme import Theme
from ui.widgets.icon_button import IconButton
from ui.window.empty_state import EmptyState
from ui.window.header import Header

tr = Translator("DownloadIndicator")

if TYPE_CHECKING:  # most chats never open the panel: the start does not import it
    from app.core.domain.models import Download
    from ui.models.panel import ModelsPanel
    from ui.race.page import RacePage
    from ui.server.page import ServerPage


class DownloadIndicator(IconButton):
    """Shows running and failed downloads in the header; opens the downloads page."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "download", tr("Downloads"), text="-")
        self.hide()

    def set_rows(self, rows: Sequence[Download]) -> None:
        from app.core.domain.models import DownloadStatus  # noqa: PLC0415
        from ui.models.downloads_page import overall, summary  # noqa: PLC0415  (brings the whole panel)

        moving = overall(rows)
        failed = sum(row.status is DownloadStatus.FAILED for row in rows)
        waiting = any(row.status is DownloadStatus.QUEUED or row.status.is_active for row in rows)
        self.setVisible(waiting or bool(failed))
        self.setText(f" {percent(moving)}" if waiting else tr(" stopped"))
        words = summary(rows) if waiting else tr("A download has stopped and needs attention")
        self.setToolTip(words)
        self.setAccessibleName(tr("Downloads: {words}").format(words=words))


class PageNavigation(QObject):
    """Shows a page in the chat's stack; the page is created when first needed."""

    page_created = Signal(object)  # the page, once, for its controllers

    def __init__(self, theme: Theme, chat: QWidget, first: PageNavigation | None = None) -> None:
        """``first``: the navigation that created the stack."""
        super().__init__()
        self._theme, self._chat, self._first = theme, chat, first
        self._made: QWidget | None = None
        self._focus: QWidget | None = None
        self.stack: QStackedWidget = QStackedWidget() if first is None else first.stack
        if first is None:
            self.stack.addWidget(chat)

    def _make(self) -> QWidget:
        """Create the page; it has a signal ``back``."""
        raise NotImplementedError

    def _page_or_new(self) -> QWidget:
        if self._made is None:
            self._made = page = self._make()
            # A hidden page must not keep the window wide.
            page.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
            self.stack.addWidget(page)
            page.back.connect(self.leave)  # type: ignore[attr-defined]
            self.page_created.emit(page)
        return self._made

    @property
    def is_created(self) -> bool:
        """Whether the page was opened before."""
        return self._made is not None

    @property
    def is_open(self) -> bool:
        return self._made is not None and self.stack.currentWidget() is self._made

    def show_page(self) -> None:
        page = self._page_or_new()
        if not self.is_open:
            if self._first is not None:
                self._first.leave()
            self._focus = self.stack.window().focusWidget()
            self.stack.setCurrentWidget(page)

    def leave(self) -> None:
        """Return to the chat and restore its focus; the work of the page continues."""
        if self.is_open:
            self.stack.setCurrentWidget(self._chat)
            if self._focus is not None and isValid(self._focus) and self._chat.isAncestorOf(self._focus):
                self._focus.setFocus(Qt.FocusReason.OtherFocusReason)


class ModelsNavigation(PageNavigation):
    """Shows the Models panel, and the download indicator in the header."""

    def __init__(self, theme: Theme, chat: QWidget) -> None:
        super().__init__(theme, chat)
        self._downloads: Sequence[Download] = ()
        self.indicator = DownloadIndicator(theme)

    @property
    def panel(self) -> ModelsPanel:
        return cast("ModelsPanel", self._page_or_new())

    def _make(self) -> QWidget:
        from ui.models.panel import ModelsPanel  # noqa: PLC0415

        panel = ModelsPanel(self._theme)
        if self._downloads:
            panel.set_downloads(self._downloads)
        return panel

    @property
    def page(self) -> str:
        """The current or last page of the panel; empty before the first."""
        return self.panel.page if self.is_created else ""

    def connect_entry_points(self, header: Header, sidebar: Sidebar, empty: EmptyState) -> None:
        header.add_indicator(self.indicator)
        self.indicator.clicked.connect(lambda: self.open("downloads"))
        for wanted in (header.browse_action.triggered, sidebar.models_button.clicked, empty.browse_button.clicked):
            wanted.connect(partial(self.open, ""))
        sidebar.new_chat.connect(self.leave)

    def open(self, page: str = "") -> None:
        """Show the panel at a page, by default the last one."""
        self.show_page()
        self.panel.open(page or ("" if self.panel.page != WELCOME else "recommended"))

    def toggle(self) -> None:
        if self.is_open:
            self.panel.close_panel()
        else:
            self.open()

    def set_downloads(self, rows: Sequence[Download]) -> None:
        if not rows and not self._downloads:
            return
        self._downloads = rows
        if self.is_created:
            self.panel.set_downloads(rows)
        self.indicator.set_rows(rows)


class RaceNavigation(PageNavigation):
    opened_empty = Signal()  # the page was opened without a question

    def _make(self) -> QWidget:
        from ui.race.page import RacePage  # noqa: PLC0415  (as the panel)

        return RacePage(self._theme)

    @property
    def page(self) -> RacePage:
        return cast("RacePage", self._page_or_new())

    def toggle(self) -> None:
        if self.is_open:
            self.leave()
        else:
            self.opened_empty.emit()


class ServerNavigation(PageNavigation):
    def __init__(self, theme: Theme, chat: QWidget, models: ModelsNavigation, fields: Sequence[SettingField]) -> None:
        super().__init__(theme, chat, models)
        self._fields = fields

    def _make(self) -> QWidget:
        from ui.server.page import ServerPage  # noqa: PLC0415  (as the panel)

        return ServerPage(self._theme, self._fields)

    @property
    def page(self) -> ServerPage:
        return cast("ServerPage", self._page_or_new())

    def toggle(self) -> None:
        if self.is_open:
            self.leave()
        else:
            self.show_page()
