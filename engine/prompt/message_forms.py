"""Rewrites conversations that a chat template refuses or writes incompletely.

Templates differ in what they accept: one system message or several, a greeting before the first question, text together
with a call, two calls at once, arguments as an object or as a text. They refuse other conversations, or silently omit
parts. So each kind of conversation is rendered once with a unique word in each message. If a word is missing in the
prompt, the messages are rewritten, as little as possible, until all words are in the prompt.
"""

import hashlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain, combinations
from typing import Any

from engine.errors import TemplateError
from engine.prompt.typed_text import whole_characters
from engine.records import QUESTION_DIVIDER, Message, ToolCall
from engine.sandbox.template import TemplateRefusedError
from engine.sentences import i18n

PROBE_PREFIX = "Zyxwvut"  # no template contains it
MAX_TRIAL_S = 10.0  # limit of all attempts; one takes a millisecond or two
MAX_TRIALS = 48  # tried forms of one conversation, without `_PLAINEST_REWRITES`
_MAX_CACHED = 256  # cached kinds of conversations
_ID_CHARS = 9
_MAX_PERIOD = 6  # longest repeated pattern, in messages
_TOOL_PROBE: dict[str, object] = {
    "type": "function",
    "function": {
        "name": "tool",
        "description": f"{PROBE_PREFIX}tool",
        "parameters": {"type": "object", "properties": {"key": {"type": "string", "description": "A key."}}},
    },
}


class ArgumentForm(Enum):
    """The form of a call's arguments in the template's input."""

    OBJECT = "object"  # a JSON object; other values as text
    TEXT = "text"  # a text of JSON
    WRAPPED = "wrapped"  # always an object; other text is the object's only value


@dataclass(frozen=True, slots=True)
class TemplateInput:
    """The input of a template. ``has_list``: without tools the input is an empty list instead of None."""

    messages: tuple[Message, ...]
    tools: tuple[Mapping[str, object], ...] = ()
    has_list: bool = False
    arguments: ArgumentForm = ArgumentForm.OBJECT


Rewrite = Callable[[TemplateInput], TemplateInput]
Render = Callable[[TemplateInput], str]


def arguments_of(call: ToolCall, form: ArgumentForm) -> Any:  # noqa: ANN401  (JSON)
    """Convert the arguments of a call to a form."""
    value = _object_of(call.arguments)
    if form is ArgumentForm.TEXT or (value is None and form is ArgumentForm.OBJECT):
        return call.arguments
    if value is None:
        return {"arguments": call.arguments} if call.arguments.strip() else {}
    return value


class MessageForms:
    """Finds the form in which a template accepts a conversation, cached by kind of conversation."""

    def __init__(self) -> None:
        self._found_rewrites: OrderedDict[Hashable, tuple[Rewrite, ...]] = OrderedDict()

    def rendered(self, conversation: TemplateInput, render: Render, settings: Hashable = ()) -> str:
        """Render ``conversation`` in a form that includes all of its messages.

        ``settings`` are the template variables, which may change the form.

        Raises:
            TemplateError: no form includes all messages.
        """
        messages = tuple(
            replace(m, content="") if m.tool_calls and not m.content.strip() else m for m in conversation.messages
        )  # a template may treat a blank as words, and then omit the calls
        conversation = replace(conversation, messages=messages)
        probe = _probe(conversation, _kind_indices(messages))
        # The key of a kind of conversation: everything except words and ids.
        ids = {id_: number for number, id_ in enumerate(dict.fromkeys(_call_ids(probe.messages)))}
        shapes = tuple((_shape(m), tuple(ids[one] for one in _call_ids([m]))) for m in probe.messages)
        key = ((shapes, len(probe.tools)), settings)
        rewrites = self._found_rewrites.get(key)
        if rewrites is None:
            rewrites = self._found_rewrites[key] = _find_rewrites(probe, render)
            if len(self._found_rewrites) > _MAX_CACHED:
                self._found_rewrites.popitem(last=False)
        try:
            return render(_applied(conversation, rewrites))
        except TemplateRefusedError as refusal:  # the refusal depends on the words or tools
            for others in _until_deadline(chain(_with_details(rewrites), _rewrite_sequences(conversation))):
                with suppress(TemplateRefusedError):
                    text = render(_applied(conversation, others))
                    if _is_complete(probe, render(_applied(probe, others))):
                        return text
            raise TemplateError(refusal.message, "Change the last message, or choose another model.") from refusal


def _find_rewrites(probe: TemplateInput, render: Render) -> tuple[Rewrite, ...]:
    """Find rewrites that keep all words.

    Raises:
        TemplateError: there are none; the sentence says why.
    """
    found, refusal = _first_complete_rewrite(probe, render)
    if found is not None:
        return found
    question = TemplateInput((Message("user", PROBE_PREFIX),))
    if refusal is not None and _first_complete_rewrite(question, render)[0] is None:
        raise refusal  # the template accepts no form
    if probe.tools and _first_complete_rewrite(replace(probe, tools=()), render)[0] is not None:
        raise TemplateError(
            i18n("The chat template of this model leaves the tools out."), "Choose another model for tools."
        )
    reason = "" if refusal is None else f" ({refusal.message.rstrip('.')})"
    raise TemplateError(
        i18n("The model's chat template does not accept this conversation{reason}.", reason=reason),
        i18n("Start a new chat, or choose another model."),
    )


def _first_complete_rewrite(
    probe: TemplateInput, render: Render
) -> tuple[tuple[Rewrite, ...] | None, TemplateRefusedError | None]:
    """The first rewrites that keep all words, or None; and the first refusal of the template."""
    refusal: TemplateRefusedError | None = None
    for rewrites in _until_deadline(_rewrite_sequences(probe)):
        try:
            if _is_complete(probe, render(_applied(probe, rewrites))):
                return rewrites, None
        except TemplateRefusedError as error:
            refusal = refusal or error
    return None, refusal


def _until_deadline(ways: Iterator[tuple[Rewrite, ...]]) -> Iterator[tuple[Rewrite, ...]]:
    """Limit the attempts to `MAX_TRIAL_S` after the first, since an untrusted template may be slow."""
    end = time.monotonic() + MAX_TRIAL_S
    for number, way in enumerate(ways):
        if number and time.monotonic() > end:
            return
        yield way


def _is_complete(probe: TemplateInput, text: str) -> bool:
    """Whether all words of a probe are in a rendered text."""
    return all(word in text for word in _probe_words(probe))


def _kind_indices(messages: Sequence[Message]) -> list[int]:
    """Indices of the messages that define the kind of a conversation; a repeated pattern counts twice at most."""
    shapes = [_shape(message) for message in messages]
    kept: list[int] = []
    for index in range(len(messages)):
        kept.append(index)
        for period in range(1, min(_MAX_PERIOD, len(kept) // 3) + 1):
            patterns = [[shapes[one] for one in kept[len(kept) - k * period :][:period]] for k in (1, 2, 3)]
            if patterns[0] == patterns[1] == patterns[2] and messages[kept[-period]].role in ("user", "assistant"):
                del kept[-period:]
                break
    return kept


def _shape(message: Message) -> Hashable:
    calls = tuple((_object_of(call.arguments) is not None, call.arguments in ("", "{}")) for call in message.tool_calls)
    return message.role, bool(message.content.strip()), calls


def _call_ids(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield from (call.call_id for call in message.tool_calls)
        if message.role == "tool":
            yield message.tool_call_id


def _probe(conversation: TemplateInput, kept: Sequence[int]) -> TemplateInput:
    """A conversation of the same kind, with a unique word in each part."""
    messages = []
    for index, message in enumerate(conversation.messages[one] for one in kept):
        calls = tuple(
            replace(
                call,
                name=_probe_word(index, f"n{number}"),
                arguments=_probe_arguments(call, _probe_word(index, f"a{number}")),
            )
            for number, call in enumerate(message.tool_calls)
        )
        content = _probe_word(index) if message.content.strip() else ""
        messages.append(replace(message, content=content, tool_calls=calls, questions=()))
    return replace(conversation, messages=tuple(messages), tools=(_TOOL_PROBE,) if conversation.tools else ())


def _probe_word(index: int, part: str = "") -> str:
    return f"{PROBE_PREFIX}{index}x{part}q"


def _probe_arguments(call: ToolCall, word: str) -> str:
    if call.arguments in ("", "{}"):
        return call.arguments
    return json.dumps({"key": word}) if _object_of(call.arguments) is not None else word


def _probe_words(probe: TemplateInput) -> Iterator[str]:
    for index, message in enumerate(probe.messages):
        if message.content:
            yield message.content
        for number, call in enumerate(message.tool_calls):
            yield call.name
            if call.arguments not in ("", "{}"):
                yield _probe_word(index, f"a{number}")
    if probe.tools:
        yield f"{PROBE_PREFIX}tool"


def _object_of(arguments: str) -> dict[str, Any] | None:
    try:
        value = json.loads(arguments)
        # Python would write 1e400 as a word that is not JSON, and half a surrogate pair is not valid text.
        value = json.loads(whole_characters(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# The rewrites. A rewrite that changes nothing returns the conversation itself.


def _drop_empty_messages(given: TemplateInput) -> TemplateInput:
    kept = tuple(m for m in given.messages if m.content.strip() or m.tool_calls or m.role == "tool")
    return replace(given, messages=kept) if kept else given


def _merge_systems(given: TemplateInput) -> TemplateInput:
    systems = [message.content for message in given.messages if message.role == "system"]
    others = tuple(message for message in given.messages if message.role != "system")
    if not systems:
        return given
    return replace(given, messages=(Message("system", QUESTION_DIVIDER.join(systems)), *others))


def _one_call_each(given: TemplateInput) -> TemplateInput:
    """Split several calls of a message into separate messages, each followed by its result."""
    messages, answers = list[Message](), _answers(given.messages)
    for index, message in enumerate(given.messages):
        if message.role == "tool" and index in answers:
            continue
        if len(message.tool_calls) < 2:
            messages.append(message)
            if message.tool_calls:
                messages += [given.messages[at] for at in _answers_to(given.messages, index, message.tool_calls[0])]
            continue
        for number, call in enumerate(message.tool_calls):
            messages.append(replace(message, content="" if number else message.content, tool_calls=(call,)))
            messages += [given.messages[at] for at in _answers_to(given.messages, index, call)]
    return replace(given, messages=tuple(messages))


def _answers(messages: Sequence[Message]) -> set[int]:
    """Indices of results that directly follow the message with their calls."""
    return {
        at
        for index, message in enumerate(messages)
        for call in message.tool_calls
        for at in _answers_to(messages, index, call)
    }


def _answers_to(messages: Sequence[Message], index: int, call: ToolCall) -> list[int]:
    found = []
    for at in range(index + 1, len(messages)):
        if messages[at].role != "tool":
            break
        if messages[at].tool_call_id == call.call_id:
            found.append(at)
    return found


def _separate_text_and_calls(given: TemplateInput) -> TemplateInput:
    """Move words of a message with calls into a separate message."""
    messages = list[Message]()
    for message in given.messages:
        if message.tool_calls and message.content.strip():
            messages.append(Message("assistant", message.content))
            message = replace(message, content="")  # noqa: PLW2901
        messages.append(message)
    return replace(given, messages=tuple(messages))


def _calls_as_text(given: TemplateInput) -> TemplateInput:
    """Write calls as text of the assistant, and results as text of the user."""
    messages = list[Message]()
    for message in given.messages:
        if message.role == "tool":
            head = f"Result of {message.name}:" if message.name else "Result:"
            messages.append(Message("user", f"{head}\n{message.content}"))
            continue
        calls = (
            json.dumps({"name": one.name, "arguments": arguments_of(one, ArgumentForm.OBJECT)}, ensure_ascii=False)
            for one in message.tool_calls
        )
        content = "\n".join(filter(None, (message.content, *calls)))
        messages.append(replace(message, content=content, tool_calls=()))
    return replace(given, messages=tuple(messages))


def _system_to_user(given: TemplateInput) -> TemplateInput:
    """Prepend system messages to the user's next message."""
    messages = list[Message]()
    is_system = False
    for message in given.messages:
        if is_system and message.role in ("system", "user"):
            messages[-1] = Message("user", f"{messages[-1].content}{QUESTION_DIVIDER}{message.content}")
        else:
            messages.append(Message("user", message.content) if message.role == "system" else message)
        is_system = message.role == "system"
    return replace(given, messages=tuple(messages))


def _start_with_user(given: TemplateInput) -> TemplateInput:
    """Insert an empty user message before a greeting of the assistant."""
    first = next((index for index, message in enumerate(given.messages) if message.role != "system"), None)
    if first is None or given.messages[first].role == "user":
        return given
    return replace(given, messages=(*given.messages[:first], Message("user", ""), *given.messages[first:]))


def _join_same_roles(given: TemplateInput) -> TemplateInput:
    """Join consecutive messages of one role, and results of one call."""
    joined = list[Message]()
    for message in given.messages:
        before = joined[-1] if joined else None
        if (
            before is not None
            and before.role == message.role
            and not before.tool_calls
            and (message.role != "tool" or before.tool_call_id == message.tool_call_id)
        ):
            content = QUESTION_DIVIDER.join(filter(None, (before.content, message.content)))
            joined[-1] = replace(message, content=content, questions=())
        else:
            joined.append(message)
    return replace(given, messages=tuple(joined))


def _tools_as_list(given: TemplateInput) -> TemplateInput:
    """Pass an empty list of tools, for templates that require one."""
    return given if given.tools else replace(given, has_list=True)


def _short_ids(given: TemplateInput) -> TemplateInput:
    """Shorten ids of calls to nine letters and digits, as Mistral's templates require."""
    messages = tuple(
        replace(
            message,
            tool_calls=tuple(replace(call, call_id=_short_id(call.call_id)) for call in message.tool_calls),
            tool_call_id=_short_id(message.tool_call_id) if message.role == "tool" else "",
        )
        for message in given.messages
    )
    return replace(given, messages=messages) if messages != given.messages else given


def _short_id(call_id: str) -> str:
    is_short = len(call_id) == _ID_CHARS and call_id.isascii() and call_id.isalnum()
    return call_id if is_short else hashlib.blake2s(call_id.encode("utf-8", "replace")).hexdigest()[:_ID_CHARS]


def _describe_tools(given: TemplateInput) -> TemplateInput:
    """Give each tool and parameter a single type and a description, which may be empty."""
    return replace(given, tools=tuple(_with_described_function(tool) for tool in given.tools))


def _with_described_function(tool: Mapping[str, object]) -> Mapping[str, object]:
    function = tool.get("function")
    if not isinstance(function, Mapping):
        return tool
    described = {"description": "", **function, "parameters": _with_described_schema(function.get("parameters"))}
    return {**tool, "function": described}


def _with_described_schema(schema: object) -> dict[str, object]:
    given = dict(schema) if isinstance(schema, Mapping) else {}
    choices = [one for key in ("anyOf", "oneOf") for one in given.get(key) or () if isinstance(one, Mapping)]
    kinds = given.get("type") or [choice.get("type") for choice in choices]
    if isinstance(kinds, list | tuple):
        kinds = next((kind for kind in kinds if kind not in (None, "null")), None)
    found: dict[str, object] = {"description": "", **given, "type": kinds or "string"}
    if kinds == "object":
        properties = given.get("properties")
        found["properties"] = {
            name: _with_described_schema(inner)
            for name, inner in (properties.items() if isinstance(properties, Mapping) else ())
        }
        if not isinstance(given.get("additionalProperties"), Mapping):  # Command R+ writes this entry as a Python type
            found["additionalProperties"] = {"type": "string"}
    if kinds == "array":
        found["items"] = _with_described_schema(given.get("items"))
    return found


def _arguments_as_text(given: TemplateInput) -> TemplateInput:
    return replace(given, arguments=ArgumentForm.TEXT) if _has_calls(given) else given


def _arguments_wrapped(given: TemplateInput) -> TemplateInput:
    return replace(given, arguments=ArgumentForm.WRAPPED) if _has_calls(given) else given


def _has_calls(given: TemplateInput) -> bool:
    return any(message.tool_calls for message in given.messages)


# Rewrites in order of application, each with a cost that grows with the change.
_REWRITES: tuple[tuple[Rewrite, int], ...] = (
    (_drop_empty_messages, 2),
    (_merge_systems, 2),
    (_one_call_each, 2),
    (_separate_text_and_calls, 2),
    (_calls_as_text, 16),
    (_system_to_user, 8),
    (_start_with_user, 4),
    (_join_same_roles, 2),
    (_tools_as_list, 1),
    (_describe_tools, 1),
    (_short_ids, 1),
    (_arguments_as_text, 1),
    (_arguments_wrapped, 1),
)
_TURNS = (_calls_as_text, _start_with_user, _join_same_roles)
# Tried last: every template with alternating messages accepts these.
_PLAINEST_REWRITES: tuple[tuple[Rewrite, ...], ...] = (
    (_drop_empty_messages, *_TURNS),
    (_drop_empty_messages, _merge_systems, *_TURNS),
    (_drop_empty_messages, _merge_systems, _calls_as_text, _system_to_user, *_TURNS[1:]),
    (_drop_empty_messages, _calls_as_text, _system_to_user, *_TURNS[1:]),
)
_REWRITE_SEQUENCES: tuple[tuple[Rewrite, ...], ...] = tuple(
    tuple(rewrite for rewrite, _ in chosen)
    for chosen in sorted(
        (chosen for count in range(len(_REWRITES) + 1) for chosen in combinations(_REWRITES, count)),
        key=lambda chosen: sum(cost for _, cost in chosen),
    )
)


_DETAILS = [rewrite for rewrite, cost in _REWRITES if cost == 1]  # keep roles and order


def _with_details(rewrites: tuple[Rewrite, ...]) -> Iterator[tuple[Rewrite, ...]]:
    more = [one for one in _DETAILS if one not in rewrites]
    for count in (1, 2):
        yield from ((*rewrites, *chosen) for chosen in combinations(more, count))


def _applied(conversation: TemplateInput, rewrites: Sequence[Rewrite]) -> TemplateInput:
    for rewrite in rewrites:
        conversation = rewrite(conversation)
    return conversation


def _rewrite_sequences(conversation: TemplateInput) -> Iterator[tuple[Rewrite, ...]]:
    """Combinations of rewrites that change a conversation, cheapest first, without duplicates."""
    seen = list[TemplateInput]()
    plainest = [(*rewrites, *extra) for extra in ((), (_tools_as_list,)) for rewrites in _PLAINEST_REWRITES]
    for rewrites in chain(_REWRITE_SEQUENCES, plainest):
        if len(seen) >= MAX_TRIALS and rewrites not in plainest:
            continue
        form = _applied(conversation, rewrites)
        if form not in seen:
            seen.append(form)
            yield rewrites
