"""MCP servers and their tools in the settings."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote

_ESCAPED = {char: quote(char, safe="") for char in "%,"}  # characters with a meaning in the line


class Phase(StrEnum):
    OFF = "off"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ToolServer:
    """The state of a server. ``place``: command or host. ``problem``: why it failed. ``notice``: about omitted tools.

    ``log``: the last lines of stderr. ``sign_in`` (OAuth): "wanted", "under way", "done", or empty if the server needs
    none. The window adds ``is_on``, and ``tools``, one line per tool.
    """

    name: str
    place: str
    phase: Phase
    problem: str = ""
    notice: str = ""
    log: tuple[str, ...] = ()
    sign_in: str = ""
    is_on: bool = False
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool for a chat, or a whole server (empty ``name``).

    ``tokens``: of its definition in the prompt; None while unknown. ``note``: why a server has no tools.
    """

    server: str
    name: str
    title: str
    is_on: bool
    tokens: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ToolMenu:
    """The tools of the open chat. ``refusal``: why the model cannot use tools.

    ``tokens``: of all active definitions; 0 while unknown.
    """

    is_on: bool = False
    refusal: str = ""
    tokens: int = 0
    context_size: int = 0
    tools: tuple[OfferedTool, ...] = ()


def read_names(line: str) -> tuple[str, ...]:
    """The comma-separated names of a line, each once."""
    return tuple(dict.fromkeys(unquote(part.strip()) for part in line.split(",") if part.strip()))


def names_line(names: Iterable[str]) -> str:
    return ", ".join("".join(_ESCAPED.get(char, char) for char in name) for name in names)
