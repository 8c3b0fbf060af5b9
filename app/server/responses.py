"""Answers as OpenAI's API gives them, whole or in chunks, with llama.cpp's ``timings`` and what speculation did."""

from __future__ import annotations

import json
import time
import uuid

import app
from engine.records import Finished, FinishReason, RunStats, Source

DONE = b"data: [DONE]\n\n"
_FINISH_REASONS = {
    FinishReason.END: "stop",
    FinishReason.STOP: "stop",
    FinishReason.LENGTH: "length",
    FinishReason.CONTEXT: "length",
}


def sse(value: object) -> bytes:
    """One server-sent event."""
    return f"data: {json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def usage(stats: RunStats) -> dict[str, object]:
    """Tokens, as OpenAI counts them."""
    return {
        "prompt_tokens": stats.prompt_tokens,
        "completion_tokens": stats.tokens,
        "total_tokens": stats.prompt_tokens + stats.tokens,
        "prompt_tokens_details": {"cached_tokens": stats.prompt_cached_tokens},
    }


def timings(stats: RunStats) -> dict[str, float | None]:
    """Milliseconds and rates by the names of llama.cpp's server, and the tokens per pass; None for what is not known.

    As there, ``prompt_n`` are the tokens that were decoded, without those of the cache.
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


def speculation(stats: RunStats) -> dict[str, object]:
    """What speculation did for an answer; ``provenance`` counts its tokens by where they came from."""
    return {
        "mode": stats.mode.value,
        "passes": stats.passes,
        "tokens_per_pass": stats.tokens_per_pass,
        "proposed": stats.proposed,
        "accepted": stats.accepted,
        "acceptance_rate": stats.acceptance_rate,
        "provenance": {source.value: stats.provenance.get(source, 0) for source in Source},
        "speedup": stats.speedup,
        "decisions": list(stats.decisions),
    }


class ResponseBuilder:
    """Makes the objects of one answer, which share an id: of a chat, or of a text that goes on.

    Where a stream is to end with its ``usage``, all chunks before have the field, too, with null.
    """

    def __init__(self, model: str, *, chat: bool, include_usage: bool = False) -> None:
        self._model = model
        self._chat = chat
        self._include_usage = include_usage
        self._id = f"{'chatcmpl' if chat else 'cmpl'}-{uuid.uuid4().hex}"
        self._created = int(time.time())

    def whole(self, text: str, finished: Finished) -> dict[str, object]:
        """The answer in one object."""
        said: dict[str, object] = (
            {"message": {"role": "assistant", "content": text, "refusal": None}} if self._chat else {"text": text}
        )
        choice = {"index": 0, **said, "logprobs": None, "finish_reason": _FINISH_REASONS[finished.reason]}
        return {**self._head(is_chunk=False), "choices": [choice], **self._figures(finished.stats)} | {
            "usage": usage(finished.stats)
        }

    def first_chunks(self) -> list[bytes]:
        """What comes before the text: in a chat, who speaks."""
        return [self._chunk({"delta": {"role": "assistant", "content": ""}})] if self._chat else []

    def text_chunk(self, text: str) -> bytes:
        """A piece of the text."""
        return self._chunk({"delta": {"content": text}} if self._chat else {"text": text})

    def last_chunks(self, finished: Finished) -> list[bytes]:
        """Why it ended, with the figures; the usage where it was asked for; the mark of the end."""
        ending: dict[str, object] = {"delta": {}} if self._chat else {"text": ""}
        reason = _FINISH_REASONS[finished.reason]
        chunks = [self._chunk(ending, reason, self._figures(finished.stats))]
        if self._include_usage:
            chunks.append(sse({**self._head(is_chunk=True), "choices": [], "usage": usage(finished.stats)}))
        return [*chunks, DONE]

    def _chunk(
        self, said: dict[str, object], reason: str | None = None, figures: dict[str, object] | None = None
    ) -> bytes:
        choice = {"index": 0, **said, "logprobs": None, "finish_reason": reason}
        asked = {"usage": None} if self._include_usage else {}
        return sse({**self._head(is_chunk=True), "choices": [choice], **(figures or {}), **asked})

    def _head(self, *, is_chunk: bool) -> dict[str, object]:
        kind = ("chat.completion.chunk" if is_chunk else "chat.completion") if self._chat else "text_completion"
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._model,
            "system_fingerprint": f"paceline-{app.__version__}",
        }

    @staticmethod
    def _figures(stats: RunStats) -> dict[str, object]:
        return {"timings": timings(stats), "speculation": speculation(stats)}
