"""Draws the pictures of the README: the real window, the real engine, the built-in pair at real weight.

    python packaging/screenshots/window.py [--out docs/screenshots] [--light-weight]

Everything is kept in a folder of its own that is removed afterwards. The figures in the pictures are this machine's.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from files import THEMES, at_each_scale, ending, picture, save
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication

from app.controllers.reports import ThreadReports
from app.domain.engine_view import EngineState
from app.domain.settings.table import FIELDS
from app.paths import assets_dir, find_paths
from app.startup.assembly import assemble, real_engine
from engine.records import Mode
from ui.window.main_window import MainWindow

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = (
    "What is speculative decoding?",
    "Make a Markdown table of these words: river, stone, lamp, boat, apple, bell.",
    "Write a Python function that reverses a string.",
)
STORY = "Write a short story about a child and a boat."
TIMEOUT_S = 240.0


class AppWindow:
    """The window under real events."""

    def __init__(self, application: QApplication) -> None:
        self.application = application
        paths = find_paths()
        self.window = MainWindow(assets_dir(), FIELDS)
        self.controller = assemble(self.window, paths, ThreadReports(), real_engine(paths))
        self.window.resize(1280, 800)
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
        """Let the window paint and lay out."""
        ends = time.monotonic() + seconds
        self.wait(lambda: time.monotonic() > ends, "settling")

    def ready(self) -> bool:
        """Whether the engine waits for a message."""
        return self._state() is EngineState.READY

    def _state(self) -> EngineState:
        return self.controller.models.view(self.controller.answers.state).state

    def ask(self, text: str) -> None:
        """Type and send."""
        self.window.composer.edit.setPlainText(text)
        self.window.composer.send_button.click()
        self.settle(0.05)

    def shoot(self, out: Path, name: str) -> None:
        """Save what the window shows."""
        save(picture(self.window), out / f"{name}-{self.window.theme.name}{ending()}.png")


def main() -> int:
    """Draw all pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--light-weight", action="store_true", help="the built-in target as it is, not padded")
    parser.add_argument("--one-scale", action="store_true", help="that of QT_SCALE_FACTOR")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if not options.one_scale:
        at_each_scale(__file__, sys.argv[1:])
        return 0
    with tempfile.TemporaryDirectory() as home:
        os.environ["PACELINE_HOME"] = home
        application = QApplication(["paceline"])
        assert QFontDatabase.families(), "without a font every letter is a box"
        app_window = AppWindow(application)
        try:
            _draw(app_window, options.out, padded=not options.light_weight)
        finally:
            app_window.controller.close()
    return 0


def _draw(app_window: AppWindow, out: Path, *, padded: bool) -> None:
    window = app_window.window
    window.models.leave()  # the first run has pictures of its own
    app_window.wait(app_window.ready, "loading")
    for theme in THEMES:
        window.set_theme(theme)
        app_window.settle()
        app_window.shoot(out, "start")
    if padded:
        window.builtin_pair_requested.emit(True)
        app_window.wait(
            lambda: "padded" in app_window.controller.models.view(None).target.name and app_window.ready(), "padding"
        )  # type: ignore[union-attr]
        app_window.settle(4.0)  # the costs of a pass are measured while nothing is asked
    for number, text in enumerate(QUESTIONS):
        window.mode_changed.emit((Mode.AUTO, Mode.DRAFT, Mode.AUTO)[number])
        app_window.ask(text)
        app_window.wait(app_window.ready, "an answer")
    for theme in THEMES:
        window.set_theme(theme)
        app_window.ask(STORY)
        app_window.wait(app_window.ready, "an answer")
        app_window.settle()
        app_window.shoot(out, "chat")


if __name__ == "__main__":
    sys.exit(main())
