"""Lets Ctrl+C stop a command after the current pass."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from engine.errors import PacelineError


@contextlib.contextmanager
def stop_on_interrupt() -> Iterator[threading.Event]:
    """Make Ctrl+C set the event; the answer then ends after the current pass and its metrics are shown.

    Raises:
        KeyboardInterrupt: an error within, after Ctrl+C: the interruption has caused it.
    """
    interrupted = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        interrupted.set()

    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return
    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield interrupted
    except PacelineError as error:
        if interrupted.is_set():
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
