"""The state and widths of the side panes, and the shown marks; saved as bytes."""

import base64
import binascii
import json
import sys
from collections.abc import Sequence

from PySide6.QtCore import QByteArray, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from ui.statistics.panel import StatsPanel
from ui.theme.stylesheet import DESIGN_TEXT_PX
from ui.widgets.dialogs import FOLDERS
from ui.window.header import Header

SIDEBAR_PX, STATS_PX = 248, 272
FIRST_SIZES = (SIDEBAR_PX, 1280 - SIDEBAR_PX - STATS_PX, STATS_PX)
MIN_SIDEBAR_PX = 220  # below this width the German texts of its buttons are cut
MIN_STATS_PX = 264  # below this width the longest words of its pages are cut
MAX_SIDE_PANE_PX = 420  # maximum width of each side pane
MIN_CHAT_PX = 360  # below this width lines have few words, so a pane is closed
NARROW_PX = 1180  # below this width the statistics are closed
MIN_WINDOW_PX = 640  # half of a small screen; in narrower windows the parts of the models panel would overlap
FRAME_SIZE = QSize(8, 40)  # approximate size of a window frame, which is known only once the window is shown
VERSION = 1


class WindowLayout(QObject):
    """Opens and closes the side panes; deleted with the splitter."""

    changed = Signal()  # widths, open panes or marks changed

    def __init__(
        self, window: QMainWindow, splitter: QSplitter, sidebar: QWidget, stats: StatsPanel, header: Header
    ) -> None:
        super().__init__(splitter)
        self._window = window
        self._splitter = splitter
        self._sidebar = sidebar
        self._stats = stats
        self._header = header
        self._sidebar_wanted = self._stats_wanted = True
        self._is_restored = False
        self._scale = 0.0
        self._reserved_px = 0  # width of the panel beside the chat
        self._width = sys.maxsize  # last known width of the window
        splitter.setChildrenCollapsible(False)
        for index, stretch in enumerate((0, 1, 0)):
            splitter.setStretchFactor(index, stretch)
        self.fit_text(DESIGN_TEXT_PX)
        for signal in (
            splitter.splitterMoved,
            stats.now.sources_selected,
        ):
            signal.connect(self.changed)

    def fit_text(self, base_px: int) -> None:
        """Scale the side panes for this text size."""
        scale = max(base_px / DESIGN_TEXT_PX, 1.0)
        if scale == self._scale:
            return
        grown, self._scale = scale / (self._scale or 1.0), scale
        # Allow less than the content's current minimum width, since the content adapts once the window is narrower.
        # The screen limits this minimum, since the text may be very large.
        self._window.setMinimumWidth(min(round(MIN_WINDOW_PX * scale), self._most_px))
        for pane, least in ((self._sidebar, MIN_SIDEBAR_PX), (self._stats, MIN_STATS_PX)):
            pane.setMinimumWidth(round(least * scale))
            pane.setMaximumWidth(round(MAX_SIDE_PANE_PX * scale))
        self._keep_chat_wide()
        if self._window.isVisible():
            self._widen_pane(self._splitter.sizes(), grown)
            self._fit_panes()
            QTimer.singleShot(0, self, self._fit_panes)  # after the centre is laid out for the new text size
        elif not self._is_restored:  # the sizes of a hidden splitter are meaningless
            self._widen_pane(FIRST_SIZES, scale)
        self.changed.emit()

    def reserve_panel_width(self, width: int) -> None:
        """Reserve this width for the panel beside the chat; side panes close meanwhile if they do not fit."""
        self._reserved_px = width
        self._keep_chat_wide()
        self._fit_panes()
        self.changed.emit()

    @property
    def _most_px(self) -> int:
        """The maximum window width on its screen."""
        return self._window.screen().availableSize().width() - FRAME_SIZE.width()

    def _keep_chat_wide(self) -> None:
        chat = self._splitter.widget(1)
        if chat is not None:
            chat.setMinimumWidth(min(round(MIN_CHAT_PX * self._scale) + self._reserved_px, self._most_px))

    def _widen_pane(self, sizes: Sequence[int], times: float) -> None:
        """Widen the side panes at the expense of the centre."""
        wanted = round(sizes[0] * times), round(sizes[-1] * times)
        self._splitter.setSizes([wanted[0], max(sum(sizes) - sum(wanted), 0), wanted[1]])

    def show_buttons(self) -> None:
        """Show the header's sidebar button only while the sidebar is closed."""
        self._header.sidebar_button.setVisible(self._sidebar.isHidden())

    def toggle_sidebar(self) -> None:
        self._sidebar_wanted = self._sidebar.isHidden()
        self._sidebar.setVisible(self._sidebar_wanted)
        self._make_room(self._stats)
        self.show_buttons()
        self.changed.emit()

    def show_sidebar(self) -> None:
        self._sidebar_wanted = True
        self._sidebar.show()
        self._make_room(self._stats)
        self.show_buttons()
        self.changed.emit()

    def toggle_stats(self) -> None:
        self._stats_wanted = self._stats.isHidden()
        self._stats.setVisible(self._stats_wanted)
        self._make_room(self._sidebar)
        self._restore_sidebar()
        self.show_buttons()
        self.changed.emit()

    def fit_screen(self) -> None:
        """Fit a window without a saved size to its screen."""
        if not self._is_restored and not self._fills_screen():
            self._window.resize(self._window.size().boundedTo(self._window.screen().availableSize() - FRAME_SIZE))

    def _fills_screen(self) -> bool:
        return bool(self._window.windowState() & (Qt.WindowState.WindowMaximized | Qt.WindowState.WindowFullScreen))

    def adapt_to_width(self, width: int) -> None:
        """Close the statistics in a narrow window; the button reopens them."""
        is_narrower, self._width = width < self._width, width
        if width >= self._narrow_px():
            self._stats.setVisible(self._stats_wanted)
        elif is_narrower:
            self._stats.hide()
        self._restore_sidebar()
        self.show_buttons()

    def _restore_sidebar(self) -> None:
        """Reopen the sidebar if it was closed for lack of space."""
        if self._sidebar_wanted and self._sidebar.isHidden():
            more = self._sidebar.minimumWidth() + self._splitter.handleWidth()
            self._sidebar.setVisible(self._splitter.minimumSizeHint().width() + more <= self._window.width())

    def _narrow_px(self) -> int:
        """The width below which the statistics close: at least the width of three panes at this text size."""
        places = range(self._splitter.count())
        panes = [pane for pane in map(self._splitter.widget, places) if pane is not None]
        least = (pane.minimumWidth() or pane.minimumSizeHint().width() for pane in panes)
        return max(NARROW_PX, sum(least) + self._splitter.handleWidth() * (len(panes) - 1))

    def _fit_panes(self) -> None:
        """If larger text leaves too little space, close the statistics first, then the sidebar."""
        for pane in (self._stats, self._sidebar):
            if self._splitter.minimumSizeHint().width() > self._window.width():
                pane.hide()
        self._restore_sidebar()
        if self._window.width() >= self._narrow_px():
            self._stats.setVisible(self._stats_wanted)
        self.show_buttons()

    def _make_room(self, other: QWidget) -> None:
        """Widen the window for a new pane; if that is impossible, close the ``other`` one."""
        most = self._window.width()  # a window may span two screens
        if not self._fills_screen():
            most = max(most, self._window.screen().availableGeometry().width())
        if self._splitter.minimumSizeHint().width() > most:
            other.hide()
        needed = min(self._splitter.minimumSizeHint().width(), most)
        if needed > self._window.width():
            self._window.resize(needed, self._window.height())

    def save(self) -> bytes:
        geometry = bytes(self._window.saveGeometry().data())
        state = {
            "version": VERSION,
            "geometry": base64.b64encode(geometry).decode("ascii"),
            "sizes": self._splitter.sizes(),
            "sidebar": self._sidebar_wanted,
            "stats": self._stats_wanted,
            "marks": self._stats.now.marks,
            "folders": dict(FOLDERS),
        }
        return json.dumps(state).encode()

    def restore(self, data: bytes) -> None:
        """Restore the bytes of `save`; other bytes are ignored."""
        try:
            state = json.loads(data)
            geometry = base64.b64decode(state["geometry"])
            sizes = tuple(int(size) for size in state["sizes"])
            sidebar, stats = bool(state["sidebar"]), bool(state["stats"])
            marks = tuple(state.get("marks", ()))  # old versions have none
        except (ValueError, KeyError, TypeError, binascii.Error):
            return
        folders = state.get("folders")
        if isinstance(folders, dict):
            FOLDERS.update({kind: folder for kind, folder in folders.items() if isinstance(folder, str)})
        self._is_restored = self._window.restoreGeometry(QByteArray(geometry))
        if len(sizes) == len(self._splitter.sizes()) and all(size >= 0 for size in sizes):
            self._splitter.setSizes(sizes)
        self._sidebar_wanted, self._stats_wanted = sidebar, stats
        self._sidebar.setVisible(sidebar)
        self._stats.setVisible(stats and self._window.width() >= self._narrow_px())
        self._width = self._window.width()  # `adapt_to_width` compares the next width with it
        self.show_buttons()
        self._fit_panes()
        self._stats.now.set_marks(marks)
