"""The requests to an engine, and the events that answer them.

Every request has a number (``request_id``), unique in a process, which all events that answer it carry.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.records import (
    ChatRequest,
    CountRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    JobEvent,
    LoadRequest,
    Problem,
    TokensCounted,
)

if TYPE_CHECKING:
    from engine.pacing.pass_trace import TracedPass
    from engine.session.session import Session

_numbers = itertools.count(1)
OnEvent = Callable[[Event], None]


def next_number() -> int:
    """Return a new number; thread-safe."""
    return next(_numbers)


class Job(Protocol):
    """Work with the loaded models: a race, or a request of the local server. Can be pickled for another process."""

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> object:
        """Work until done or ``should_stop()`` returns True; return the value of `JobEnded`.

        Events given to ``on_event`` get the number of the request. Call ``between_steps`` while nothing is being timed:
        it counts texts and ends cancelled requests. Close sessions that were made with ``session``.
        """


@dataclass(frozen=True, slots=True)
class SetDraft:
    """Use another draft, or none, for the loaded target; ends like a load."""

    path: str | None
    request_id: int = field(default_factory=next_number, compare=False)


@dataclass(frozen=True, slots=True)
class RunJob:
    """Run a job; ends with `JobEnded` or `EngineFailed`. If ``background``, only after everything else.

    If it ``shares``, it runs beside answers in a slot; else alone.
    """

    job: Job
    background: bool = False
    request_id: int = field(default_factory=next_number, compare=False)
    shares: bool = False


@dataclass(frozen=True, slots=True)
class ForgetPast:
    """Delete the text of past conversations; no event answers."""

    request_id: int = field(default_factory=next_number, compare=False)


@dataclass(frozen=True, slots=True)
class ForgetState:
    """Delete the saved cache of a conversation; no event answers."""

    conversation_id: int
    request_id: int = field(default_factory=next_number, compare=False)


@dataclass(frozen=True, slots=True)
class SetStateLimit:
    """Save the caches of conversations in at most ``disk_bytes``; 0 deletes them all. No event answers."""

    disk_bytes: int
    request_id: int = field(default_factory=next_number, compare=False)


ModelRequest = LoadRequest | SetDraft
Order = ForgetPast | ForgetState | SetStateLimit  # executed even after `close`, since data would stay on the disk
Request = ModelRequest | ChatRequest | CountRequest | RunJob | Order


@dataclass(frozen=True, slots=True)
class JobEnded(JobEvent):
    """The end of a job; ``value`` is its result."""

    value: object = None


@dataclass(frozen=True, slots=True)
class PassTraced(JobEvent):
    """A job has made a pass of the target."""

    traced: TracedPass


class Engine(Protocol):
    """An engine: on a thread, in another process, or a remote server. Methods are thread-safe and do not wait."""

    def start(self) -> None: ...

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Queue a request. Its events go to ``on_event``, on a thread of the engine; None: to the common receiver.

        Exactly one event ends each request, except an `Order`: `EngineReady`, `Finished`, `TokensCounted`, `JobEnded`
        or `EngineFailed`.
        """

    def cancel(self, number: int) -> None:
        """End a request, even during a pass; for an answer also the loads that only it waits for.

        Its last event still comes. Does nothing if the request has ended.
        """

    def skip_summary(self, number: int) -> None:
        """Cancel the summary that an answer waits for, not the answer."""

    def close(self, timeout_s: float) -> bool:
        """End everything except each `Order`; False if it did not end within ``timeout_s`` seconds."""


def ends(request: Request, event: Event) -> bool:
    if isinstance(request, RunJob):
        return isinstance(event, JobEnded | EngineFailed)
    return isinstance(event, EngineReady | Finished | TokensCounted | EngineFailed)


def failure(request: Request, problem: Problem, *, engine_ended: bool = False) -> Event | None:
    """The event that reports a failed request; None for an `Order`."""
    if isinstance(request, Order):
        return None
    if isinstance(request, CountRequest):
        return TokensCounted(request.request_id, None)
    return EngineFailed(problem, request.request_id, engine_ended=engine_ended)
