"""The requests to an engine, and the events that answer them.

Every request has a number (``request_id``), unique in a process. All its events have the same number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.records import (
    ChatRequest,
    EngineFailed,
    EngineReady,
    Event,
    Finished,
    JobEvent,
    LoadRequest,
    Problem,
)

if TYPE_CHECKING:
    from engine.session.session import Session

_numbers = itertools.count(1)
OnEvent = Callable[[Event], None]


def next_request_id() -> int:
    """Return a new number; thread-safe."""
    return next(_numbers)


class Job(Protocol):
    """Work with the loaded models: a benchmark, or a request of the local server. Must be picklable."""

    def run(
        self, session: Session, should_stop: Callable[[], bool], on_event: OnEvent, between_steps: Callable[[], None]
    ) -> object:
        """Work until done or until ``should_stop()`` returns True; return the value of `JobEnded`.

        Events passed to ``on_event`` get the number of the request. Call ``between_steps`` while nothing is being
        timed: it counts texts and ends cancelled requests. Close sessions that were created from ``session``.
        """


@dataclass(frozen=True, slots=True)
class SetDraft:
    """Use another draft, or none, for the loaded target; ends like a load."""

    path: str | None
    request_id: int = field(default_factory=next_request_id, compare=False)


@dataclass(frozen=True, slots=True)
class RunJob:
    """Run a job; ends with `JobEnded` or `EngineFailed`. A ``background`` job runs after all other requests.

    A job that ``shares`` runs in a slot while answers run; other jobs run alone.
    """

    job: Job
    background: bool = False
    request_id: int = field(default_factory=next_request_id, compare=False)
    shares: bool = False


@dataclass(frozen=True, slots=True)
class ForgetPast:
    """Delete the text of past conversations, which drafts use. Has no event."""

    request_id: int = field(default_factory=next_request_id, compare=False)


@dataclass(frozen=True, slots=True)
class ForgetState:
    """Delete the saved cache of a conversation. Has no event."""

    conversation_id: int
    request_id: int = field(default_factory=next_request_id, compare=False)


@dataclass(frozen=True, slots=True)
class SetStateLimit:
    """Save the caches of conversations in at most ``disk_bytes``; 0 deletes them all. Has no event."""

    disk_bytes: int
    request_id: int = field(default_factory=next_request_id, compare=False)


ModelRequest = LoadRequest | SetDraft
StateOrder = ForgetPast | ForgetState | SetStateLimit  # executed even after `close`, else data would stay on the disk
Request = ModelRequest | ChatRequest | RunJob | StateOrder


@dataclass(frozen=True, slots=True)
class JobEnded(JobEvent):
    """The end of a job; ``value`` is its result."""

    value: object = None


class Engine(Protocol):
    """An engine on a thread, in another process, or on a remote server. Methods are thread-safe and do not wait."""

    def start(self) -> None: ...

    def submit(self, request: Request, on_event: OnEvent | None = None) -> None:
        """Queue a request. A thread of the engine calls ``on_event``, or the common receiver if None, with its events.

        Exactly one event ends each request, except an `StateOrder`: `EngineReady`, `Finished`, `JobEnded`
        or `EngineFailed`.
        """

    def cancel(self, number: int) -> None:
        """End a request, even during a pass. For an answer, also cancel loads that no other answer waits for.

        The request's last event is still sent. Does nothing if the request has ended.
        """

    def skip_summary(self, number: int) -> None:
        """Cancel the summary that an answer waits for; the answer continues."""

    def close(self, timeout_s: float) -> bool:
        """Cancel all requests except orders, and stop; False if that takes longer than ``timeout_s`` seconds."""


def is_last_event(request: Request, event: Event) -> bool:
    if isinstance(request, RunJob):
        return isinstance(event, JobEnded | EngineFailed)
    return isinstance(event, EngineReady | Finished | EngineFailed)


def failure_event(request: Request, problem: Problem, *, engine_ended: bool = False) -> Event | None:
    """The event that reports a failed request; None for an `StateOrder`."""
    if isinstance(request, StateOrder):
        return None
    return EngineFailed(problem, request.request_id, engine_ended=engine_ended)
