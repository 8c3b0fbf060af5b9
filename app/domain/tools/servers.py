"""A server of tools, as the settings show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolServerView:
    """``place`` is its command or host, ``state`` "off", "starting", "ready" or "failed"; ``problem`` says why.

    ``tools`` are what it offers, a line each; ``log`` are the last lines that it complained.
    """

    name: str
    place: str
    is_on: bool
    state: str
    problem: str = ""
    tools: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
