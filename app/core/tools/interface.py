"""The interface of tool providers: definitions, calls, results, errors. `Providers` combines several."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from app.core.domain.attachments import Attachment
from app.core.domain.errors import AppError
from app.core.domain.tools.calls import StoredCall
from engine.records import ToolCall


@dataclass(frozen=True)
class ToolDefinition:
    """The definition of a tool for the model.

    ``name`` is unique among all providers and matches ``[a-zA-Z0-9_-]{1,64}``. ``parameters``: a JSON schema.
    ``server``: the provider's name for display: the server's name in mcp.json, or "Built in".
    """

    name: str
    description: str
    parameters: Mapping[str, object]
    server: str
    title: str = ""  # for display; empty: the name is shown


@dataclass(frozen=True)
class ToolResult:
    """The result of a call for the model. ``cut``: number of characters that were left out.

    ``pictures`` are decoded; the text names each at its place.
    """

    call_id: str
    text: str
    is_error: bool = False
    cut: int = 0
    pictures: tuple[Attachment, ...] = ()


class ToolProvider(Protocol):
    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The definitions in a stable order; does not block."""
        ...

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call; ``done`` is called once, from any thread. The returned function cancels the call."""
        ...

    def close(self) -> None: ...


class Providers:
    """Combines providers; the first one that has the tool's name gets the call."""

    def __init__(self, *providers: ToolProvider) -> None:
        self._providers = providers

    def definitions(self) -> tuple[ToolDefinition, ...]:
        found: dict[str, ToolDefinition] = {}
        for provider in self._providers:
            for one in provider.definitions():
                found.setdefault(one.name, one)
        return tuple(found.values())

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        for provider in self._providers:
            if any(one.name == call.name for one in provider.definitions()):
                return provider.call(call, done)
        done(ToolResult(call.call_id, f"The tool {call.name!r} is not there any more.", is_error=True))
        return lambda: None

    def close(self) -> None:
        for provider in self._providers:
            provider.close()


def arguments_of(call: ToolCall | StoredCall) -> dict[str, object]:
    """The arguments of a call; a value that is no object is named ``value``, and invalid JSON is empty."""
    try:
        found = json.loads(call.arguments)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {"value": found}


class ToolServerError(AppError):
    title = "The tool server is not available"
    default_advice = "Restart it, or look at its log."


class ToolFileError(AppError):
    title = "The tool servers could not be read"
    default_advice = "Correct the file, or choose another one."
