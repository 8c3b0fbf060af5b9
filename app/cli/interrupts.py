"""Lets Ctrl+C stop a command after the current pass."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Make Ctrl+C set the event; the answer then ends after the current pass and its metrics are shown."""
    interrupted = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)
