"""Where a server is, as people see it: without the package, which takes most of a second to import."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Phase(Enum):
    """Where a server is."""

    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True)
class McpServerState:
    """A server as people see it; ``problem`` is one sentence, ``notice`` what was left out of its tools.

    ``sign_in`` is of OAuth: "wanted", "under way", "done", or empty where none is needed.
    """

    name: str
    place: str
    phase: Phase
    problem: str = ""
    notice: str = ""
    log: tuple[str, ...] = ()
    sign_in: str = ""
