"""What a provider of tools is to those who call it: definitions, calls, results, failures; and several as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from app.core.domain.attachments import Attachment
from app.core.domain.errors import AppError


@dataclass(frozen=True)
class ToolDefinition:
    """A tool, as the model is told of it.

    ``name`` is unique over all providers and matches ``[a-zA-Z0-9_-]{1,64}``; ``parameters`` is a JSON schema;
    ``server`` is the shown name of the provider: the server's name in mcp.json, or "Built in".
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    server: str
    title: str = ""  # what people read, else the name


@dataclass(frozen=True)
class ParsedToolCall:
    """A call that a model made; ``id`` is unique in its conversation."""

    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class ToolResult:
    """What a call gave, as the model reads it; ``cut`` counts the characters that were left out of the text.

    ``pictures`` are decoded already, and the text says where each stood.
    """

    call_id: str
    text: str
    is_error: bool = False
    cut: int = 0
    pictures: tuple[Attachment, ...] = ()


class ToolProvider(Protocol):
    """Something that has tools, and runs them."""

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools, in an order that stays; does not block."""
        ...

    def call(self, call: ParsedToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call; ``done`` is called once, from any thread. What is returned cancels it."""
        ...

    def close(self) -> None:
        """End what runs, and free what is held."""
        ...


class Providers:
    """A `ToolProvider` of others, in their order; where two have a name, it is the first one's."""

    def __init__(self, *providers: ToolProvider) -> None:
        self._providers = providers

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools of all."""
        found: dict[str, ToolDefinition] = {}
        for provider in self._providers:
            for one in provider.definitions():
                found.setdefault(one.name, one)
        return tuple(found.values())

    def call(self, call: ParsedToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call with the one that has the tool."""
        for provider in self._providers:
            if any(one.name == call.name for one in provider.definitions()):
                return provider.call(call, done)
        done(ToolResult(call.id, f"The tool {call.name!r} is not there any more.", is_error=True))
        return lambda: None

    def close(self) -> None:
        """Close all."""
        for provider in self._providers:
            provider.close()


class ToolServerError(AppError):
    """A server of tools could not be started, or failed."""

    title = "The tool server is not available"
    default_advice = "Restart it, or look at its log."


class ToolFileError(AppError):
    """A file that names tool servers cannot be used."""

    title = "The tool servers could not be read"
    default_advice = "Correct the file, or choose another one."
