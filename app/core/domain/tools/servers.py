"""MCP servers and their tools in the settings."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

_ESCAPED = {char: quote(char, safe="") for char in "%,"}  # characters with a meaning in the line


@dataclass(frozen=True, slots=True)
class ToolServerView:
    """``place``: command or host. ``state``: "off", "starting", "ready" or "failed". ``problem``: why it failed.

    ``tools``: one line per tool. ``log``: the last lines of stderr. ``sign_in``: "wanted", "under way", "done", or
    empty if the server needs none.
    """

    name: str
    place: str
    is_on: bool
    state: str
    problem: str = ""
    tools: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    sign_in: str = ""


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


@dataclass(frozen=True, slots=True)
class ImportedServer:
    """A server that can be imported. ``place``: its command with the names of its variables."""

    name: str
    place: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ImportView:
    """The servers in another program's file. ``num_known``: already in the list. ``problem``: why it is unreadable."""

    source: str
    servers: tuple[ImportedServer, ...] = ()
    num_known: int = 0
    problem: str = ""


def read_names(line: str) -> tuple[str, ...]:
    """The comma-separated names of a line, each once."""
    return tuple(dict.fromkeys(unquote(part.strip()) for part in line.split(",") if part.strip()))


def names_line(names: Iterable[str]) -> str:
    return ", ".join("".join(_ESCAPED.get(char, char) for char in name) for name in names)
