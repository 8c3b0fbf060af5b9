"""Messages between the two processes other than requests and events."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.session.session import Session


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a new process.

    ``formatter`` formats exceptions in the process, since log records are sent as text.
    """

    make_session: Callable[[], Session]
    formatter: logging.Formatter
    log_level: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """To the engine: `engine.requests.Engine.cancel`, or `skip_summary` if ``only_summary``."""

    number: int
    only_summary: bool = False


@dataclass(frozen=True, slots=True)
class Close:
    """To the engine, the last message: `engine.requests.Engine.close`."""

    timeout_s: float


@dataclass(frozen=True, slots=True)
class Logged:
    """From the engine: a log record."""

    name: str
    level: int
    message: str
    thread: str
