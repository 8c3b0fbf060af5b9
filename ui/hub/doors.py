"""How the Models place is reached from the chat and left again, and what tells in the chat that something downloads."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from ui.formatting import percent
from ui.header import Header
from ui.hub.downloads_page import overall, summary
from ui.hub.place import WELCOME, HubPlace
from ui.hub_records import DownloadRow, DownloadState
from ui.icon_button import IconButton
from ui.language import translate
from ui.sidebar import Sidebar
from ui.theme import Theme


class DownloadIndicator(IconButton):
    """In the header while something downloads, or has stopped and needs a look; a click opens the downloads."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "download", translate("DownloadIndicator", "Downloads"), text="-", parent=parent)
        self.hide()

    def set_rows(self, rows: Sequence[DownloadRow]) -> None:
        """Show the share of all that is on its way."""
        moving = overall(rows)
        failed = sum(row.state is DownloadState.FAILED for row in rows)
        waiting = any(
            row.state in (DownloadState.RUNNING, DownloadState.WAITING, DownloadState.CHECKING) for row in rows
        )
        self.setVisible(waiting or bool(failed))
        self.setText(f" {percent(moving)}" if waiting else translate("DownloadIndicator", " stopped"))
        words = summary(rows) if waiting else translate("DownloadIndicator", "A download has stopped and needs a look")
        self.setToolTip(words)
        self.setAccessibleName(translate("DownloadIndicator", "Downloads: {words}").format(words=words))


class HubDoors(QObject):
    """Holds the chat and the place one above the other."""

    def __init__(self, theme: Theme, chat: QWidget) -> None:
        super().__init__()
        self._chat = chat
        self._focus: QWidget | None = None
        self.place = HubPlace(theme)
        self.indicator = DownloadIndicator(theme)
        self.stack = QStackedWidget()
        self.stack.addWidget(chat)
        self.stack.addWidget(self.place)
        # A page that is not seen must not keep the window wide.
        self.place.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.place.back.connect(self.leave)

    def connect_doors(self, header: Header, sidebar: Sidebar, buttons: Sequence[QObject]) -> None:
        """Every way in; ``buttons`` have a signal ``browse``."""
        header.add_indicator(self.indicator)
        self.indicator.clicked.connect(lambda: self.open("downloads"))
        header.browse.connect(self.open)
        sidebar.models.connect(self.open)
        sidebar.new_chat.connect(self.leave)
        for one in buttons:
            one.browse.connect(self.open)  # type: ignore[attr-defined]

    @property
    def is_open(self) -> bool:
        """Whether the place is seen."""
        return self.stack.currentWidget() is self.place

    def open(self, page: str = "") -> None:
        """Show the place, at a page or where it was left."""
        if not self.is_open:
            self._focus = self.stack.window().focusWidget()
            self.stack.setCurrentWidget(self.place)
        self.place.open(page or ("" if self.place.page != WELCOME else "recommended"))

    def toggle(self) -> None:
        """Open it, or go back to the chat."""
        if self.is_open:
            self.place.leave()
        else:
            self.open()

    def take_over(self, other: HubDoors) -> None:
        """Be where another was."""
        self.place.take_over(other.place)
        if other.is_open:
            self.open(other.place.page)

    def leave(self) -> None:
        """Back to the chat, with the focus where it was."""
        if self.is_open:
            self.stack.setCurrentWidget(self._chat)
            if self._focus is not None:
                self._focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def set_downloads(self, rows: Sequence[DownloadRow]) -> None:
        """Show the downloads, there and in the chat's header."""
        self.place.set_downloads(rows)
        self.indicator.set_rows(rows)
