"""Starts the engine's process, and reads its messages until it ends."""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import IO, Any, cast

from engine.process.channel import Setup, pack, read_packed
from engine.sandbox.helper import ENGINE_FLAG, WINDOW_PID, child_environment, creation_flags
from engine.sentences import Sentence, i18n

log = logging.getLogger(__name__)

STDERR_WAIT_S = 1.0  # a child of the engine may keep its standard error open
_KEPT_LINES = 60  # lines of standard error that describe a crash
# Lines that may be logged: an assertion of ggml, or the frames of a crash. Other lines may quote a chat.
_CRASH = "Fatal Python error: "
_LOGGED = re.compile(r"[\w-]+\.(?:c|cpp|cu|h|hpp|m):\d+: |^Fatal Python error: |^\s+File \"|^Thread |^Current thread ")

OnMessage = Callable[[Any], None]


class EngineProcess:
    """One run of the engine's process.

    A separate thread calls ``on_message`` with each message in order, then ``on_end`` with the exit status (negative
    for a signal).
    """

    def __init__(self, setup: Setup, on_message: OnMessage, on_end: Callable[[EngineProcess, int], None]) -> None:
        """Start the process.

        Raises:
            OSError: the process cannot be started.
        """
        self._on_message, self._on_end = on_message, on_end
        self._process = subprocess.Popen(  # noqa: S603  (this interpreter and module)
            command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=child_environment(bare=False) | {WINDOW_PID: str(os.getpid())},
            creationflags=creation_flags(),
        )
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._stderr_lines = threading.Thread(target=self._read_errors, name="engine-errors", daemon=True)
        self._reader = threading.Thread(target=self._read, name="engine-reader", daemon=True)
        self.send(setup)

    def start_reading(self) -> None:
        self._stderr_lines.start()
        self._reader.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: object) -> None:
        """Send a message; not thread-safe. Does nothing if the process has ended, which ``on_end`` reports."""
        stdin = cast("IO[bytes]", self._process.stdin)
        data = pack(message)
        try:
            stdin.write(data)
            stdin.flush()
        except (OSError, ValueError):  # a broken or closed pipe
            log.debug("a message to an engine that has ended")

    def wait(self, timeout_s: float) -> bool:
        """Wait until the process has ended and all messages were handled; False after ``timeout_s`` seconds."""
        self._reader.join(timeout_s)
        return not self._reader.is_alive()

    def kill(self) -> None:
        self._process.kill()

    def _read(self) -> None:
        stdout = cast("IO[bytes]", self._process.stdout)
        try:
            while True:
                for message in pickle.loads(read_packed(stdout)):  # noqa: S301  (from this program)
                    self._handle(message)
        except (EOFError, OSError):
            pass
        except Exception:  # the rest of the stream is unreadable
            log.exception("the engine's process sent what cannot be read")
            self._process.kill()
        status = self._process.wait()
        self._stderr_lines.join(STDERR_WAIT_S)
        for pipe in (self._process.stdin, stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # closing flushes unsent data, which may fail
                    pipe.close()
        if status != 0 and self._lines:
            log.error("the engine ended with status %d:\n%s", status, "\n".join(self._lines))
        self._on_end(self, status)

    def _handle(self, message: object) -> None:
        try:
            self._on_message(message)
        except Exception:  # an error of the handler, not of the engine
            log.exception("%s of the engine could not be taken", type(message).__name__)

    def _read_errors(self) -> None:
        has_crashed = False
        for line in cast("IO[bytes]", self._process.stderr):
            text = line.decode("utf-8", "replace").rstrip()
            if _LOGGED.search(text):
                self._lines.append(text)
            has_crashed = has_crashed or text.startswith(_CRASH)
            if has_crashed:  # Python's stack frames are logged
                continue
            # Without a console there is no stderr, and a closed terminal's fails. The engine must not block on it.
            with contextlib.suppress(AttributeError, OSError, ValueError):
                sys.stderr.write(text + "\n")


def command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, ENGINE_FLAG]
    return [sys.executable, "-P", "-m", "engine.process.child"]  # -P as in `engine.sandbox.helper`


def reason_of(status: int) -> Sentence:
    if status == -getattr(signal, "SIGKILL", 9):
        return i18n("killed by another program, or by the system because memory ran out")
    try:
        return i18n("signal {name}", name=signal.Signals(-status).name)
    except ValueError:
        return i18n("status {status}", status=f"{status:#x}" if status > 255 else str(status))
