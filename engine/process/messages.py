"""What crosses between the two processes beside the engine's own events."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import EngineError
from engine.records import ChatRequest, Event

if TYPE_CHECKING:
    from engine.pacing.pass_trace import TracedPass
    from engine.session.session import Session


@dataclass(frozen=True, slots=True)
class Setup:
    """What a new process is told first; all of it can be pickled.

    ``formatter`` writes exceptions for the log, of which only text crosses.
    """

    make_session: Callable[[], Session]
    formatter: logging.Formatter
    log_level: int


SHUTDOWN = "shutdown"  # the last command


@dataclass(frozen=True, slots=True)
class Command:
    """A call of a method of `engine.session.worker.EngineWorker`."""

    name: str
    arguments: tuple[object, ...] = ()


# ---- to the engine ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lend:
    """The session is wanted for a turn; `TurnBegan` or `TurnFailed` answers."""

    turn: int
    in_background: bool


@dataclass(frozen=True, slots=True)
class SessionCall:
    """A call of the session in a turn that has begun; `SessionReply` answers."""

    turn: int
    name: str
    arguments: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class GenerateCall:
    """An answer in a turn: `TurnEvent` for each of its events, then `SessionReply`."""

    turn: int
    request: ChatRequest
    is_traced: bool


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The answer of a turn is to end, in the middle of a pass; or (``is_over``) the next may go on."""

    turn: int
    is_over: bool = False


@dataclass(frozen=True, slots=True)
class EndTurn:
    """The session is not needed any more."""

    turn: int


TurnMessage = SessionCall | GenerateCall | Interrupted | EndTurn

# ---- from the engine ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Logged:
    """A line of the log."""

    name: str
    level: int
    message: str
    thread: str


@dataclass(frozen=True, slots=True)
class JobEnded:
    """The job of this number has told all that it had to tell."""

    number: int


@dataclass(frozen=True, slots=True)
class TurnBegan:
    """The session is lent."""

    turn: int


@dataclass(frozen=True, slots=True)
class TurnFailed:
    """There is no session to be lent."""

    turn: int


@dataclass(frozen=True, slots=True)
class TurnEvent:
    """What the session told in a turn."""

    turn: int
    event: Event


@dataclass(frozen=True, slots=True)
class TurnTraced:
    """A pass of an answer in a turn."""

    turn: int
    traced: TracedPass


@dataclass(frozen=True, slots=True)
class SessionReply:
    """What a call of the session gave, or raised."""

    turn: int
    value: object = None
    error: EngineError | None = None


TurnReport = TurnBegan | TurnFailed | TurnEvent | TurnTraced | SessionReply
