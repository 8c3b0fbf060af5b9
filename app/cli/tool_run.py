"""`paceline run --tools --mcp FILE`: answers one prompt, and again after each round of tool calls.

Answers go to stdout; calls and shortened results to stderr.
"""

import argparse
import json
import queue
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.cli.interrupts import stop_on_interrupt
from app.cli.output import INTERRUPTED, metrics_line, notify, print_json, run_as_dict
from app.cli.terminal_stream import Style, print_styled, write_styled
from app.core.hub.tokens import tool_server_secret
from app.core.storage.pictures import PictureCache
from app.core.tools.answer_parts import ReasoningPart, parts_of
from app.core.tools.built_in import NAMES, BuiltInTools
from app.core.tools.interface import (
    Providers,
    ToolDefinition,
    ToolFileError,
    ToolProvider,
    ToolResult,
    arguments_of,
)
from app.core.tools.mcp.entries import ServerEntry, read_entries_file
from app.core.tools.mcp.provider import McpTools
from app.core.tools.policy import Permission, ToolPolicy, UserDecision, policy_allowing
from app.core.tools.turn import (
    MAX_STEPS,
    MAX_UNREADABLE,
    RESULT_CHARS,
    AskUser,
    GenerateAnswer,
    LoopEnding,
    RunCall,
    ToolLoop,
)
from engine.errors import SettingError
from engine.records import ChatRequest, FinishReason, ModelInfo, TextChunk, ToolCall
from engine.records import Finished as AnswerFinished
from engine.sentences import i18n
from engine.session.session import Session
from engine.tools.formats import ToolFormat

ARGUMENT_CHARS = 200
RESULT_LINES, RESULT_LINE_CHARS = 4, 160
_POLL_S = 0.1
_ENDINGS = {
    LoopEnding.LIMIT: f"The model kept calling tools. Stopped after {MAX_STEPS} answers with tool calls.",
    LoopEnding.CUT: "The answer was cut within a call: allow more with --max-tokens or --ctx.",
    LoopEnding.UNREADABLE: f"Stopped: the model wrote {MAX_UNREADABLE} invalid tool calls in a row.",
}
_TRUNCATED = (FinishReason.LENGTH, FinishReason.CONTEXT)


@dataclass
class ToolsOfRun:
    """The tools of one run; servers may still be starting."""

    servers: McpTools
    provider: ToolProvider
    allowed: tuple[str, ...]


def start_tools(options: argparse.Namespace) -> ToolsOfRun | None:
    """Start the tools that the options name; None without any.

    Raises:
        ValueError: options contradict each other, or one names an unknown tool.
        ToolFileError: a file cannot be used.
    """
    if not options.mcp and options.tools is None:
        if options.allow:
            raise ValueError("--allow is for tools: give --mcp or --tools, too.")
        return None
    if options.raw or options.json_schema or options.grammar:
        raise ValueError("Tools are for answers of a chat: leave out --raw, --json-schema and --grammar, or the tools.")
    names = [name.strip() for name in (options.tools or "").split(",") if name.strip()]
    if strange := [name for name in names if name not in NAMES]:
        raise ValueError(f"There is no built-in tool {strange[0]!r} here. There are: {', '.join(NAMES)}.")
    entries: dict[str, ServerEntry] = {}
    for file in options.mcp:
        path = Path(file)
        if not path.exists():
            raise ToolFileError(i18n("There is no file {path}.", path=path), "Check the path.")
        for entry in read_entries_file(path):
            entries.setdefault(entry.name, entry)
    servers = McpTools(entries.values(), reserved=NAMES, secrets=tool_server_secret)
    for entry in entries.values():
        if entry.enabled is not False:
            servers.start(entry.name)
    enabled = names or (NAMES if options.tools is not None else ())
    provider = Providers(BuiltInTools(enabled), servers)
    return ToolsOfRun(servers, provider, tuple(options.allow))


def answer_with_tools(
    session: Session, request: ChatRequest, model: ModelInfo, tools: ToolsOfRun, *, as_json: bool
) -> int:
    """Answer the request with tools; returns the exit code.

    Raises:
        EngineError: the model does not support tools, or an answer failed.
    """
    if model.tool_format is ToolFormat.NONE:
        reason = model.tool_refusal or "its chat template does not support tools"
        words = i18n("{name} cannot be given tools: {reason}.", name=model.name, reason=reason)
        raise SettingError(words, "Choose another model, or leave out --mcp and --tools.")
    definitions = _definitions(tools)
    if definitions is None:
        return INTERRUPTED
    if not definitions:
        raise SettingError("No tool is available.", "Correct the errors above, or leave out --mcp.")
    policy, unknown = policy_allowing(definitions, tools.allowed)
    if unknown:
        known = ", ".join(one.name for one in definitions)
        raise SettingError(i18n("There is no tool {name!r}.", name=unknown[0]), f"There are: {known}.")
    run = _Run(session, request, tools.provider, definitions, as_json)
    return run.run(policy, model)


def _definitions(tools: ToolsOfRun) -> tuple[ToolDefinition, ...] | None:
    """Wait until the servers have started or failed, then return their tools; None after Ctrl+C."""
    with stop_on_interrupt() as interrupted:
        tools.servers.wait_until_started(interrupted.is_set)
        if interrupted.is_set():
            return None
    for state in tools.servers.states():
        if state.problem or state.notice:
            notify(state.problem or i18n("{name}: {notice}", name=state.name, notice=state.notice))
    return tools.provider.definitions()


@dataclass
class _Run:
    """One request with its rounds of calls. ``text``: the last answer. ``calls``: all calls, for the JSON output."""

    session: Session
    request: ChatRequest
    provider: ToolProvider
    definitions: tuple[ToolDefinition, ...]
    as_json: bool
    calls: list[dict[str, object]] = field(default_factory=list)
    last: AnswerFinished | None = None
    text: str = ""
    asked: str = ""  # id of the call that the user was asked about: already printed

    def run(self, policy: ToolPolicy, model: ModelInfo) -> int:
        """Answer and call tools until an answer has no calls; returns the exit code."""
        result_chars = max(1_000, min(RESULT_CHARS, model.n_ctx))  # a third of the context, or less
        turn = ToolLoop(self.request.messages, self.definitions, policy, model.tool_format, result_chars=result_chars)
        turn.decode = PictureCache().decoded if model.has_vision else None
        try:
            while not isinstance(todo := turn.next_step, LoopEnding):
                if isinstance(todo, GenerateAnswer):
                    self._generate(turn, todo)
                elif isinstance(todo, AskUser):
                    self._ask_user(turn, todo)
                else:
                    self._call(turn, todo)
        except KeyboardInterrupt:
            turn.stop()
            todo = LoopEnding.STOPPED
        if self.as_json and self.last is not None:
            print_json({**run_as_dict(self.text, self.last), "tool_calls": self.calls, "ended_by": todo.value})
        if todo in _ENDINGS:
            notify(_ENDINGS[todo])
        elif todo is LoopEnding.ANSWERED and not self.text.strip():
            notify("The model gave an empty answer. A system prompt helps: answer the user with the results.")
        return INTERRUPTED if todo is LoopEnding.STOPPED else 0

    def _generate(self, turn: ToolLoop, todo: GenerateAnswer) -> None:
        """Generate one answer and print it without its calls."""
        reader, raw, reasoning_start_tag = parts_of(self.definitions), list[str](), ""
        finished: AnswerFinished | None = None
        self.text = ""
        request = replace(self.request, messages=todo.messages, tools=todo.tools, constrains_calls=True)
        with stop_on_interrupt() as interrupted:
            for event in self.session.generate(request, interrupted.is_set):
                if isinstance(event, TextChunk):
                    raw.append(event.text)
                    reasoning_start_tag = reasoning_start_tag or event.reasoning_start_tag
                    self._show(reader.feed(event))
                elif isinstance(event, AnswerFinished):
                    finished = event
        self._show(reader.flush())
        self.last = finished or self.last
        if not self.as_json and finished is not None:
            if self.text and not self.text.endswith("\n"):
                print()
            print_styled(metrics_line(finished.stats, finished.reason), Style.FAINT)
        if interrupted.is_set() or finished is None:
            turn.stop()
            return
        answer = turn.add_answer("".join(raw), reasoning_start_tag, is_cut=finished.reason in _TRUNCATED)
        if answer is not None and answer.unreadable:
            print_styled(f"← {answer.problem}", Style.FAINT)

    def _show(self, parts: Iterable[object]) -> None:
        for part in parts:
            if isinstance(part, str):
                self.text += part
                if not self.as_json:
                    print(part, end="", flush=True)
            elif isinstance(part, ReasoningPart) and not self.as_json:
                write_styled(sys.stderr, part.text, Style.FAINT)
                sys.stderr.flush()

    def _ask_user(self, turn: ToolLoop, todo: AskUser) -> None:
        """Ask at the terminal; without a terminal, refuse the call."""
        print_styled(call_line(todo.call, todo.tool), Style.FAINT)
        self.asked = todo.call.call_id
        if sys.stdin.isatty() and sys.stderr.isatty():
            decision = ask_at_terminal(todo.tool)
        else:
            name = todo.call.name
            notify(f"{name} was refused, because there is no terminal to ask at. Allow it with --allow {name}.")
            decision = UserDecision(Permission.REFUSED, "there is no terminal to ask at")
        result = turn.add_decision(decision)
        if result is not None:
            self._print_result(todo.call, result)

    def _call(self, turn: ToolLoop, todo: RunCall) -> None:
        if todo.call.call_id != self.asked:
            print_styled(call_line(todo.call, todo.tool), Style.FAINT)
        result = turn.add_result(make_call(self.provider, todo.call))
        if result is not None:
            self._print_result(todo.call, result)

    def _print_result(self, call: ToolCall, result: ToolResult) -> None:
        for line in shorten_result(result):
            print_styled(line, Style.FAINT)
        kept = {"name": call.name, "arguments": arguments_of(call), "result": result.text}
        self.calls.append({**kept, "is_error": result.is_error, "characters_left_out": result.cut})


def make_call(provider: ToolProvider, call: ToolCall) -> ToolResult:
    """Make a call and wait for its result; Ctrl+C cancels it.

    Raises:
        KeyboardInterrupt: the call was cancelled.
    """
    results: queue.SimpleQueue[ToolResult] = queue.SimpleQueue()
    result = None
    with stop_on_interrupt() as interrupted:
        cancel = provider.call(call, results.put)
        while result is None:
            with suppress(queue.Empty):
                result = results.get(timeout=_POLL_S)
            if interrupted.is_set():
                cancel()
    if interrupted.is_set():
        raise KeyboardInterrupt
    return result


def ask_at_terminal(tool: ToolDefinition, read: Callable[[], str] | None = None) -> UserDecision:
    """Ask whether a call may run; no answer means no."""
    write_styled(sys.stderr, f"Run {tool.name} of {tool.server}?", Style.STRONG)
    sys.stderr.write(" [y]es once, [a]lways in this run, [n]o, or the reason why not: ")
    sys.stderr.flush()
    try:
        words = (read or input)().strip()
    except EOFError:
        words = ""
    answers = {"y": Permission.ONCE, "yes": Permission.ONCE, "a": Permission.CHAT, "always": Permission.CHAT}
    if words.lower() in answers:
        return UserDecision(answers[words.lower()])
    return UserDecision(Permission.REFUSED, "" if words.lower() in ("n", "no") else words)


def call_line(call: ToolCall, tool: ToolDefinition) -> str:
    """One line for a call: tool, server, and as many arguments as fit."""
    return f"→ {call.name} ({tool.server}) {_cut(json.dumps(arguments_of(call), ensure_ascii=False), ARGUMENT_CHARS)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def shorten_result(result: ToolResult) -> list[str]:
    """The first lines of a result, then the number of omitted lines."""
    lines = result.text.splitlines() or [""]
    first, *others = (_cut(line, RESULT_LINE_CHARS) for line in lines[:RESULT_LINES])
    shown = [("← failed: " if result.is_error else "← ") + first, *(f"  {line}" for line in others)]
    if len(lines) > RESULT_LINES or result.cut:
        total = len(result.text) + result.cut
        shown.append(f"  … {total:,} characters in all" + (f", {result.cut:,} left out" if result.cut else ""))
    return shown
