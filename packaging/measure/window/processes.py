"""Measures what an engine in a process of its own costs, against one on a thread of the window's process.

    QT_QPA_PLATFORM=offscreen python packaging/measure/window/processes.py --target T.gguf [--draft D.gguf] \
        [--mode off|draft|ngram] [--depth 7] [--tokens 400] [--pairs 10] [--headless]

One window has both engines, which load the same models. Answers to the same question are alternated, always of the same
tokens (temperature 0, past their end, a fixed depth), and reach the window as usual; with ``--headless`` they are told
to nobody. Reported are, with the process over with the thread: tokens per second as the engine counts them, by the wall
from the question to the end, and per second that both processes compute; and the difference of the times to the first
text in milliseconds. Intervals are 95 % of the median, by bootstrap. Both compute with the same number of threads all
the time, since two engines may find different numbers the fastest, at different moments, and measure nothing in idle
time, which would slow the other one. The first pairs warm up and do not count.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np
import psutil
from cost import PATIENCE_S, QUESTION, wait_for
from PySide6.QtWidgets import QApplication

from app.controllers.engine_bridge import Worker
from app.controllers.reports import ThreadReports
from app.domain.engine_view import EngineState, EngineView
from app.domain.settings.table import FIELDS
from app.domain.settings.values import Settings
from app.paths import assets_dir, find_paths
from app.startup.assembly import assemble
from app.storage.settings_file import write_settings
from engine.process.client import EngineClient
from engine.records import (
    ChatRequest,
    CountRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    LoadRequest,
    Message,
    Mode,
    SamplingParams,
    TextChunk,
)
from engine.session.session import Session
from engine.session.worker import EngineWorker
from engine.tuning.threads import ThreadControl
from ui.window.main_window import MainWindow

THREAD, PROCESS = "thread", "process"
WARM_UP = 3  # pairs
LOOK_MS = 50


def fixed_session() -> Session:
    """A session that keeps its number of threads whatever passes take, and leaves idle time to the other engine."""
    ThreadControl.observe = lambda *_: False  # type: ignore[method-assign]
    Session.needs_measuring = Session.has_idle_work = property(lambda _: False)  # type: ignore[method-assign,assignment]
    return Session()


@dataclass(frozen=True, slots=True)
class Timing:
    """Of one answer: tokens per second by the engine, by the wall and of computing, milliseconds to the first text."""

    engine_tps: float
    wall_tps: float
    first_ms: float
    cpu_tps: float


class Alternating:
    """Both engines behind one; the window has the one that is ``current``."""

    def __init__(self, on_event: Callable[[Event], None], options: argparse.Namespace) -> None:
        self._on_event, self._options = on_event, options
        self.current = PROCESS
        self.is_reported = True
        self.done, self.loaded = threading.Event(), threading.Event()
        self._asked_s = self._first_s = self._asked_cpu_s = 0.0
        self.timing = Timing(0.0, 0.0, 0.0, 0.0)
        make_session = importlib.import_module("processes").fixed_session  # by a name that the other process knows
        self.engines: dict[str, Worker] = {
            THREAD: EngineWorker(lambda event: self._note(THREAD, event), make_session),
            PROCESS: EngineClient(lambda event: self._note(PROCESS, event), make_session),
        }

    def __getattr__(self, name: str) -> object:
        """All that is not told apart here goes to the current one."""
        return getattr(self.engines[self.current], name)

    def start(self) -> None:
        """Start both."""
        for engine in self.engines.values():
            engine.start()

    def count(self, _request: CountRequest) -> None:
        """Nothing is counted."""

    def shutdown(self, timeout_s: float) -> bool:
        """End both."""
        results = [engine.shutdown(timeout_s) for engine in self.engines.values()]
        return all(results)

    def generate(self, request: ChatRequest) -> None:
        """Have the current one answer, in the mode and of the length that are measured."""
        options = self._options
        self.done.clear()
        self._first_s = 0.0
        self._asked_cpu_s = self._cpu_s()
        self._asked_s = time.perf_counter()
        depth = None if options.mode == "off" else options.depth
        request = replace(request, ignore_eos=True, max_tokens=options.tokens, mode=Mode(options.mode), depth=depth)
        self.engines[self.current].generate(replace(request, use_past=False))

    def _cpu_s(self) -> float:
        """Seconds that the threads of both processes have computed (Linux)."""
        client = self.engines[PROCESS]
        assert isinstance(client, EngineClient)
        files = [file for pid in (os.getpid(), client.pid) for file in Path(f"/proc/{pid}/task").glob("*/schedstat")]
        return sum(int(file.read_text().split()[0]) for file in files) / 1e9

    def _note(self, which: str, event: Event) -> None:
        if isinstance(event, EngineFailed):
            print(event.problem.message, file=sys.stderr, flush=True)
            os._exit(1)
        if isinstance(event, EngineReady) and which == THREAD:
            self.loaded.set()
        if which != self.current:
            return
        now_s = time.perf_counter()
        if isinstance(event, TextChunk) and not self._first_s:
            self._first_s = now_s
        if self.is_reported:
            self._on_event(event)
        if isinstance(event, Finished):
            self.timing = Timing(
                event.stats.tokens_per_second or 0.0,
                event.stats.tokens / (now_s - self._asked_s),
                1000.0 * (self._first_s - self._asked_s),
                event.stats.tokens / (self._cpu_s() - self._asked_cpu_s),
            )
            self.done.set()


def interval(values: Sequence[float]) -> str:
    """Write the median with its interval."""
    medians = np.median(np.random.default_rng(0).choice(values, (4000, len(values))), axis=1)
    low, high = np.percentile(medians, [2.5, 97.5])
    return f"{np.median(values):.4f} ({low:.4f} to {high:.4f})"


def report(pairs: Sequence[tuple[Timing, Timing]]) -> None:
    """Print the ratios of all (process, thread)."""
    for name in ("engine_tps", "wall_tps", "cpu_tps"):
        print(f"{name}, process / thread: {interval([getattr(p, name) / getattr(t, name) for p, t in pairs])}")
    print(
        f"{len(pairs)} pairs; first text, process - thread, ms: {interval([p.first_ms - t.first_ms for p, t in pairs])}"
    )
    for which, index in ((PROCESS, 0), (THREAD, 1)):
        chosen = [pair[index] for pair in pairs]
        print(
            f"{which}: {np.median([one.engine_tps for one in chosen]):.1f} tok/s, "
            f"first text after {np.median([one.first_ms for one in chosen]):.1f} ms"
        )


def measure(options: argparse.Namespace) -> None:
    """Alternate, and print what came."""
    workers: list[Alternating] = []

    def make_worker(on_event: Callable[[Event], None]) -> Alternating:
        workers.append(Alternating(on_event, options))
        return workers[-1]

    paths = find_paths()
    threads = {"threads": options.threads, "draft_threads": 1}
    models = {"target_path": options.target, "draft_path": options.draft or ""}
    settings, _ = Settings().changed({**models, "mode": options.mode, "temperature": 0.0, **threads})
    paths.settings_file.parent.mkdir(parents=True, exist_ok=True)
    write_settings(paths.settings_file, settings)
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
    print(f"memory of the window's process with the other engine: {rss_mb():.0f} MB")
    time.sleep(options.settle_s)
    worker.engines[THREAD].load(LoadRequest(options.target, options.draft, threads=options.threads, draft_threads=1))
    worker.loaded.wait(PATIENCE_S)
    print(f"and with a model of its own: {rss_mb():.0f} MB")
    time.sleep(options.settle_s)
    sampling = SamplingParams(temperature=0.0)

    def ask(which: str) -> Timing:
        worker.current = which
        if options.headless:
            worker.is_reported = False
            worker.generate(ChatRequest((Message("user", QUESTION),), sampling=sampling, request_id=1))
            worker.done.wait(PATIENCE_S)
        else:
            window.new_chat_requested.emit()
            wait_for(lambda: states[-1] is EngineState.READY)
            worker.done.clear()
            window.message_submitted.emit(QUESTION)
            wait_for(worker.done.is_set, LOOK_MS)
        return worker.timing

    pairs = []
    end_s = time.monotonic() + options.seconds
    for number in range(options.pairs + WARM_UP):
        if time.monotonic() > end_s:
            break
        order = (PROCESS, THREAD) if number % 2 else (THREAD, PROCESS)
        timings = {which: ask(which) for which in order}
        if number >= WARM_UP:
            pairs.append((timings[PROCESS], timings[THREAD]))
    report(pairs)
    controller.close()


def rss_mb() -> float:
    """Memory of this process, in megabytes."""
    return psutil.Process().memory_info().rss / 1e6


def main() -> None:
    """Read the options and measure in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--mode", default="off")
    parser.add_argument("--depth", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=600.0, help="begin no pair after so long")
    parser.add_argument("--settle-s", type=float, default=2.0)
    parser.add_argument("--headless", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["PACELINE_HOME"] = home
        os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parent)
        application = QApplication(["paceline"])
        measure(options)
        application.quit()


if __name__ == "__main__":
    main()
