"""The providers of tools of the window: what is built in, and the servers of its `mcp.json`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from app.controllers.parts import Parts
from app.domain.attachments import Attachment
from app.domain.conversations import ConversationRow
from app.tools.built_in import NAMES, BuiltInTools, ChatHit, Sources
from app.tools.errors import ToolFileError
from app.tools.interface import ToolCall, ToolDefinition, ToolProvider, ToolResult
from app.tools.mcp.entries import ServerEntry, read_entries_file
from app.tools.mcp.provider import McpTools
from app.tools.providers import Providers

log = logging.getLogger(__name__)


class ToolProviders:
    """Opens nothing before a chat has tools. ``more`` are providers beside those of the app."""

    def __init__(self, parts: Parts) -> None:
        self._store, self._window = parts.store, parts.window
        self._file = parts.paths.tool_servers_file
        self._conversation_id: int | None = None
        self._built_in: BuiltInTools | None = None
        self._servers: McpTools | None = None
        self.more: tuple[ToolProvider, ...] = ()

    def open(self, enabled: str, conversation_id: int) -> None:
        """Have these built-in tools, for this chat, and the servers started."""
        self._conversation_id = conversation_id
        names = [name.strip() for name in enabled.split(",")]
        if self._built_in is None:
            self._built_in = BuiltInTools(names, Sources(self._files, self._search))
        self._built_in.enabled = frozenset(names)
        if self._servers is None:
            self._servers = self._open_servers()

    def definitions(self) -> tuple[ToolDefinition, ...]:
        """All tools that are there now."""
        return self._all.definitions()

    def call(self, call: ToolCall, done: Callable[[ToolResult], None]) -> Callable[[], None]:
        """Start a call."""
        return self._all.call(call, done)

    def close(self) -> None:
        """End all."""
        self._all.close()

    @property
    def _all(self) -> Providers:
        return Providers(*(one for one in (self._built_in, self._servers, *self.more) if one is not None))

    def _open_servers(self) -> McpTools:
        entries: tuple[ServerEntry, ...] = ()
        try:
            entries = read_entries_file(self._file) if self._file.exists() else ()
        except ToolFileError as error:
            self._window.show_problem(error.problem)
        servers = McpTools(entries, reserved=NAMES)
        for entry in entries:
            if entry.enabled:  # only those that somebody switched on
                servers.start(entry.name)
        return servers

    # ---- on the thread of the built-in tools ------------------------------------------------------------------------

    def _files(self) -> Sequence[Attachment]:
        conversation_id = self._conversation_id
        views = () if conversation_id is None else self._store.history(conversation_id)
        return [attachment for view in views for attachment in view.attachments]

    def _search(self, words: str, most: int) -> Sequence[ChatHit]:
        hits = self._store.library.search(words).result() or ()
        rows = {row.id: row for row in self._store.conversations()}
        return [
            ChatHit(hit.title, _date(rows.get(hit.conversation_id)), "".join(text for text, _ in hit.parts))
            for hit in hits
            if hit.conversation_id != self._conversation_id
        ][:most]


def _date(row: ConversationRow | None) -> str:
    return row.updated_at.date().isoformat() if row is not None else ""
