"""Ends the engine's process in the middle of answers, and looks whether window and text are there and what it costs.

    QT_QPA_PLATFORM=offscreen python packaging/measure/engine_kills.py --target T.gguf [--draft D.gguf] [--kills 50]

A real window asks; up to 1.5 seconds after the first text, SIGABRT ends the engine's process. Then the window has to be
alive, with what stands unsent in its composer; the answer has to be kept as interrupted, with all text that the window
was given; and the next question has to be answered, by a process in which the model was loaded again. That question is
asked at once. Reported are the times from the kill to its first text, beside those of a load and a first text without
a kill. Answers go on past their end, so that a kill meets one. The exit status is 1 where anything was amiss.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "window"))

import numpy as np
from cost import wait_for
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.controllers.controller import Controller
from app.controllers.reports import ThreadReports
from app.domain.messages import MessageState, MessageView
from app.domain.settings.table import FIELDS
from app.domain.settings.values import Settings
from app.paths import assets_dir, find_paths
from app.startup.assembly import assemble
from app.storage.settings_file import write_settings
from engine.process.client import EngineClient
from engine.records import ChatRequest, EngineEnded, EngineReady, Event, TextChunk
from engine.requests import OnEvent, Request
from engine.session.worker import probing_session
from ui.window.main_window import MainWindow

QUESTION, NEXT, UNSENT = "Tell me a long story about a river.", "And what is a hill?", "words that are not sent yet"
LONGEST_S = 1.5  # from the first text to the kill
NEXT_TOKENS = 24


class KillableEngine(EngineClient):
    """The real engine, whose answers end at a length only; notes when it said what."""

    def __init__(self, on_event: Callable[[Event], None], cache: Path) -> None:
        super().__init__(self._note, partial(probing_session, cache, None))
        self._report = on_event
        self.max_tokens = NEXT_TOKENS
        self.ready_s = self.first_s = self.ended_s = 0.0
        self.text = ""

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Answer without looking at the end-of-generation token."""
        if isinstance(request, ChatRequest):
            self.first_s, self.text = 0.0, ""
            request = replace(request, ignore_eos=True, max_tokens=self.max_tokens)
        super().submit(request, on_event)

    def _note(self, event: Event) -> None:
        now_s = time.perf_counter()
        if isinstance(event, EngineReady):
            self.ready_s = now_s
        elif isinstance(event, EngineEnded):
            self.ended_s = now_s
        elif isinstance(event, TextChunk):
            self.first_s = self.first_s or now_s
            self.text += event.text
        self._report(event)


@dataclass
class Found:
    """What came of all kills; times in seconds."""

    faults: list[str] = field(default_factory=list)
    reloads_s: list[float] = field(default_factory=list)
    next_s: list[float] = field(default_factory=list)


class Bench:
    """The window with its engine."""

    def __init__(self, options: argparse.Namespace) -> None:
        engines: list[KillableEngine] = []
        paths = find_paths()
        models = {"target_path": options.target, "draft_path": options.draft or ""}
        settings, _ = Settings().changed({**models, "mode": options.mode})
        paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
        write_settings(paths.settings_file, settings)

        def make_worker(on_event: Callable[[Event], None]) -> KillableEngine:
            engines.append(KillableEngine(on_event, paths.cache))
            return engines[0]

        self.window = MainWindow(assets_dir(), FIELDS)
        began_s = time.perf_counter()
        self.controller: Controller = assemble(self.window, paths, ThreadReports(), make_worker)
        self.engine = engines[0]
        self.window.show()
        self.wait_until_ready()
        self.first_load_s = self.engine.ready_s - began_s

    def wait_until_ready(self) -> None:
        """Until a model is loaded and nobody answers."""
        wait_for(lambda: self.controller.models.ready is not None and not self.controller.is_answering)

    def last_answer(self) -> MessageView:
        """The last message of the open chat."""
        current = self.controller.conversations.current_id
        assert current is not None
        return self.controller._parts.store.messages(current)[-1]  # noqa: SLF001 (a measurement looks inside)

    def ask(self, words: str, max_tokens: int) -> float:
        """Ask; gives the time of asking."""
        self.engine.max_tokens = max_tokens
        asked_s = time.perf_counter()
        self.window.message_submitted.emit(words)
        return asked_s

    def plain_first_s(self) -> float:
        """What the first text of the next question takes without a kill."""
        self.window.new_chat_requested.emit()
        asked_s = self.ask(NEXT, NEXT_TOKENS)
        wait_for(lambda: not self.controller.is_answering)
        return self.engine.first_s - asked_s

    def kill(self, wait_s: float, found: Found) -> None:
        """Ask, kill after ``wait_s`` seconds of text, look, ask again."""
        self.window.new_chat_requested.emit()
        self.window.composer.edit.setPlainText(UNSENT)
        self.ask(QUESTION, 100_000)
        wait_for(lambda: bool(self.engine.first_s))
        loop = QEventLoop()
        QTimer.singleShot(round(wait_s * 1000.0), loop.quit)
        loop.exec()
        pid, self.engine.ended_s = self.engine.pid, 0.0
        if pid is None or not self.controller.is_answering:
            found.faults.append("the answer had ended before the kill")
            return
        os.kill(pid, signal.SIGABRT)
        killed_s = time.perf_counter()
        wait_for(lambda: bool(self.engine.ended_s) and not self.controller.is_answering, every_ms=2)
        reported, view = self.engine.text, self.last_answer()
        self.look(found, reported, view)
        self.ask(NEXT, NEXT_TOKENS)
        wait_for(lambda: bool(self.engine.first_s), every_ms=2)
        found.reloads_s.append(self.engine.ready_s - killed_s)
        found.next_s.append(self.engine.first_s - killed_s)
        wait_for(lambda: not self.controller.is_answering)
        if self.last_answer().state is not MessageState.COMPLETE or self.engine.pid in (None, pid):
            found.faults.append(f"the next answer is {self.last_answer().state}")

    def look(self, found: Found, reported: str, view: MessageView) -> None:
        """Look for what has to be there after a kill."""
        checks = {
            "the window is not visible": self.window.isVisible(),
            f"the answer is {view.state}": view.state is MessageState.INTERRUPTED,
            f"of {len(reported)} characters {len(view.text)} are kept": view.text == reported and bool(reported),
            f"the notice is {view.notice!r}": "SIGABRT" in view.notice,
            "what was not sent is lost": self.window.composer.edit.toPlainText() == UNSENT,
        }
        found.faults += [words for words, good in checks.items() if not good]


def spread(values: Sequence[float]) -> str:
    """Median, 95th percentile and longest, in seconds."""
    return f"median {np.median(values):.2f} s, p95 {np.percentile(values, 95):.2f} s, longest {max(values):.2f} s"


def measure(options: argparse.Namespace) -> int:
    """Kill, look, and tell."""
    bench, found = Bench(options), Found()
    first_s = [bench.plain_first_s() for _ in range(5)]
    print(f"first load, with the window: {bench.first_load_s:.2f} s; first text without a kill: {spread(first_s)}")
    rng = random.Random(options.seed)  # noqa: S311 (moments, no secret)
    for number in range(options.kills):
        bench.kill(rng.uniform(0.0, LONGEST_S), found)
        print(number + 1, f"{found.reloads_s[-1:]} {found.next_s[-1:]}", *found.faults[-1:], flush=True)
    closed_well = bench.controller.close()
    print(f"{options.kills} kills, {len(found.faults)} faults, closed {'well' if closed_well else 'not well'}")
    print(f"from the kill to the model loaded again: {spread(found.reloads_s)}")
    print(f"from the kill to the first text of the next answer: {spread(found.next_s)}")
    return 1 if found.faults or not closed_well else 0


def main() -> int:
    """Read the options and measure in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PACELINE_HOME"] = home
        application = QApplication(["paceline"])
        status = measure(options)
        application.quit()
    return status


if __name__ == "__main__":
    sys.exit(main())
