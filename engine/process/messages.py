"""Messages between the two processes beside requests and events."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.session.session import Session


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a new process, picklable.

    ``formatter`` formats exceptions for the log, since only text is sent back.
    """

    make_session: Callable[[], Session]
    formatter: logging.Formatter
    log_level: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """To the engine: `engine.requests.Engine.cancel`, or only of the summary before an answer."""

    number: int
    only_summary: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """To the engine, as last message: `engine.requests.Engine.close`."""

    timeout_s: float


@dataclass(frozen=True, slots=True)
class Logged:
    """From the engine: a log record."""

    name: str
    level: int
    message: str
    thread: str
