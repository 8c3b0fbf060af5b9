"""Draws the parts of the window with made-up content: light and dark, the main ones at twice the scale, and German.

    xvfb-run python packaging/screenshots_parts.py [--out docs/screenshots]

The figures in these pictures are examples. Each scale is a process of its own: Qt reads it once.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PySide6.QtWidgets import QApplication, QWidget

from engine.records import Source, TokenSpan
from tests.ui import places
from tests.ui.conftest import ASSETS, STATS
from ui.catalogues import speak
from ui.main_window import MainWindow
from ui.records import Attachment, AttachmentKind, MessageView

ROOT = Path(__file__).resolve().parents[1]
THEMES = ("light", "dark")
QUESTION = "Which of these words come from water? Put them into a table, and say how many there are."
ANSWER = (
    "Four of the six words have to do with water.\n\n| Word | Water? |\n|---|---|\n| river | yes |\n| boat | yes |\n"
    "| lamp | no |\n| bell | no |\n\nCounted in Python:\n\n```python\nwet = {'river', 'boat', 'rain', 'sea'}\n"
    "print(len(wet))\n```\n\nThe chance that a random pair is wet is $\\frac{4}{6} \\cdot \\frac{3}{5} = 0.4$."
)
THOUGHT = "<think>\nThe user lists six words. I count those that have to do with water.\n</think>\n\n"
SOURCES = (Source.DRAFT, Source.DRAFT, Source.DRAFT, Source.RECOVERED, Source.NGRAM, Source.NGRAM, Source.BONUS)
WAIT_S = 20.0


class Waiter:
    """Runs Qt's events while something is made; what `tests.ui.places` needs of a test's robot."""

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

    def settle(self, seconds: float = 0.3) -> None:
        """Let everything be laid out and painted."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            self._application.processEvents()
            time.sleep(0.005)


def spans(text: str) -> tuple[TokenSpan, ...]:
    """Word by word, sources in turn."""
    pieces = re.findall(r"\s*\S+|\s+$", text)
    made = []
    for number, piece in enumerate(pieces):
        source = SOURCES[number % len(SOURCES)]
        made.append(TokenSpan(len(piece), source, " lake" if source is Source.RECOVERED else ""))
    return tuple(made)


def fill(window: MainWindow, waiter: Waiter) -> None:
    """Show a conversation with an attachment, reasoning, a table, code and a formula."""
    files = (Attachment(1, "words.txt", AttachmentKind.TEXT, 42, "river, boat, lamp, bell, rain, sea", 14),)
    text = THOUGHT + ANSWER
    views = [
        MessageView(1, "user", QUESTION, attachments=files),
        MessageView(2, "assistant", text, stats=STATS, spans=spans(text), thinking_ms=2400, target="tiny"),
    ]
    window.show_conversation("Weekend plans", views)
    waiter.waitUntil(lambda: not window.transcript.is_building)
    waiter.settle(1.0)  # the formula is typeset


class Pictures:
    """Saves the parts of one window in one theme."""

    def __init__(self, window: MainWindow, waiter: Waiter, out: Path, ending: str) -> None:
        self._window, self._waiter, self._out, self._ending = window, waiter, out, ending

    def shoot(self, name: str, widget: QWidget | None = None) -> None:
        """Save what a widget shows, as small as PNG can be."""
        self._waiter.settle()
        file = self._out / f"{name}-{self._ending}.png"
        (widget or self._window).grab().save(str(file), "PNG", 0)
        print(file.name)

    def main_parts(self) -> None:
        """The window, the marks, the cards of the modes."""
        self.shoot("window")
        self._window.transcript.mark_sources(frozenset(Source) - {Source.TARGET})
        self.shoot("marks")
        self._window.transcript.mark_sources(frozenset())
        dialog = places.open_settings(self._window, 1)
        self.shoot("settings-modes", dialog)
        dialog.close()

    def other_parts(self) -> None:
        """Dialogs, pages of the settings, the statistics, the compact window."""
        for name in ("chat_settings", "shortcuts", "attachment"):
            dialog = places.open_dialog(self._window, name)
            self.shoot(name.replace("_", "-"), dialog)
            dialog.close()
        dialog = places.open_settings(self._window, 2)
        self.shoot("settings-sampling", dialog)
        dialog.close()
        self._window.set_density("compact")
        self.shoot("compact")
        self._window.set_density("comfortable")


def draw(out: Path, language: str, *, all_parts: bool, ending: str) -> None:
    """Draw in both themes."""
    application = QApplication(["paceline"])
    speak(application, ASSETS / "translations", language)
    waiter = Waiter(application)
    for theme in THEMES:
        window = places.make_window(waiter)  # type: ignore[arg-type]
        window.set_theme(theme)
        fill(window, waiter)
        pictures = Pictures(window, waiter, out, f"{theme}{ending}")
        if language == "en":
            pictures.main_parts()
        else:
            pictures.shoot("german")
        if all_parts:
            pictures.other_parts()
        window.close()


def main() -> int:
    """Draw everything: one process for each scale and language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "screenshots")
    parser.add_argument("--part", choices=("all", "double", "german"), help="one process' share; all without it")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.part is None:
        for part, scale in (("all", "1"), ("double", "2"), ("german", "1")):
            command = [sys.executable, __file__, "--out", str(options.out), "--part", part]
            subprocess.run(command, check=True, env={**os.environ, "QT_SCALE_FACTOR": scale})
    elif options.part == "german":
        draw(options.out, "de", all_parts=False, ending="")
    else:
        double = options.part == "double"
        draw(options.out, "en", all_parts=not double, ending="-2x" if double else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
