"""Formats answers for llama.cpp's own API, whole or as server-sent events."""

from __future__ import annotations

from collections.abc import Iterable

from app.core.server.llama.request import NativeRequest
from app.core.server.responses import AnswerBuilder, finish_reason, shown_piece, sse
from engine.records import ChatRequest, Finished, FinishReason, TextChunk, TokenLogprob

Json = dict[str, object]


class CompletionBuilder(AnswerBuilder):
    """Builds the answers of one request one by one."""

    def __init__(self, model: str, made: NativeRequest) -> None:
        super().__init__(made.asked)
        self._model, self._made = model, made
        self._requests = (made.asked.request, *made.asked.more)
        self._index = 0
        self._num_tokens = 0
        self._has_new_line = False

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        chunks = list(texts)
        content = "".join(chunk.text for chunk in chunks)
        self._has_new_line = "\n" in content
        probable = _probabilities([one for chunk in chunks for one in chunk.logprobs])
        return self._selected(self._end(content, finished) | probable)

    def combined(self, answers: list[Json]) -> Json | list[Json]:
        return answers[0] if len(answers) == 1 else answers

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        self._num_tokens += len(chunk.spans)
        self._has_new_line = self._has_new_line or "\n" in chunk.text
        said: Json = {
            "index": self._index,
            "content": chunk.text,
            "tokens": [one.token_id for one in chunk.logprobs],
            "stop": False,
            "id_slot": 0,
            "tokens_predicted": self._num_tokens,
        }
        probable = _probabilities(chunk.logprobs) if self._requests[self._index].top_logprobs else {}
        return [sse(said | probable)]

    def last_chunks(self, finished: Finished) -> list[bytes]:
        return [sse(self._selected(self._end("", finished)))]

    def _end(self, content: str, finished: Finished) -> Json:
        request, stats = self._requests[self._index], finished.stats
        said: Json = {
            "index": self._index,
            "content": content,
            "tokens": list(finished.token_ids) if self._made.wants_tokens else [],
            "id_slot": 0,
            "stop": True,
            "model": self._model,
            "tokens_predicted": stats.tokens,
            "tokens_evaluated": stats.prompt_tokens,
            "generation_settings": _settings(request, stream=self._made.asked.stream),
            "prompt": self._made.prompts[self._index],
            "has_new_line": self._has_new_line,
            "truncated": False,
            "stop_type": finish_reason(finished, "eos", "word", "limit"),
            "stopping_word": finished.stop if finished.reason is FinishReason.STOP else "",
            "tokens_cached": stats.prompt_tokens + stats.tokens,
            **self._metrics(stats),
        }
        self._index, self._num_tokens, self._has_new_line = self._index + 1, 0, False
        return said

    def _selected(self, said: Json) -> Json:
        """Select the requested fields by their paths; missing fields are omitted."""
        if not self._made.response_fields:
            return said
        found: Json = {}
        for path in self._made.response_fields:
            value: object = said
            for name in path.split("/"):
                value = value.get(name) if isinstance(value, dict) else None
            if value is not None:
                found[path] = value
        return found


def _settings(request: ChatRequest, *, stream: bool) -> Json:
    """The settings with llama.cpp's names; -1 means unlimited or unset."""
    sampling, number = request.sampling, -1 if request.max_tokens is None else request.max_tokens
    return {
        "seed": -1 if sampling.seed is None else sampling.seed,
        "temperature": sampling.temperature,
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "repeat_last_n": sampling.penalty_last_n,
        "repeat_penalty": sampling.repeat_penalty,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "logit_bias": [{"token": token, "bias": bias} for token, bias in sampling.logit_bias],
        "stop": list(request.stop),
        "max_tokens": number,
        "n_predict": number,
        "ignore_eos": request.ignore_eos,
        "stream": stream,
        "n_probs": request.top_logprobs or 0,
        "grammar": request.grammar,
    }


def _probabilities(logprobs: Iterable[TokenLogprob]) -> Json:
    """Token probabilities with llama.cpp's field name; empty if none were requested."""
    told = [
        {
            **_one(one.token_id, one.piece, one.logprob),
            "top_logprobs": [_one(number, *top) for number, top in zip(one.top_ids, one.top, strict=True)],
        }
        for one in logprobs
    ]
    return {"completion_probabilities": told} if told else {}


def _one(token_id: int, piece: bytes, logprob: float) -> Json:
    return {"id": token_id, "token": shown_piece(piece), "bytes": list(piece), "logprob": logprob}
