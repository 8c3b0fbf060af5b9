"""Draws each part of the window with made-up content, light and dark, at 100 and 200 per cent, and some in German.

    python packaging/screenshots/parts.py [--out docs/screenshots] [--only NAME ...] [--language de] [--size 1000x700]

The figures in these pictures are examples.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import content
from files import THEMES, at_each_scale, ending, picture, save
from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from app.domain.context import ContextParts
from app.domain.engine_view import EngineState, EngineView
from app.domain.local_server import Activity, ServerView
from app.domain.messages import MessageState, MessageView
from engine.records import Mode, Problem, Source
from tests.ui import filled_window
from tests.ui.conftest import ASSETS, BUILTIN, model
from ui.composer.context_meter import ContextMeter
from ui.composer.context_sum import ContextSum
from ui.conversations.menu import make_menu as conversation_menu
from ui.text.catalogues import install_language
from ui.transcript.cards.reasoning_block import ReasoningBlock
from ui.transcript.cards.user_card import UserCard
from ui.transcript.menu import make_menu as message_menu
from ui.window.main_window import MainWindow

ROOT = Path(__file__).resolve().parents[2]
WAIT_S = 20.0
SETTINGS = ("models", "modes", "sampling", "chat", "engine", "devices", "server", "appearance", "prompts")
SERVER_SIZE = QSize(800, 920)  # its whole page
GERMAN = ("window", "empty", "statistics-all", "settings-modes")


class Waiter:
    """Runs Qt's events while something is made; what `tests.ui.filled_window` needs of a test's robot."""

    def __init__(self, application: QApplication) -> None:
        self._application = application

    def addWidget(self, widget: QWidget) -> None:  # noqa: N802 (the robot's own name)
        """Keep nothing: the process ends after its pictures."""

    def waitExposed(self, widget: QWidget) -> None:  # noqa: N802, ARG002
        """Let it be shown."""
        self.settle()

    def waitUntil(self, done: Callable[[], bool], timeout: int = 0) -> None:  # noqa: N802, ARG002
        """Run events until ``done``, or long enough."""
        ends = time.monotonic() + WAIT_S
        while not done() and time.monotonic() < ends:
            self.settle(0.02)

    def settle(self, seconds: float = 0.25) -> None:
        """Let everything be laid out and painted."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self._application.processEvents()
            time.sleep(0.005)


class Pictures:
    """Saves the parts of one window in one theme; each method draws the parts that it is named after."""

    def __init__(self, window: MainWindow, waiter: Waiter, theme: str, options: argparse.Namespace) -> None:
        self._window, self._waiter, self._theme = window, waiter, theme
        self._out, self._only = options.out, options.only
        self._begin = "" if options.language == "en" else f"{options.language}-"
        self._meter = ContextMeter(window.theme)
        window.header.add_indicator(self._meter)
        self.set_context(content.CONTEXT)
        window.local_server.set_key(content.SERVER_KEY)
        window.chat_settings.set_prompts(content.PROMPTS)
        window.set_mode(Mode.AUTO)
        window.set_engine(
            EngineView(
                EngineState.READY,
                model(content.TARGET, path=f"/models/{content.TARGET}.gguf"),
                model(content.DRAFT, path=f"/models/{content.DRAFT}.gguf"),
            )
        )
        rows, folders = content.conversations()
        window.set_conversations(rows, 1, folders)
        self.fill()

    def set_context(self, parts: ContextParts) -> None:
        """What the context holds, as the header shows it."""
        self._meter.set_parts(parts)

    def fill(self) -> None:
        """Show the conversation."""
        self._window.show_conversation("Weekend plans", content.messages())
        self._window.stats.begin()
        for stats in content.live():
            self._window.stats.show_stats(stats)
        self._window.stats.end(content.STATS)
        self._waiter.waitUntil(lambda: not self._window.transcript.is_building)
        self._waiter.settle(0.6)  # the formula is typeset
        self._window.composer.edit.setFocus()

    def shoot(
        self, name: str, of: QWidget | None = None, over: Sequence[QWidget] = (), area: QRect | None = None
    ) -> None:
        """Save what a widget shows, or an area of it, in logical pixels."""
        if self._only and name not in self._only:
            return
        self._waiter.settle()
        shown = picture(of or self._window, over)
        if area is not None:
            ratio = shown.devicePixelRatio()
            shown = shown.copy(QRect(area.topLeft() * ratio, area.size() * ratio))
        save(shown, self._out / f"{self._begin}{name}-{self._theme}{ending()}.png")

    def middle(self, from_below_px: int = 0) -> QRect:
        """Where the conversation stands; the lower part of it only, if so much is wanted."""
        pane = self._window.splitter.widget(1)
        area = QRect(pane.mapTo(self._window, QPoint(0, 0)), pane.size())
        return area if not from_below_px else area.adjusted(0, area.height() - from_below_px, 0, 0)

    @contextmanager
    def dialog(self, dialog: QDialog) -> Iterator[QDialog]:
        """Close it afterwards."""
        yield dialog
        dialog.close()

    def window_parts(self) -> None:
        """The whole window, and what the answers can show."""
        window = self._window
        self.shoot("window")
        window.transcript.mark_sources(frozenset(Source) - {Source.TARGET})
        window.transcript.show_refused(True)
        for source, row in window.stats.now.sources.items():
            row.setChecked(source is not Source.TARGET)
        self.shoot("marks")
        for row in window.stats.now.sources.values():
            row.setChecked(False)
        window.transcript.show_refused(False)
        window.transcript.mark_sources(frozenset())
        for block in window.transcript.findChildren(ReasoningBlock):
            block.set_open(True)
        window.transcript.verticalScrollBar().setValue(0)
        self.shoot("reasoning", area=self.middle())
        self.fill()
        card = window.transcript.cards[-1]
        card.set_revealed(True)
        menu = message_menu(card)
        menu.popup(window.mapToGlobal(self.middle().center() - QPoint(60, 40)))
        self.shoot("message-menu", over=(menu,), area=self.middle())
        menu.close()
        user = next(card for card in window.transcript.cards if isinstance(card, UserCard))
        user.begin_edit()
        window.transcript.verticalScrollBar().setValue(0)
        self.shoot("edit", area=self.middle())
        user.end_edit()
        self.summary()

    def summary(self) -> None:
        """A conversation whose oldest turns were summarised; it is nearly full."""
        self._window.transcript.summaries.set_views({1: content.SUMMARY})
        self._window.transcript.verticalScrollBar().setValue(0)
        self.shoot("summary", area=self.middle())
        self._meter.open_panel()
        panel = self._meter.panel
        assert panel is not None
        self.shoot("context", over=(panel,), area=self.middle())
        panel.close()
        self._window.transcript.summaries.set_views({})

    def composer_parts(self) -> None:
        """What stands at the lower edge."""
        window, low = self._window, 360
        composer = window.composer
        composer.show_attachments(content.FILES, (), reading=False)
        composer.set_text("Compare these.")
        composer.show_sum(ContextSum(1204, 622, 6, 4096))
        self.shoot("attachments", area=self.middle(low))
        composer.show_sum(ContextSum(1204, 2902, 6, 4096))
        composer.set_overflow("drop")
        self.shoot("attachments-too-long", area=self.middle(low))
        composer.show_attachments((), (), reading=False)
        composer.show_sum(None)
        composer.set_text("")
        self._waiter.settle()
        QTest.keyClicks(composer.edit, "/")
        self.shoot("prompts", area=self.middle(low))
        composer.set_text("")
        window.show_notice("The model on the GPU was loaded again: it keeps 24 layers there.")
        window.show_problem(
            Problem("The draft cannot be used", "Token 139 differs from the target's.", "Choose another draft.")
        )
        self.shoot("messages", area=self.middle(low))
        window.problem_banner.hide()
        window.notice_banner.hide()
        window.undo_bar.show_deleted("“River trip” was deleted.")
        self.shoot("undo", area=self.middle(low))
        window.undo_bar.expire()

    def side_parts(self) -> None:
        """The sidebar, its menus and the search."""
        window = self._window
        sidebar = window.sidebar
        area = QRect(0, 0, 460, 520)
        index = sidebar.list.rows.index(1, 0)
        menu = conversation_menu(sidebar.list, index)
        assert menu is not None
        menu.popup(sidebar.list.viewport().mapToGlobal(sidebar.list.visualRect(index).center()))
        self.shoot("chats", over=(menu,), area=area)
        menu.close()
        sidebar.search.setText("river")
        sidebar.show_results(content.HITS)
        self.shoot("search", area=area)
        sidebar.search.clear()
        actions = sidebar.help_button.popup_menu
        actions.popup(sidebar.help_button.mapToGlobal(QPoint(0, -actions.sizeHint().height() - 4)))
        self.shoot("help", over=(actions,), area=QRect(0, window.height() - 260, 460, 260))
        actions.close()
        window.header.set_models(content.PICKER)
        window.header.open_models()
        picker = window.header.picker
        self.shoot(
            "models-menu",
            over=(picker,),
            area=QRect(self.middle().topLeft(), self.middle().size()).adjusted(0, 0, 0, -180),
        )
        picker.close()
        window.composer.modes.open_menu()
        modes = window.composer.modes.menu_of_modes
        self.shoot("modes-menu", over=(modes,), area=self.middle(520))
        modes.close()

    def statistics(self) -> None:
        """The pane's pages, and its dialogs."""
        stats, (rows, sums) = self._window.stats, content.sums()
        if stats.isHidden():
            self._window.layout_state.toggle_stats()
        stats.show_chat(rows, sums)
        stats.show_all(rows, sums)
        self.shoot("statistics-now", stats)
        for page in ("chat", "all"):
            stats.show_page(page)
            self.shoot(f"statistics-{page}", stats)
        stats.open_table()
        assert stats.table is not None
        with self.dialog(stats.table) as table:
            self.shoot("statistics-table", table)
        stats.show_page("now")
        with self.dialog(filled_window.open_dialog(self._window, "explanations")) as explanations:
            self.shoot("statistics-explained", explanations)

    def dialogs(self) -> None:
        """All other dialogs."""
        self._window.dialogs.set_values({"server": True})
        self._window.local_server.set_view(replace(content.SERVER, activity=Activity(), yours_waits=False))
        for number, name in enumerate(SETTINGS):
            with self.dialog(filled_window.open_settings(self._window, number)) as dialog:
                if name == "server":
                    dialog.resize(SERVER_SIZE)
                self.shoot(f"settings-{name}", dialog)
        self._window.local_server.set_view(ServerView())
        for name in ("chat_settings", "shortcuts", "attachment", "link"):
            with self.dialog(filled_window.open_dialog(self._window, name)) as dialog:
                self.shoot(name.replace("_", "-"), dialog)

    def server(self) -> None:
        """The local server: its sign and menu, and a question that waits for another program's."""
        window, sign = self._window, self._window.local_server
        sign.set_view(content.SERVER)
        window.begin_answer(MessageView(9, "assistant", "", state=MessageState.STREAMING))
        window.transcript.show_waiting(True)
        self._waiter.settle()
        sign.button.open_menu()
        menu = sign.button.menu_of_server
        self.shoot("server", over=(menu,), area=self.middle())
        menu.close()
        sign.set_view(ServerView())
        self.fill()

    def whole_windows(self) -> None:
        """The window in other states."""
        window = self._window
        window.set_density("compact")
        self.shoot("compact")
        window.set_density("comfortable")
        size = window.size()
        window.resize(1000, 700)
        self._waiter.settle()
        if window.stats.isHidden():
            window.layout_state.toggle_stats()
        self.shoot("narrow")
        window.resize(size)
        window.begin_answer(MessageView(9, "assistant", "", state=MessageState.STREAMING))
        window.show_prefill(412, 816)
        self.shoot("reading", area=self.middle())
        self.fill()
        window.drop_overlay.ask(f"/models/{content.DRAFT}.gguf")
        self.shoot("drop")
        window.drop_overlay.hide()
        window.show_conversation("", [])
        self._meter.set_parts(ContextParts())
        for name, view in (("empty", BUILTIN), ("no-model", EngineView()), ("new-chat", filled_window.READY)):
            window.set_engine(view)
            self.shoot(name, area=self.middle())


def draw(options: argparse.Namespace) -> None:
    """Draw in both themes."""
    application = QApplication(["paceline"])
    install_language(application, ASSETS / "translations", options.language)
    waiter = Waiter(application)
    for theme in THEMES:
        window = filled_window.make_window(waiter)  # type: ignore[arg-type]
        window.set_theme(theme)
        window.resize(*(int(number) for number in options.size.split("x")))
        pictures = Pictures(window, waiter, theme, options)
        for parts in (
            pictures.window_parts,
            pictures.composer_parts,
            pictures.side_parts,
            pictures.statistics,
            pictures.dialogs,
            pictures.server,
            pictures.whole_windows,
        ):
            parts()
        window.close()


def main() -> int:
    """Draw everything: a process for each scale."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--only", nargs="*", help="these parts only")
    parser.add_argument("--language", default="en")
    parser.add_argument("--size", default="1280x800", help="of the window")
    parser.add_argument("--one-scale", action="store_true", help="that of QT_SCALE_FACTOR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.one_scale:
        draw(options)
    else:
        at_each_scale(__file__, sys.argv[1:])
        if options.language == "en" and not options.only:
            at_each_scale(__file__, [*sys.argv[1:], "--language", "de", "--only", *GERMAN])
    return 0


if __name__ == "__main__":
    sys.exit(main())
