"""The event loop stays responsive while an answer streams.

The long form streams 2,000 tokens. Durations depend on the machine, so the test counts function calls in an iteration
and waits for the store. Durations are only printed.
"""

import functools
import sys
import time
from types import FrameType

import pytest
from PySide6.QtCore import QObject, QTimer
from pytestqt.qtbot import QtBot

from app.core.domain.engine_view import EngineState
from app.core.storage.chats.writer import WriterThread
from tests.app.fakes import AppHarness, keep_settings, open_app
from tests.fake_model import Script, ScriptedWorker
from tests.long_form import rounds

NUM_TOKENS = rounds(400, 2000)
MAX_CALLS = 20_000  # function calls in an iteration; sending a message takes about 6,000
PARAGRAPH = "A sentence with **bold words** and `code` in it. " * 6 + "\n\n"
CODE = "```python\ndef pace(line):\n    return sorted(line)\n```\n\n"
LIST = "- one thing\n- another thing\n- a third thing\n\n"


class Heartbeat(QObject):
    """Records the most function calls in an event loop iteration, and the longest iteration in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.worst_cpu_ms = 0.0
        self.most_calls = self._num_calls = 0
        self._cpu_s = time.thread_time()
        self._timer = QTimer(self, interval=1)
        self._timer.timeout.connect(self._beat)
        self._timer.start()
        sys.setprofile(self._count)

    def stop(self) -> None:
        self._timer.stop()
        sys.setprofile(None)

    def _count(self, _frame: FrameType, event: str, _arg: object) -> None:
        self._num_calls += event in ("call", "c_call")

    def _beat(self) -> None:
        cpu_s = time.thread_time()
        self.worst_cpu_ms = max(self.worst_cpu_ms, (cpu_s - self._cpu_s) * 1000)
        self.most_calls = max(self.most_calls, self._num_calls)
        self._cpu_s, self._num_calls = cpu_s, 0

    @property
    def told(self) -> str:
        return f"at most {self.most_calls:,} calls in a turn, {self.worst_cpu_ms:.1f} ms of this thread with counting\n"


def test_no_turn_of_the_event_loop_takes_long(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    waits_ms: list[float] = []
    call = WriterThread.call

    def timed_call(self: WriterThread, job: object) -> object:
        started = time.perf_counter()
        try:
            return call(self, job)  # type: ignore[arg-type]
        finally:
            waits_ms.append((time.perf_counter() - started) * 1000)

    keep_settings({})
    words = ((PARAGRAPH + CODE + LIST) * (NUM_TOKENS // 50)).split(" ")[:NUM_TOKENS]
    script = Script(" ".join(words), tokens_per_second=200.0)
    harness = open_app(functools.partial(ScriptedWorker, script=script))
    qtbot.waitUntil(lambda: harness.window.engine.state is EngineState.READY)
    monkeypatch.setattr(WriterThread, "call", timed_call)
    for number in (1, 2):
        heartbeat = one_answer(harness, qtbot, number)
        longest_ms = max(waits_ms)
        sys.stderr.write(f"{NUM_TOKENS} tokens: {heartbeat.told}{len(waits_ms)} waits, longest {longest_ms:.1f} ms\n")
        assert len(waits_ms) <= 20 * number  # a few per answer, none per token
        assert heartbeat.most_calls < MAX_CALLS
    harness.close()


def one_answer(harness: AppHarness, qtbot: QtBot, number: int) -> Heartbeat:
    """Stream one answer."""
    harness.window.sidebar.new_chat.emit()
    qtbot.wait(300)
    num_before = len(harness.store.conversations())
    heartbeat = Heartbeat()
    harness.window.composer.submitted.emit(f"Tell me a long story, number {number}.")
    qtbot.waitUntil(lambda: len(harness.window.finished) == number, timeout=60_000)
    qtbot.wait(100)
    heartbeat.stop()
    assert len(harness.store.conversations()) == num_before + 1
    return heartbeat
