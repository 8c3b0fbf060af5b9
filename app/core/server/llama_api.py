"""llama.cpp's own API: requests are text completions; answers are objects with llama.cpp's fields.

The API: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from app.core.server.answers import AnswerBuilder, Json, finish_reason, piece_text, sse
from app.core.server.anthropic_api import parse_messages_request
from app.core.server.engine_job import SessionCall
from app.core.server.errors import ApiError
from app.core.server.fields import Fields, as_list, invalid, missing, unsupported, warnings_field, wrong_type
from app.core.server.protocol import CompletionRequest, ServedModel, parse_request, token_ids
from app.core.server.responses_api import parse_response_request
from engine.records import Finished, FinishReason, TextChunk, TokenLogprob

# Fields about cache slots, progress and the size of a response, which do not affect an answer.
_WITHOUT_EFFECT = ("id_slot", "n_keep", "n_discard", "return_progress", "backend_sampling", "response_fields")
_UNLIMITED = (-1, -2)  # values of `n_predict`: unlimited, and until the context is full
MAX_FILES = 256  # maximum number of files in `input_extra`; the last files are used
_CHARS_PER_TOKEN = 8  # more than code has: longer text cannot fit the context


def parse_native_request(body: Json, model: ServedModel) -> CompletionRequest:
    """Read the body of a request to ``/completion``."""
    fields = Fields(body)
    return _parsed(fields, {"prompt": fields.pop("prompt")}, model)


def parse_infill_request(body: Json, model: ServedModel) -> CompletionRequest:
    """Read the body of a request to ``/infill``: the text before and after a gap, and other files."""
    fields = Fields(body)
    before, behind, begun = (fields.text(name) for name in ("input_prefix", "input_suffix", "prompt"))
    if before is None or behind is None:
        raise missing("input_prefix" if before is None else "input_suffix")
    files = _files(fields.objects("input_extra"), _CHARS_PER_TOKEN * model.ready.target.n_ctx)
    try:
        asked = _parsed(fields, {"prompt": before + (begun or ""), "suffix": behind}, model, may_be_empty=True)
    except ApiError as error:
        raise error.renamed((("suffix", "input_suffix"), ("prompt", "input_prefix"))) from error
    return replace(asked, request=replace(asked.request, files=files))


def _parsed(fields: Fields, given: Json, model: ServedModel, *, may_be_empty: bool = False) -> CompletionRequest:
    fields.ignore(*_WITHOUT_EFFECT)
    if fields.pop("image_data"):
        raise unsupported("image_data", "`image_data` is not read: send pictures as the messages of a chat.")
    number, likeliest = fields.integer("n_predict"), fields.integer("n_probs")
    wants_tokens = fields.boolean("return_tokens")
    bias = _bias(fields.pop("logit_bias"))
    rest = fields.remaining()
    if number is not None:
        rest["max_tokens"] = -1 if number in _UNLIMITED else number
    has_ids = wants_tokens and rest.get("stream") is True  # a stream sends ids with the probabilities
    renamed = {"logprobs": likeliest or (0 if has_ids else None), "logit_bias": bias}
    try:
        asked = parse_request(
            {**rest, **given, **renamed}, model, chat=False, may_be_empty=may_be_empty, max_temperature=math.inf
        )
    except ApiError as error:
        raise error.renamed((("max_tokens", "n_predict"), ("logprobs", "n_probs"))) from error
    return replace(asked, extras={"wants_tokens": wants_tokens})


def _files(given: list[Fields], max_chars: int) -> tuple[tuple[str, str], ...]:
    """Names and texts of the project's other files: the last ones, limited in characters."""
    files, num_chars = list[tuple[str, str]](), 0
    for fields in reversed(given[-MAX_FILES:]):
        text, name = fields.text("text"), fields.text("filename")
        if text is None:
            raise missing(fields.path("text"))
        if (num_chars := num_chars + len(text)) > max_chars:
            break
        files.insert(0, (name or "tmp", text))
    return tuple(files)


def _bias(value: object) -> object:
    """Convert pairs to OpenAI's object; False bans a token."""
    if not isinstance(value, list):
        return value
    found: Json = {}
    for pair in value:
        token, bias = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
        if isinstance(token, bool) or not isinstance(token, int):
            raise wrong_type("logit_bias", "an object, or an array of pairs of a token id and a number")
        found[str(token)] = -100.0 if bias is False else bias
    return found


# ---- answers --------------------------------------------------------------------------------------------------------


class CompletionBuilder(AnswerBuilder):
    """Builds the answer of one request."""

    def __init__(self, model: str, asked: CompletionRequest) -> None:
        super().__init__(model, asked)
        self._num_tokens = 0
        self._has_new_line = False

    def whole(self, texts: Iterable[TextChunk], finished: Finished) -> Json:
        chunks = list(texts)
        content = "".join(chunk.text for chunk in chunks)
        self._has_new_line = "\n" in content
        probable = _probabilities([one for chunk in chunks for one in chunk.logprobs])
        return self._end(content, finished) | probable

    def text_chunks(self, chunk: TextChunk) -> list[bytes]:
        self._num_tokens += len(chunk.spans)
        self._has_new_line = self._has_new_line or "\n" in chunk.text
        said: Json = {
            "index": 0,
            "content": chunk.text,
            "tokens": [one.token_id for one in chunk.logprobs],
            "stop": False,
            "id_slot": 0,
            "tokens_predicted": self._num_tokens,
        }
        probable = _probabilities(chunk.logprobs) if self._asked.request.top_logprobs else {}
        return [sse(said | probable)]

    def last_chunks(self, finished: Finished) -> list[bytes]:
        return [sse(self._end("", finished))]

    def _end(self, content: str, finished: Finished) -> Json:
        request, stats = self._asked.request, finished.stats
        return {
            "index": 0,
            "content": content,
            "tokens": list(finished.token_ids) if self._asked.extras["wants_tokens"] else [],
            "id_slot": 0,
            "stop": True,
            "model": self._model,
            "tokens_predicted": stats.tokens,
            "tokens_evaluated": stats.prompt_tokens,
            "prompt": list(request.raw_ids) or request.raw_prompt,
            "has_new_line": self._has_new_line,
            "truncated": False,
            "stop_type": finish_reason(finished, "eos", "word", "limit"),
            "stopping_word": finished.stop if finished.reason is FinishReason.STOP else "",
            "tokens_cached": stats.prompt_tokens + stats.tokens,
            **self._metrics(stats),
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
    return {"id": token_id, "token": piece_text(piece), "bytes": list(piece), "logprob": logprob}


if TYPE_CHECKING:
    from engine.records import ChatRequest
    from engine.session.session import Session

MAX_CONTENT_CHARS = 200_000  # tokenizing so many takes up to two seconds, while other requests wait
_COUNT = "response.input_tokens"  # the ``object`` field of OpenAI's token counts
BodyReader = Callable[[Json, ServedModel], SessionCall]  # returns a call whose result is the response's JSON


def read_tokenize(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/tokenize``: a text, or a list that mixes texts and token ids."""
    fields, content = _required_field(body, "content")
    adds_special, special = fields.boolean("add_special"), fields.boolean("parse_special", default=True)
    fields.check_unknown()
    parts = content if isinstance(content, list) else [content]
    if sum(len(part) for part in parts if isinstance(part, str)) > MAX_CONTENT_CHARS:
        raise invalid("content", f"`content` may have {MAX_CONTENT_CHARS:,} characters at most; send it in parts.")
    for index, part in enumerate(parts):
        if not isinstance(part, str):
            token_ids([part], f"content[{index}]" if isinstance(content, list) else "content", model.n_vocab)
    return partial(_tokenize, parts, special, adds_special, warnings_field())


def read_detokenize(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/detokenize``."""
    fields, given = _required_field(body, "tokens")
    fields.check_unknown()
    ids = token_ids(as_list("tokens", given), "tokens", model.n_vocab)
    return partial(_detokenize, ids, warnings_field())


def read_template(body: Json, model: ServedModel) -> SessionCall:
    """Read the body of a request to ``/apply-template``, in the format of ``/v1/chat/completions``."""
    request = parse_request(body, model, chat=True).request
    return partial(_prompt, request, warnings_field())


def read_count(
    body: Json, model: ServedModel, *, parse: Callable[[Json, ServedModel], CompletionRequest], kind: str = ""
) -> SessionCall:
    """Read the body of a token count, in the format of the requests that ``parse`` reads."""
    request = parse(body, model).request
    return partial(_count, request, {"object": kind, **warnings_field()} if kind else {})


# These functions run on the engine's thread, which may be in another process.


def _tokenize(
    parts: Sequence[object],
    special: bool,
    adds_special: bool,
    warnings: Json,
    session: Session,
    _should_stop: object,
) -> Json:
    ids = list[int]()
    for index, part in enumerate(parts):
        if isinstance(part, str):
            ids += session.prompts.tokens_of(part, special, adds_special and not index)
        elif isinstance(part, int):
            ids.append(part)
    return {"tokens": ids, **warnings}


def _detokenize(ids: Sequence[int], warnings: Json, session: Session, _should_stop: object) -> Json:
    return {"content": b"".join(session.prompts.bytes_of(ids)).decode("utf-8", "replace"), **warnings}


def _prompt(request: ChatRequest, warnings: Json, session: Session, _should_stop: object) -> Json:
    return {"prompt": session.prompts.text_of(request), **warnings}


def _count(request: ChatRequest, fields: Json, session: Session, _should_stop: object) -> Json:
    return {**fields, "input_tokens": len(session.prompt_ids(request))}


def _required_field(body: Json, name: str) -> tuple[Fields, object]:
    """The fields of a request, and the value of a required one."""
    fields = Fields(body)
    fields.text("model")
    if (value := fields.pop(name)) is None:
        raise missing(name)
    return fields, value


READERS: dict[str, BodyReader] = {
    "/v1/chat/completions/input_tokens": partial(read_count, parse=partial(parse_request, chat=True), kind=_COUNT),
    "/v1/responses/input_tokens": partial(read_count, parse=parse_response_request, kind=_COUNT),
    "/v1/messages/count_tokens": partial(read_count, parse=parse_messages_request),
    "/v1/tokenize": read_tokenize,
    "/v1/detokenize": read_detokenize,
    "/v1/apply-template": read_template,
}
