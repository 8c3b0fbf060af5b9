"""The demo at real weight: the built-in target padded on a thread of its own, into the cache folder.

Its reports arrive on that thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError
from engine.records import Problem
from engine.sentences import said


@dataclass(frozen=True, slots=True)
class PaddingReport:
    """How far it is; at the end either ``done``, or a ``problem``, or neither where it was cancelled."""

    fraction: float = 0.0
    ended: bool = False
    done: bool = False
    problem: Problem | None = None


class PaddedDemo:
    """Makes the padded file at most once at a time."""

    def __init__(self, source: Path, destination: Path, on_report: Callable[[PaddingReport], None]) -> None:
        self._source = source
        self._on_report = on_report
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._last_percent = -1
        self.file = destination

    @property
    def exists(self) -> bool:
        """Whether a file made from this source is there: one older than the source is not."""
        try:
            return self.file.stat().st_mtime >= self._source.stat().st_mtime
        except OSError:
            return False

    @property
    def making(self) -> bool:
        """Whether it is being made."""
        return self._thread is not None and self._thread.is_alive()

    def make(self) -> None:
        """Begin; a second call while one is running does nothing."""
        if not self.making:
            self._stop.clear()
            self._last_percent = -1
            self._thread = threading.Thread(target=self._run, name="padding", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop making, soon; the last report tells."""
        self._stop.set()

    def delete(self) -> Problem | None:
        """Remove the file; the reason where that cannot be."""
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            return Problem("The speed demo was not deleted", said("{error}.", error=error), "Delete the file manually.")
        return None

    def cancel(self, timeout_s: float) -> bool:
        """Stop making; False if that takes longer."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout_s)
        return not self.making

    def _run(self) -> None:
        from engine.gguf.pad import make_padded  # noqa: PLC0415  (NumPy and gguf: the start does not wait for them)

        try:
            make_padded(self._source, self.file, self._progress, self._stop.is_set)
        except (EngineError, OSError) as error:
            problem = None if self._stop.is_set() else _problem(error)
            self._on_report(PaddingReport(ended=True, problem=problem))
        else:
            self._on_report(PaddingReport(1.0, ended=True, done=True))

    def _progress(self, fraction: float) -> None:
        # A report a percent: 100 of them, whatever the size of the steps.
        percent = int(fraction * 100)
        if percent > self._last_percent:
            self._last_percent = percent
            self._on_report(PaddingReport(fraction))


def _problem(error: EngineError | OSError) -> Problem:
    if isinstance(error, EngineError):
        return error.problem
    return Problem(
        "The speed demo could not be prepared",
        said("{error}.", error=error),
        "Check the free space of the cache folder.",
    )
