"""Log files: failures and where they happened, never the content of chats.

The message of an unexpected exception may quote a chat, so only its type and frames are logged; tokens are removed.
"""

import contextlib
import faulthandler
import logging
import logging.handlers
import re
import sqlite3
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TextIO

from app.core.domain.errors import AppError

MAX_BYTES = 1_000_000
NUM_OLD_FILES = 5
LOG_NAME = "paceline.log"
CRASH_NAME = "crash.log"


# The messages of these exceptions contain names of files and types, not the user's text.
_LOGGED_WITH_MESSAGE = (OSError, sqlite3.Error, ImportError, AttributeError, NameError, MemoryError, AppError)
_SECRET_PATTERNS = re.compile(r"hf_[A-Za-z0-9]{6,}|\bsk-[\w-]{8,}|(?i:bearer)\s+\S+")

log = logging.getLogger(__name__)


class RedactingFormatter(logging.Formatter):
    """Formats tracebacks without messages of unexpected exceptions, and without tokens."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(threadName)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        # Another handler may have stored the full text of the exception in the record.
        careless, record.exc_text = record.exc_text, None
        try:
            return redact(super().format(record))
        finally:
            record.exc_text = careless

    def formatException(self, ei: object) -> str:  # noqa: N802 (the base class's name)
        """Frames and type; the message only if it cannot quote a chat."""
        if not isinstance(ei, tuple) or not isinstance(ei[1], BaseException):
            return "no exception"
        parts = []
        error: BaseException | None = ei[1]
        while error is not None:
            parts.append("".join(traceback.format_tb(error.__traceback__)) + describe(error))
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(parts)


def describe(error: BaseException) -> str:
    """The name of an exception, with its message only if that cannot quote a chat."""
    name = type(error).__name__
    return f"{name}: {error}" if isinstance(error, _LOGGED_WITH_MESSAGE) else f"{name} (its message is not logged)"


def redact(text: str) -> str:
    """Remove access tokens."""
    return _SECRET_PATTERNS.sub("[redacted]", text)


class _LogFile(logging.handlers.RotatingFileHandler):
    """Reports once that it cannot be written, and never stops the app."""

    _has_warned = False

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 (the base class's name)
        """Report a write error, such as a full disk, in one line instead of a traceback for each record."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._has_warned:
            self._has_warned = True
            sys.stderr.write(f"paceline: the log cannot be written: {error.strerror or error}\n")

    def close(self) -> None:
        """Unwritten records are lost."""
        with contextlib.suppress(OSError):
            super().close()


class Logs:
    """Log files in a folder from `start` to `stop`. If the folder cannot be written, only stderr is used."""

    def __init__(self, folder: Path, on_crash: Callable[[str], None] = lambda _name: None) -> None:
        """``on_crash`` gets the type of an uncaught exception, on its thread."""
        self._folder = folder
        self._on_crash = on_crash
        self._handlers: list[logging.Handler] = []
        self._crash_file: TextIO | None = None
        self._old_hooks = (sys.excepthook, threading.excepthook)

    @property
    def file(self) -> Path:
        return self._folder / LOG_NAME

    def start(self) -> None:
        """Log records, uncaught exceptions and native crashes to files."""
        root = logging.getLogger()
        root.setLevel(logging.INFO)
        self._add(logging.StreamHandler(), logging.ERROR)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handler = _LogFile(
                self.file, maxBytes=MAX_BYTES, backupCount=NUM_OLD_FILES, encoding="utf-8", errors="backslashreplace"
            )
            self._add(handler, logging.INFO)
            self._crash_file = (self._folder / CRASH_NAME).open("a", encoding="utf-8")
            faulthandler.enable(self._crash_file)
        except OSError as error:
            log.warning("There is no log file: %s", error)
        sys.excepthook = self._log_uncaught
        threading.excepthook = self._uncaught_in_thread

    def stop(self) -> None:
        sys.excepthook, threading.excepthook = self._old_hooks
        if self._crash_file is not None:
            faulthandler.disable()
            self._crash_file.close()
            self._crash_file = None
        for handler in self._handlers:
            logging.getLogger().removeHandler(handler)
            handler.close()
        self._handlers.clear()

    def _add(self, handler: logging.Handler, level: int) -> None:
        handler.setLevel(level)
        handler.setFormatter(RedactingFormatter())
        logging.getLogger().addHandler(handler)
        self._handlers.append(handler)

    def _log_uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
            return
        log.critical("uncaught exception", exc_info=(kind, error, trace))
        self._on_crash(kind.__name__)

    def _uncaught_in_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and not issubclass(args.exc_type, SystemExit):
            self._log_uncaught(args.exc_type, args.exc_value, args.exc_traceback)
