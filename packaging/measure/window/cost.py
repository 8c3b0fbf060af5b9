"""Measures what the window costs the engine, and the engine the window, on a real pair.

    QT_QPA_PLATFORM=offscreen python packaging/measure/window/cost.py --target PADDED.gguf --draft D.gguf

Answers of the same question are alternated, all by the same engine thread: once streamed into the real window, once
told to nobody. (Two engines would have measured other costs, and so would draft otherwise.) Reported is the ratio of
their tokens per second, with a 95% interval; then, of a few more answers, the longest turn of the event loop while
they streamed: to notice every turn takes the interpreter a thousand times a second, which the engine would wait for.
Answers go on past their end, so that all have the same length.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.controllers.reports import ThreadReports
from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.settings.table import FIELDS
from app.core.paths import assets_dir, find_paths
from app.core.storage.settings_file import read_settings, write_settings
from app.startup.assembly import assemble
from engine.records import ChatRequest, EngineFailed, Event, Finished, Message, Mode, SamplingParams
from engine.requests import OnEvent, Request, next_number
from engine.session.session import Session
from engine.session.worker import EngineWorker
from ui.window.main_window import MainWindow

QUESTION = "Tell me a short story about a fox and a river."
PATIENCE_S = 600.0
WATCHED = 3  # answers
SELDOM_MS = 200  # while an answer streams: each look is one that the engine waits for, and not the window's


class EndlessWorker(EngineWorker):
    """The real engine thread, whose answers end at a length only; keeps the last answer's speed."""

    def __init__(self, on_event: Callable[[Event], None], max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._report = on_event
        self.done = threading.Event()
        self.tokens_per_second = 0.0
        self.is_reported = True
        super().__init__(self._note, Session)

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Answer without looking at the end-of-generation token."""
        if isinstance(request, ChatRequest):
            self.done.clear()
            request = replace(request, ignore_eos=True, max_tokens=self._max_tokens)
        super().submit(request, on_event)

    def _note(self, event: Event) -> None:
        if isinstance(event, EngineFailed):
            raise SystemExit(event.problem.message)
        if isinstance(event, Finished):
            self.tokens_per_second = event.stats.tokens_per_second or 0.0
        if self.is_reported:
            self._report(event)
        if isinstance(event, Finished):
            self.done.set()


class Heartbeat:
    """The longest gap between two turns of the event loop, in milliseconds by the wall."""

    def __init__(self) -> None:
        self.worst_ms = 0.0
        self._last_s = time.perf_counter()
        self._timer = QTimer(interval=1)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin anew."""
        self.worst_ms, self._last_s = 0.0, time.perf_counter()
        self._timer.start()

    def stop(self) -> float:
        """Return the longest gap since the start."""
        self._timer.stop()
        return self.worst_ms

    def _beat(self) -> None:
        now_s = time.perf_counter()
        self.worst_ms = max(self.worst_ms, (now_s - self._last_s) * 1000.0)
        self._last_s = now_s


def wait_for(condition: Callable[[], bool], every_ms: int = 20) -> None:
    """Turn the event loop until ``condition`` holds, which is looked at every so often."""
    loop = QEventLoop()
    end_s = time.monotonic() + PATIENCE_S
    timer = QTimer(interval=every_ms)
    timer.timeout.connect(lambda: loop.quit() if condition() or time.monotonic() > end_s else None)
    timer.start()
    loop.exec()
    if not condition():
        raise SystemExit("It took too long.")


def compared(ask: Callable[[], float], ask_in_background: Callable[[], float], repeat: int) -> Iterator[float]:
    """Ask both in turn, each first every other time; shown over unseen, without the first pair, which warms up."""
    for number in range(repeat + 1):
        if number % 2:
            shown, unseen = ask(), ask_in_background()
        else:
            unseen, shown = ask_in_background(), ask()
        print(f"window {shown:.1f} tok/s, without {unseen:.1f} tok/s", flush=True)
        if number:
            yield shown / unseen


def measure(options: argparse.Namespace) -> None:
    """Alternate answers with and without the window, and print what they gave."""
    workers: list[EndlessWorker] = []

    def make_worker(on_event: Callable[[Event], None]) -> EndlessWorker:
        workers.append(EndlessWorker(on_event, options.tokens))
        return workers[-1]

    paths = find_paths()
    changes = {"target_path": options.target, "draft_path": options.draft, "mode": options.mode, "temperature": 0.0}
    paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    write_settings(paths.settings_file, read_settings(paths.settings_file).settings.changed(changes)[0])
    window = MainWindow(assets_dir(), FIELDS)
    states: list[EngineState] = []
    show = window.set_engine

    def note_and_show(view: EngineView) -> None:
        states.append(view.state)
        show(view)

    window.set_engine = note_and_show  # type: ignore[method-assign]
    controller = assemble(window, paths, ThreadReports(), make_worker)
    window.show()
    wait_for(lambda: bool(states) and states[-1] is EngineState.READY)
    worker = workers[0]
    request = ChatRequest((Message("user", QUESTION),), Mode(options.mode), None, SamplingParams(temperature=0.0))

    def ask() -> float:
        window.sidebar.new_chat.emit()
        wait_for(lambda: states[-1] is EngineState.READY)
        worker.done.clear()
        window.composer.submitted.emit(QUESTION)
        wait_for(worker.done.is_set, SELDOM_MS)
        return worker.tokens_per_second

    def ask_in_background() -> float:
        wait_for(lambda: states[-1] is EngineState.READY)
        worker.is_reported = False
        worker.submit(replace(request, request_id=next_number()))
        worker.done.wait(PATIENCE_S)
        worker.is_reported = True
        return worker.tokens_per_second

    ratios = list(compared(ask, ask_in_background, options.repeat))
    heartbeat, stalls = Heartbeat(), []
    for _ in range(WATCHED):
        heartbeat.start()
        ask()
        stalls.append(heartbeat.stop())
    controller.close()
    medians = np.median(np.random.default_rng(0).choice(ratios, (2000, len(ratios))), axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    print(f"with the window over without it: {np.median(ratios):.3f} ({low:.3f} to {high:.3f})")
    print(f"longest turn of the event loop: {max(stalls):.1f} ms")


def main() -> None:
    """Read the options and measure in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--repeat", type=int, default=8)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PACELINE_HOME"] = home
        application = QApplication(["paceline"])
        measure(options)
        application.quit()


if __name__ == "__main__":
    main()
