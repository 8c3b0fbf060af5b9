"""Anthropic's Messages API: requests become chat requests; answers are messages of blocks, or their typed events.

Errors name the fields of that API: https://docs.anthropic.com/en/api/messages
"""

import json
import uuid
from collections.abc import Iterable

from app.core.server.answers import CALL, REASONING, TEXT, BlockBuilder, Json, sse
from app.core.server.errors import THREAD_UNSUPPORTED, ApiError, anthropic_error_body
from app.core.server.fields import Fields, missing, unsupported, warn, wrong_type
from app.core.server.messages import read_content, text_of, text_of_part
from app.core.server.pictures import PictureSource
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.tools.output import CallBegun
from engine.records import Finished, Message, RunStats, TextChunk, ToolCall

# Fields about Anthropic's own storage and service, which do not affect an answer here.
_WITHOUT_EFFECT = ("metadata", "service_tier", "container", "context_management", "inference_geo", "betas", "speed")
_IGNORED_IN_TOOL = ("cache_control", "strict", "defer_loading", "input_examples", "allowed_callers")
_RENAMED_FIELDS = (  # (chat API field, this API's field), for errors
    ("response_format.json_schema", "output_config.format"),
    ("response_format", "output_config.format"),
    ("stop", "stop_sequences"),
    ("reasoning_effort", "thinking"),
    (".function.parameters", ".input_schema"),
    (".function.", "."),
)
_DELTA_TYPES = {
    TEXT: ("text_delta", "text"),
    REASONING: ("thinking_delta", "thinking"),
    CALL: ("input_json_delta", "partial_json"),
}
_BILLING_LINE = "x-anthropic-billing-header:"


# ---- requests -------------------------------------------------------------------------------------------------------


def parse_messages_request(body: Json, model: ServedModel) -> CompletionRequest:
    """Read the body of a request to ``/v1/messages``."""
    fields = Fields(body)
    fields.ignore(*_WITHOUT_EFFECT)
    if fields.pop("thread") is not None:  # this error makes the client send the whole conversation
        raise ApiError(
            400, "No conversations are kept here: send all `messages`.", param="thread", code=THREAD_UNSUPPORTED
        )
    if fields.pop("mcp_servers"):
        raise unsupported("mcp_servers", "No MCP servers are asked from here: give their tools as `tools`.")
    system, messages = _system(fields.pop("system")), _messages(fields, model.picture_source)
    chat: Json = {
        "stop": fields.pop("stop_sequences"),
        "tools": [tool for one in fields.objects("tools") if (tool := _tool(one)) is not None],
        **_tool_choice(fields.nested("tool_choice")),
        **_answer_form(fields.nested("output_config")),
        **_thinking(fields.nested("thinking"), model),
    }
    try:
        return parse_request({**chat, **fields.remaining()}, model, chat=True, messages=(*system, *messages))
    except ApiError as error:
        raise error.renamed(_RENAMED_FIELDS) from error


def _system(value: object) -> tuple[Message, ...]:
    """The system prompt without Claude Code's first line, which changes with each request and would defeat caching."""
    if isinstance(value, list):
        texts = [text_of_part(block, f"system[{index}]") for index, block in enumerate(value)]
        value = "\n\n".join(text for text in texts if not text.startswith(_BILLING_LINE))
    return (Message("system", text_of(value, "system")),) if value else ()


def _messages(fields: Fields, source: PictureSource | None) -> list[Message]:
    messages, given = list[Message](), fields.objects("messages")
    for one in given:
        messages += _message(one, source, is_last=one is given[-1])
    if not messages:
        raise missing("messages")
    return messages


def _message(fields: Fields, source: PictureSource | None, *, is_last: bool) -> list[Message]:
    """Convert a message. Its tool results become separate messages, as chat templates require."""
    role, content, at = fields.text("role"), fields.pop("content"), fields.path("content")
    fields.check_unknown()
    if role not in ("user", "assistant", "system"):
        raise ApiError(400, f"`{fields.path('role')}` must be user or assistant.", param=fields.path("role"))
    if content is None and role == "assistant":
        content = ""
    if not isinstance(content, list):
        if not isinstance(content, str):
            raise wrong_type(at, "a string or an array of blocks")
        return [Message(role, content)]
    rest, calls, results = list[object](), list[ToolCall](), list[Message]()
    for index, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_use" and role == "assistant":
            calls.append(_call(Fields(block, f"{at}[{index}]")))
        elif kind == "tool_result" and role == "user":
            results.append(_result(Fields(block, f"{at}[{index}]"), source))
        else:
            rest.append(block)
            continue
        rest.append({"type": "thinking"})  # is skipped, and keeps the positions of the others
    if source is not None:
        source.is_new = is_last
    text, pictures = read_content(rest, at, role, source, "\n\n")
    is_empty = not text and not pictures and not calls
    return (
        results if results and is_empty else [*results, Message(role, text, tool_calls=tuple(calls), pictures=pictures)]
    )


def _call(fields: Fields) -> ToolCall:
    call_id, name = fields.required("id"), fields.required("name")
    arguments = json.dumps(fields.pop("input") or {}, ensure_ascii=False)
    fields.ignore("type", "cache_control", "caller")
    fields.check_unknown()
    return ToolCall(call_id, name, arguments)


def _result(fields: Fields, source: PictureSource | None) -> Message:
    call_id, content = fields.required("tool_use_id"), fields.pop("content")
    fields.ignore("type", "is_error", "cache_control")  # the text of the result describes an error
    fields.check_unknown()
    if source is not None:
        source.is_new = False  # tool results are repeated in every later request
    text, pictures = ("", ()) if content is None else read_content(content, fields.path("content"), "tool", source)
    return Message("tool", text, tool_call_id=call_id, pictures=pictures)


def _tool(fields: Fields) -> Json | None:
    """Convert a tool to a function; None for a tool that runs at Anthropic."""
    if (kind := fields.text("type") or "custom") != "custom":
        warn(f"`{fields.param}` is left out: tools of the type {kind[:40]} run at Anthropic.")
        return None
    function: Json = {"name": fields.required("name"), "parameters": fields.pop("input_schema")}
    function["description"] = fields.text("description")
    fields.ignore(*_IGNORED_IN_TOOL)
    fields.check_unknown()
    return {"type": "function", "function": function}


def _tool_choice(given: Fields | None) -> Json:
    if given is None:
        return {}
    kind, name, is_single = given.text("type"), given.text("name"), given.boolean("disable_parallel_tool_use")
    given.check_unknown()
    known: dict[str | None, object] = {"auto": "auto", "any": "required", "none": "none"}
    if kind == "tool":
        known[kind] = {"type": "function", "function": {"name": name}}
    if kind not in known:
        raise ApiError(400, "`tool_choice.type` must be auto, any, tool or none.", param="tool_choice.type")
    return {"tool_choice": known[kind], "parallel_tool_calls": not is_single}


def _answer_form(given: Fields | None) -> Json:
    """The reasoning effort, and the form of the answer."""
    if given is None:
        return {}
    effort, form = given.text("effort"), given.pop("format")
    given.check_unknown()
    made: Json = {} if effort is None else {"reasoning_effort": {"max": "xhigh"}.get(effort, effort)}
    if isinstance(form, dict) and form.get("type") == "json_schema":
        made["response_format"] = {"type": "json_schema", "json_schema": {"schema": form.get("schema")}}
    return made


def _thinking(given: Fields | None, model: ServedModel) -> Json:
    """Whether the model reasons; without this field as the model does by default. A token budget has no effect."""
    if given is None:
        return {}
    kind = given.text("type")
    given.ignore("budget_tokens", "display")
    given.check_unknown()
    if kind not in ("enabled", "disabled", "adaptive"):
        raise ApiError(400, "`thinking.type` must be enabled, disabled or adaptive.", param="thinking.type")
    if kind != "disabled":
        return {}
    names = [option.name for option in model.ready.target.thinking]
    if names and "off" not in names:
        warn("`thinking` has no effect: this model always thinks.")
        return {}
    return {"reasoning_effort": "none"}


# ---- answers --------------------------------------------------------------------------------------------------------


class MessageBuilder(BlockBuilder):
    """Builds the message of one answer, or its events."""

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        super().__init__(model, asked)
        self._head: Json = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": model}

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        self._events_of(self._read_all(texts))
        self._close()
        return self._message(finished) | self._metrics(finished.stats)

    def first_chunks(self, num_prompt: int | None = None) -> list[bytes]:
        """The event ``message_start`` with the number of prompt tokens; the last event has the cached tokens."""
        usage = {**_usage(RunStats()), "input_tokens": num_prompt or 0}
        begun = {**self._head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        return [_event("message_start", message=begun), PING]

    def last_chunks(self, finished: Finished) -> list[bytes]:
        events = [*self._events_of(self._rest()), *self._close()]
        ended = self._message(finished)
        delta = {name: ended[name] for name in ("stop_reason", "stop_sequence")}
        figures = self._metrics(finished.stats)
        return [*events, _event("message_delta", delta=delta, usage=ended["usage"], **figures), _event("message_stop")]

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        return [sse(anthropic_error_body(error), "error")]

    def keep_alive(self, *, is_begun: bool) -> bytes:
        return PING if is_begun else super().keep_alive(is_begun=is_begun)

    def _message(self, finished: Finished) -> Json:
        reason = self._reason(finished, "end_turn", "stop_sequence", "max_tokens", "tool_use")
        stop = finished.stop if reason == "stop_sequence" else None
        ended: Json = {"stop_reason": reason, "stop_sequence": stop, "usage": _usage(finished.stats)}
        return {**self._head, "content": self._blocks, **ended}

    def _opened(self, kind: str, call: CallBegun | ToolCall | None) -> list[bytes]:
        block: Json = {"type": "text", "text": ""}
        if call is not None:
            block = {"type": "tool_use", "id": call.call_id, "name": call.name, "input": {}}
        elif kind == REASONING:
            block = {"type": "thinking", "thinking": "", "signature": ""}
        self._blocks.append(block)
        return [_event("content_block_start", index=len(self._blocks) - 1, content_block=dict(block))]

    def _delta(self, kind: str, text: str) -> bytes:
        word, name = _DELTA_TYPES[kind]
        return _event("content_block_delta", index=len(self._blocks) - 1, delta={"type": word, name: text})

    def _closed(self, kind: str, _status: str) -> list[bytes]:
        block = self._blocks[-1]
        if kind == CALL:
            block["input"] = _input(self._text)
        else:
            block[_DELTA_TYPES[kind][1]] = self._text
        return [_event("content_block_stop", index=len(self._blocks) - 1)]


def _input(arguments: str) -> object:
    try:
        return json.loads(arguments or "{}")
    except ValueError:  # the stream was truncated within the arguments
        return {}


def _usage(stats: RunStats) -> Json:
    """Token usage as Anthropic counts it: input tokens exclude cached tokens."""
    return {
        "input_tokens": stats.prompt_tokens - stats.prompt_cached_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": stats.prompt_cached_tokens,
        "output_tokens": stats.tokens,
    }


def _event(kind: str, **fields: object) -> bytes:
    return sse({"type": kind, **fields}, kind)


PING = _event("ping")
