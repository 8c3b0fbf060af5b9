"""Entry point of the engine's process: an `EngineWorker` with requests from one pipe and events to another.

The first message is a `Setup`. The process ends after a `Close`, or at once when the other process is gone.
"""

import faulthandler
import logging
import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import IO

from engine.process.channel import SWITCH_S, BatchingSender, Cancel, Close, Logged, read_packed
from engine.requests import Request
from engine.sandbox.limits import quiet_crashes
from engine.session.worker import EngineWorker

log = logging.getLogger(__name__)


def main() -> int:
    commands, events = _own_pipes()
    quiet_crashes()
    faulthandler.enable(2)
    # Ctrl+C in a terminal signals both processes: the other process handles it, and ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The same holds for a service manager's SIGTERM. The handler is empty: helper processes would inherit SIG_IGN.
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    sys.setswitchinterval(SWITCH_S)
    try:
        setup = pickle.loads(read_packed(commands))  # noqa: S301  (from this program)
    except EOFError:
        return 1

    def write(data: bytes) -> None:
        events.write(data)
        events.flush()

    sender = BatchingSender(write)
    logging.basicConfig(level=setup.log_level, handlers=[_SendingHandler(sender, setup.formatter)])
    worker = EngineWorker(sender.post, setup.make_session)
    worker.start()
    ended = _serve(worker, commands)
    sender.flush()
    return 0 if ended else 1


def _own_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Take over standard input and output, and redirect prints of libraries to standard error."""
    commands, events = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return open(commands, "rb"), open(events, "wb")  # noqa: PTH123  (until the end)


class _SendingHandler(logging.Handler):
    """Sends log records to the other process, which writes the log."""

    def __init__(self, sender: BatchingSender, formatter: logging.Formatter) -> None:
        super().__init__()
        self._sender, self._formatter = sender, formatter

    def emit(self, record: logging.LogRecord) -> None:
        try:
            message = record.getMessage()
            if record.exc_info:
                message += "\n" + self._formatter.formatException(record.exc_info)
            self._sender.post(Logged(record.name, record.levelno, message, record.threadName or ""))
        except Exception:  # noqa: BLE001 (as in every handler: logging must not raise)
            self.handleError(record)


def _serve(worker: EngineWorker, commands: IO[bytes]) -> bool:
    """Handle messages until `Close`; return whether the worker ended cleanly."""
    while True:
        try:
            data = read_packed(commands)
        except (EOFError, OSError):
            os._exit(1)  # the other process is gone, and a pass may be running
        try:
            message: Request | Cancel | Close = pickle.loads(data)  # noqa: S301  (from this program)
            if isinstance(message, Close):
                return worker.close(message.timeout_s)
            if not isinstance(message, Cancel):
                worker.submit(message)
            elif message.only_summary:
                worker.skip_summary(message.number)
            else:
                worker.cancel(message.number)
        except Exception:  # this process must survive every error
            log.exception("a message to the engine failed")


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
