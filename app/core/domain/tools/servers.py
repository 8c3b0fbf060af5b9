"""Servers of tools, as the settings show them and name them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote

_TAKEN = {char: quote(char, safe="") for char in "%,"}  # what has a meaning in the line


@dataclass(frozen=True, slots=True)
class ToolServerView:
    """``place`` is its command or host, ``state`` "off", "starting", "ready" or "failed"; ``problem`` says why.

    ``tools`` are what it offers, a line each; ``log`` are the last lines that it complained. ``sign_in`` is "wanted",
    "under way", "done", or empty where nobody signs in.
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
    """A tool that a chat may have, or a whole server without a ``name``.

    ``tokens`` are those of its definition in the prompt; None while they are not known. ``note`` says in a sentence why
    a server offers none.
    """

    server: str
    name: str
    title: str
    is_on: bool
    tokens: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ToolMenu:
    """The tools of the open chat: whether they are on, why the model takes none, and all that there are.

    ``tokens`` are those of the definitions that are on, of a context of ``context_size``; 0 while they are not known.
    """

    is_on: bool = False
    refusal: str = ""
    tokens: int = 0
    context_size: int = 0
    tools: tuple[OfferedTool, ...] = ()


@dataclass(frozen=True, slots=True)
class ImportedServer:
    """A server that another program's file would add; ``place`` is what it runs, and the names of what it is given."""

    name: str
    place: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ImportView:
    """What a file would add; ``num_known`` are there already, and ``problem`` says why it cannot be read."""

    source: str
    servers: tuple[ImportedServer, ...] = ()
    num_known: int = 0
    problem: str = ""


def read_names(line: str) -> tuple[str, ...]:
    """The names of a line with commas, each once."""
    return tuple(dict.fromkeys(unquote(part.strip()) for part in line.split(",") if part.strip()))


def names_line(names: Iterable[str]) -> str:
    """The same as one line."""
    return ", ".join("".join(_TAKEN.get(char, char) for char in name) for name in names)
