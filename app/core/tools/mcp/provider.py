"""Combines all MCP servers in one provider. Their sessions run on an event loop in a thread.

Servers are started and the MCP package is imported only when needed: the import takes most of a second.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from app.core.domain.errors import AppError
from app.core.domain.tools.servers import Phase, ToolServer
from app.core.tools.interface import ToolDefinition, ToolResult, ToolServerError, arguments_of
from app.core.tools.mcp.entries import ServerEntry
from app.core.tools.mcp.limits import Limits
from app.core.tools.mcp.words import unique_name
from engine.records import ToolCall
from engine.sentences import i18n

if TYPE_CHECKING:
    from mcp_types import Tool

    from app.core.tools.mcp.server import McpServer
    from app.core.tools.mcp.sign_in import SecretStore

_CLOSE_S = 8.0  # time limit for closing all servers
_POLL_S = 0.02


class _Route(NamedTuple):
    """Where a tool's calls are sent."""

    name: str
    own_name: str  # the server's name of the tool
    server: McpServer
    tool: Tool


class McpTools:
    """A `ToolProvider` for the servers of a file. ``on_change`` is called on any thread when a state changes.

    ``reserved``: names of other providers' tools; a tool with such a name gets another one. ``secrets`` returns the
    store for the sign-in at an address; without it no sign-in is possible.
    """

    def __init__(
        self,
        entries: Iterable[ServerEntry] = (),
        on_change: Callable[[], None] = lambda: None,
        limits: Limits | None = None,
        reserved: Iterable[str] = (),
        secrets: Callable[[str], SecretStore] | None = None,
    ) -> None:
        self._entries = {one.name: one for one in entries}
        self._on_change, self._limits = on_change, limits or Limits()
        self._reserved, self._secrets = frozenset(reserved), secrets
        self._lock = threading.Lock()  # protects the following attributes
        self._servers: dict[str, McpServer] = {}
        self._runs: dict[str, Future[None]] = {}
        self._names: dict[tuple[str, str], str] = {}  # unique names by server and tool
        self._signing: dict[str, Future[None]] = {}
        self._not_signed_in: dict[str, str] = {}  # why the sign-in failed, by server
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    @property
    def entries(self) -> tuple[ServerEntry, ...]:
        return tuple(self._entries.values())

    def set_entries(self, entries: Iterable[ServerEntry]) -> None:
        """Replace the list of servers; removed or changed servers are stopped."""
        new = {one.name: one for one in entries}
        for name, old in self._entries.items():
            if new.get(name) != old:
                self.stop(name)
        self._entries = new

    def start(self, name: str) -> None:
        """Start a server unless it is running; `states` shows the result."""
        with self._lock:
            running = self._runs.get(name)
            if self._is_closed or name not in self._entries or (running is not None and not running.done()):
                return
            loop = self._running_loop()
            self._not_signed_in.pop(name, None)
            self._runs[name] = asyncio.run_coroutine_threadsafe(self._run(self._entries[name]), loop)
        self._on_change()

    async def _run(self, entry: ServerEntry) -> None:
        from app.core.tools.mcp.server import McpServer  # noqa: PLC0415  (takes long)

        secrets = self._secrets(entry.url) if self._secrets is not None and entry.url else None
        server = McpServer(entry, self._limits, self._on_change, secrets)
        with self._lock:
            if self._entries.get(entry.name) is not entry or entry.name not in self._runs:
                return  # stopped before it started
            self._servers[entry.name] = server
        await server.run()

    def stop(self, name: str) -> None:
        """Stop a server without waiting; stopping may take some seconds."""
        with self._lock:
            run = self._runs.pop(name, None)
            self._servers.pop(name, None)
        if run is not None:
            run.cancel()
            self._on_change()

    def restart(self, name: str) -> None:
        self.stop(name)
        self.start(name)

    def sign_in(self, name: str, open_page: Callable[[str], None], words: str) -> None:
        """Let the user sign in to a server over HTTP, then start it; `states` shows the result.

        ``open_page`` is called on another thread with the address to open in the browser, which finally shows
        ``words``.
        """
        with self._lock:
            entry, under_way = self._entries.get(name), self._signing.get(name)
            if self._is_closed or entry is None or not entry.url or self._secrets is None or under_way is not None:
                return
            made = self._sign_in(entry, self._secrets(entry.url), open_page, words)
            self._not_signed_in.pop(name, None)
            self._signing[name] = asyncio.run_coroutine_threadsafe(made, self._running_loop())
        self._on_change()

    async def _sign_in(
        self, entry: ServerEntry, secrets: SecretStore, open_page: Callable[[str], None], words: str
    ) -> None:
        from app.core.tools.mcp.over_http import sign_in  # noqa: PLC0415  (takes long)

        problem = ""
        try:
            await sign_in(entry, self._limits, secrets, open_page, words)
        except ToolServerError as error:
            problem = error.message
        finally:
            with self._lock:
                self._signing.pop(entry.name, None)
                if problem:
                    self._not_signed_in[entry.name] = problem
            self._on_change()
        if not problem:
            self.restart(entry.name)

    def stop_sign_in(self, name: str) -> None:
        with self._lock:
            under_way = self._signing.get(name)
        if under_way is not None:
            under_way.cancel()

    def sign_out(self, name: str) -> None:
        """Delete the sign-in of a server, and restart the server without it."""
        with self._lock:
            entry = self._entries.get(name)
            if self._is_closed or entry is None or self._secrets is None:
                return
            made = self._sign_out(entry, self._secrets(entry.url))
            asyncio.run_coroutine_threadsafe(made, self._running_loop())

    async def _sign_out(self, entry: ServerEntry, secrets: SecretStore) -> None:
        try:
            await asyncio.to_thread(secrets.forget)
        except AppError as error:
            with self._lock:
                self._not_signed_in[entry.name] = error.message
            self._on_change()
            return
        self.restart(entry.name)

    def states(self) -> tuple[ToolServer, ...]:
        with self._lock:
            signing, problems = set(self._signing), dict(self._not_signed_in)
        return tuple(
            replace(
                one,
                sign_in="under way" if one.name in signing else one.sign_in,
                problem=problems.get(one.name, one.problem),
            )
            for one in self._run_states()
        )

    def _run_states(self) -> tuple[ToolServer, ...]:
        with self._lock:
            servers, runs = dict(self._servers), dict(self._runs)
        return tuple(
            servers[name].state
            if name in servers
            else ToolServer(
                name,
                entry.place,
                Phase.STARTING if name in runs and not runs[name].done() else Phase.OFF,
                i18n("{why}", why=entry.problem) if entry.problem else "",
            )
            for name, entry in self._entries.items()
        )

    @property
    def is_starting(self) -> bool:
        with self._lock:
            running = [self._servers.get(name) for name, run in self._runs.items() if not run.done()]
        return any(one is None or one.phase in (Phase.OFF, Phase.STARTING) for one in running)

    def wait_until_started(self, is_cancelled: Callable[[], bool] = lambda: False) -> None:
        """Wait until no server is starting; for use without a window."""
        while self.is_starting and not is_cancelled():
            time.sleep(_POLL_S)

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """The tools of ready servers, ordered by server and name."""
        made = ((one.name, one.server.definitions.get(one.own_name)) for one in self._routes())
        return tuple(replace(definition, name=name) for name, definition in made if definition is not None)

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        with self._lock:
            loop = self._loop
        found = next((one for one in self._routes() if one.name == call.name), None)
        if found is None or loop is None:
            words = i18n("The tool “{name}” is not there any more: its server has ended.", name=call.name)
            done(ToolResult(call.call_id, words, is_error=True))
            return lambda: None
        made = found.server.call(call.call_id, found.tool, arguments_of(call))
        future = asyncio.run_coroutine_threadsafe(made, loop)

        def end(ended: Future[ToolResult]) -> None:
            try:
                result = ended.result()
            except CancelledError:
                result = ToolResult(call.call_id, "The call was stopped.", is_error=True)
            except Exception as error:  # noqa: BLE001 (the caller waits for a result)
                result = ToolResult(call.call_id, f"The call failed ({type(error).__name__}).", is_error=True)
            done(result)

        future.add_done_callback(end)

        def cancel() -> None:
            future.cancel()

        return cancel

    def close(self) -> None:
        """End all servers and the loop; takes some seconds if a server does not respond."""
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
            self._loop = None
            self._servers.clear()
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end_all(loop), loop)
        thread.join(_CLOSE_S)

    def _routes(self) -> list[_Route]:
        """All tools with names that are unique over all servers.

        A name is never given to another server's tool, since permissions refer to names.
        """
        with self._lock:
            servers = [self._servers[name] for name in self._entries if name in self._servers]
            routes = []
            for server in servers:
                for own_name, tool in server.tools.items():
                    key = (server.entry.name, own_name)
                    if key not in self._names:
                        taken = self._reserved | set(self._names.values())
                        self._names[key] = unique_name(own_name, server.entry.name, taken)
                    routes.append(_Route(self._names[key], own_name, server, tool))
            return routes

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=_run, args=(self._loop,), name="tool-servers", daemon=True)
            self._thread.start()
        return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()


async def _end_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all tasks, then stop the loop."""
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    loop.stop()
