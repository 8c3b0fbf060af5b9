"""The queue of an engine: sorts, cancels and tracks requests from `submit` to their last event.

One thread of the engine takes requests from it.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.records import ChatRequest, LoadProgress, LoadRequest
from engine.requests import ModelRequest, OnEvent, Request, RunJob, StateOrder


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A waiting or running request."""

    request: Request
    on_event: OnEvent
    is_cancelled: bool = False
    skips_summary: bool = False

    @property
    def number(self) -> int:
        return self.request.request_id

    @property
    def in_background(self) -> bool:
        """True if all other requests run first."""
        return isinstance(self.request, RunJob) and self.request.background

    def on_progress(self, path: str, fraction: float) -> bool:
        """Report the progress of a load; False ends the load."""
        self.on_event(LoadProgress(path, fraction, self.number))
        return not self.is_cancelled


class RequestQueue:
    """Requests in order of arrival, with those in the background last.

    Methods are thread-safe, but `take` and the methods below it need one thread.
    """

    def __init__(self, interrupt: Callable[[Request | None], None], resume: Callable[[], None] = lambda: None) -> None:
        """``interrupt`` ends the pass of a running request, or (None) any pass. ``resume`` lets the next pass run.

        Both are called with the lock held.
        """
        self._interrupt, self._resume = interrupt, resume
        self._changed = threading.Condition()
        self._requests: dict[int, QueuedRequest] = {}  # by number, in order of arrival; includes running requests
        self._running: dict[int, QueuedRequest] = {}  # by number
        self._is_idle = False  # idle work is running
        self.is_closed = False

    def put(self, request: Request, on_event: OnEvent) -> None:
        """Queue a request. A load cancels jobs, which use the loaded models, and loads that no answer waits for."""
        with self._changed:
            if self.is_closed and not isinstance(request, StateOrder):
                return
            if isinstance(request, ModelRequest):
                self._cancel_for(request)
            self._requests[request.request_id] = QueuedRequest(request, on_event)
            if self._is_idle and not isinstance(request, StateOrder):
                self._interrupt(None)
            self._changed.notify()

    def cancel(self, number: int) -> None:
        """Cancel a request. For an answer, also cancel earlier loads that no other answer waits for."""
        with self._changed:
            queued = self._requests.get(number)
            if queued is None:
                return
            self._cancel(queued)
            if isinstance(queued.request, ChatRequest):
                self._cancel_loads_before(queued)

    def skip_summary(self, number: int) -> None:
        """Let an answer continue without the summary that it waits for."""
        with self._changed:
            if (queued := self._requests.get(number)) is not None:
                queued.skips_summary = True

    def close(self) -> None:
        """Cancel running requests and drop waiting ones, except orders; only orders are accepted from now on."""
        with self._changed:
            self.is_closed = True
            waiting = {
                number: queued for number, queued in self._requests.items() if isinstance(queued.request, StateOrder)
            }
            for queued in self._running.values():
                queued.is_cancelled = True
            self._requests = self._running | waiting
            self._interrupt(None)
            self._changed.notify()

    def _cancel(self, queued: QueuedRequest) -> None:
        queued.is_cancelled = True
        if queued.number in self._running and len(self._running) == 1:  # a pass with other requests' tokens must go on
            self._interrupt(queued.request)

    def _cancel_for(self, request: ModelRequest) -> None:
        """Cancel jobs, since they use the loaded models. A load also cancels loads that no answer waits for."""
        for queued in self._requests.values():
            if isinstance(queued.request, RunJob) and not queued.in_background:
                self._cancel(queued)
        for queued in reversed(self._requests.values()) if isinstance(request, LoadRequest) else ():
            if isinstance(queued.request, ChatRequest):
                return
            if isinstance(queued.request, ModelRequest):
                self._cancel(queued)

    def _cancel_loads_before(self, answer: QueuedRequest) -> None:
        is_before = False
        for queued in reversed(self._requests.values()):
            if isinstance(queued.request, ChatRequest) and not queued.is_cancelled:
                return
            is_before |= queued is answer
            if is_before and isinstance(queued.request, ModelRequest):
                self._cancel(queued)

    # ---- on the thread that empties it ------------------------------------------------------------------------------

    def take(self, timeout_s: float | None = None) -> QueuedRequest | None:
        """Wait for the next request, which counts as running until `remove`; None if the queue is closed and empty.

        Raises:
            queue.Empty: none arrived within ``timeout_s`` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.has_waiting or self.is_closed, timeout_s):
                raise queue.Empty
            return self._run(self._first)

    def take_next(self, may_run: Callable[[QueuedRequest], bool]) -> QueuedRequest | None:
        """Take the next request without waiting; None if it may not run."""
        with self._changed:
            first = self._first
            return self._run(first) if first is not None and may_run(first) else None

    def _run(self, queued: QueuedRequest | None) -> QueuedRequest | None:
        if queued is not None:
            self._running[queued.number] = queued
            if not queued.is_cancelled:
                self._resume()
        return queued

    def remove(self, queued: QueuedRequest) -> None:
        """Remove a request whose last event has been sent."""
        with self._changed:
            if self._requests.get(queued.number) is queued:
                del self._requests[queued.number]
            self._running.pop(queued.number, None)

    @property
    def has_waiting(self) -> bool:
        """Whether a request waits. Takes no lock, so that it may be called between passes."""
        return len(self._requests) > len(self._running)

    @property
    def _waiting(self) -> Iterator[QueuedRequest]:
        return (queued for number, queued in self._requests.items() if number not in self._running)

    @property
    def _first(self) -> QueuedRequest | None:
        return min(self._waiting, key=lambda queued: queued.in_background, default=None)

    def take_cancelled(self) -> QueuedRequest | None:
        """Remove and return the next request that is not a job, if it is cancelled."""
        with self._changed:
            first = next((queued for queued in self._waiting if not isinstance(queued.request, RunJob)), None)
            if first is None or not first.is_cancelled:
                return None
            return self._requests.pop(first.number)

    def begin_idle(self) -> bool:
        """Begin work that ends when a request arrives; False if a request waits already."""
        with self._changed:
            self._is_idle = not self._requests and not self.is_closed
            if self._is_idle:
                self._resume()
            return self._is_idle

    def end_idle(self) -> None:
        with self._changed:
            self._is_idle = False
