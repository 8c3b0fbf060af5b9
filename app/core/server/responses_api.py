"""OpenAI's Responses API: requests become chat requests; answers are items, or typed events.

Errors name the fields of that API.
"""

import time
import uuid
from collections.abc import Iterable
from dataclasses import replace

from app.core.server.answers import (
    CALL,
    REASONING,
    TEXT,
    BlockBuilder,
    Json,
    finish_reason,
    speculation,
    sse,
    timings,
)
from app.core.server.errors import ApiError
from app.core.server.fields import Fields, missing, unsupported, wrong_type
from app.core.server.messages import read_content, text_of_part
from app.core.server.pictures import PictureSource
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request
from app.core.tools.output import CallBegun
from engine.records import Finished, Message, RunStats, TextChunk, ToolCall

# Fields about OpenAI's storage or tools that run there, which do not affect an answer here.
_WITHOUT_EFFECT = ("client_metadata", "include", "max_tool_calls", "prompt_cache_options", "store", "stream_options")
_SUPPORTED_VALUES: dict[str, tuple[object, ...]] = {
    "background": (False,),
    "conversation": (),
    "prompt": (),
    "truncation": ("disabled", "auto"),
}
_RENAMED = (  # (chat API field, this API's field), for errors
    ("response_format.json_schema", "text.format"),
    ("response_format", "text.format"),
    ("max_tokens", "max_output_tokens"),
    ("reasoning_effort", "reasoning.effort"),
    ("verbosity", "text.verbosity"),
    ("messages", "input"),
    (".function.", "."),
)
_IGNORED_IN_TOOL = ("type", "defer_loading", "output_schema")
_ROLES = ("user", "assistant", "system", "developer")
_CALL_EVENT = "response.function_call_arguments"
_PARTS = {TEXT: "output_text", REASONING: "reasoning_text"}  # the part of an item that is streamed


# ---- requests -------------------------------------------------------------------------------------------------------


def parse_response_request(body: Json, model: ServedModel) -> CompletionRequest:
    """Read the body of a request to ``/v1/responses``."""
    fields = Fields(body)
    if fields.pop("previous_response_id") is not None:
        message = "No answers are kept here, so there is no `previous_response_id`: send the conversation as `input`."
        raise unsupported("previous_response_id", message)
    fields.refuse_unless(_SUPPORTED_VALUES)
    fields.ignore(*_WITHOUT_EFFECT)
    # Other tools run at OpenAI. The response lists the tools that the model got.
    tools = [one.remaining() for one in fields.objects("tools")]
    tools = [tool for tool in tools if tool.get("type") == "function"]
    instructions, wanted = fields.text("instructions"), fields.pop("max_output_tokens")
    choice = fields.pop("tool_choice")
    form, text = _text(fields.nested("text"))
    effort = None
    if (reasoning := fields.nested("reasoning")) is not None:
        effort = reasoning.text("effort")
        reasoning.ignore("summary", "generate_summary")  # no summaries: the full reasoning is returned
        reasoning.check_unknown()
    messages = _messages(fields.pop("input"), instructions, model.picture_source)
    chat: Json = {
        "tools": [
            {"type": "function", "function": {name: tool[name] for name in tool if name not in _IGNORED_IN_TOOL}}
            for tool in tools
        ],
        "tool_choice": {"function": choice} if isinstance(choice, dict) else choice,
        "max_tokens": wanted,
        "reasoning_effort": effort,
        **text,
    }
    try:
        asked = parse_request({**chat, **fields.remaining()}, model, chat=True, messages=messages)
    except ApiError as error:
        raise error.renamed(_RENAMED) from error
    sampling = asked.request.sampling
    repeated: Json = {
        "instructions": instructions,
        "max_output_tokens": wanted,
        "metadata": body.get("metadata") or {},
        "parallel_tool_calls": body.get("parallel_tool_calls") is not False,
        "reasoning": {"effort": effort, "summary": None},
        "temperature": sampling.temperature,
        "text": {"format": form or {"type": "text"}},
        "tool_choice": choice or "auto",
        "tools": [{"strict": None, **tool} for tool in tools],
        "top_p": sampling.top_p,
    }
    return replace(asked, extras=repeated)


def _messages(value: object, instructions: str | None, source: PictureSource | None) -> tuple[Message, ...]:
    """Convert items to messages. Adjacent calls, and calls after an answer, become one message.

    Instructions and a following developer message also become one message, since many templates allow only one.
    """
    if value is None or value == []:
        raise missing("input")
    items = [{"role": "user", "content": value}] if isinstance(value, str) else value
    if not isinstance(items, list):
        raise wrong_type("input", "a string or an array")
    messages = [] if instructions is None else [Message("system", instructions)]
    given = Fields({"input": items}).objects("input")
    for fields in given:
        if source is not None:
            source.is_new = fields is given[-1] and fields.has("role")
        message = _message(fields, source)
        last = messages[-1] if messages else None
        if message is None:
            continue
        if last is not None and message.tool_calls and last.role == "assistant":
            messages[-1] = replace(last, tool_calls=(*last.tool_calls, *message.tool_calls))
        elif (
            last is not None
            and message.role == last.role
            and (message.role == "system" or (message.role == "assistant" and not last.tool_calls))
        ):
            messages[-1] = replace(last, content=f"{last.content}\n\n{message.content}")
        else:
            messages.append(message)
    return tuple(messages)


def _message(fields: Fields, source: PictureSource | None) -> Message | None:
    """Convert an item to a message; None for earlier reasoning, which the model does not get again."""
    kind = fields.text("type") or "message"
    if kind == "reasoning":
        return None
    if kind not in ("message", "function_call", "function_call_output"):
        return Message("assistant", text_of_part({"type": kind, **fields.remaining()}, fields.param))
    fields.ignore("id", "status", "phase")
    if kind == "function_call":
        call_id, name = fields.required("call_id"), fields.required("name")
        arguments = fields.text("arguments") or "{}"
        message = Message("assistant", "", tool_calls=(ToolCall(call_id, name, arguments),))
    elif kind == "function_call_output":
        call_id = fields.required("call_id")
        text, pictures = read_content(fields.pop("output"), fields.path("output"), "tool", source)
        message = Message("tool", text, tool_call_id=call_id, pictures=pictures)
    else:
        role, at = fields.text("role"), fields.path("role")
        if role not in _ROLES:
            raise ApiError(400, f"`{at}` must be one of {', '.join(_ROLES)}.", param=at)
        role = "system" if role == "developer" else role
        text, pictures = read_content(fields.pop("content"), fields.path("content"), role, source)
        message = Message(role, text, pictures=pictures)
    fields.check_unknown()
    return message


def _text(given: Fields | None) -> tuple[object, Json]:
    """The form of the answer as it was given, and the fields of the chat API."""
    if given is None:
        return None, {}
    form, verbosity = given.pop("format"), given.pop("verbosity")
    given.check_unknown()
    made: object = form
    if isinstance(form, dict) and form.get("type") == "json_schema":
        made = {"type": "json_schema", "json_schema": {name: value for name, value in form.items() if name != "type"}}
    return form, {"verbosity": verbosity, "response_format": made}


# ---- answers --------------------------------------------------------------------------------------------------------


class ItemBuilder(BlockBuilder):
    """Builds the items of one response, or its numbered events."""

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        super().__init__(model, asked)
        self._head: Json = {
            "id": f"resp_{uuid.uuid4().hex}",
            "object": "response",
            "created_at": int(time.time()),
            "model": model,
            "background": False,
            "store": False,
            "previous_response_id": None,
            "truncation": "disabled",
            **asked.extras,
            **self._warnings,
        }
        self._number = 0

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        for chunk in texts:
            self.text_chunks(chunk)
        self._end(finished)
        return self._response(_status(finished), finished.stats)

    def first_chunks(self, _num_prompt: int | None = None) -> list[bytes]:
        begun = self._response("in_progress", None)
        return [self._event(f"response.{word}", response=begun) for word in ("created", "in_progress")]

    def last_chunks(self, finished: Finished) -> list[bytes]:
        events, status = self._end(finished), _status(finished)
        return [*events, self._event(f"response.{status}", response=self._response(status, finished.stats))]

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        response = self._response("failed", None)
        response["error"] = {"code": "server_error", "message": error.message}
        reported = {"code": error.code, "message": error.message, "param": error.param}
        return [self._event("response.failed", response=response), self._event("error", **reported)]

    def _end(self, finished: Finished) -> list[bytes]:
        events = self._events_of(self._rest())
        if not self._blocks:
            events += self._open(TEXT)
        return events + self._close(_status(finished))

    # ---- items ------------------------------------------------------------------------------------------------------

    def _opened(self, kind: str, call: CallBegun | ToolCall | None) -> list[bytes]:
        item: Json = {"status": "in_progress"}
        if call is not None:
            item |= {"id": f"fc_{uuid.uuid4().hex}", "type": "function_call", "call_id": call.call_id}
            item |= {"name": call.name, "arguments": ""}
        elif kind == REASONING:
            item |= {"id": f"rs_{uuid.uuid4().hex}", "type": "reasoning", "summary": [], "content": []}
        else:
            item |= {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "content": []}
        self._blocks.append(item)
        added = self._event("response.output_item.added", output_index=len(self._blocks) - 1, item=item)
        if kind == CALL:
            return [added]
        return [added, self._event("response.content_part.added", **self._position(), part=self._part(kind))]

    def _delta(self, kind: str, text: str) -> bytes:
        if kind == CALL:
            return self._event(f"{_CALL_EVENT}.delta", **self._index(), delta=text)
        more: Json = {"logprobs": []} if kind == TEXT else {}
        return self._event(f"response.{_PARTS[kind]}.delta", **self._position(), delta=text, **more)

    def _closed(self, kind: str, status: str) -> list[bytes]:
        item = self._blocks[-1]
        item["status"] = status
        if kind == CALL:
            item["arguments"] = self._text
            fields = {"name": item["name"], "arguments": self._text}
            events = [self._event(f"{_CALL_EVENT}.done", **self._index(), **fields)]
        else:
            part = self._part(kind)
            item["content"] = [part]
            done = {name: part[name] for name in ("text", "logprobs") if name in part}
            events = [
                self._event(f"response.{_PARTS[kind]}.done", **self._position(), **done),
                self._event("response.content_part.done", **self._position(), part=part),
            ]
        return [*events, self._event("response.output_item.done", output_index=len(self._blocks) - 1, item=item)]

    def _part(self, kind: str) -> Json:
        part: Json = {"type": _PARTS[kind], "text": self._text}
        return part if kind == REASONING else {**part, "annotations": [], "logprobs": []}

    def _index(self) -> Json:
        return {"item_id": self._blocks[-1]["id"], "output_index": len(self._blocks) - 1}

    def _position(self) -> Json:
        return {**self._index(), "content_index": 0}

    def _event(self, kind: str, **fields: object) -> bytes:
        self._number += 1
        return sse({"type": kind, "sequence_number": self._number - 1, **fields}, kind)

    def _response(self, status: str, stats: RunStats | None) -> Json:
        details = {"reason": "max_output_tokens"} if status == "incomplete" else None
        response: Json = {**self._head, "status": status, "error": None, "incomplete_details": details}
        response |= {"output": list(self._blocks), "usage": None}
        if stats is not None:
            response |= {"usage": self._usage(stats), "timings": timings(stats), "speculation": speculation(stats)}
        return response

    def _usage(self, stats: RunStats) -> Json:
        num_reasoning = 0 if self._parts is None else self._parts.num_reasoning_tokens
        return {
            "input_tokens": stats.prompt_tokens,
            "input_tokens_details": {"cached_tokens": stats.prompt_cached_tokens, "cache_write_tokens": 0},
            "output_tokens": stats.tokens,
            "output_tokens_details": {"reasoning_tokens": num_reasoning},
            "total_tokens": stats.prompt_tokens + stats.tokens,
        }


def _status(finished: Finished) -> str:
    return finish_reason(finished, "completed", "completed", "incomplete")
