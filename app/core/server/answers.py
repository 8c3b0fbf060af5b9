"""Answers in OpenAI's API, whole or in chunks, with llama.cpp's ``timings`` and the counters of speculation."""

import json
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterable

import app
from app.core.domain.speed.verdict import answer_verdict
from app.core.server.errors import ApiError
from app.core.server.protocol import CompletionRequest
from app.core.tools.answer_parts import AnswerParts, Part, ReasoningPart
from app.core.tools.output import CallBegun, CallText
from engine.records import Finished, FinishReason, RunStats, Source, TextChunk, TokenLogprob, ToolCall

DONE = b"data: [DONE]\n\n"
TEXT, REASONING, CALL = "text", "reasoning", "call"  # kinds of blocks
Json = dict[str, object]


def finish_reason(finished: Finished, end: str, stop: str, cut: str) -> str:
    """``end`` if the model ended the answer, ``stop`` if a stop string did, ``cut`` if the length limit did."""
    if finished.reason in (FinishReason.LENGTH, FinishReason.CONTEXT):
        return cut
    return stop if finished.reason is FinishReason.STOP else end


def sse(value: object, kind: str = "") -> bytes:
    """One server-sent event; ``kind`` is its name in APIs that name events."""
    head = f"event: {kind}\n" if kind else ""
    return f"{head}data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def usage(stats: RunStats, num_reasoning: int = 0) -> Json:
    """Token usage in OpenAI's format, with the number of reasoning tokens."""
    return {
        "prompt_tokens": stats.prompt_tokens,
        "completion_tokens": stats.tokens,
        "total_tokens": stats.prompt_tokens + stats.tokens,
        "prompt_tokens_details": {"cached_tokens": stats.prompt_cached_tokens},
        "completion_tokens_details": {
            "reasoning_tokens": num_reasoning,
            "accepted_prediction_tokens": stats.predicted_accepted,
            "rejected_prediction_tokens": stats.predicted_proposed - stats.predicted_accepted,
        },
    }


def timings(stats: RunStats) -> dict[str, float | None]:
    """Milliseconds and rates by the names of llama.cpp's server, and the tokens per pass; None if unknown.

    As in llama.cpp, ``prompt_n`` excludes cached tokens.
    """
    decoded = stats.prompt_tokens - stats.prompt_cached_tokens
    prompt_ms, predicted_ms = stats.prompt_s * 1000.0, stats.decode_s * 1000.0
    return {
        "cache_n": stats.prompt_cached_tokens,
        "prompt_n": decoded,
        "prompt_ms": prompt_ms,
        "prompt_per_token_ms": prompt_ms / decoded if decoded > 0 else None,
        "prompt_per_second": stats.prompt_tokens_per_second,
        "predicted_n": stats.tokens,
        "predicted_ms": predicted_ms,
        "predicted_per_token_ms": predicted_ms / stats.tokens if stats.tokens else None,
        "predicted_per_second": stats.tokens_per_second,
        "draft_n": stats.proposed,
        "draft_n_accepted": stats.accepted,
        "tokens_per_pass": stats.tokens_per_pass,
    }


def speculation(stats: RunStats) -> Json:
    """The counters of speculation; ``provenance`` counts tokens by source.

    ``looped_tokens`` is the number of repeated tokens if repetition ended the answer, else 0.

    ``forced`` tokens are proposed where a grammar allows only one; they count as n-gram tokens.
    """
    return {
        "mode": stats.mode.value,
        "passes": stats.passes,
        "tokens_per_pass": stats.tokens_per_pass,
        "proposed": stats.proposed,
        "accepted": stats.accepted,
        "acceptance_rate": stats.acceptance_rate,
        "forced": {"proposed": stats.forced_proposed, "accepted": stats.forced_accepted},
        "provenance": {source.value: stats.provenance.get(source, 0) for source in Source},
        "speedup": answer_verdict(stats).speedup,
        "looped_tokens": stats.looped,
        "decisions": list(stats.decisions),
    }


class AnswerBuilder(ABC):
    """Builds the answer of one request in the format of an API, whole or as the chunks of a stream."""

    media_type = "text/event-stream"

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        self._model, self._asked = model, asked
        self._warnings: Json = {"warnings": list(asked.warnings)} if asked.warnings else {}
        self._parts = self._new_parts()

    @abstractmethod
    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json: ...

    def first_chunks(self, _num_prompt: int | None = None) -> list[bytes]:
        return []

    @abstractmethod
    def text_chunks(self, chunk: TextChunk) -> list[bytes]: ...

    @abstractmethod
    def last_chunks(self, finished: Finished) -> list[bytes]: ...

    def failed_chunks(self, error: ApiError) -> list[bytes]:
        return [sse(error.body)]

    def keep_alive(self, *, is_begun: bool) -> bytes:  # noqa: ARG002  (only one API needs it)
        return b":\n\n"

    def _metrics(self, stats: RunStats) -> Json:
        return {"timings": timings(stats), "speculation": speculation(stats), **self._warnings}

    def _new_parts(self) -> AnswerParts | None:
        """The reader of reasoning and calls; None for a text completion, which has neither."""
        asked = self._asked
        return AnswerParts(asked.tool_names, asked.tool_schemas, streams=asked.stream) if asked.chat else None

    def _read(self, chunk: TextChunk) -> list[Part]:
        if self._parts is None:
            return [chunk.text] if chunk.text else []
        return self._parts.feed(chunk)

    def _rest(self) -> list[Part]:
        return [] if self._parts is None else self._parts.flush()

    def _read_all(self, texts: Iterable[TextChunk]) -> list[Part]:
        return [*(part for chunk in texts for part in self._read(chunk)), *self._rest()]

    def _reason(self, finished: Finished, end: str, stop: str, cut: str, call: str) -> str:
        """Like `finish_reason`; ``call`` if the answer calls tools and was not cut."""
        is_call = self._parts is not None and self._parts.num_calls and finished.reason is not FinishReason.LENGTH
        return call if is_call else finish_reason(finished, end, stop, cut)


class ResponseBuilder(AnswerBuilder):
    """Builds answers of chats and text completions of OpenAI's API."""

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        super().__init__(model, asked)
        self._chat = asked.chat
        self._id = f"{'chatcmpl' if self._chat else 'cmpl'}-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._num_calls = 0
        self._num_chars = 0  # characters of a text completion so far
        self._logprobs: list[TokenLogprob] = []  # logprobs of tokens whose text is held back

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        chunks = list(texts)
        logprobs = self._reported_logprobs([one for chunk in chunks for one in chunk.logprobs])
        parts = self._read_all(chunks)
        content: Json = {"message": _message(parts)} if self._chat else {"text": text_in(parts)}
        choice = {"index": 0, **content, "logprobs": logprobs, "finish_reason": self._finish_reason(finished)}
        figures = self._metrics(finished.stats) | {"usage": self._usage(finished.stats)}
        return {**self._head(is_chunk=False), "choices": [choice], **figures}

    def first_chunks(self, _num_prompt: int | None = None) -> list[bytes]:
        return [self._chunk({"delta": {"role": "assistant", "content": ""}})] if self._chat else []

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        self._logprobs += chunk.logprobs
        return self._pieces(self._read(chunk) if self._chat else [chunk.text])

    def last_chunks(self, finished: Finished) -> list[bytes]:
        chunks = self._pieces(self._rest())
        ending: Json = {"delta": {}} if self._chat else {"text": ""}
        chunks.append(self._chunk(ending, self._finish_reason(finished), self._metrics(finished.stats)))
        if self._asked.include_usage:
            chunks.append(sse({**self._head(is_chunk=True), "choices": [], "usage": self._usage(finished.stats)}))
        return [*chunks, DONE]

    def _usage(self, stats: RunStats) -> Json:
        return usage(stats, 0 if self._parts is None else self._parts.num_reasoning_tokens)

    def _finish_reason(self, finished: Finished) -> str:
        return self._reason(finished, "stop", "stop", "length", "tool_calls")

    def _pieces(self, parts: Iterable[Part]) -> list[bytes]:
        chunks = list[bytes]()
        for part in parts:
            if isinstance(part, str):
                chunks.append(self._delta({"delta": {"content": part}} if self._chat else {"text": part}))
                continue
            if isinstance(part, ReasoningPart):
                chunks.append(self._delta({"delta": {"reasoning_content": part.text}}))
                continue
            if not isinstance(part, CallText):
                self._num_calls += 1
                chunks.append(self._call(_as_call(ToolCall(part.call_id, part.name, ""))))
            if not isinstance(part, CallBegun):
                more = part.text if isinstance(part, CallText) else part.arguments
                chunks.append(self._call({"function": {"arguments": more}}))
        return chunks

    def _call(self, changes: Json) -> bytes:
        """A piece of the current call."""
        return self._chunk({"delta": {"tool_calls": [{"index": self._num_calls - 1, **changes}]}})

    def _delta(self, content: Json) -> bytes:
        logprobs, self._logprobs = self._logprobs, []
        return self._chunk(content, logprobs=self._reported_logprobs(logprobs) if logprobs else None)

    def _reported_logprobs(self, logprobs: list[TokenLogprob]) -> Json | None:
        if self._asked.request.top_logprobs is None:
            return None
        if self._chat:
            return {"content": [logprob_of_chat(one) for one in logprobs], "refusal": None}
        reported, self._num_chars = _logprobs_of_text(logprobs, self._num_chars)
        return reported

    def _chunk(
        self, content: Json, reason: str | None = None, figures: Json | None = None, logprobs: Json | None = None
    ) -> bytes:
        choice = {"index": 0, **content, "logprobs": logprobs, "finish_reason": reason}
        asked = {"usage": None} if self._asked.include_usage else {}
        return sse({**self._head(is_chunk=True), "choices": [choice], **(figures or {}), **asked})

    def _head(self, *, is_chunk: bool) -> Json:
        kind = ("chat.completion.chunk" if is_chunk else "chat.completion") if self._chat else "text_completion"
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._model,
            "system_fingerprint": f"paceline-{app.__version__}",
        }


class BlockBuilder(AnswerBuilder):
    """Builds an answer of blocks: reasoning, texts and calls, each of which is opened, written and closed."""

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        super().__init__(model, asked)
        self._blocks: list[Json] = []
        self._open_kind = ""  # kind of the last block while it is open: `TEXT`, `REASONING` or `CALL`
        self._text = ""  # text of the last block so far

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        return self._events_of(self._read(chunk))

    @abstractmethod
    def _opened(self, kind: str, call: CallBegun | ToolCall | None) -> list[bytes]:
        """Append a block to `_blocks`; returns its events."""

    @abstractmethod
    def _delta(self, kind: str, text: str) -> bytes: ...

    @abstractmethod
    def _closed(self, kind: str, status: str) -> list[bytes]:
        """Write `_text` to the last block; returns its events."""

    def _events_of(self, parts: Iterable[Part]) -> list[bytes]:
        events = list[bytes]()
        for part in parts:
            if isinstance(part, CallBegun | ToolCall):
                events += self._open(CALL, part)
            if isinstance(part, ToolCall):
                events += [*self._write(CALL, part.arguments), *self._close()]
            elif isinstance(part, CallText):
                events += self._write(CALL, part.text)
            elif isinstance(part, ReasoningPart):
                events += self._write(REASONING, part.text)
            elif isinstance(part, str):
                events += self._write(TEXT, part)
        return events

    def _open(self, kind: str, call: CallBegun | ToolCall | None = None) -> list[bytes]:
        ended, self._open_kind, self._text = self._close(), kind, ""
        return [*ended, *self._opened(kind, call)]

    def _write(self, kind: str, text: str) -> list[bytes]:
        events = [] if self._open_kind == kind else self._open(kind)
        self._text += text
        return [*events, self._delta(kind, text)]

    def _close(self, status: str = "completed") -> list[bytes]:
        kind, self._open_kind = self._open_kind, ""
        return self._closed(kind, status) if kind else []


def text_in(parts: Iterable[Part]) -> str:
    return "".join(part for part in parts if isinstance(part, str))


def reasoning_in(parts: Iterable[Part]) -> str:
    return "".join(part.text for part in parts if isinstance(part, ReasoningPart))


def _message(parts: list[Part]) -> Json:
    content = text_in(parts)
    message: Json = {"role": "assistant", "content": content, "refusal": None}
    if reasoning := reasoning_in(parts):
        message["reasoning_content"] = reasoning
    if calls := [_as_call(part) for part in parts if isinstance(part, ToolCall)]:
        message |= {"content": content or None, "tool_calls": calls}
    return message


def _as_call(call: ToolCall) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.call_id, "type": "function", "function": function}


def piece_text(piece: bytes) -> str:
    return piece.decode("utf-8", "replace")


def logprob_of_chat(one: TokenLogprob) -> Json:
    """A token's probability in the format of chats and responses."""
    top = [{"token": piece_text(piece), "logprob": logprob, "bytes": list(piece)} for piece, logprob in one.top]
    return {"token": piece_text(one.piece), "logprob": one.logprob, "bytes": list(one.piece), "top_logprobs": top}


def _logprobs_of_text(logprobs: list[TokenLogprob], num_chars: int) -> tuple[Json, int]:
    """Logprobs in the format of text completions; ``num_chars`` characters precede the tokens."""
    tokens = [piece_text(one.piece) for one in logprobs]
    offsets = [num_chars]
    for token in tokens:
        offsets.append(offsets[-1] + len(token))
    reported: Json = {
        "tokens": tokens,
        "token_logprobs": [one.logprob for one in logprobs],
        "top_logprobs": [{piece_text(piece): logprob for piece, logprob in one.top} for one in logprobs],
        "text_offset": offsets[:-1],
    }
    return reported, offsets[-1]
