"""Lets signals stop a command: Ctrl+C after the current pass, or any signal to end at once."""

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


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt for Ctrl+C, SIGTERM and a closed terminal, so that helper processes end with the command.

    Shells ignore SIGINT in background jobs. Only the first signal raises, so that the cleanup is not interrupted.
    """
    received: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        if len(received) == 1:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup sets SIG_IGN
        numbers.append(signal.SIGHUP)
    before = [(number, signal.signal(number, on_signal)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
