"""Measures the cost of scrolling through a long chat with the wheel: the window's time, widgets and memory.

A script, not a test: ``python -m tests.ui.transcript.measure_scrolling [rounds] [pixels a notch] [marks]``.

Wheel events are sent to the window, about 60 a second, up to the first message and down again in each round. As in
`measure_stalls`, a turn is one event loop iteration, and a frame is all turns from one notch to the next. ``marks``
marks every source.
"""

import sys
from functools import partial

from PySide6.QtCore import QPoint, QPointF, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.controllers.window.garbage import GarbageController
from engine.records import Source
from tests.ui.long_chats import history_of
from tests.ui.transcript.measure_stalls import HISTORY_TOKENS, Heartbeat, make_window, memory, open_chat, wait_until
from ui.window.main_window import MainWindow

NOTCH_MS = 16
NOTCH_PX = 60  # Qt scrolls three lines per notch
REST_MS = 2_500  # pause in which distant cards are recycled and garbage is collected
EIGHTHS = 120  # eighths of a degree in one notch


def turn_wheel(window: MainWindow, heartbeat: Heartbeat, *, up: bool) -> None:
    """Send one notch with the pointer over the centre of the page."""
    heartbeat.begin_piece()
    transcript, handle = window.transcript, window.windowHandle()
    at = QPointF(transcript.mapTo(window, transcript.rect().center()))
    QTest.wheelEvent(handle, at, QPoint(0, EIGHTHS if up else -EIGHTHS))


def _is_at_end(window: MainWindow, *, up: bool) -> bool:
    bar = window.transcript.verticalScrollBar()
    return bar.value() == (bar.minimum() if up else bar.maximum()) and not window.transcript.is_building


def scroll(window: MainWindow, heartbeat: Heartbeat, what: str, *, up: bool) -> None:
    """Scroll to the end, then pause."""
    heartbeat.start()
    timer = QTimer()
    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(partial(turn_wheel, window, heartbeat, up=up))
    timer.start(NOTCH_MS)
    wait_until(partial(_is_at_end, window, up=up))
    timer.stop()
    heartbeat.stop(what)
    rest()
    memory(window, "then")


def rest() -> None:
    """Process events for a while."""
    rested: list[bool] = []
    QTimer.singleShot(REST_MS, lambda: rested.append(True))
    wait_until(lambda: bool(rested))


def main() -> None:
    """Open the chat, and scroll up and down through it."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    pixels = int(sys.argv[2]) if len(sys.argv) > 2 else NOTCH_PX
    application = QApplication([])
    window = make_window()
    garbage = GarbageController(lambda: False, application)
    heartbeat = Heartbeat()
    if "marks" in sys.argv[3:]:
        window.transcript.mark_sources(frozenset(Source))
    memory(window, "before")
    open_chat(window, heartbeat, history_of(HISTORY_TOKENS), "opening a chat")
    rest()
    memory(window, "then")
    bar = window.transcript.verticalScrollBar()
    bar.setSingleStep(max(pixels // QApplication.wheelScrollLines(), 1))
    for number in range(rounds):
        for up in (True, False):
            garbage.note_activity()
            scroll(window, heartbeat, f"round {number + 1}, {'up' if up else 'down'}", up=up)
    garbage.close()
    application.quit()


if __name__ == "__main__":
    main()
