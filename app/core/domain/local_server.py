"""The local server for the window: address and state."""

import re
from dataclasses import dataclass
from enum import StrEnum

from engine.records import Problem
from engine.sentences import i18n

ALL_ADDRESSES = "0.0.0.0"  # noqa: S104  (a choice of the settings, off by default)
LOOPBACK = "127.0.0.1"
MAX_NAMES = 100
_HOST_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?")


def host_name(text: str) -> str:
    """Check a name for a Host header.

    Raises:
        ValueError: the name is invalid.
    """
    if _HOST_NAME.fullmatch(text) is None:
        raise ValueError(i18n("{text} is not a name such as host.docker.internal.", text=repr(text[:80])))
    return text.lower()


def read_host_names(line: str) -> frozenset[str]:
    """Read the comma-separated names of a line.

    Raises:
        ValueError: a name is invalid, or there are too many.
    """
    names = frozenset(host_name(part.strip()) for part in line.split(",") if part.strip())
    if len(names) > MAX_NAMES:
        raise ValueError(i18n("There are more than {most} names.", most=MAX_NAMES))
    return names


@dataclass(frozen=True, slots=True)
class ServerSetup:
    """The server's address, its additional host ``names``, and whether it requires a key.

    A key is always required if other computers have access.
    """

    host: str
    port: int
    names: frozenset[str] = frozenset()
    wants_key: bool = True

    @property
    def needs_key(self) -> bool:
        """True if requests without a key are refused."""
        return self.wants_key or self.host != LOOPBACK


GONE = 499  # not an HTTP status: the program disconnected early


class ServerState(StrEnum):
    OFF = "off"
    STARTING = "starting"
    ON = "on"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Activity:
    """Numbers of answered, waiting and running requests.

    ``tokens_per_second``: speed of all running answers together; 0 if none runs.
    """

    num_answered: int = 0
    num_waiting: int = 0
    num_running: int = 0
    tokens_per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class ServerView:
    """The server's state. ``address``: for example ``http://127.0.0.1:8080``. ``problem``: why it failed.

    ``window_waits``: the window's question waits for a program's answer. ``guest``: the model that a program loaded in
    place of the window's; empty if none.
    """

    state: ServerState = ServerState.OFF
    address: str = ""
    activity: Activity = Activity()
    problem: Problem | None = None
    window_waits: bool = False
    guest: str = ""


def base_url(host: str, port: int) -> str:
    """The base URL for programs; if the server listens on all addresses, the one for this machine."""
    return f"http://{LOOPBACK if host == ALL_ADDRESSES else host}:{port}/v1"
