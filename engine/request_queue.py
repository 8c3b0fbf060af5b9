"""The requests of an engine from `submit` to their last event: their order, what is cancelled, what runs.

The engine here and those of others each have one, which one thread empties.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.records import ChatRequest, CountRequest, LoadRequest
from engine.requests import ModelRequest, OnEvent, Order, Request, RunJob, SetStateLimit

COUNTING, BACKGROUND = 1, 2  # ranks


@dataclass(slots=True, eq=False)
class Asked:
    """A request in the queue, or at work."""

    request: Request
    on_event: OnEvent
    is_cancelled: bool = False
    skips_summary: bool = False

    @property
    def number(self) -> int:
        """The number of the request."""
        return self.request.request_id

    @property
    def in_background(self) -> bool:
        """Whether everything else comes first."""
        return isinstance(self.request, RunJob) and self.request.background

    @property
    def rank(self) -> int:
        """0 comes first, then `COUNTING`, which is done in slices between all else, then the `BACKGROUND`."""
        if isinstance(self.request, CountRequest):
            return COUNTING
        return BACKGROUND if self.in_background else 0


class RequestQueue:
    """Requests in their order, by rank. Methods may be called from any thread; `take` and what follows it by one."""

    def __init__(self, interrupt: Callable[[Request | None], None], resume: Callable[[], None] = lambda: None) -> None:
        """``interrupt`` ends what runs in the middle: a request, or (None) anything. ``resume`` lets the next one run.

        Both are called with the lock held.
        """
        self._interrupt, self._resume = interrupt, resume
        self._changed = threading.Condition()
        self._asked: dict[int, Asked] = {}  # by number, in the order they came; also what runs
        self._running: dict[int, Asked] = {}  # by number
        self._is_idle = False  # idle work is under way
        self.is_closed = False

    def put(self, request: Request, on_event: OnEvent) -> None:
        """Queue a request. One for models ends jobs, which use what is loaded, and loads that nobody waits for."""
        with self._changed:
            if self.is_closed and not isinstance(request, Order):
                return
            if isinstance(request, ModelRequest):
                self._cancel_for(request)
            self._asked[request.request_id] = Asked(request, on_event)
            if self._is_idle and not isinstance(request, Order | CountRequest):
                self._interrupt(None)
            self._changed.notify()

    def cancel(self, number: int) -> None:
        """Cancel a request; with an answer also the loads before it that no other answer waits for."""
        with self._changed:
            asked = self._asked.get(number)
            if asked is None:
                return
            self._cancel(asked)
            if isinstance(asked.request, ChatRequest):
                self._cancel_loads_before(asked)

    def skip_summary(self, number: int) -> None:
        """Have an answer made without the summary that it waits for."""
        with self._changed:
            if (asked := self._asked.get(number)) is not None:
                asked.skips_summary = True

    def close(self) -> None:
        """Cancel what runs and drop what waits, but each `Order`; nothing else is taken any more."""
        with self._changed:
            self.is_closed = True
            waiting = {number: asked for number, asked in self._asked.items() if isinstance(asked.request, Order)}
            for asked in self._running.values():
                asked.is_cancelled = True
            self._asked = self._running | waiting
            self._interrupt(None)
            self._changed.notify()

    def _cancel(self, asked: Asked) -> None:
        asked.is_cancelled = True
        if asked.number in self._running and len(self._running) == 1:  # the pass of several is soon done
            self._interrupt(asked.request)

    def _cancel_for(self, request: ModelRequest) -> None:
        """Cancel the jobs that use what is loaded, and for another target the loads behind the last answer."""
        for asked in self._asked.values():
            if isinstance(asked.request, RunJob) and not asked.in_background:
                self._cancel(asked)
        for asked in reversed(self._asked.values()) if isinstance(request, LoadRequest) else ():
            if isinstance(asked.request, ChatRequest):
                return
            if isinstance(asked.request, ModelRequest):
                self._cancel(asked)

    def _cancel_loads_before(self, answer: Asked) -> None:
        is_before = False
        for asked in reversed(self._asked.values()):
            if isinstance(asked.request, ChatRequest) and not asked.is_cancelled:
                return
            is_before |= asked is answer
            if is_before and isinstance(asked.request, ModelRequest):
                self._cancel(asked)

    # ---- on the thread that empties it ------------------------------------------------------------------------------

    def take(self, timeout_s: float | None = None) -> Asked | None:
        """Wait for the next request, which runs from now on until `done`; None once the queue is closed and empty.

        Raises:
            queue.Empty: there was none in ``timeout_s`` seconds.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.has_waiting or self.is_closed, timeout_s):
                raise queue.Empty
            return self._run(min(self._waiting, key=_rank_of, default=None))

    def take_beside(self, may_run: Callable[[Asked], bool]) -> Asked | None:
        """Like `take`, of what comes next beside counts, where it may run beside what does; None where it may not."""
        with self._changed:
            waiting = (asked for asked in self._waiting if asked.rank != COUNTING)
            first = min(waiting, key=_rank_of, default=None)
            return self._run(first) if first is not None and may_run(first) else None

    def put_back(self, asked: Asked) -> None:
        """Have a request that runs wait again, in its place."""
        with self._changed:
            self._running.pop(asked.number, None)

    def _run(self, asked: Asked | None) -> Asked | None:
        if asked is not None:
            self._running[asked.number] = asked
            if not asked.is_cancelled:
                self._resume()
        return asked

    def done(self, asked: Asked) -> None:
        """Forget a request: its last event is on its way."""
        with self._changed:
            if self._asked.get(asked.number) is asked:
                del self._asked[asked.number]
            self._running.pop(asked.number, None)

    @property
    def has_waiting(self) -> bool:
        """Whether anything waits. It takes no lock, so that it may be asked between any two passes."""
        return len(self._asked) > len(self._running)

    @property
    def _waiting(self) -> Iterator[Asked]:
        return (asked for number, asked in self._asked.items() if number not in self._running)

    def take_cancelled(self) -> Asked | None:
        """Remove what comes next beside jobs and counts, if it is cancelled, and return it."""
        with self._changed:
            waiting = (asked for asked in self._waiting if asked.rank == 0)
            first = next((asked for asked in waiting if not isinstance(asked.request, RunJob)), None)
            if first is None or not first.is_cancelled:
                return None
            return self._asked.pop(first.number)

    def first_count(self) -> Asked | None:
        """Return what is to be counted next; it stays in the queue."""
        with self._changed:
            return next((asked for asked in self._asked.values() if asked.rank == COUNTING), None)

    def is_awaited(self, *, max_rank: int = 0) -> bool:
        """Whether something else waits than counts, up to a rank."""
        with self._changed:
            return self.is_closed or any(asked.rank != COUNTING and asked.rank <= max_rank for asked in self._waiting)

    @property
    def has_to_forget(self) -> bool:
        """Whether an `Order` is left, though the queue is closed, that changes something.

        How much may be kept is said at every start; said once more, it was changed.
        """
        with self._changed:
            orders = [asked.request for asked in self._asked.values()]
        return len(orders) > 1 or not all(isinstance(order, SetStateLimit) for order in orders)

    def begin_idle(self) -> bool:
        """Begin work that ends as soon as something is asked; False where something was."""
        with self._changed:
            self._is_idle = not self._asked and not self.is_closed
            if self._is_idle:
                self._resume()
            return self._is_idle

    def end_idle(self) -> None:
        """Idle work is over."""
        with self._changed:
            self._is_idle = False


def _rank_of(asked: Asked) -> int:
    return asked.rank
