"""Runs one MCP server on the loop of `app.core.tools.mcp.provider`: its session, tools and calls.

Failures affect only the server's own calls. Each failure is one sentence for the user.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any

import anyio
import httpx2
from mcp.client.session import ClientSession, IncomingMessage
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    CallToolResult,
    Implementation,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError

import app
from app.core.domain.tools.servers import Phase, ToolServer
from app.core.tools.interface import ToolDefinition, ToolResult, ToolServerError
from app.core.tools.mcp.entries import ServerEntry, with_variables
from app.core.tools.mcp.limits import Limits, ServerLog
from app.core.tools.mcp.over_http import HttpStatusRecorder, has_own_key, http_streams
from app.core.tools.mcp.process import ServerProcess
from app.core.tools.mcp.results import (
    UNREADABLE,
    definition_of,
    notice_of,
    parse_tools,
    result_of,
    select_tools,
)
from app.core.tools.mcp.sign_in import SecretStore
from app.core.tools.mcp.words import one_line
from engine.sentences import Sentence, i18n, joined

log = logging.getLogger(__name__)

_RELIST_PAUSE_S = 2.0  # pause between two reads of a tool list that the server reports as changed
for _name in ("mcp", "client", "httpx2", "httpcore2"):  # loggers that log messages and addresses of servers
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class _Dispatcher(JSONRPCDispatcher[TransportContext]):
    """Repairs answers before the session validates them, since it rejects a whole answer for one invalid part."""

    def __init__(self, *streams: Any) -> None:  # noqa: ANN401 (the package's two)
        super().__init__(*streams)
        self.left_out = list[Sentence]()  # reasons for omitted tools

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        **more: Any,  # noqa: ANN401
    ) -> dict[str, Any]:
        try:
            raw = await super().send_raw_request(method, params, opts, **more)
        except MCPError as error:
            if method != "tools/list" or error.code != METHOD_NOT_FOUND:
                raise
            raw = {}  # the server has no tools, but may have other features
        if method == "initialize":
            # Assume the oldest version for an unknown one.
            version, known = raw.get("protocolVersion"), HANDSHAKE_PROTOCOL_VERSIONS
            unnamed = {
                "capabilities": {},
                "serverInfo": {"name": "", "version": ""},
            }  # the server's description of itself is not used
            return {**unnamed, "protocolVersion": version if version in known else known[0]}
        if method == "tools/call" and raw.get("resultType", "complete") == "complete":
            return {"content": [], "structuredContent": raw}  # any content; `result_of` reads it
        if method == "tools/list":
            tools, left_out = parse_tools(raw.get("tools"))
            self.left_out += left_out
            cursor = raw.get("nextCursor")
            following = {"nextCursor": str(cursor)} if isinstance(cursor, str | int) and cursor != "" else {}
            others = {name: one for name, one in raw.items() if name in ("resultType", "ttlMs", "cacheScope")}
            return {**others, "tools": tools, **following}
        return raw


class _Session(ClientSession):
    """A session that does not validate results by the server's schemas."""

    async def validate_tool_result(self, name: str, result: CallToolResult) -> None:
        """Does nothing: patterns in a schema can take for ever, and references could be fetched from other hosts."""


class McpServer:
    """One run of a server. Outside the loop only `state`, `tools` and `definitions` may be used."""

    def __init__(
        self,
        entry: ServerEntry,
        limits: Limits,
        on_change: Callable[[], None],
        secrets: SecretStore | None = None,
    ) -> None:
        self.entry, self._secrets = entry, secrets
        self.tools: dict[str, Tool] = {}  # by unique name; only replaced, never changed
        self.definitions: dict[str, ToolDefinition] = {}  # cleaned once on this thread
        self.phase, self.problem, self.notice = Phase.OFF, "", ""
        self._limits, self._on_change = limits, on_change
        self._log = ServerLog()
        self._session: ClientSession | None = None
        self._dispatcher: _Dispatcher | None = None
        self._process: ServerProcess | None = None
        self._observed = HttpStatusRecorder()
        self._call_s = entry.timeout_s or limits.call_s
        self._call_total_s = max(self._call_s, limits.call_total_s)
        self._list_requested = asyncio.Event()
        self._call_slots = asyncio.Semaphore(limits.calls_at_once)

    @property
    def state(self) -> ToolServer:
        entry, lines = self.entry, self._log.lines
        observed, sign_in = self._observed, ""
        if (
            self.phase is Phase.FAILED
            and observed.wants_sign_in
            and self._secrets is not None
            and not has_own_key(entry)
        ):
            sign_in = "wanted"
        elif observed.is_signed_in:
            sign_in = "done"
        told = self.problem, self.notice, lines, sign_in
        return ToolServer(entry.name, entry.place, self.phase, *told)

    async def run(self) -> None:
        """Start the server and run until it ends or this task is cancelled."""
        self._set_phase(Phase.STARTING)
        try:
            async with AsyncExitStack() as stack:
                await self._open(stack)
                self._set_phase(Phase.READY)
                await self._watch_tools()
        except asyncio.CancelledError:
            self._set_phase(Phase.OFF)
            raise
        except ToolServerError as error:
            self._fail(i18n("{message} {advice}", message=error.message, advice=error.advice))
        except BaseException as error:  # noqa: BLE001 (of a library or a server; groups of them, too)
            self._fail(await self._sentence(error, is_start=self.phase is Phase.STARTING))
        finally:
            self._session = None

    async def call(self, call_id: str, tool: Tool, arguments: dict[str, Any]) -> ToolResult:
        """Make a call; a failure is returned as a result."""
        session = self._session
        if session is None:
            words = i18n("The server “{name}” does not run. Restart it.", name=self.entry.name)
            return ToolResult(call_id, words, is_error=True)

        async def extend(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
            with suppress(RuntimeError):  # the event loop has ended
                limit.reschedule(asyncio.get_running_loop().time() + self._call_s)

        try:
            async with self._call_slots, asyncio.timeout(self._call_s) as limit:
                given = await session.call_tool(tool.name, arguments, self._call_total_s, extend)
        except (MCPError, TimeoutError, ValidationError, RuntimeError, OSError, httpx2.HTTPError) as error:
            words = await self._sentence(error, is_start=False)
            return ToolResult(call_id, words, is_error=True)
        # On a thread: decoding pictures would block other calls.
        return await asyncio.to_thread(result_of, call_id, given.structured_content or {}, self._limits.result_chars)

    async def _open(self, stack: AsyncExitStack) -> None:
        entry, not_set = with_variables(self.entry)
        problem = entry.problem or (
            i18n("{variable} is not set in the environment.", variable=not_set) if not_set else ""
        )
        if problem:
            raise ToolServerError(i18n("“{name}” is not used: {why}", name=entry.name, why=problem), "")
        async with asyncio.timeout(self._limits.start_s):
            streams: Any
            if entry.command:
                self._process = ServerProcess(entry, self._limits, self._log)
                streams = await stack.enter_async_context(self._process)
            else:
                streams = await stack.enter_async_context(
                    http_streams(entry, self._limits, self._observed, self._secrets)
                )
            self._dispatcher = _Dispatcher(*streams)
            session = await stack.enter_async_context(
                _Session(
                    dispatcher=self._dispatcher,
                    read_timeout_seconds=self._limits.start_s,
                    message_handler=self._on_message,
                    logging_callback=self._on_log,
                    client_info=Implementation(name="Paceline", version=app.__version__),
                )
            )
            try:
                await session.initialize()
            except MCPError as error:
                if error.code == CONNECTION_CLOSED or self._observed.failure is not None:
                    raise
                await session.discover()  # for a protocol version without handshake
            self._session = session
            await self._list()

    async def _watch_tools(self) -> None:
        """Read the list of tools again whenever it changes, until the program ends."""
        ended = asyncio.create_task(self._process.ended.wait()) if self._process is not None else None
        try:
            while ended is None or not ended.done():
                changed = asyncio.create_task(self._list_requested.wait())
                await asyncio.wait([task for task in (ended, changed) if task], return_when=asyncio.FIRST_COMPLETED)
                changed.cancel()
                if self._list_requested.is_set() and not (ended and ended.done()):
                    self._list_requested.clear()
                    await self._list()
                    self._on_change()
                    await asyncio.sleep(_RELIST_PAUSE_S)
        finally:
            if ended is not None:
                ended.cancel()
        raise ConnectionError

    async def _list(self) -> None:
        assert self._session is not None and self._dispatcher is not None  # noqa: S101, PT018  (the caller has set them)
        self._dispatcher.left_out = []
        listed, cursor, seen, pages = list[Tool](), None, set[str | None](), 0
        while pages < self._limits.tool_list_pages and len(listed) <= 10 * self._limits.tools and cursor not in seen:
            page = await self._session.list_tools(params=PaginatedRequestParams(cursor=cursor) if cursor else None)
            listed += page.tools
            seen.add(cursor)
            cursor, pages = page.next_cursor, pages + 1
            if cursor is None:
                break
        tools, left_out = select_tools(listed, self._limits.tools)
        is_cut = cursor is not None and cursor not in seen
        self.notice = joined(
            (
                notice_of([*self._dispatcher.left_out, *left_out]),
                i18n("Its list of tools is too long: only pages 1 to {number} were read.", number=pages)
                if is_cut
                else "",
            )
        )
        self.definitions = {name: definition_of(name, tool, self.entry.name) for name, tool in tools.items()}
        self.tools = tools

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._list_requested.set()

    async def _on_log(self, params: LoggingMessageNotificationParams) -> None:
        self._log.add(f"{params.level}: {params.data}"[:4096])

    def _set_phase(self, phase: Phase, problem: str = "") -> None:
        # Set the problem first: other threads must not see a failure without its message.
        self.problem = problem
        self.phase = phase
        if phase is not Phase.READY:
            self.tools = {}
        self._on_change()

    def _fail(self, sentence: str) -> None:
        self._set_phase(Phase.FAILED, sentence)

    async def _sentence(self, error: BaseException, *, is_start: bool) -> Sentence:
        """Make one sentence of any error of a library or a server."""
        why = await self._reason(error, is_start=is_start)
        name = self.entry.name
        if is_start:
            return i18n("Could not start “{name}”: {why}.", name=name, why=why)
        return i18n("“{name}” did not answer: {why}.", name=name, why=why)

    async def _reason(self, error: BaseException, *, is_start: bool) -> Sentence | str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._process is not None and (self._process.ended.is_set() or isinstance(error, anyio.BrokenResourceError)):
            return await self._end_of_process(self._process)
        if isinstance(error, TimeoutError) or (isinstance(error, MCPError) and error.code == REQUEST_TIMEOUT):
            seconds = self._call_s if isinstance(error, TimeoutError) else self._call_total_s
            seconds = self._limits.start_s if is_start else seconds
            return i18n("it took longer than {seconds:,.0f} seconds", seconds=seconds)
        if self.entry.url and (reason := self._reason_of_http(error)):
            return reason
        if isinstance(error, RuntimeError):  # the package raises it
            return i18n("it requires a feature that Paceline does not have")
        if isinstance(error, MCPError):
            words = one_line(error.message, 300)
            is_json = error.code != UNREADABLE
            return (
                i18n("it says “{words}”", words=words)
                if is_json
                else i18n("it sent something that is not JSON: “{words}”", words=words)
            )
        log.info("a tool server failed: %s", type(error).__name__)
        return i18n("its answer does not follow the protocol")

    async def _end_of_process(self, process: ServerProcess) -> Sentence:
        if process.fault:
            return i18n("it was ended, because {reason}", reason=process.fault)
        status, last = await process.last_status(), self._log.last
        if last:
            return i18n("it ended (exit status {status}) with the words “{words}”", status=status, words=last)
        return i18n("it ended (exit status {status})", status=status)

    def _reason_of_http(self, error: BaseException) -> Sentence | None:
        if self._observed.refusal is not None:
            return self._observed.refusal
        failure = self._observed.failure or error
        self._observed.failure = None
        if isinstance(failure, httpx2.ConnectError):
            return i18n("nothing listens at {host}; start the server, or correct the address", host=self.entry.place)
        if isinstance(failure, httpx2.HTTPError):
            return i18n("the connection to {host} failed", host=self.entry.place)
        return None if self._observed.status is None else self._status_sentence(self._observed.status)

    def _status_sentence(self, status: int) -> Sentence:
        if status == 401 and self._observed.wants_sign_in:
            return i18n(
                "it asks you to sign in: choose “Sign in” beside it on the Tools page of the settings, or put a "
                "token into “headers” of its entry as Authorization"
            )
        if status in (401, 403):
            return i18n("it asks for a key: put an Authorization header into its entry")
        return i18n("it answers with the HTTP status {status}", status=status)
