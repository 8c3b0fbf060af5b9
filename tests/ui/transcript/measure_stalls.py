"""Measures the window's cost of long chats: processor time and memory when streaming, opening and scrolling.

A script, not a test: ``python -m tests.ui.transcript.measure_stalls [tokens] [tokens per second] [kind,kind,...]``.

The duration of every turn (event loop iteration) is recorded: as wall time, which grows on a busy machine, and as CPU
time of this thread, which is the window's own work. Keys and clicks are handled between two turns. A frame is all work
from the end of one painting of the window to the end of the next. The work between two chunks of text is reported
separately and may span several frames.
"""

import gc
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QAbstractEventDispatcher, QEvent, QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication, QScrollBar, QWidget

from app.controllers.window.garbage import GarbageController
from app.core.domain.engine_view import EngineState, EngineView
from app.core.domain.messages import MessageState, MessageView
from engine.records import Mode, ModelInfo, RunStats, Source
from engine.session.answer import STATS_INTERVAL_S
from tests.ui.long_chats import CHARS_A_TOKEN, KINDS, answer_of, history_of, spans_of
from ui.window.main_window import MainWindow

PIECE_MS = 25
IDLE_MS = 0.2  # turns without work are shorter
STATS_MS = STATS_INTERVAL_S * 1000
HISTORY_TOKENS = 20_000
ALL_SOURCES = frozenset(Source)
SCROLL_PX, SCROLL_MS = 240, 25  # two notches per frame: fast scrolling
MODEL = ModelInfo("/m.gguf", "measured", "llama", 8_000_000, 9_000_000, 4096, 4096, 4096, 1, 0, "from the model")


@dataclass
class Heartbeat(QObject):
    """Records the durations of event loop iterations, in milliseconds."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    frame_ms: list[float] = field(default_factory=list)
    piece_ms: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._never_idle = QTimer()  # otherwise waiting for the next event would count as a turn's wall time
        self._turns = QAbstractEventDispatcher.instance()
        self._frame = self._piece = 0.0
        self._is_painted = False

    def watch(self, window: QWidget) -> None:
        """Record when this window is painted."""
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        """The window is about to be painted: the frame ends with this turn."""
        self._is_painted |= event.type() == QEvent.Type.UpdateRequest
        return False

    def start(self) -> None:
        """Start with empty lists."""
        self.wall_ms, self.cpu_ms, self.frame_ms, self.piece_ms = [], [], [], []
        self._frame, self._piece, self._is_painted = 0.0, 0.0, False
        self._last = (time.perf_counter(), time.thread_time())
        self._turns.awake.connect(self._beat)
        self._never_idle.start(0)

    def begin_piece(self) -> None:
        """Called before a chunk of text."""
        self._beat()
        self.piece_ms.append(self._piece)
        self._piece = 0.0

    def stop(self, what: str) -> None:
        """Stop and print the results."""
        self._never_idle.stop()
        self._turns.awake.disconnect(self._beat)
        lines = [
            _line("turns, wall time", self.wall_ms),
            _line("turns, own time", self.cpu_ms),
            _line("frames, own time", self.frame_ms),
        ]
        if self.piece_ms:
            lines.append(_line("pieces, own time", self.piece_ms))
        sys.stdout.write(f"{what}\n" + "\n".join(lines) + "\n")
        sys.stdout.flush()

    def _beat(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        wall_ms, cpu_ms = (now[0] - self._last[0]) * 1000, (now[1] - self._last[1]) * 1000
        if wall_ms > IDLE_MS:  # recording idle turns would use the memory that is to be measured
            self.wall_ms.append(wall_ms)
        if cpu_ms > IDLE_MS:
            self.cpu_ms.append(cpu_ms)
            self._frame += cpu_ms
            self._piece += cpu_ms
        if self._is_painted:
            self.frame_ms.append(self._frame)
            self._frame, self._is_painted = 0.0, False
        self._last = now


def _line(name: str, times: list[float]) -> str:
    ordered = sorted(times) or [0.0]
    median, p99 = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    over = sum(each > 50 for each in ordered), sum(each > 5 for each in ordered)
    return (
        f"  {name:16}: median {median:5.1f} ms, p99 {p99:5.1f} ms, longest {ordered[-1]:6.1f} ms, "
        f"{over[0]} over 50 ms, {over[1]} of {len(ordered)} over 5 ms"
    )


def wait_until(done: Callable[[], bool]) -> None:
    """Run the event loop until ``done`` returns True."""
    loop = QEventLoop()
    timer = QTimer()
    timer.timeout.connect(lambda: loop.quit() if done() else None)
    timer.start(20)
    loop.exec()


def stream(window: MainWindow, heartbeat: Heartbeat, text: str, rate: float) -> None:
    """Stream an answer with tokens of four characters."""
    spans = spans_of(text)
    window.set_engine(EngineView(EngineState.ANSWERING, MODEL))
    window.begin_answer(MessageView(10_000, "assistant", "", MessageState.STREAMING))
    state = {"sent": 0}
    begun = time.perf_counter()

    def frame() -> None:
        heartbeat.begin_piece()
        sent, due = state["sent"], min(int((time.perf_counter() - begun) * rate), len(spans))
        if due > sent:
            window.transcript.append_text(text[sent * CHARS_A_TOKEN : due * CHARS_A_TOKEN], spans[sent:due])
            state["sent"] = due

    def figures() -> None:
        window.stats.now.show_stats(stats(state["sent"]))

    timers = [QTimer(), QTimer()]
    for timer, action, pause in zip(timers, (frame, figures), (PIECE_MS, STATS_MS), strict=True):
        timer.timeout.connect(action)
        timer.start(round(pause))
    wait_until(lambda: state["sent"] >= len(spans))
    for timer in timers:
        timer.stop()
    window.finish_answer(MessageView(10_000, "assistant", text, stats=stats(len(spans)), spans=spans))
    window.set_engine(EngineView(EngineState.READY, MODEL))


def stats(tokens: int) -> RunStats:
    """Counters of a run of this length."""
    passes = max(tokens // 3, 1)
    base = RunStats(mode=Mode.DRAFT, proposed=passes * 3, accepted=passes * 2, passes=passes, context_size=4096)
    by_depth = tuple(passes // n for n in range(1, 9))
    base = replace(base, proposed_by_depth=(passes,) * 8, accepted_by_depth=by_depth)
    return replace(base, tokens=tokens, decode_s=tokens / 200, verify_s=tokens / 250, context_used=tokens)


def memory(window: MainWindow, when: str) -> None:
    """Print the number of cards and widgets, and the memory of the process."""
    page = 4096 / 2**20
    held = int(Path("/proc/self/statm").read_text().split()[1]) * page if Path("/proc/self/statm").exists() else 0.0
    transcript = window.transcript
    gc.collect()
    cards, widgets = len(transcript.cards), len(transcript.findChildren(QWidget))
    sys.stdout.write(f"  {when}: {cards} cards, {widgets} widgets, {held:.1f} MiB resident\n")


def open_chat(window: MainWindow, heartbeat: Heartbeat, views: list[MessageView], what: str) -> None:
    """Measure the time until the visible part is painted, and until idle work has built the rest."""
    heartbeat.start()
    begun = time.perf_counter()
    window.show_conversation("History", views)
    window.repaint()
    took = (time.perf_counter() - begun) * 1000
    wait_until(lambda: not window.transcript.is_building)
    size = sum(len(view.text) for view in views)
    heartbeat.stop(f"{what}: {len(views)} messages, {size:,} characters; in sight after {took:.0f} ms")


def _scroll_by(bar: QScrollBar, pixels: int) -> None:
    bar.setValue(bar.value() + pixels)


def _is_at_end(window: MainWindow, up: bool) -> bool:
    bar = window.transcript.verticalScrollBar()
    return bar.value() == (bar.minimum() if up else bar.maximum()) and not window.transcript.is_building


def scroll(window: MainWindow, heartbeat: Heartbeat, what: str) -> None:
    """Scroll up to the first message and down again, in steps of a wheel."""
    bar = window.transcript.verticalScrollBar()
    for up in (True, False):
        heartbeat.start()
        timer = QTimer()
        timer.timeout.connect(partial(_scroll_by, bar, -SCROLL_PX if up else SCROLL_PX))
        timer.start(SCROLL_MS)
        wait_until(partial(_is_at_end, window, up))
        timer.stop()
        heartbeat.stop(f"scrolling {'up' if up else 'down'} {what}")
        memory(window, "then")


def make_window() -> MainWindow:
    """The window, opened as in the app."""
    begun = time.perf_counter(), time.thread_time()
    window = MainWindow(Path(__file__).parents[3] / "assets", ())
    window.resize(1280, 800)
    window.show()
    QApplication.processEvents()
    took = (time.perf_counter() - begun[0]) * 1000, (time.thread_time() - begun[1]) * 1000
    sys.stdout.write(f"opening the window: {took[0]:.0f} ms, {took[1]:.0f} ms of it processor time\n")
    return window


def main() -> None:
    """Measure opening, streams of each kind with marks off and on, and scrolling."""
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 200.0
    kinds = sys.argv[3].split(",") if len(sys.argv) > 3 else list(KINDS)
    application = QApplication([])
    window = make_window()
    garbage = GarbageController(lambda: True, application)  # as in the app: not during an answer
    heartbeat = Heartbeat()
    heartbeat.watch(window)
    views = history_of(HISTORY_TOKENS)
    memory(window, "before")
    open_chat(window, heartbeat, views, "opening a chat")
    memory(window, "then")
    for kind in kinds:
        for marked in (frozenset(), ALL_SOURCES):
            window.transcript.mark_sources(marked)
            window.show_conversation("History", views)
            wait_until(lambda: not window.transcript.is_building)
            heartbeat.start()
            stream(window, heartbeat, answer_of(kind, tokens), rate)
            wait_until(lambda: True)
            heartbeat.stop(f"{kind} at {rate:.0f} tokens a second below it, marks {'on' if marked else 'off'}")
    for marked in (frozenset(), ALL_SOURCES):
        window.transcript.mark_sources(marked)
        what = f"with marks {'on' if marked else 'off'}"
        open_chat(window, heartbeat, views, f"opening it {what}")
        scroll(window, heartbeat, f"through it {what}")
    garbage.close()
    application.quit()


if __name__ == "__main__":
    main()
