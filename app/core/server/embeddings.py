"""Embeddings of texts, in the formats of OpenAI, llama.cpp and Ollama."""

from __future__ import annotations

import sys
from array import array
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from app.core.server.errors import ApiError, api_error
from app.core.server.fields import (
    Fields,
    check_text,
    invalid,
    missing,
    unsupported,
    warn,
    warnings_field,
    wrong_type,
)
from app.core.server.protocol import token_ids
from engine.embeddings import Embedded, EmbeddingForm, EmbeddingModel, Pooling, RankPair
from engine.errors import EngineError

Json = dict[str, object]
Input = str | tuple[int | str, ...] | RankPair
MAX_INPUTS = 2048  # per request; OpenAI's limit
_NOT_NORMALIZED, _EUCLIDEAN = -1, 2  # values of llama.cpp's `embd_normalize`
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
    warnings: Json = field(default_factory=dict)  # the field of the answer


# Reads a request; returns it with the builder of its answer.
EmbeddingDialect = Callable[[Json, EmbeddingModel], tuple[EmbeddingRequest, Callable[[list[Embedded]], object]]]


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

    top_n: int | None = None
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
    if query is None:
        raise missing("query")
    name = "texts" if is_tei else "documents"
    given = fields.pop(name)
    if not isinstance(given, list) or not 0 < len(given) <= MAX_INPUTS:
        raise invalid(name, f"`{name}` must be a list of 1 to {MAX_INPUTS:,} texts.")
    texts = tuple(_document(one, f"{name}[{index}]") for index, one in enumerate(given))
    top_n, returns = fields.integer("top_n", 1), fields.boolean("return_text") or fields.boolean("return_documents")
    fields.check_unknown()
    pairs, form = tuple(RankPair(query, text) for text in texts), EmbeddingForm(is_normalized=False)
    return RankRequest(pairs, form, False, warnings_field(), top_n, is_tei, texts if returns else ())


def _document(value: object, param: str) -> str:
    """The text of a document; Cohere's clients send an object with a text."""
    return check_text(param, value.get("text") if isinstance(value, dict) else value)


def as_ranked(request: RankRequest, name: str, embedded: list[Embedded]) -> object:
    ranked = sorted(enumerate(float(one.vectors[0][0]) for one in embedded), key=lambda each: -each[1])
    results = list[Json]()
    for index, score in ranked[: request.top_n]:
        result: Json = {"index": index, "score" if request.is_tei else "relevance_score": score}
        if request.texts:
            text = request.texts[index]
            result |= {"text": text} if request.is_tei else {"document": {"text": text}}
        results.append(result)
    if request.is_tei:
        return results
    return {"model": name, "object": "list", "usage": _usage(embedded), "results": results, **request.warnings}


def _usage(embedded: list[Embedded]) -> Json:
    number = sum(one.num_tokens for one in embedded)
    return {"prompt_tokens": number, "total_tokens": number}


def read_native(body: Json, model: EmbeddingModel) -> EmbeddingRequest:
    """Read the body of a request to ``/embedding`` of llama.cpp's server.

    Raises:
        ApiError: 400, with the name of the wrong field.
    """
    _check_vectors(model)
    fields = _fields(body, model)
    name = "content" if fields.has("content") else "input"
    inputs = _inputs(fields.pop(name), name, model)
    encoding, normalize = fields.text("encoding_format"), fields.integer("embd_normalize")
    if encoding not in (None, "float", "base64"):
        raise invalid("encoding_format", "`encoding_format` must be float or base64.")
    if normalize not in (None, _NOT_NORMALIZED, _EUCLIDEAN):
        raise unsupported("embd_normalize", "`embd_normalize` must be 2 (to the length 1) or -1 (as they are).")
    is_normalized = normalize != _NOT_NORMALIZED and model.pooling is not Pooling.NONE
    form = EmbeddingForm(is_normalized, _dimensions(fields, model))
    fields.check_unknown()
    return EmbeddingRequest(inputs, form, encoding == "base64", warnings_field())


def read_ollama(body: Json, model: EmbeddingModel) -> EmbeddingRequest:
    """Read the body of a request to Ollama's ``/api/embed`` or ``/api/embeddings``. Long texts are truncated.

    Raises:
        ApiError: 400, with the name of the wrong field.
    """
    _check_pooled(model)
    fields = _fields(body, model)
    name = "prompt" if fields.has("prompt") else "input"
    inputs = _inputs(fields.pop(name), name, model)
    fields.pop("options")
    form = EmbeddingForm(dimensions=_dimensions(fields, model), is_cut=fields.boolean("truncate", default=True))
    fields.check_unknown()
    return EmbeddingRequest(inputs, form, warnings=warnings_field())


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
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": _encode_vector(one.vectors[0], is_base64=request.is_base64),
        }
        for index, one in enumerate(embedded)
    ]
    return {"object": "list", "model": name, "data": data, "usage": _usage(embedded), **request.warnings}


def as_native(request: EmbeddingRequest, _name: str, embedded: list[Embedded]) -> list[Json]:
    """The answer of ``/embedding``: a list of vectors for each input (a single one if pooled)."""
    return [
        {"index": index, "embedding": [_encode_vector(vector, is_base64=request.is_base64) for vector in one.vectors]}
        for index, one in enumerate(embedded)
    ]


def as_ollama_legacy(_request: EmbeddingRequest, _name: str, embedded: list[Embedded]) -> Json:
    """The answer of ``/api/embeddings``, which is for a single text."""
    return {"embedding": embedded[0].vectors[0].tolist()}


def as_ollama(request: EmbeddingRequest, name: str, embedded: list[Embedded]) -> Json:
    return {
        "model": name,
        "embeddings": [one.vectors[0].tolist() for one in embedded],
        "total_duration": 0,
        "load_duration": 0,
        "prompt_eval_count": sum(one.num_tokens for one in embedded),
        **request.warnings,
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
    fields.ignore(*_WITHOUT_EFFECT)
    if fields.text("model") not in (None, model.name):
        warn(f"There is no such embedding model here; this server has `{model.name}`.")
    return fields


def _dimensions(fields: Fields, model: EmbeddingModel) -> int | None:
    number = fields.integer("dimensions", 1, model.width)
    if number is None or number == model.width:
        return None
    if model.architecture not in _MATRYOSHKA:
        message = f"This model was not made for `dimensions`: its vectors have {model.width} numbers."
        raise ApiError(400, message, param="dimensions", code="unsupported_value")
    return number


def _inputs(value: object, name: str, model: EmbeddingModel) -> tuple[Input, ...]:
    """Read the inputs: one or several texts or lists of token ids."""
    if value is None:
        raise missing(name)
    is_many = isinstance(value, list) and not any(isinstance(one, int) for one in value)
    given = value if isinstance(value, list) and is_many else [value]
    if not 0 < len(given) <= MAX_INPUTS:
        raise invalid(name, f"`{name}` may have 1 to {MAX_INPUTS:,} inputs.")
    return tuple(_input(one, f"{name}[{index}]" if is_many else name, model) for index, one in enumerate(given))


def _input(value: object, param: str, model: EmbeddingModel) -> Input:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        # The text of llama.cpp's input objects: ``prompt_string``, or the joined parts of ``content``.
        fields = Fields(value, param)
        text, parts = fields.text("prompt_string"), fields.objects("content")
        fields.check_unknown()
        texts = [] if text is None else [text]
        for part in parts:
            if part.text("type") != "text":
                raise unsupported(part.param, f"`{part.param}` is no text, and this server embeds nothing else.")
            texts.append(part.required("text"))
        if not texts:
            raise missing(fields.path("content"))
        return "".join(texts)
    if not isinstance(value, list):
        raise wrong_type(param, "a string, token ids, or an array of such", value)
    token_ids([one for one in value if not isinstance(one, str)], param, model.n_vocab)
    return tuple(value)


def _encode_vector(vector: array[float], *, is_base64: bool) -> str | list[float]:
    if not is_base64:
        return vector.tolist()
    if sys.byteorder == "big":
        vector = vector[:]
        vector.byteswap()
    return b64encode(vector.tobytes()).decode()


def _dialect(
    read: Callable[[Json, EmbeddingModel], Any], build: Callable[[Any, str, list[Embedded]], object]
) -> EmbeddingDialect:
    def parse(body: Json, model: EmbeddingModel) -> tuple[EmbeddingRequest, Callable[[list[Embedded]], object]]:
        asked = read(body, model)
        return asked, partial(build, asked, model.name)

    return parse


def _without_version(body: Json, model: EmbeddingModel) -> tuple[EmbeddingRequest, Callable[[list[Embedded]], object]]:
    return (_OPENAI if "model" in body else _NATIVE)(body, model)


_OPENAI, _NATIVE = _dialect(read_openai, as_openai), _dialect(read_native, as_native)
DIALECTS: dict[str, EmbeddingDialect] = {
    "/v1/embeddings": _OPENAI,
    "/embeddings": _without_version,  # OpenAI's API requires the name of a model
    "/v1/embedding": _NATIVE,
    "/v1/rerank": _dialect(read_rank, as_ranked),
    "/v1/reranking": _dialect(read_rank, as_ranked),
    "/api/embed": _dialect(read_ollama, as_ollama),
    "/api/embeddings": _dialect(read_ollama, as_ollama_legacy),
}
