"""What an engine can be asked for, and which event answers it.

Every request has a number (``request_id``), which all events that answer it carry. Numbers are unique in a process.
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
    """Return a number that no other request of this process has; from any thread."""
    return next(_numbers)


class Job(Protocol):
    """Work with what is loaded: a race, or a request of the local server.

    It can be pickled, as it may run in another process.
    """

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> object:
        """Do it until it is done or ``should_stop()`` is true; return what `JobEnded` is to carry.

        Events given to ``on_event`` get the number of the request. Call ``between_steps`` where nothing is being timed:
        texts are counted then, and requests that were cancelled are ended. Close what was made with ``session``.
        """


@dataclass(frozen=True, slots=True)
class SetDraft:
    """Use another draft or none (None) for the loaded target; ends like a load."""

    path: str | None
    request_id: int = field(default_factory=next_number, compare=False)


@dataclass(frozen=True, slots=True)
class RunJob:
    """Run a job; ends with `JobEnded` or `EngineFailed`. In the ``background``: once nothing else is to be done.

    It has the engine to itself, unless it ``shares`` that: then it runs beside answers, as one of them, where several
    are made at once.
    """

    job: Job
    background: bool = False
    request_id: int = field(default_factory=next_number, compare=False)
    shares: bool = False


@dataclass(frozen=True, slots=True)
class ForgetPast:
    """Lose what was learnt from past conversations; no event answers."""

    request_id: int = field(default_factory=next_number, compare=False)


@dataclass(frozen=True, slots=True)
class ForgetState:
    """Lose what is kept of the cache of a conversation; no event answers."""

    conversation_id: int
    request_id: int = field(default_factory=next_number, compare=False)


@dataclass(frozen=True, slots=True)
class SetStateLimit:
    """Keep the caches of conversations, at most ``disk_bytes`` on the disk; 0 removes them all. No event answers."""

    disk_bytes: int
    request_id: int = field(default_factory=next_number, compare=False)


ModelRequest = LoadRequest | SetDraft
Order = ForgetPast | ForgetState | SetStateLimit  # done though the app ends: else it would stay on the disk for good
Request = ModelRequest | ChatRequest | CountRequest | RunJob | Order


@dataclass(frozen=True, slots=True)
class JobEnded(JobEvent):
    """A job is done; ``value`` is what it returned."""

    value: object = None


@dataclass(frozen=True, slots=True)
class PassTraced(JobEvent):
    """A job has made a pass of the target."""

    traced: TracedPass


class Engine(Protocol):
    """An engine: on a thread, in another process, or of others. Methods may be called from any thread; none waits."""

    def start(self) -> None:
        """Start it."""

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Queue a request. Its events go to ``on_event``, on a thread of the engine's; None: where all others go.

        Exactly one event ends each request, but for an `Order`: `EngineReady`, `Finished`, `TokensCounted`, `JobEnded`
        or `EngineFailed`.
        """

    def cancel(self, number: int) -> None:
        """End a request, between two passes or in one; of an answer also the loads that only it waits for.

        Nothing happens where it has ended. Its last event comes still.
        """

    def skip_summary(self, number: int) -> None:
        """Give up the summary that an answer waits for, not the answer."""

    def close(self, timeout_s: float) -> bool:
        """End everything, but do each `Order`; False if it did not end within ``timeout_s`` seconds."""


def ends(request: Request, event: Event) -> bool:
    """Whether an event is the last of a request."""
    if isinstance(request, RunJob):
        return isinstance(event, JobEnded | EngineFailed)
    return isinstance(event, EngineReady | Finished | TokensCounted | EngineFailed)


def failure(request: Request, problem: Problem, *, engine_ended: bool = False) -> Event | None:
    """Return the event that says that a request could not be done; None for an `Order`."""
    if isinstance(request, Order):
        return None
    if isinstance(request, CountRequest):
        return TokensCounted(request.request_id, None)
    return EngineFailed(problem, request.request_id, engine_ended=engine_ended)
