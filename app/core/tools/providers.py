"""Several providers of tools as one, each tool under the name that its own gives it."""

from __future__ import annotations

from collections.abc import Callable

from app.core.tools.interface import ParsedToolCall, ToolDefinition, ToolProvider, ToolResult


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
