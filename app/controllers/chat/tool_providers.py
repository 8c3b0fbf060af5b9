"""The window's tool providers: the built-in tools and the servers of its `mcp.json`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.controllers.chat.projects import ProjectController
from app.controllers.parts import Parts
from app.core.domain.projects import SEARCH_TOOL
from app.core.domain.tools.servers import Phase, ToolServer
from app.core.hub.tokens import tool_server_secret
from app.core.tools.built_in import DEFINITIONS, NAMES, SEARCH_DOCUMENTS, BuiltInTools
from app.core.tools.interface import Providers, ToolDefinition, ToolFileError, ToolProvider, ToolResult
from app.core.tools.mcp.entries import (
    ServerEntry,
    entries_of_line,
    merge_imported,
    read_entries_file,
    write_entries_file,
)
from engine.records import ToolCall
from engine.sentences import i18n
from ui.settings.tool_server_requests import ToolServerRequests
from ui.text.language import translate
from ui.text.problem_words import in_language

if TYPE_CHECKING:  # it imports asyncio: load it after the first paint
    from app.core.tools.mcp.provider import McpTools


class ToolProviders(QObject):
    """Starts no server until a chat uses tools. ``extra_providers``: additional providers."""

    servers_changed = Signal()  # a server started, ended, or offers other tools
    _page_wanted = Signal(str, str)  # a server's name and its sign-in page, emitted on its thread

    def __init__(self, parts: Parts, projects: ProjectController) -> None:
        super().__init__()
        self._window, self._projects = parts.window, projects
        self._file = parts.paths.tool_servers_file
        self._servers: McpTools | None = None
        self.extra_providers: tuple[ToolProvider, ...] = ()
        self._connect_requests(parts.window.tool_servers)

    def start_servers(self) -> None:
        """Start the enabled servers that are not running."""
        if self._servers is None and self.names():
            self._get_servers()

    @property
    def is_starting(self) -> bool:
        """True while a server is starting, so that more tools may appear."""
        return self._servers is not None and self._servers.is_starting

    def failures(self, but: Collection[str]) -> dict[str, str]:
        """Why enabled servers have no tools, by server name; servers in ``but`` are left out."""
        views = self.views() if self._servers is not None else ()
        failed = [view for view in views if view.is_on and view.phase is Phase.FAILED and view.name not in but]
        return {view.name: view.problem for view in failed if view.problem}

    def offered(self, names: Collection[str], unused: Collection[str]) -> tuple[ToolDefinition, ...]:
        """The built-in tools with these names, and tools of servers without ``unused`` (``server``, ``server/tool``).

        The order stays the same until a server changes, so that cached prompts can be reused.
        """
        built_in = [one for one in (SEARCH_DOCUMENTS, *DEFINITIONS) if one.name in names]
        return (*built_in, *(one for one in self.server_tools() if not {one.server, path_of(one)} & set(unused)))

    def server_tools(self) -> tuple[ToolDefinition, ...]:
        return tuple(one for one in Providers(*self._providers).definitions() if one.name not in (*NAMES, SEARCH_TOOL))

    def open(self, names: Iterable[str], conversation_id: int) -> BuiltInTools:
        """Return the built-in tools of these names for this chat, and start the servers."""
        self.start_servers()
        return BuiltInTools(names, partial(self._projects.search, conversation_id))

    def call(self, built_in: BuiltInTools, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        return Providers(built_in, *self._providers).call(call, done)

    def close(self) -> None:
        Providers(*self._providers).close()

    @property
    def _providers(self) -> tuple[ToolProvider, ...]:
        return (*(() if self._servers is None else (self._servers,)), *self.extra_providers)

    def _read(self) -> tuple[ServerEntry, ...]:
        try:
            return read_entries_file(self._file)
        except ToolFileError as error:
            self._window.show_problem(error.problem)
            return ()

    def _connect_requests(self, requests: ToolServerRequests) -> None:
        requests.read = self.views
        requests.switched.connect(self._switch)
        requests.restart_requested.connect(lambda name: self._get_servers().restart(name))
        requests.remove_requested.connect(self._remove)
        requests.sign_in_requested.connect(self._sign_in)
        requests.sign_in_stopped.connect(lambda name: self._get_servers().stop_sign_in(name))
        requests.sign_out_requested.connect(lambda name: self._get_servers().sign_out(name))
        self._page_wanted.connect(requests.sign_in_page, Qt.ConnectionType.QueuedConnection)
        requests.add_requested.connect(self._add)

    def views(self) -> tuple[ToolServer, ...]:
        servers = self._get_servers()
        if not servers.entries:
            return ()
        tools = servers.definitions()
        on = {one.name for one in servers.entries if one.enabled}
        return tuple(
            replace(
                state,
                problem=in_language(state.problem or state.notice),
                sign_in=state.sign_in if state.name in on else "",
                is_on=state.name in on,
                tools=tuple(f"{one.name}: {one.description}" for one in tools if one.server == state.name),
            )
            for state in servers.states()
        )

    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in (self._servers.entries if self._servers else self._read()) if one.enabled)

    def _switch(self, name: str, is_on: bool) -> None:
        servers = self._get_servers()
        if self._write(replace(one, enabled=is_on) if one.name == name else one for one in servers.entries) and is_on:
            servers.start(name)

    def _sign_in(self, name: str) -> None:
        words = translate("ToolProviders", "You can close this page now, and go back to Paceline.")
        self._get_servers().sign_in(name, lambda page: self._page_wanted.emit(name, page), words)

    def _remove(self, name: str) -> None:
        servers = self._get_servers()
        if any(state.name == name and state.sign_in == "done" for state in servers.states()):
            servers.sign_out(name)
        self._write(one for one in servers.entries if one.name != name)

    def _add(self, line: str) -> None:
        """Add the servers of a command, an address or a pasted file; start a typed one, since its user knows it."""
        own = self._get_servers().entries
        try:
            merged = merge_imported(own, entries_of_line(line))
        except ToolFileError as error:
            self._window.show_problem(error.problem)
            return
        if self._write(merged) and not line.startswith("{"):
            for entry in merged[len(own) :]:
                if not entry.problem:
                    self._switch(entry.name, True)

    def _write(self, entries: Iterable[ServerEntry]) -> bool:
        kept = tuple(entries)
        try:
            write_entries_file(self._file, kept)
        except OSError as error:
            reason = error.strerror or str(error)
            self._window.show_problem(
                ToolFileError(i18n("{path} cannot be written: {reason}.", path=self._file, reason=reason)).problem
            )
            return False
        self._get_servers().set_entries(kept)
        self._window.tool_servers.changed.emit()
        return True

    def _get_servers(self) -> McpTools:
        """The servers; the first call starts those that the user switched on."""
        if self._servers is None:
            from app.core.tools.mcp.provider import McpTools  # noqa: PLC0415

            entries, reserved = self._read(), (*NAMES, SEARCH_TOOL)
            changed = self.servers_changed.emit
            self._servers = McpTools(entries, changed, reserved=reserved, secrets=tool_server_secret)
            for entry in entries:
                if entry.enabled:
                    self._servers.start(entry.name)
        return self._servers


def path_of(tool: ToolDefinition) -> str:
    """The tool's path in the setting `unused_servers`."""
    return f"{tool.server}/{tool.name}"
