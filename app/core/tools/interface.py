"""The interface of tool providers: definitions, calls, results, failures; and several providers as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from app.core.domain.attachments import Attachment
from app.core.domain.errors import AppError


@dataclass(frozen=True)
class ToolDefinition:
    """A tool, as the model sees it.

    ``name`` is unique over all providers and matches ``[a-zA-Z0-9_-]{1,64}``; ``parameters`` is a JSON schema;
    ``server`` is the shown name of the provider: the server's name in mcp.json, or "Built in".
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    server: str
    title: str = ""  # for people, else the name


@dataclass(frozen=True)
class ParsedToolCall:
    """A call by a model; ``id`` is unique in its conversation."""

    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True)
class ToolResult:
    """The result of a call for the model; ``cut`` counts the characters that were left out.

    ``pictures`` are decoded, and the text says where each was.
    """

    call_id: str
    text: str
    is_error: bool = False
    cut: int = 0
    pictures: tuple[Attachment, ...] = ()


class ToolProvider(Protocol):
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """In a stable order; does not block."""
        ...

    def call(self, call: ParsedToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call; ``done`` is called once, from any thread. The returned function cancels the call."""
        ...

    def close(self) -> None: ...


class Providers:
    """Several providers as one, in order; the first one with a tool's name gets the call."""

    def __init__(self, *providers: ToolProvider) -> None:
        self._providers = providers

    def definitions(self) -> tuple[ToolDefinition, ...]:
        found: dict[str, ToolDefinition] = {}
        for provider in self._providers:
            for one in provider.definitions():
                found.setdefault(one.name, one)
        return tuple(found.values())

    def call(self, call: ParsedToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        for provider in self._providers:
            if any(one.name == call.name for one in provider.definitions()):
                return provider.call(call, done)
        done(ToolResult(call.id, f"The tool {call.name!r} is not there any more.", is_error=True))
        return lambda: None

    def close(self) -> None:
        for provider in self._providers:
            provider.close()


class ToolServerError(AppError):
    title = "The tool server is not available"
    default_advice = "Restart it, or look at its log."


class ToolFileError(AppError):
    title = "The tool servers could not be read"
    default_advice = "Correct the file, or choose another one."
