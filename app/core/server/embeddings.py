"""Embeddings of texts, in the formats of OpenAI, llama.cpp and Ollama."""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.core.server.errors import ApiError, api_error
from app.core.server.fields import Fields, check_text, invalid, missing, unsupported, warn, warnings_so_far, wrong_type
from engine.embeddings import Embedded, EmbeddingForm, EmbeddingModel, Pooling, RankPair
from engine.errors import EngineError

Json = dict[str, object]
Input = str | tuple[int | str, ...] | RankPair
MAX_INPUTS = 2048  # per request; OpenAI's limit
_PLAIN, _EUCLIDEAN = -1, 2  # values of llama.cpp's `embd_normalize`
# Models trained so that the start of a vector is an embedding, too (Matryoshka). No metadata says this.
_MATRYOSHKA = ("gemma-embedding", "jina-bert-v3", "qwen3")
_WITHOUT_EFFECT = ("user", "keep_alive", "id_slot")


class EmbeddingSource(Protocol):
    """Computes vectors; implemented by `engine.process.embedder`."""

    def model(self) -> EmbeddingModel: ...

    def embed(
        self, inputs: Sequence[Input], form: EmbeddingForm, should_stop: Callable[[], bool]
    ) -> list[Embedded]: ...


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    inputs: tuple[Input, ...]
    form: EmbeddingForm
    is_base64: bool = False
    warnings: tuple[str, ...] = ()


# The parser of a request, and the builder of its answer.
Dialect = tuple[Callable[[Json, EmbeddingModel], EmbeddingRequest], Callable[[Any, str, list[Embedded]], object]]


def read_openai(body: Json, model: EmbeddingModel) -> EmbeddingRequest:
    """Read the body of a request to ``/v1/embeddings``.

    Raises:
        ApiError: 400, with the name of the wrong field.
    """
    _check_pooled(model)
    return read_native(body, model)


@dataclass(frozen=True, slots=True)
class RankRequest(EmbeddingRequest):
    """Documents to rank. ``top_n``: maximum results. ``is_tei``: in the format of Text Embeddings Inference."""

    top_n: int = 0
    is_tei: bool = False
    texts: tuple[str, ...] = ()


def read_rank(body: Json, model: EmbeddingModel) -> RankRequest:
    """Read the body of a request to ``/v1/rerank``.

    Raises:
        ApiError: 400, with the name of the wrong field; also if the model is no reranker.
    """
    if model.pooling is not Pooling.RANK:
        message = f"`{model.name}` makes vectors, and ranks nothing: name a reranking model with --embedding-model."
        raise ApiError(400, message, param="model", code="unsupported_value")
    fields = _fields(body, model)
    query, is_tei = fields.text("query"), fields.has("texts")
    name = "texts" if is_tei else "documents"
    given = fields.take(name)
    if query is None:
        raise missing("query")
    if not isinstance(given, list) or not 0 < len(given) <= MAX_INPUTS:
        raise invalid(name, f"`{name}` must be a list of 1 to {MAX_INPUTS:,} texts.")
    texts = tuple(_document(one, f"{name}[{place}]") for place, one in enumerate(given))
    top_n, returns = fields.whole("top_n"), fields.flag("return_text") or fields.flag("return_documents")
    if top_n is not None and top_n < 1:
        raise invalid("top_n", "`top_n` must be 1 or more.")
    fields.end()
    pairs = tuple(RankPair(query, text) for text in texts)
    form = EmbeddingForm(is_normalized=False)
    top_n = min(top_n or len(texts), len(texts))
    return RankRequest(pairs, form, False, warnings_so_far(), top_n, is_tei, texts if returns else ())


def _document(value: object, param: str) -> str:
    """The text of a document; Cohere's clients send an object with a text."""
    return check_text(param, value.get("text") if isinstance(value, dict) else value)


def as_ranked(request: RankRequest, name: str, embedded: list[Embedded]) -> object:
    scores = [(place, float(one.vectors[0][0])) for place, one in enumerate(embedded)]
    label, held = ("score", "text") if request.is_tei else ("relevance_score", "document")
    results = [
        {"index": place, label: score, **({held: _document_object(request, place)} if request.texts else {})}
        for place, score in sorted(scores, key=lambda each: -each[1])[: request.top_n]
    ]
    if request.is_tei:
        return results
    number = sum(one.num_tokens for one in embedded)
    warnings: Json = {"warnings": list(request.warnings)} if request.warnings else {}
    usage = {"prompt_tokens": number, "total_tokens": number}
    return {"model": name, "object": "list", "usage": usage, "results": results, **warnings}


def _document_object(request: RankRequest, place: int) -> object:
    return request.texts[place] if request.is_tei else {"text": request.texts[place]}


def read_native(body: Json, model: EmbeddingModel) -> EmbeddingRequest:
    """Read the body of a request to ``/embedding`` of llama.cpp's server.

    Raises:
        ApiError: 400, with the name of the wrong field.
    """
    _check_vectors(model)
    fields = _fields(body, model)
    name = "content" if fields.has("content") else "input"
    inputs = _inputs(fields.take(name), name, model)
    encoding, normalize = fields.text("encoding_format"), fields.whole("embd_normalize")
    if encoding not in (None, "float", "base64"):
        raise invalid("encoding_format", "`encoding_format` must be float or base64.")
    if normalize not in (None, _PLAIN, _EUCLIDEAN):
        raise unsupported("embd_normalize", "`embd_normalize` must be 2 (to the length 1) or -1 (as they are).")
    is_normalized = normalize != _PLAIN and model.pooling is not Pooling.NONE
    form = EmbeddingForm(is_normalized, _dimensions(fields, model))
    fields.end()
    return EmbeddingRequest(inputs, form, encoding == "base64", warnings_so_far())


def read_ollama(body: Json, model: EmbeddingModel) -> EmbeddingRequest:
    """Read the body of a request to Ollama's ``/api/embed`` or ``/api/embeddings``. Long texts are truncated.

    Raises:
        ApiError: 400, with the name of the wrong field.
    """
    _check_pooled(model)
    fields = _fields(body, model)
    name = "prompt" if fields.has("prompt") else "input"
    inputs = _inputs(fields.take(name), name, model)
    fields.take("options")
    form = EmbeddingForm(dimensions=_dimensions(fields, model), is_cut=fields.flag("truncate", default=True))
    fields.end()
    return EmbeddingRequest(inputs, form, warnings=warnings_so_far())


@dataclass(frozen=True, slots=True)
class EmbeddingCall:
    """A `SessionCall` that computes embeddings; the scheduler runs no answer at the same time."""

    request: EmbeddingRequest
    embedder: EmbeddingSource
    build_answer: Callable[[list[Embedded]], object]

    def __call__(self, _session: object, should_stop: Callable[[], bool]) -> object:
        """Compute the vectors and build the answer.

        Raises:
            ApiError: the embedder failed.
        """
        try:
            return self.build_answer(self.embedder.embed(self.request.inputs, self.request.form, should_stop))
        except EngineError as error:
            raise api_error(error, "input") from error


def as_openai(request: EmbeddingRequest, name: str, embedded: list[Embedded]) -> Json:
    number = sum(one.num_tokens for one in embedded)
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(one.vectors[0], is_base64=request.is_base64)}
        for index, one in enumerate(embedded)
    ]
    warnings: Json = {"warnings": list(request.warnings)} if request.warnings else {}
    usage = {"prompt_tokens": number, "total_tokens": number}
    return {"object": "list", "model": name, "data": data, "usage": usage, **warnings}


def as_native(request: EmbeddingRequest, _name: str, embedded: list[Embedded]) -> list[Json]:
    """The answer of ``/embedding``: a list of vectors for each input (a single one if pooled)."""
    return [
        {"index": index, "embedding": [_encoded(vector, is_base64=request.is_base64) for vector in one.vectors]}
        for index, one in enumerate(embedded)
    ]


def as_ollama_legacy(_request: EmbeddingRequest, _name: str, embedded: list[Embedded]) -> Json:
    """The answer of ``/api/embeddings``, which is for a single text."""
    return {"embedding": embedded[0].vectors[0].tolist()}


def as_ollama(request: EmbeddingRequest, name: str, embedded: list[Embedded]) -> Json:
    warnings: Json = {"warnings": list(request.warnings)} if request.warnings else {}
    return {
        "model": name,
        "embeddings": [one.vectors[0].tolist() for one in embedded],
        "total_duration": 0,
        "load_duration": 0,
        "prompt_eval_count": sum(one.num_tokens for one in embedded),
        **warnings,
    }


def no_embeddings_error() -> ApiError:
    """The error if no embedding model is loaded, with llama.cpp's wording and a status that clients do not retry."""
    message = "This server makes no embeddings: no embedding model was named. Start it with `--embedding-model`."
    return ApiError(404, message, param="model", code="model_not_found", headers={"x-should-retry": "false"})


def _check_pooled(model: EmbeddingModel) -> None:
    _check_vectors(model)
    if model.pooling is Pooling.NONE:
        message = f"`{model.name}` has a vector for each token, not one for a text: start the server with --pooling."
        raise ApiError(400, message, param="model", code="unsupported_value")


def _check_vectors(model: EmbeddingModel) -> None:
    if model.pooling is Pooling.RANK:
        message = f"`{model.name}` ranks documents, and makes no vectors: see `/v1/rerank`."
        raise ApiError(400, message, param="model", code="unsupported_value")


def _fields(body: Json, model: EmbeddingModel) -> Fields:
    fields = Fields(body)
    fields.ignore(_WITHOUT_EFFECT)
    name = fields.text("model")
    if name not in (None, model.name) and not warn(f"Embeddings are made by `{model.name}` here."):
        message = f"There is no such embedding model here; this server has `{model.name}`."
        raise ApiError(404, message, param="model", code="model_not_found")
    return fields


def _dimensions(fields: Fields, model: EmbeddingModel) -> int | None:
    number = fields.whole("dimensions")
    if number is None or number == model.width:
        return None
    if not 1 <= number < model.width:
        raise invalid("dimensions", f"`dimensions` must be from 1 to {model.width}.")
    if model.architecture not in _MATRYOSHKA:
        message = f"This model was not made for `dimensions`: its vectors have {model.width} numbers."
        raise ApiError(400, message, param="dimensions", code="unsupported_value")
    return number


def _inputs(value: object, name: str, model: EmbeddingModel) -> tuple[Input, ...]:
    """Read the inputs: one or several texts or lists of token ids."""
    if value is None:
        raise missing(name)
    is_one = not isinstance(value, list) or any(isinstance(one, int) for one in value)
    given = [value] if is_one else value
    assert isinstance(given, list)  # noqa: S101  (for the type checker)
    if not 0 < len(given) <= MAX_INPUTS:
        raise invalid(name, f"`{name}` may have 1 to {MAX_INPUTS:,} inputs.")
    return tuple(_input(one, name if is_one else f"{name}[{index}]", model) for index, one in enumerate(given))


def _input(value: object, param: str, model: EmbeddingModel) -> Input:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return _text_of(Fields(value, f"{param}."), param)
    if not isinstance(value, list):
        raise wrong_type(param, "a string, token ids, or an array of such", value)
    for one in value:
        if not isinstance(one, str) and (isinstance(one, bool) or not isinstance(one, int)):
            raise wrong_type(param, "token ids", one)
        if not isinstance(one, str) and not 0 <= one < model.n_vocab:
            message = f"`{param}` names an unknown token; this model's ids are 0 to {model.n_vocab - 1}."
            raise invalid(param, message)
    return tuple(value)


def _text_of(fields: Fields, param: str) -> str:
    """The text of llama.cpp's input objects: ``prompt_string``, or the joined parts of ``content``."""
    text, parts = fields.text("prompt_string"), fields.take("content")
    fields.end()
    if text is not None:
        return text
    if not isinstance(parts, list):
        raise wrong_type(f"{param}.content", "an array of text parts", parts)
    texts = []
    for index, part in enumerate(parts):
        at = f"{param}.content[{index}]"
        if not isinstance(part, dict) or part.get("type") != "text":
            raise unsupported(at, f"`{at}` is no text, and this server embeds nothing else.")
        texts.append(check_text(f"{at}.text", part.get("text")))
    return "".join(texts)


def _encoded(vector: array[float], *, is_base64: bool) -> str | list[float]:
    if not is_base64:
        return vector.tolist()
    if sys.byteorder == "big":
        vector = vector[:]
        vector.byteswap()
    return b64encode(vector.tobytes()).decode()
