"""Takes screenshots: the model library, then a chat, its token marks, a race, settings, and the server.

    python packaging/screenshots/window.py --target T.gguf --draft D.gguf [--out docs/screenshots]

Models and measurements are real. All data is in temporary folders; the hub is not contacted.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PIL import Image
from PySide6.QtCore import QPoint, QSize
from PySide6.QtGui import QFontDatabase, QImage, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QWidget

from app.controllers.reports import ThreadReports
from app.core.domain.engine_view import EngineState
from app.core.domain.settings.table import FIELDS
from app.core.paths import assets_dir, find_paths
from app.core.storage.settings_file import read_settings, write_settings
from app.startup.assembly import assemble, real_engine
from engine.records import Mode, Source
from ui.settings.dialog import SettingsDialog
from ui.text.language import install_language
from ui.window.main_window import MainWindow

ROOT = Path(__file__).resolve().parents[2]
THEMES = ("light", "dark")
SIZE, RACE_SIZE, DIALOG_SIZE = QSize(1280, 900), QSize(1280, 720), QSize(800, 868)
TIMEOUT_S = 600.0
NUM_LIVE = 60  # tokens of the slower lane when the running race is captured
BEFORE = (  # short chats before the captured one
    "What does git rebase --onto do? Answer in two sentences.",
    "Give me a regex for an ISO date such as 2024-05-17.",
)
CODE = """def total(order, vat=0.19):
    net = sum(line.price * line.count for line in order.lines)
    return round(net * (1 + vat), 2)


def invoice(order):
    return f"{order.number}: {total(order):.2f} EUR"


def reminders(orders):
    due = [order for order in orders if not order.paid]
    return {order.customer: total(order) for order in due}
"""
SIDE_BY_SIDE = (
    "Explain in detail how a hash table works, with an example in Python.",
    "Write a function that merges two sorted lists, and explain it step by step.",
)
FIRST = "What does this module do? Answer in one sentence."
EDIT = "Rename total to order_total, and its callers. Answer with the whole module."


def picture(widget: QWidget, over: Sequence[QWidget] = ()) -> QPixmap:
    """Grab a widget, with open menus and panes over it."""
    shown = widget.grab()
    painter = QPainter(shown)
    for popup in over:
        painter.drawPixmap(popup.mapToGlobal(QPoint(0, 0)) - widget.mapToGlobal(QPoint(0, 0)), popup.grab())
    painter.end()
    return shown


def save(pixmap: QPixmap, file: Path) -> None:
    """Write a PNG with a reduced palette that keeps rare colours."""
    image = pixmap.toImage().convertToFormat(QImage.Format.Format_RGB888)
    size, row_bytes = (image.width(), image.height()), image.bytesPerLine()
    colours = Image.frombuffer("RGB", size, image.constBits(), "raw", "RGB", row_bytes, 1)
    small = colours.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=4, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
    print(file.name, flush=True)


def make_application() -> QApplication:
    """Create the Qt application, with English texts and fonts."""
    application = QApplication(["paceline"])
    install_language(application, assets_dir() / "translations", "en")
    assert QFontDatabase.families(), "without a font every letter is a box"
    return application


class AppWindow:
    """Drives the window with real events."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        paths = find_paths()
        self.window = MainWindow(assets_dir(), FIELDS)
        self.controller = assemble(self.window, paths, ThreadReports(), real_engine(paths))
        self.window.resize(SIZE)
        self.window.show()

    def wait(self, done: Callable[[], bool], what: str) -> None:
        """Run the event loop until ``done``."""
        ends = time.monotonic() + TIMEOUT_S
        while not done():
            if time.monotonic() > ends:
                raise TimeoutError(f"{what} took longer than {TIMEOUT_S:.0f} s")
            self.application.processEvents()
            time.sleep(0.002)

    def settle(self, seconds: float = 0.4) -> None:
        """Let the window finish layout and painting."""
        ends = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() > ends, "settling")

    def ready(self) -> bool:
        """Whether the engine is ready for a message."""
        return self.controller.state.engine.state is EngineState.READY

    def ask(self, text: str) -> None:
        """Type a message, send it, and wait for the answer."""
        self.window.composer.edit.setPlainText(text)
        self.window.composer.send_button.click()
        self.settle(0.05)
        self.wait(self.ready, "an answer")
        self.settle()

    def shoot(self, out: Path, name: str, of: QWidget | None = None, over: Sequence[QWidget] = ()) -> None:
        """Save a screenshot of the window, or of a part, in each theme."""
        for theme in THEMES:
            self.window.set_theme(theme)
            self.settle()
            save(picture(of or self.window, over), out / f"{name}-{theme}.png")


def capture_models(app_window: AppWindow, options: argparse.Namespace) -> None:
    """Capture the first steps, and add the models to the library."""
    place = app_window.window.models.panel
    app_window.shoot(options.out, "models-first-run")
    for file in (options.target, options.draft):
        place.requests.add_requested.emit(file)
    app_window.wait(lambda: len(place.library.lines) >= 2, "the library")


def capture_work(app_window: AppWindow, options: argparse.Namespace) -> None:
    """Capture the window at work."""
    app_window.window.models.leave()
    app_window.window.composer.mode_chosen.emit(Mode.AUTO)
    app_window.wait(app_window.ready, "loading")
    Pictures(app_window, options.out).capture_all()


class Pictures:
    """Each method captures one part."""

    def __init__(self, app_window: AppWindow, out: Path) -> None:
        self._app, self._window, self._out = app_window, app_window.window, out

    def capture_all(self) -> None:
        """Capture all parts."""
        self._app.settle(4.0)  # wait until the costs of passes are measured in idle time
        self._app.shoot(self._out, "start")
        for text in BEFORE:
            self._app.ask(text)
            self._window.sidebar.new_chat.emit()
            self._app.settle()
        self.chat()
        self.marks()
        self.race()
        self.settings()
        self.server()
        self.side_by_side()  # last, since it leaves other chats open

    def chat(self) -> None:
        """A chat that edits code."""
        tray = self._window.composer.tray
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "invoices.py"
            file.write_text(CODE, "utf-8")
            self._window.composer.files_offered.emit([str(file)])
            self._app.wait(lambda: any("tokens" in chip.facts.text() for chip in tray.rows.chips), "the file")
            self._app.ask(FIRST)
        self._app.ask(EDIT)
        self._app.shoot(self._out, "chat")

    def marks(self) -> None:
        """The provenance marks of that answer's tokens."""
        rows = self._window.stats.now.sources
        for source, row in rows.items():
            row.setChecked(source is not Source.TARGET)
        self._app.shoot(self._out, "marks")
        for row in rows.values():
            row.setChecked(False)

    def side_by_side(self) -> None:
        """Two chats that answer at the same time."""
        self._window.show_chat()
        for text in SIDE_BY_SIDE:
            self._window.sidebar.new_chat.emit()
            self._app.settle()
            self._window.composer.edit.setPlainText(text)
            self._window.composer.send_button.click()
            self._app.settle(6.0)
        self._app.shoot(self._out, "side-by-side")
        self._app.wait(self._app.ready, "an answer")
        self._app.wait(lambda: not self._app.controller.state.answers, "the other answer")
        self._app.settle()

    def race(self) -> None:
        """The same question without and with drafting, alternating."""
        self._window.resize(RACE_SIZE)
        page = self._window.race.page
        self._window.transcript.race_requested.emit(self._window.transcript.cards[-1].message_id)
        self._app.settle()
        page.form.start()
        self._app.wait(
            lambda: not page.is_racing or min((lane.stats.tokens for lane in page.track.lanes), default=0) > NUM_LIVE,
            "a race",
        )
        self._app.shoot(self._out, "race-running")
        self._app.wait(lambda: not page.is_racing, "a race")
        self._app.settle()
        page.setFocus()
        self._app.shoot(self._out, "race")
        self._window.show_chat()
        self._window.resize(SIZE)

    def settings(self) -> None:
        """The modes of speculation."""
        self._window.dialogs.open_settings()
        dialog = next(dialog for dialog in self._window.findChildren(SettingsDialog) if dialog.isVisible())
        dialog.nav.setCurrentRow(1)
        dialog.resize(DIALOG_SIZE)
        self._app.shoot(self._out, "settings-modes", dialog)
        dialog.close()

    def server(self) -> None:
        """The local server's page."""
        self._window.dialogs.saved.emit({"server": True})
        self._window.sidebar.server_button.click()
        page = self._window.server.page
        key = page.access.key
        self._app.wait(lambda: page.queue.isVisibleTo(page) and bool(key.text()), "the server")
        self._app.shoot(self._out, "server")


def main() -> int:
    """Take all screenshots."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    application = make_application()
    chosen = {"target_path": options.target, "draft_path": options.draft, "n_ctx": 4096, "temperature": 0.0}
    for draw, settings in ((capture_models, {}), (capture_work, chosen)):
        with tempfile.TemporaryDirectory() as home:
            os.environ.update(PACELINE_HOME=home, HF_HUB_OFFLINE="1")
            if settings:  # the first steps are only shown without settings
                file = find_paths().settings_file
                file.parent.mkdir(parents=True, exist_ok=True)
                write_settings(file, read_settings(file).settings.changed(settings)[0])
            app_window = AppWindow(application)
            try:
                draw(app_window, options)
            finally:
                app_window.controller.close()
                app_window.window.deleteLater()
    return 0


if __name__ == "__main__":
    sys.exit(main())
