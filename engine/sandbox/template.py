"""Renders chat templates in a helper process, which is killed if it exceeds limits of time or memory.

The process starts with the first template (in about a tenth of a second), keeps running, and is replaced if it dies.
`engine.sandbox.template_child` restricts templates.
"""

import atexit
import json
import threading
import time
from typing import Any

import psutil

from engine.errors import TemplateError
from engine.sandbox.helper import HelperProcess
from engine.sentences import i18n

MAX_OUTPUT_CHARS = 8_000_000  # about twice the text of a million tokens
MEMORY_LIMIT_BYTES = 512 * 2**20  # Python and Jinja take about 30 MB, and long conversations little more
TIME_LIMIT_S = 2.0
# On a busy machine a harmless template may be slow, so its CPU time is limited; this limits its wall time.
BUSY_TIME_LIMIT_S = 6.0
START_LIMIT_S = 30.0
_WATCH_EVERY_S = 0.02
_MAX_LINE_BYTES = 12 * MAX_OUTPUT_CHARS + 1000  # JSON escapes may take 12 bytes per character
_READY = b"ready\n"


class TemplateRefusedError(TemplateError):
    """The template raised an error, or is invalid; the helper process still works."""


class TemplateRenderer:
    """One helper process for all templates. Thread-safe: calls are serialised."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: HelperProcess | None = None

    def render(self, source: str, variables: dict[str, Any]) -> str:
        """Render the template ``source``.

        Raises:
            TemplateRefusedError: the template raised an error, or is invalid.
            TemplateError: the template exceeded a limit or crashed the helper, or the conversation is too long.
        """
        request = json.dumps({"source": source, "variables": variables}).encode() + b"\n"
        if len(request) > _MAX_LINE_BYTES:
            raise TemplateError("The conversation is longer than any context holds.", "Start a new chat.")
        with self._lock:
            process = self._start()
            line, reason = _exchange(process, request, TIME_LIMIT_S)
            if not line.endswith(b"\n"):
                self._stop()
                raise TemplateError(
                    i18n("The model's chat template was stopped: {reason}.", reason=reason or i18n("it crashed"))
                )
        answer = json.loads(line)
        if "refused" in answer:
            raise TemplateRefusedError(
                i18n("The model's chat template failed: {reason}.", reason=answer["refused"].rstrip("."))
            )
        text: str = answer["text"]
        return text

    def close(self) -> None:
        """End the helper; the next call starts another."""
        with self._lock:
            self._stop()

    def _start(self) -> HelperProcess:
        if self._process is not None and self._process.is_running:
            return self._process
        self._stop()
        self._process = process = HelperProcess("template", (str(MAX_OUTPUT_CHARS), str(MEMORY_LIMIT_BYTES)))
        line, reason = _exchange(process, b"", START_LIMIT_S)
        if line != _READY:
            self._stop()
            raise TemplateError(
                i18n(
                    "The helper that renders chat templates did not start: {reason}.",
                    reason=reason or i18n("it ended at once"),
                ),
                "Try again; if it happens again, reinstall Paceline.",
            )
        return process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()


def _exchange(process: HelperProcess, request: bytes, limit_s: float) -> tuple[bytes, str]:
    """Send ``request``, and read a line, which is incomplete if the helper died; also return the reason, if known."""
    done, reasons = threading.Event(), list[str]()
    watch = threading.Thread(target=_watch, args=(process, done, limit_s, reasons), name="template-watch")
    watch.start()
    try:
        line = process.request(request, _MAX_LINE_BYTES)
    finally:
        done.set()
        watch.join()
    return line, next(iter(reasons), "")


def _watch(process: HelperProcess, done: threading.Event, limit_s: float, reasons: list[str]) -> None:
    """Kill the helper if it exceeds its time or memory."""
    began = time.monotonic()
    cpu_before: float | None = None
    while not done.wait(_WATCH_EVERY_S):
        try:
            helper = psutil.Process(process.pid)
            cpu_s, memory_bytes = sum(helper.cpu_times()[:2]), helper.memory_info().rss
        except psutil.Error:  # the helper has ended, which the reader notices
            return
        cpu_before = cpu_s if cpu_before is None else cpu_before
        elapsed_s = time.monotonic() - began
        starved = cpu_s - cpu_before < limit_s / 2 and elapsed_s < BUSY_TIME_LIMIT_S
        if memory_bytes > MEMORY_LIMIT_BYTES:
            reasons.append(i18n("it needed too much memory"))
        elif elapsed_s > limit_s and not starved:
            reasons.append(i18n("it did not finish within {limit_s:.0f} seconds", limit_s=limit_s))
        if reasons:
            process.kill()
            return


shared_renderer = TemplateRenderer()
atexit.register(shared_renderer.close)
