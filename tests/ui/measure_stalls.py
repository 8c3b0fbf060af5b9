"""Measures how long the event loop is held while an answer streams and while long chats open.

A script, not a test: ``python -m tests.ui.measure_stalls [tokens] [tokens per second]``.

A heartbeat at every turn of the event loop notes the gap to the one before: as wall time, which a busy machine
lengthens, and as processor time of this thread, which is the window's own doing.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from app.garbage_controller import GarbageController
from engine.records import Mode, ModelInfo, RunStats, Source, TokenSpan
from ui.main_window import MainWindow
from ui.records import EngineState, EngineView, MessageState, MessageView

FRAME_MS = 25
IDLE_MS = 0.2  # a turn of the event loop without any work is shorter
STATS_MS = 150
SECTION = """## Part {n}

Some **prose** with `code` and a [link](https://example.org), long enough to wrap over more than one line of the page.

- a first point
- a second point with *emphasis*

```python
def part_{n}(words: list[str]) -> list[str]:
    # Longest first, then by the alphabet
    return sorted(words, key=lambda word: (-len(word), word))
```

| word | length |
|---|--:|
| apple | {n} |

"""
MODEL = ModelInfo("/m.gguf", "measured", "llama", 8_000_000, 9_000_000, 4096, 4096, 4096, 1, 0, "from the model")


@dataclass
class Heartbeat:
    """Gaps between turns of the event loop, in milliseconds."""

    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._timer = QTimer()
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        """Begin with empty lists."""
        self.wall_ms, self.cpu_ms = [], []
        self._last = (time.perf_counter(), time.thread_time())
        self._timer.start(0)

    def stop(self, what: str) -> None:
        """End and write what was seen."""
        self._timer.stop()
        lines = []
        for name, gaps in (("wall", self.wall_ms), ("processor", self.cpu_ms)):
            ordered = sorted(gaps)
            at_work = [gap for gap in ordered if gap > IDLE_MS]
            p99 = at_work[int(len(at_work) * 0.99)] if at_work else 0.0
            over = sum(gap > 50 for gap in gaps)
            lines.append(f"  {name:9}: longest {ordered[-1]:6.1f} ms, p99 {p99:5.1f} ms, {over} over 50 ms")
        sys.stdout.write(f"{what}\n" + "\n".join(lines) + "\n")

    def _beat(self) -> None:
        now = (time.perf_counter(), time.thread_time())
        self.wall_ms.append((now[0] - self._last[0]) * 1000)
        self.cpu_ms.append((now[1] - self._last[1]) * 1000)
        self._last = now


def wait_until(done: object) -> None:
    """Turn the event loop until ``done`` says so."""
    loop = QEventLoop()
    timer = QTimer()
    timer.timeout.connect(lambda: loop.quit() if done() else None)  # type: ignore[operator]
    timer.start(20)
    loop.exec()


def stream(window: MainWindow, tokens: int, rate: float) -> None:
    """One answer of ``tokens`` tokens of about four characters."""
    text = "".join(SECTION.format(n=number) for number in range(tokens * 4 // len(SECTION.format(n=0)) + 1))[
        : tokens * 4
    ]
    window.set_engine(EngineView(EngineState.ANSWERING, MODEL))
    window.begin_answer(MessageView(10_000, "assistant", "", MessageState.STREAMING))
    state = {"sent": 0}
    begun = time.perf_counter()

    def frame() -> None:
        due = min(int((time.perf_counter() - begun) * rate), tokens)
        piece = text[state["sent"] * 4 : due * 4]
        if piece:
            spans = tuple(TokenSpan(4, Source.DRAFT) for _ in range(due - state["sent"]))
            window.append_text(piece, spans)
            state["sent"] = due

    def figures() -> None:
        window.show_stats(stats(state["sent"]))

    timers = [QTimer(), QTimer()]
    for timer, deed, pause in zip(timers, (frame, figures), (FRAME_MS, STATS_MS), strict=True):
        timer.timeout.connect(deed)
        timer.start(pause)
    wait_until(lambda: state["sent"] >= tokens)
    for timer in timers:
        timer.stop()
    window.finish_answer(MessageView(10_000, "assistant", text, stats=stats(tokens)))
    window.set_engine(EngineView(EngineState.READY, MODEL))


def stats(tokens: int) -> RunStats:
    """Counters as a run of this length would give."""
    passes = max(tokens // 3, 1)
    base = RunStats(mode=Mode.DRAFT, proposed=passes * 3, accepted=passes * 2, passes=passes, context_size=4096)
    depth = {"proposed_by_depth": (passes,) * 8, "accepted_by_depth": tuple(passes // n for n in range(1, 9))}
    return replace(base, tokens=tokens, decode_s=tokens / 200, verify_s=tokens / 250, context_used=tokens, **depth)


def main() -> None:
    """Measure a stream, and opening chats."""
    tokens = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rate = float(sys.argv[2]) if len(sys.argv) > 2 else 200.0
    application = QApplication([])
    begun = time.perf_counter(), time.thread_time()
    window = MainWindow(Path(__file__).parents[2] / "assets", ())
    window.resize(1280, 800)
    window.show()
    QApplication.processEvents()
    took = (time.perf_counter() - begun[0]) * 1000, (time.thread_time() - begun[1]) * 1000
    sys.stdout.write(f"opening the window: {took[0]:.0f} ms, {took[1]:.0f} ms of it processor time\n")
    garbage = GarbageController(lambda: True, application)  # as in the app: not while an answer is given
    heartbeat = Heartbeat()
    answer = "".join(SECTION.format(n=number) for number in range(6))
    history = [MessageView(n, "user" if n % 2 else "assistant", answer if n % 2 == 0 else "Go on.") for n in range(40)]
    heartbeat.start()
    window.show_conversation("History", history)
    wait_until(lambda: not window.transcript.is_building)
    heartbeat.stop(f"opening a chat of {len(history)} messages, {len(answer) * 20:,} characters")
    heartbeat.start()
    stream(window, tokens, rate)
    wait_until(lambda: True)
    heartbeat.stop(f"{tokens} tokens at {rate:.0f} a second, below that history")
    heartbeat.start()
    window.show_conversation("Empty", [])
    wait_until(lambda: True)
    stream(window, tokens, rate)
    wait_until(lambda: True)
    heartbeat.stop(f"{tokens} tokens at {rate:.0f} a second, in a new chat")
    garbage.close()
    application.quit()


if __name__ == "__main__":
    main()
