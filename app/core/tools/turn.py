"""The loop of a turn with tools: the model answers, its calls are allowed and made, and it answers again.

Window and command line share it: they perform the step `ToolLoop.next_step` and pass its result. It is independent
of engine, providers, threads and Qt.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from app.core.domain.requests import Decode, result_message
from app.core.domain.tools.calls import UNREADABLE, CallStatus, StoredCall
from app.core.tools.answer_parts import ReasoningPart, find_call_marker, parts_of
from app.core.tools.interface import ToolDefinition, ToolResult
from app.core.tools.output import new_call_id
from app.core.tools.policy import ToolPolicy, UserDecision
from engine.records import Message, TextChunk, ToolCall
from engine.tools.formats import SYNTAXES, ToolFormat
from engine.tools.reading import ReadCalls, read_calls, read_objects
from engine.tools.streaming import call_start

MAX_STEPS = 10  # maximum number of answers with calls
MAX_CALLS = 16  # maximum number of calls in one answer
MAX_UNREADABLE = 3  # successive unreadable calls that end the loop
RESULT_CHARS = 256 * 1024
_SHOWN_NAMES = 40


class LoopEnding(Enum):
    ANSWERED = "answered"  # the last answer has no calls
    LIMIT = "limit"  # the maximum number of answers with calls is reached
    STOPPED = "stopped"
    UNREADABLE = "unreadable"  # the model wrote several unreadable calls in a row
    CUT = "cut"  # the answer was truncated within a call: token limit or full context


@dataclass(frozen=True)
class GenerateAnswer:
    """Generate an answer, then call `ToolLoop.add_answer`. ``tools``: for `ChatRequest`; they stay the same."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, object], ...]


@dataclass(frozen=True)
class AskUser:
    """Ask the user for permission of ``call``, then call `ToolLoop.add_decision`."""

    call: ToolCall
    tool: ToolDefinition


@dataclass(frozen=True)
class RunCall:
    """Make ``call``, then call `ToolLoop.add_result`."""

    call: ToolCall
    tool: ToolDefinition


LoopStep = GenerateAnswer | AskUser | RunCall | LoopEnding


@dataclass(frozen=True)
class ParsedAnswer:
    """A parsed answer: reasoning (``reasoning``), text (``answer_text``), calls, and the first unreadable call.

    ``unreadable``: the text of a call that cannot be parsed or names an unknown tool. ``problem``: the error message
    for the model.
    """

    reasoning: str
    answer_text: str
    calls: tuple[ToolCall, ...]
    unreadable: str = ""
    problem: str = ""
    unreadable_tool: str = ""  # the tool's name in the unreadable call


def functions_of(definitions: Iterable[ToolDefinition]) -> tuple[Mapping[str, object], ...]:
    """The tools for `ChatRequest`, in the given order, so that prompts with the same tools are equal."""
    return tuple(
        {
            "type": "function",
            "function": {"name": one.name, "description": one.description, "parameters": dict(one.parameters)},
        }
        for one in definitions
    )


def read_answer(
    text: str, definitions: Iterable[ToolDefinition], tool_format: ToolFormat, reasoning_start_tag: str = ""
) -> ParsedAnswer:
    """Parse a whole answer. ``reasoning_start_tag``: the reasoning tag at the end of the prompt."""
    tools = tuple(definitions)
    reader = parts_of(tools)
    parts = [*reader.feed(TextChunk(0, text, (), reasoning_start_tag=reasoning_start_tag)), *reader.flush()]
    said = "".join(part for part in parts if isinstance(part, str))
    thought = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
    calls = tuple(part for part in parts if isinstance(part, ToolCall))
    if calls:
        return ParsedAnswer(thought, said, calls)
    offset = _find_call(said, tool_format)
    if offset is None:
        return ParsedAnswer(thought, said, ())
    unreadable = said[offset:]
    name, problem = _problem_of(unreadable, tools, tool_format)
    return ParsedAnswer(thought, said[:offset].rstrip(), (), unreadable, problem, name)


def _find_call(said: str, tool_format: ToolFormat) -> int | None:
    """The offset of a call that could not be parsed; None without one."""
    offset = find_call_marker(said, tool_format)
    if offset is not None or tool_format is ToolFormat.NONE:
        return offset
    begin = len(said) - len(said.lstrip())
    is_bare = said.startswith("{", begin) and '"name"' in said and ('"arguments"' in said or '"parameters"' in said)
    return begin if is_bare else None


def _problem_of(text: str, tools: tuple[ToolDefinition, ...], tool_format: ToolFormat) -> tuple[str, str]:
    """The tool's name in an unparsed call, and the error message for the model."""
    known = frozenset(one.name for one in tools)
    syntax = SYNTAXES[tool_format]
    for start in _starts(text, syntax.mark):
        found = read_calls(text[start:], tool_format)
        if not isinstance(found, ReadCalls):
            found = read_objects(text[start:], needs_arguments=True)
        if isinstance(found, ReadCalls) and (strange := [name for name, _ in found.calls if name not in known]):
            return strange[0], f"There is no tool named {strange[0]!r}. {_list_of(known)}"
        begun = call_start(text[start:], tool_format)
        if begun is not None and begun.name in known:
            return begun.name, "Invalid tool call: its arguments are not valid JSON. Write the call again."
    return "", f"Invalid tool call. Write it again in the required format. {_list_of(known)}"


def _starts(text: str, mark: str) -> Iterator[int]:
    yield 0
    if mark and text.startswith(mark):
        yield len(mark)


def _list_of(names: frozenset[str]) -> str:
    some = sorted(names)
    more = f" and {len(some) - _SHOWN_NAMES} more" if len(some) > _SHOWN_NAMES else ""
    return f"The tools are: {', '.join(some[:_SHOWN_NAMES])}{more}."


class ToolLoop:
    """One turn from the question to the last answer, with tool calls between.

    `messages` grows by the model's answers and the tools' results. The caller performs the step `next_step` and then
    calls the method that the step names; calls of other methods have no effect. `stop` may be called at any time.
    """

    def __init__(
        self,
        messages: Iterable[Message],
        definitions: Iterable[ToolDefinition],
        policy: ToolPolicy,
        tool_format: ToolFormat,
        *,
        max_steps: int = MAX_STEPS,
        result_chars: int = RESULT_CHARS,
    ) -> None:
        """``result_chars``: maximum length of a result; must be less than the context holds."""
        self.messages = tuple(messages)
        self.policy = policy  # includes the decisions of this turn
        self._definitions = tuple(definitions)
        self._by_name = {one.name: one for one in self._definitions}
        self.tool_format = tool_format
        self._functions = functions_of(self._definitions)
        self.decode: Decode | None = None  # decodes pictures for a model with vision
        self._max_steps, self._result_chars = max_steps, result_chars
        self._num_steps = self._num_unreadable = 0
        self._waiting = deque[ToolCall]()
        self._may_run = False  # True if the user allowed the first queued call
        self._ended: LoopEnding | None = None

    @property
    def next_step(self) -> LoopStep:
        """The next step."""
        if self._ended is not None:
            return self._ended
        if not self._waiting:
            return GenerateAnswer(self.messages, self._functions)
        call = self._waiting[0]
        tool = self._by_name[call.name]
        is_allowed = self._may_run or self.policy.allows(tool)
        return RunCall(call, tool) if is_allowed else AskUser(call, tool)

    def add_answer(self, text: str, reasoning_start_tag: str = "", *, is_cut: bool = False) -> ParsedAnswer | None:
        """Pass the model's answer; ``is_cut``: it was truncated. Returns None if no answer was expected."""
        if not isinstance(self.next_step, GenerateAnswer):
            return None
        answer = read_answer(text, self._definitions, self.tool_format, reasoning_start_tag)
        self._num_unreadable = self._num_unreadable + 1 if answer.unreadable else 0
        if self._num_unreadable >= MAX_UNREADABLE:
            self._ended = LoopEnding.UNREADABLE
        if answer.unreadable and is_cut:
            self._ended = LoopEnding.CUT
        if not answer.calls and not answer.unreadable:
            self.messages += (Message("assistant", answer.answer_text),)
            self._ended = LoopEnding.ANSWERED
            return answer
        self._num_steps += 1
        self._queue_calls(answer)
        return answer

    def add_decision(self, decision: UserDecision) -> ToolResult | None:
        """Pass the user's decision on the call of `AskUser`; returns the result that replaces a refused call."""
        todo = self.next_step
        if not isinstance(todo, AskUser):
            return None
        self.policy = self.policy.after_decision(todo.tool, decision)
        if decision.may_run:
            self._may_run = True
            return None
        return self._add(ToolResult(todo.call.call_id, decision.for_model, is_error=True))

    def add_result(self, result: ToolResult) -> ToolResult | None:
        """Pass the result of `RunCall`; returns it as the model gets it. None if another call was expected."""
        todo = self.next_step
        if not isinstance(todo, RunCall) or result.call_id != todo.call.call_id:
            return None
        return self._add(truncated_result(result, self._result_chars))

    def stop(self) -> None:
        """End the loop. Calls without a result get one, so that the conversation can be continued."""
        if self._ended is None:
            self._ended = LoopEnding.STOPPED
            while self._waiting:
                self._add(ToolResult(self._waiting[0].call_id, "The user stopped this call.", is_error=True))

    def _queue_calls(self, answer: ParsedAnswer) -> None:
        """Add the calls of an answer to the messages and the queue."""
        if answer.unreadable:
            broken = ToolCall(new_call_id(), answer.unreadable_tool or UNREADABLE, answer.unreadable)
            self.messages += (
                Message("assistant", answer.answer_text, tool_calls=(broken,)),
                Message("tool", answer.problem, tool_call_id=broken.call_id, name=broken.name),
            )
            self._end_step()
            return
        calls = answer.calls
        self.messages += (Message("assistant", answer.answer_text, tool_calls=calls),)
        self._waiting.extend(calls[:MAX_CALLS])
        for call in calls[MAX_CALLS:]:
            self._add_message(
                ToolResult(call.call_id, f"Only {MAX_CALLS} calls are allowed in one answer.", is_error=True), call.name
            )

    def _add(self, result: ToolResult) -> ToolResult:
        call = self._waiting.popleft()
        self._may_run = False
        self._add_message(result, call.name)
        if not self._waiting:
            self._end_step()
        return result

    def _add_message(self, result: ToolResult, name: str) -> None:
        call = StoredCall(result.call_id, name, "", "", CallStatus.DONE, cut=result.cut)
        self.messages += (result_message(call, result.text, result.pictures, self.decode),)

    def _end_step(self) -> None:
        if self._ended is None and self._num_steps >= self._max_steps:
            self._ended = LoopEnding.LIMIT


def truncated_result(result: ToolResult, max_chars: int) -> ToolResult:
    """Cut a result to a maximum length; `ToolResult.cut` counts the omitted characters."""
    num_over = len(result.text) - max_chars
    return result if num_over <= 0 else replace(result, text=result.text[:max_chars], cut=result.cut + num_over)
