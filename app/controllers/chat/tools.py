"""Runs turns with tools: stores calls, asks for permission, runs them, and sends results to the model."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.controllers.chat.conversations import ConversationController
from app.controllers.chat.projects import ProjectController
from app.controllers.parts import Parts, PartsController
from app.core.domain.context import estimated_tokens
from app.core.domain.messages import MessageView
from app.core.domain.projects import SEARCH_TOOL
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import Layer
from app.core.domain.settings.table import FIELD_BY_KEY
from app.core.domain.settings.values import Settings
from app.core.domain.tools.calls import OPEN_STATUSES, REPEATABLE_STATUSES, CallStatus, StoredCall
from app.core.domain.tools.permissions import allowed_line, read_allowed_tools
from app.core.domain.tools.servers import OfferedTool, Phase, ToolMenu, ToolServer, names_line, read_names
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
from app.core.tools.policy import BUILT_IN, Permission, ToolPolicy, UserDecision
from app.core.tools.turn import (
    MAX_CALLS,
    MAX_STEPS,
    RESULT_CHARS,
    AskUser,
    GenerateAnswer,
    LoopEnding,
    RunCall,
    ToolLoop,
    functions_of,
    truncated_result,
)
from engine.records import Mode, ToolCall, ToolFormat
from engine.sentences import i18n
from ui.settings.tool_server_requests import ToolServerRequests
from ui.text.language import Translator, translate
from ui.text.problem_words import in_language

tr = Translator("ToolController")

LIMIT_NOTICE = tr.mark("Stopped after {count} answers with tool calls. Send a message to continue.")
NO_TOOLS = tr.mark("This model cannot use tools: {reason}.")
CHAT_CONTINUED = tr.mark("The chat has continued since this call. Ask the model to call the tool again.")
TOOL_GONE = tr.mark("This tool is no longer available. Switch on the tool or its server in the settings.")
_BUILT_IN_TITLES = dict(FIELD_BY_KEY["built_in_tools"].choices)
MIN_PREVIEW_CHARS = 1_000  # minimum limit of a result, for small contexts


@dataclass(slots=True)
class ToolTurn:
    """A running turn with tools. ``calls``: the calls of its last answer, in order. ``cancel``: stops the running call.

    ``settings`` are its chat's: another chat may be open when the next answer is requested.
    """

    conversation_id: int
    mode: Mode
    settings: Settings
    loop: ToolLoop
    definitions: tuple[ToolDefinition, ...]
    built_in: BuiltInTools
    calls: list[MessageView] = field(default_factory=list)
    cancel: Callable[[], None] | None = None
    begun_s: float = 0.0
    values: Mapping[str, SettingValue] = field(default_factory=dict)  # override the chat's settings

    def index_of(self, call_id: str) -> int | None:
        ids = [view.call.call_id if view.call else "" for view in self.calls]
        return ids.index(call_id) if call_id in ids else None


class ToolController(PartsController):
    """Runs the turns. ``turns``: the running turns by chat, at most one per chat."""

    answer_requested = Signal(object, int)  # request the model's next answer for a turn, below a message
    changed = Signal()  # the state of a turn changed
    _result_arrived = Signal(object, object)  # a turn and a result; emitted on any thread

    def __init__(self, parts: Parts, conversations: ConversationController, projects: ProjectController) -> None:
        super().__init__(parts)
        self._conversations, self._projects = conversations, projects
        self.providers = ToolProviders(parts, projects)
        self.turns: dict[int, ToolTurn] = {}
        self._waiting_chats: dict[int, tuple[Collection[str], Callable[[], None]]] = {}  # ignored servers, callback
        self._reported_failures: dict[str, str] = {}
        self._last_offered: tuple[ToolDefinition, ...] = ()
        self._is_closed = False
        self.providers.servers_changed.connect(self._on_servers, Qt.ConnectionType.QueuedConnection)
        self._result_arrived.connect(self._on_result, Qt.ConnectionType.QueuedConnection)
        self._state.chat_settings_changed.connect(self._update_tools_text)
        self._state.models_changed.connect(self._update_tools_text)
        self._window.tool_servers.changed.connect(self._update_tools_text)
        composer = self._window.composer
        composer.tool_picked.connect(self._toggle)
        composer.tools_opening.connect(lambda: self._show_menu(whole=True))
        page = self._window.transcript
        page.call_decided.connect(self.decide)
        page.call_repeated.connect(self.repeat)

    def begin(self, conversation_id: int, mode: Mode, settings: Settings) -> ToolTurn | None:
        """Begin a turn of a chat; None if the chat has no tools."""
        self.turns.pop(conversation_id, None)
        if not settings.values["tools"]:
            return None
        ready = self._state.models.ready
        reason = self._refusal()
        if ready is None or reason:
            if reason:
                self._window.show_notice(tr(NO_TOOLS).format(reason=reason))
            return None
        built_in = self.providers.open(self._built_in_names(settings, conversation_id), conversation_id)
        definitions = self._offered_tools(settings, conversation_id)
        if not definitions:
            return None
        always, chat = (
            frozenset(read_allowed_tools(values.text("allowed_tools"))) for values in (self._state.settings, settings)
        )
        room = max(MIN_PREVIEW_CHARS, min(RESULT_CHARS, ready.target.n_ctx))
        loop = ToolLoop((), definitions, ToolPolicy(always, chat), ready.target.tool_format, result_chars=room)
        turn = self.turns[conversation_id] = ToolTurn(conversation_id, mode, settings, loop, definitions, built_in)
        return turn

    def _offered_tools(self, settings: Settings, conversation_id: int | None) -> tuple[ToolDefinition, ...]:
        unused = read_names(settings.text("unused_servers"))
        return self.providers.offered(self._built_in_names(settings, conversation_id), unused)

    def _built_in_names(self, settings: Settings, conversation_id: int | None) -> tuple[str, ...]:
        """The names of a chat's built-in tools; includes the file search if its project has files."""
        searches = conversation_id is not None and self._projects.has_files(conversation_id)
        return (*read_names(settings.text("built_in_tools")), *([SEARCH_TOOL] if searches else []))

    def _are_on(self, settings: Settings) -> bool:
        return bool(settings.values["tools"]) and self._state.models.ready is not None and not self._refusal()

    def _publish_offered(self) -> None:
        settings = self._state.chat.settings
        offered = self._offered_tools(settings, self._state.chat_id) if self._are_on(settings) else ()
        if offered != self._last_offered:  # formatting many tools takes milliseconds
            self._last_offered = offered
            self._state.set_tools_text(json.dumps(functions_of(offered), ensure_ascii=False) if offered else "")

    def wait_for_servers(self, conversation_id: int, settings: Settings, then: Callable[[], None]) -> bool:
        """True if servers are still starting; ``then`` is called when all have started or failed."""
        if not self._are_on(settings):
            return False
        self.providers.start_servers()
        unused = read_names(settings.text("unused_servers"))
        if not self.providers.is_starting:
            self._report_failures(unused)
            return False
        self._waiting_chats[conversation_id] = unused, then
        return True

    def stop_waiting(self, conversation_id: int) -> bool:
        """Stop waiting for servers; False if this chat was not waiting."""
        return self._waiting_chats.pop(conversation_id, None) is not None

    def _on_servers(self) -> None:
        if self._is_closed:  # the report of a server that ended with the window
            return
        self._publish_offered()
        self._show_menu()
        if not self.providers.is_starting:
            waiting, self._waiting_chats = self._waiting_chats, {}
            for unused, then in waiting.values():
                self._report_failures(unused)
                then()

    def _report_failures(self, unused: Collection[str]) -> None:
        """Report servers that failed to start, once per failure."""
        problems = self.providers.failures(unused)
        if problems and problems != self._reported_failures:
            self._window.show_notice(" ".join(problems.values()))
        self._reported_failures = problems

    def _update_tools_text(self) -> None:
        """Start the servers of the open chat and show its tools in the composer."""
        if self._are_on(self._state.chat.settings):
            self.providers.start_servers()
        self._publish_offered()
        self._show_menu()

    def _show_menu(self, *, whole: bool = False) -> None:
        """Update the tools button, and the list of tools if the menu is open or ``whole``."""
        settings, ready = self._state.chat.settings, self._state.models.ready
        rows = self._rows(settings) if whole or self._window.composer.tools_are_open else ()
        size = ready.target.n_ctx if ready is not None else 0
        tokens = estimated_tokens(self._state.tools_text)
        self._window.composer.show_tools(
            ToolMenu(bool(settings.values["tools"]), self._refusal(), tokens, size, tuple(rows))
        )

    def _rows(self, settings: Settings) -> Iterator[OfferedTool]:
        on = {(one.server, one.name) for one in self._offered_tools(settings, self._state.chat_id)}
        unused = read_names(settings.text("unused_servers"))
        failures = self.providers.failures(())
        of_servers = self.providers.server_tools()
        yield from (self._row(one, (one.server, one.name) in on) for one in DEFINITIONS)
        for server in dict.fromkeys((*self.providers.names(), *(one.server for one in of_servers))):
            is_on = server not in unused
            yield OfferedTool(server, "", server, is_on, note=failures.get(server, ""))
            own = (one for one in of_servers if one.server == server)
            yield from (self._row(one, is_on and path_of(one) not in unused) for one in own)

    def _row(self, tool: ToolDefinition, is_on: bool) -> OfferedTool:
        known = _BUILT_IN_TITLES.get(tool.name, "") if tool.server == BUILT_IN else ""
        title = translate("Settings", known) if known else tool.title or tool.name
        return OfferedTool(tool.server, tool.name, title, is_on, estimated_tokens(_text_of(tool)))

    def _toggle(self, server: str, name: str) -> None:
        """Toggle a tool, a server (``name`` empty), or all tools (both empty) of the open chat."""
        settings = self._state.chat.settings
        is_on = bool(settings.values["tools"])
        if not server:
            self._conversations.change(Layer.CHAT, {"tools": not is_on})
            return
        key, part = "built_in_tools", name
        listed = read_names(settings.text(key))
        turns_on = not is_on or part not in listed  # if tools are off, choosing one turns it on
        kept = [one for one in listed if one != part] + ([part] if turns_on else [])
        if server != BUILT_IN:
            key, part = "unused_servers", f"{server}/{name}" if name else server
            listed = read_names(settings.text(key))
            turns_on = not is_on or part in listed or server in listed
            kept = [one for one in listed if one not in (part, server)] if turns_on else [*listed, part]
        self._conversations.change(Layer.CHAT, {"tools": True, key: names_line(kept)})

    def _refusal(self) -> str:
        """Why the loaded model cannot use tools; empty if it can, or if no model is loaded."""
        ready = self._state.models.ready
        if ready is None or ready.target.tool_format is not ToolFormat.NONE:
            return ""
        reason = ready.target.tool_refusal
        return in_language(reason) if reason else tr("its chat template does not support tools")

    def calls_of(self, turn: ToolTurn, raw: str, *, is_cut: bool) -> tuple[str, list[tuple[StoredCall, str]]]:
        """Parse a finished answer into text and calls with their results; only invalid calls have a result yet."""
        num_known = len(turn.loop.messages)
        answer = turn.loop.add_answer(raw, is_cut=is_cut)
        if answer is None or not (answer.calls or answer.unreadable):
            return "", []
        if answer.unreadable:
            written = turn.loop.messages[num_known].tool_calls[0]
            call = StoredCall(written.call_id, written.name, "", written.arguments, CallStatus.FAILED)
            return answer.answer_text, [(call, answer.problem)]
        known = {one.name: one for one in turn.definitions}
        tools = [(call, known[call.name]) for call in answer.calls]
        calls = [StoredCall(one.call_id, one.name, tool.server, one.arguments, title=tool.title) for one, tool in tools]
        too_many = f"Only {MAX_CALLS} calls are made at once."
        over = [(replace(call, status=CallStatus.FAILED), too_many) for call in calls[MAX_CALLS:]]
        return answer.answer_text, [*((call, "") for call in calls[:MAX_CALLS]), *over]

    def run_calls(self, turn: ToolTurn, calls: Sequence[MessageView]) -> None:
        """Show the stored calls of a finished answer and run the first one."""
        turn.calls = list(calls)
        if self._is_shown(turn):
            for view in calls:
                self._window.add_message(view)
            self._window.composer.set_streaming(True)  # the composer shows the stop button
        self._next_calls(turn)

    def drop_turn(self, conversation_id: int) -> None:
        self.turns.pop(conversation_id, None)

    def decide(self, message_id: int, answer: str, reason: str) -> None:
        """Apply the user's decision on a call: a value of `Permission`, and the reason of a refusal."""
        turn = self.turns.get(self._state.chat_id or 0)  # a call that the user decides on is in the open chat
        todo = turn.loop.next_step if turn is not None else None
        if turn is None or not isinstance(todo, AskUser):
            return
        place = turn.index_of(todo.call.call_id)
        if place is None or turn.calls[place].id != message_id:
            return
        decision = UserDecision(Permission(answer), reason)
        refused = turn.loop.add_decision(decision)
        if decision.answer is Permission.ALWAYS:
            self._keeper.change({"allowed_tools": allowed_line(turn.loop.policy.always)})
        elif decision.answer is Permission.CHAT and self._is_shown(turn):
            self._conversations.change(Layer.CHAT, {"allowed_tools": allowed_line(turn.loop.policy.chat)})
        if refused is not None:
            self._change(turn, place, CallStatus.REFUSED, refused)
        self._next_calls(turn)

    def repeat(self, message_id: int) -> None:
        """Run a stopped or interrupted call again, then continue the turn."""
        conversation_id = self._state.chat_id
        if conversation_id is None or self._state.answer is not None or self._state.is_racing:
            return
        views = self._attempt(lambda: self._store.messages(conversation_id)) or ()
        calls = [*itertools.takewhile(lambda view: view.call is not None, reversed(views))][::-1]
        place = next((place for place, view in enumerate(calls) if view.id == message_id), None)
        call = calls[place].call if place is not None else None
        if place is None or call is None:
            self._window.show_notice(tr(CHAT_CONTINUED))
            return
        chat = self._state.chat
        turn = self.begin(conversation_id, chat.mode, chat.settings) if call.status in REPEATABLE_STATUSES else None
        if turn is None:
            return
        if not any(one.name == call.name and one.server == call.server for one in turn.definitions):
            self.drop_turn(conversation_id)
            self._window.show_notice(tr(TOOL_GONE))
            return
        turn.calls = calls
        self._window.composer.set_streaming(True)
        self._run(turn, place, ToolCall(call.call_id, call.name, call.arguments))

    def stop(self, conversation_id: int) -> None:
        """Stop the running or waiting call of a chat; later calls are not run."""
        turn = self.turns.pop(conversation_id, None)
        if turn is None:
            return
        turn.loop.stop()
        if turn.cancel is not None:
            turn.cancel()
        for place, view in enumerate(turn.calls):
            if view.call is not None and view.call.status in OPEN_STATUSES:
                self._change(turn, place, CallStatus.STOPPED)
        self._ended(turn)

    def close(self) -> None:
        for conversation_id in list(self.turns):
            self.stop(conversation_id)
        self._waiting_chats.clear()
        self._is_closed = True
        self.providers.close()

    def _next_calls(self, turn: ToolTurn) -> None:
        todo = turn.loop.next_step
        if isinstance(todo, LoopEnding):
            self.drop_turn(turn.conversation_id)
            if todo is LoopEnding.LIMIT:
                self._window.show_notice(tr(LIMIT_NOTICE).format(count=MAX_STEPS))
            self._ended(turn)
        elif isinstance(todo, GenerateAnswer):
            self.answer_requested.emit(turn, turn.calls[-1].id)
        else:
            place = turn.index_of(todo.call.call_id)
            if place is None:
                self.stop(turn.conversation_id)
            elif isinstance(todo, RunCall):
                self._run(turn, place, todo.call)
            else:
                self._change(turn, place, CallStatus.ASKED)
                self.changed.emit()

    def _run(self, turn: ToolTurn, place: int, call: ToolCall) -> None:
        """Run a call, after storing that it is running."""
        if not self._change(turn, place, CallStatus.RUNNING):
            self.stop(turn.conversation_id)
            return
        turn.begun_s = time.monotonic()
        turn.cancel = self.providers.call(turn.built_in, call, lambda result: self._result_arrived.emit(turn, result))
        self.changed.emit()

    def _on_result(self, turn: ToolTurn, result: ToolResult) -> None:
        place = turn.index_of(result.call_id)
        if turn is not self.turns.get(turn.conversation_id) or place is None:
            return
        turn.cancel = None
        took_ms = round(1000 * (time.monotonic() - turn.begun_s))
        # `ToolLoop` does not know a call that the user repeats: shorten its result here.
        kept = turn.loop.add_result(result) or truncated_result(result, RESULT_CHARS)
        status = CallStatus.FAILED if kept.is_error else CallStatus.DONE
        self._change(turn, place, status, kept, took_ms=took_ms)
        self._next_calls(turn)

    def _change(
        self,
        turn: ToolTurn,
        place: int,
        status: CallStatus,
        result: ToolResult | None = None,
        *,
        took_ms: int | None = None,
    ) -> bool:
        """Store and show the state of a call; False if storing failed."""
        view = turn.calls[place]
        if view.call is None:
            return False
        result = result or ToolResult(view.call.call_id, "")
        call = replace(view.call, status=status, cut=result.cut, took_ms=took_ms)
        message_id = view.id
        kept = self._attempt(lambda: self._store.calls.change(message_id, call, result.text, result.pictures))
        # Only the picture's thumbnail is shown; the picture is read again when it is opened.
        shown = tuple(
            replace(each, picture=replace(each.picture, data=b"")) if each.picture is not None else each
            for each in kept or ()
        )
        view = turn.calls[place] = replace(view, call=call, text=result.text, attachments=shown)
        if self._is_shown(turn):
            self._window.transcript.update_call(view)
            self._window.speech.show_call(view)
        return kept is not None

    def _ended(self, turn: ToolTurn) -> None:
        if self._is_shown(turn):
            self._window.composer.set_streaming(False)
        self.changed.emit()

    def _is_shown(self, turn: ToolTurn) -> bool:
        return turn.conversation_id == self._state.chat_id


def _text_of(tool: ToolDefinition) -> str:
    return json.dumps(functions_of((tool,))[0], ensure_ascii=False)


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
