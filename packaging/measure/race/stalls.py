"""Measures how long a race keeps the window's event loop: the longest turn, by the wall and by its own thread's time.

    QT_QPA_PLATFORM=offscreen python packaging/measure/race/stalls.py --target T.gguf --draft D.gguf [--lanes off,auto]

Races run in the real window on the real engine. By the wall a turn counts all that kept the loop, other programs
included; by the thread only what the window computed itself, which holds on a busy machine, too.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "window"))
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from cost import wait_for
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.benchmark.lanes import read_lanes
from app.controllers.reports import ThreadReports
from app.domain.engine_view import EngineState
from app.domain.settings.table import FIELDS
from app.domain.speed.races import LaneChoice, RaceSetup
from app.paths import assets_dir, find_paths
from app.startup.assembly import assemble, real_engine
from app.storage.settings_file import read_settings, write_settings
from engine.records import Mode
from ui.window.main_window import MainWindow

QUESTION = "Write a short story about a child and a boat, with a table, a list and some Python code."
SELDOM_MS = 200  # while a race goes on: each look is one that the engine waits for


class Turns:
    """The longest time between two turns of the event loop, in milliseconds: by the wall, and of this thread."""

    def __init__(self) -> None:
        self.wall_ms = self.own_ms = 0.0
        self._wall_s, self._own_s = time.perf_counter(), time.thread_time()
        self._timer = QTimer(interval=1)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin anew."""
        self.wall_ms = self.own_ms = 0.0
        self._wall_s, self._own_s = time.perf_counter(), time.thread_time()
        self._timer.start()

    def stop(self) -> None:
        """Count no more."""
        self._timer.stop()

    def _beat(self) -> None:
        wall_s, own_s = time.perf_counter(), time.thread_time()
        self.wall_ms = max(self.wall_ms, (wall_s - self._wall_s) * 1000.0)
        self.own_ms = max(self.own_ms, (own_s - self._own_s) * 1000.0)
        self._wall_s, self._own_s = wall_s, own_s


def measure(options: argparse.Namespace) -> None:
    """Race in the window, and print the longest turns and what the lanes gave."""
    paths = find_paths()
    changes = {"target_path": options.target, "draft_path": options.draft or "", "n_ctx": options.ctx}
    paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    write_settings(paths.settings_file, read_settings(paths.settings_file).settings.changed(changes)[0])
    window = MainWindow(assets_dir(), FIELDS)
    controller = assemble(window, paths, ThreadReports(), real_engine(paths))
    window.show()
    wait_for(lambda: window.engine_view.state is EngineState.READY)
    window.race.open()
    page, turns = window.race.page, Turns()
    wait_for(page.isVisible)
    lanes = tuple(LaneChoice(Mode(variant.mode), variant.depth) for variant in read_lanes(options.lanes))
    for number in range(options.races):
        turns.start()
        page.start_requested.emit(RaceSetup(QUESTION, lanes, rounds=2, max_tokens=options.tokens))
        wait_for(lambda: not page.is_racing, SELDOM_MS)
        turns.stop()
        if page.result is None:
            raise SystemExit(page.problem.message.text())
        speeds = ", ".join(f"{lane.stats.tokens_per_second or 0.0:.1f}" for lane in page.result.lanes)
        print(f"race {number + 1}: {speeds} tok/s; longest turn {turns.wall_ms:.1f} ms, own {turns.own_ms:.1f} ms")
    controller.close()


def main() -> None:
    """Read the options and measure in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--lanes", default="off,auto")
    parser.add_argument("--tokens", type=int, default=256)
    parser.add_argument("--ctx", type=int, default=2048)
    parser.add_argument("--races", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PACELINE_HOME"] = home
        application = QApplication(["paceline"])
        measure(options)
        application.quit()


if __name__ == "__main__":
    main()
