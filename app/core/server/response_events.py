"""Formats answers for OpenAI's Responses API: items of reasoning, text and calls, whole or as typed events."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable

from app.core.server.errors import ApiError
from app.core.server.response_request import ResponseRequest
from app.core.server.responses import AnswerBuilder, finish_reason, logprob_of_chat, speculation, sse, timings
from app.core.tools.answer_parts import AnswerParts, Part, ReasoningPart
from app.core.tools.output import CallBegun, Called, CallText
from engine.records import Finished, RunStats, TextChunk, TokenLogprob

Json = dict[str, object]
_CALL = "response.function_call_arguments"
_TEXT, _REASONING = "output_text", "reasoning_text"  # kinds of the part that is streamed in an item


class ItemBuilder(AnswerBuilder):
    """Builds the items of one response, or its numbered events."""

    def __init__(self, model: str, made: ResponseRequest) -> None:
        super().__init__(made.asked)
        self._parts = AnswerParts(made.asked.tool_names, made.asked.tool_schemas, streams=made.asked.stream)
        self._head: Json = {
            "id": f"resp_{uuid.uuid4().hex}",
            "object": "response",
            "created_at": int(time.time()),
            "model": model,
            "background": False,
            "store": False,
            "previous_response_id": None,
            "truncation": "disabled",
            **made.reported,
            **self._warnings,
        }
        self._number = 0
        self._items: list[Json] = []
        self._open: Json | None = None  # the item that is being written, if any
        self._text = ""  # text of the open item so far
        self._logprobs: list[Json] = []  # logprobs of the open item so far
        self._new_logprobs: list[TokenLogprob] = []  # logprobs of tokens whose text is held back

    # ---- what comes of an answer ------------------------------------------------------------------------------------

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        for chunk in texts:
            self.text_chunks(chunk)
        self._end(finished)
        return self._response(_status(finished), finished.stats)

    def first_chunks(self, _num_prompt: int | None = None) -> list[bytes]:
        begun = self._response("in_progress", None)
        return [self._event(f"response.{word}", response=begun) for word in ("created", "in_progress")]

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        self._new_logprobs += chunk.logprobs
        return self._events_of(self._parts.feed(chunk))

    def last_chunks(self, finished: Finished) -> list[bytes]:
        events = self._end(finished)
        status = _status(finished)
        response = self._response(status, finished.stats)
        return [*events, self._event(f"response.{status}", response=response)]

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        response = self._response("failed", None)
        response["error"] = {"code": "server_error", "message": error.message}
        reported = {"code": error.code, "message": error.message, "param": error.param}
        return [self._event("response.failed", response=response), self._event("error", **reported)]

    def _end(self, finished: Finished) -> list[bytes]:
        events = self._events_of(self._parts.flush())
        if not self._items:
            events += self._begin_text(_TEXT)
        return events + self._close(_status(finished))

    # ---- items ------------------------------------------------------------------------------------------------------

    def _events_of(self, parts: Iterable[Part]) -> list[bytes]:
        events = list[bytes]()
        for part in parts:
            if isinstance(part, Called):
                events += [
                    *self._close(),
                    *self._begin_call(part.call_id, part.name),
                    *self._write_call(part.arguments),
                ]
                events += self._close()
            elif isinstance(part, CallBegun):
                events += [*self._close(), *self._begin_call(part.call_id, part.name)]
            elif isinstance(part, CallText):
                events += self._write_call(part.text)
            elif isinstance(part, ReasoningPart):
                events += self._write(_REASONING, part.text)
            else:
                events += self._write(_TEXT, part)
        return events

    def _write(self, kind: str, text: str) -> list[bytes]:
        """Append to the open item; begin a new item if its kind differs."""
        events = list[bytes]()
        is_reasoning = kind == _REASONING
        if self._open is None or self._open["type"] != ("reasoning" if is_reasoning else "message"):
            events += [*self._close(), *self._begin_text(kind)]
        self._text += text
        reported: Json = {"delta": text}
        if not is_reasoning:
            reported["logprobs"] = fresh = [logprob_of_chat(one) for one in self._new_logprobs]
            self._logprobs += fresh
        self._new_logprobs = []
        return [*events, self._event(f"response.{kind}.delta", **self._position(), **reported)]

    def _begin_text(self, kind: str) -> list[bytes]:
        self._text, self._logprobs = "", []
        if kind == _REASONING:
            item: Json = {"id": f"rs_{uuid.uuid4().hex}", "type": "reasoning", "summary": [], "content": []}
        else:
            item = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "content": []}
        item["status"] = "in_progress"
        self._items.append(item)
        self._open = item
        part = _part(kind, "", [])
        return [self._added(item), self._event("response.content_part.added", **self._position(), part=part)]

    def _close(self, status: str = "completed") -> list[bytes]:
        item, self._open = self._open, None
        if item is None:
            return []
        if item["type"] == "function_call":
            item |= {"status": status, "arguments": self._text}
            said = {"name": item["name"], "arguments": self._text}
            return [self._event(f"{_CALL}.done", **self._index_of_call(), **said), self._done(item)]
        kind = _REASONING if item["type"] == "reasoning" else _TEXT
        part = _part(kind, self._text, self._logprobs)
        done: Json = {"text": self._text} if kind == _REASONING else {"text": self._text, "logprobs": self._logprobs}
        item |= {"status": status, "content": [part]}
        return [
            self._event(f"response.{kind}.done", **self._position(), **done),
            self._event("response.content_part.done", **self._position(), part=part),
            self._done(item),
        ]

    def _begin_call(self, call_id: str, name: str) -> list[bytes]:
        self._text = ""
        item: Json = {
            "id": f"fc_{uuid.uuid4().hex}",
            "type": "function_call",
            "status": "in_progress",
            "call_id": call_id,
            "name": name,
            "arguments": "",
        }
        self._items.append(item)
        self._open = item
        return [self._added(item)]

    def _write_call(self, text: str) -> list[bytes]:
        self._text += text
        return [self._event(f"{_CALL}.delta", **self._index_of_call(), delta=text)]

    def _index_of_call(self) -> Json:
        return {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1}

    # ---- events -----------------------------------------------------------------------------------------------------

    def _added(self, item: Json) -> bytes:
        return self._event("response.output_item.added", output_index=len(self._items) - 1, item=item)

    def _done(self, item: Json) -> bytes:
        return self._event("response.output_item.done", output_index=len(self._items) - 1, item=item)

    def _position(self) -> Json:
        return {"item_id": self._items[-1]["id"], "output_index": len(self._items) - 1, "content_index": 0}

    def _event(self, kind: str, **fields: object) -> bytes:
        self._number += 1
        return sse({"type": kind, "sequence_number": self._number - 1, **fields}, kind)

    def _response(self, status: str, stats: RunStats | None) -> Json:
        details = {"reason": "max_output_tokens"} if status == "incomplete" else None
        response: Json = {**self._head, "status": status, "error": None, "incomplete_details": details}
        response |= {"output": list(self._items), "usage": None}
        if stats is not None:
            response |= {"usage": self._usage(stats), "timings": timings(stats), "speculation": speculation(stats)}
        return response

    def _usage(self, stats: RunStats) -> Json:
        return {
            "input_tokens": stats.prompt_tokens,
            "input_tokens_details": {"cached_tokens": stats.prompt_cached_tokens, "cache_write_tokens": 0},
            "output_tokens": stats.tokens,
            "output_tokens_details": {"reasoning_tokens": self._parts.num_reasoning_tokens},
            "total_tokens": stats.prompt_tokens + stats.tokens,
        }


def _status(finished: Finished) -> str:
    return finish_reason(finished, "completed", "completed", "incomplete")


def _part(kind: str, text: str, logprobs: list[Json]) -> Json:
    if kind == _REASONING:
        return {"type": kind, "text": text}
    return {"type": kind, "text": text, "annotations": [], "logprobs": logprobs}
