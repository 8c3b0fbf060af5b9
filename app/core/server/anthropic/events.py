"""Formats answers for Anthropic's Messages API: blocks of reasoning, text and calls, whole or as typed events."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable

from app.core.server.errors import ApiError, in_anthropics_words
from app.core.server.protocol import CompletionRequest
from app.core.server.responses import AnswerBuilder, finish_reason, sse
from app.core.tools.answer_parts import AnswerParts, Part, ReasoningPart
from app.core.tools.output import CallBegun, Called, CallText
from engine.records import Finished, FinishReason, RunStats, TextChunk

Json = dict[str, object]


class MessageBuilder(AnswerBuilder):
    """Builds the message of one answer, or its events."""

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        self._parts = AnswerParts(asked.tool_names, asked.tool_schemas, streams=asked.stream)
        super().__init__(asked)
        self._head: Json = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": model}
        self._blocks: list[Json] = []
        self._is_open = False  # True while the last block is being written
        self._arguments = ""  # arguments of the current call so far

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        for chunk in texts:
            self._events_of(self._parts.feed(chunk))
        self._events_of(self._parts.flush())
        self._close()
        return self._message(finished) | self._metrics(finished.stats)

    def first_chunks(self, num_prompt: int | None = None) -> list[bytes]:
        """The event ``message_start`` with the number of prompt tokens; the last event has the cached tokens."""
        usage = {**_usage(None), "input_tokens": num_prompt or 0}
        begun = {**self._head, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        return [_event("message_start", message=begun), PING]

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        return self._events_of(self._parts.feed(chunk))

    def last_chunks(self, finished: Finished) -> list[bytes]:
        events = [*self._events_of(self._parts.flush()), *self._close()]
        ended = self._message(finished)
        delta = {name: ended[name] for name in ("stop_reason", "stop_sequence")}
        figures = self._metrics(finished.stats)
        return [*events, _event("message_delta", delta=delta, usage=ended["usage"], **figures), _event("message_stop")]

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        return [sse(in_anthropics_words(error), "error")]

    def keep_alive(self, *, is_begun: bool) -> bytes:
        return PING if is_begun else super().keep_alive(is_begun=is_begun)

    def _message(self, finished: Finished) -> Json:
        reason, stop = finish_reason(finished, "end_turn", "stop_sequence", "max_tokens"), None
        if self._parts.num_calls and finished.reason is not FinishReason.LENGTH:
            reason = "tool_use"
        elif reason == "stop_sequence":
            stop = finished.stop
        return {
            **self._head,
            "content": self._blocks,
            "stop_reason": reason,
            "stop_sequence": stop,
            "usage": _usage(finished.stats),
        }

    # ---- blocks -----------------------------------------------------------------------------------------------------

    def _events_of(self, parts: Iterable[Part]) -> list[bytes]:
        events = list[bytes]()
        for part in parts:
            if isinstance(part, CallBegun | Called):
                events += self._begin({"type": "tool_use", "id": part.call_id, "name": part.name, "input": {}})
            if isinstance(part, CallText | Called):
                text = part.text if isinstance(part, CallText) else part.arguments
                self._arguments += text
                events.append(self._delta(type="input_json_delta", partial_json=text))
            elif isinstance(part, ReasoningPart):
                events += self._write("thinking", part.text)
            elif isinstance(part, str):
                events += self._write("text", part)
        return events

    def _write(self, kind: str, text: str) -> list[bytes]:
        begun = list[bytes]()
        if not self._is_open or self._blocks[-1]["type"] != kind:
            begun = self._begin({"type": kind, kind: "", **({"signature": ""} if kind == "thinking" else {})})
        self._blocks[-1][kind] = f"{self._blocks[-1][kind]}{text}"
        return [*begun, self._delta(type=f"{kind}_delta", **{kind: text})]

    def _begin(self, block: Json) -> list[bytes]:
        ended = self._close()
        begun = _event("content_block_start", index=len(self._blocks), content_block=dict(block))
        self._blocks.append(block)
        self._is_open, self._arguments = True, ""
        return [*ended, begun]

    def _delta(self, **delta: object) -> bytes:
        return _event("content_block_delta", index=len(self._blocks) - 1, delta=delta)

    def _close(self) -> list[bytes]:
        if not self._is_open:
            return []
        self._is_open = False
        block = self._blocks[-1]
        if block["type"] == "tool_use":
            block["input"] = _input(self._arguments)
        return [_event("content_block_stop", index=len(self._blocks) - 1)]


def _input(arguments: str) -> object:
    try:
        return json.loads(arguments or "{}")
    except ValueError:  # the stream was truncated within the arguments
        return {}


def _usage(stats: RunStats | None) -> Json:
    """Token usage as Anthropic counts it: input tokens exclude cached tokens."""
    cached = 0 if stats is None else stats.prompt_cached_tokens
    return {
        "input_tokens": 0 if stats is None else stats.prompt_tokens - cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": cached,
        "output_tokens": 0 if stats is None else stats.tokens,
    }


def _event(kind: str, **fields: object) -> bytes:
    return sse({"type": kind, **fields}, kind)


PING = _event("ping")
