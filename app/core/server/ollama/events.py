"""Formats answers for Ollama's API, whole or as JSON lines. Durations are in nanoseconds."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime

from app.core.server.errors import ApiError
from app.core.server.protocol import CompletionRequest
from app.core.server.responses import AnswerBuilder, finish_reason, logprob_of_chat, speculation
from app.core.tools.answer_parts import AnswerParts, Part, ReasoningPart
from app.core.tools.output import Called
from engine.records import Finished, TextChunk, TokenLogprob

Json = dict[str, object]
_NS = 1_000_000_000


class LineBuilder(AnswerBuilder):
    """Builds the answer (or its lines) of ``/api/chat`` or ``/api/generate``."""

    media_type = "application/x-ndjson"

    def __init__(self, model: str, asked: CompletionRequest, *, chat: bool) -> None:
        self._model, self._chat = model, chat
        # Text completions have no reasoning and no calls.
        self._parts = AnswerParts(asked.tool_names, asked.tool_schemas) if asked.chat else None
        self._wants_logprobs = asked.request.top_logprobs is not None
        super().__init__(asked)
        self._begun = time.perf_counter()

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        parts, logprobs = list[Part](), list[TokenLogprob]()
        for chunk in texts:
            parts += self._read(chunk)
            logprobs += chunk.logprobs
        parts += self._rest()
        return {**self._object(parts, logprobs), **self._end(finished)}

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        parts = self._read(chunk)
        return [_line({**self._object(parts, list(chunk.logprobs)), "done": False})] if parts or chunk.logprobs else []

    def last_chunks(self, finished: Finished) -> list[bytes]:
        rest = self._rest()
        held = [_line({**self._object(rest, []), "done": False})] if rest else []
        return [*held, _line({**self._object([], []), **self._end(finished)})]

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        return [_line({"error": error.message})]

    def keep_alive(self, *, is_begun: bool) -> bytes:  # noqa: ARG002
        return b""  # JSON lines have no comments

    def _read(self, chunk: TextChunk) -> list[Part]:
        if self._parts is None:
            return [chunk.text] if chunk.text else []
        return self._parts.feed(chunk)

    def _rest(self) -> list[Part]:
        return [] if self._parts is None else self._parts.flush()

    def _object(self, parts: Iterable[Part], logprobs: list[TokenLogprob]) -> Json:
        parts = list(parts)
        content = "".join(part for part in parts if isinstance(part, str))
        thought = "".join(part.text for part in parts if isinstance(part, ReasoningPart))
        beside: Json = {"thinking": thought} if thought else {}
        if self._chat:
            if calls := [part for part in parts if isinstance(part, Called)]:
                beside["tool_calls"] = [_call(call) for call in calls]
            said: Json = {"message": {"role": "assistant", "content": content, **beside}}
        else:
            said = {"response": content, **beside}
        if self._wants_logprobs and logprobs:
            said["logprobs"] = [logprob_of_chat(one) for one in logprobs]
        return {**head(self._model), **said}

    def _end(self, finished: Finished) -> Json:
        stats = finished.stats
        return {
            "done": True,
            "done_reason": finish_reason(finished, "stop", "stop", "length"),
            "total_duration": round((time.perf_counter() - self._begun) * _NS),
            "load_duration": 0,
            "prompt_eval_count": stats.prompt_tokens,
            "prompt_eval_duration": round(stats.prompt_s * _NS),
            "eval_count": stats.tokens,
            "eval_duration": round(stats.decode_s * _NS),
            "speculation": speculation(stats),
            **self._warnings,
        }


def head(model: str) -> Json:
    """The common fields of every object."""
    return {"model": model, "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z")}


def loaded(model: str, *, chat: bool, reason: str = "load") -> Json:
    """The answer to a request without a prompt."""
    said: Json = {"message": {"role": "assistant", "content": ""}} if chat else {"response": ""}
    return {**head(model), **said, "done": True, "done_reason": reason}


def _call(call: Called) -> Json:
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = {}
    return {"id": call.call_id, "function": {"name": call.name, "arguments": arguments}}


def _line(value: Json) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
