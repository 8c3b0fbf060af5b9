"""Embeddings of texts, in the formats of OpenAI, llama.cpp and Ollama."""

from __future__ import annotations

from array import array
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from app.core.server.errors import ApiError, api_error
from app.core.server.fields import (
    Fields,
    invalid,
    missing,
    unsupported,
    warn,
    warnings_field,
    wrong_type,
)
from app.core.server.protocol import token_ids
from engine.embeddings import Embedded, EmbeddingForm, EmbeddingModel, Pooling
from engine.errors import EngineError

Json = dict[str, object]
Input = str | tuple[int | str, ...]
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


# The inputs of a request, how to embed them, and a function that builds the response of their vectors.
ParsedRequest = tuple[tuple[Input, ...], EmbeddingForm, Callable[[list[Embedded]], object]]


@dataclass(frozen=True, slots=True)
class EmbeddingCall:
    """A `SessionCall` that computes embeddings; the scheduler runs no answer at the same time."""

    embedder: EmbeddingSource
    inputs: tuple[Input, ...]
    form: EmbeddingForm

    def __call__(self, _session: object, should_stop: Callable[[], bool]) -> list[Embedded]:
        """Compute the vectors.

        Raises:
            ApiError: the embedder failed.
        """
        try:
            return self.embedder.embed(self.inputs, self.form, should_stop)
        except EngineError as error:
            raise api_error(error, "input") from error


# These functions read the body of a request.
# They raise `ApiError` 400, with the name of the wrong field; also if the model cannot do what is asked for.


def read_openai(body: Json, model: EmbeddingModel) -> ParsedRequest:
    _check_pooled(model)
    inputs, form, encode = _read_inputs(body, model)
    warnings = warnings_field()

    def build(embedded: list[Embedded]) -> object:
        data = [
            {"object": "embedding", "index": index, "embedding": encode(one.vectors[0])}
            for index, one in enumerate(embedded)
        ]
        return {"object": "list", "model": model.name, "data": data, "usage": _usage(embedded), **warnings}

    return inputs, form, build


def read_native(body: Json, model: EmbeddingModel) -> ParsedRequest:
    """The response has a list of vectors for each input (a single one if pooled)."""
    inputs, form, encode = _read_inputs(body, model)
    return (
        inputs,
        form,
        lambda embedded: [
            {"index": index, "embedding": [encode(vector) for vector in one.vectors]}
            for index, one in enumerate(embedded)
        ],
    )


def read_ollama(body: Json, model: EmbeddingModel, *, is_single: bool = False) -> ParsedRequest:
    """Long texts are truncated. ``is_single``: the response of ``/api/embeddings``, which is for a single text."""
    _check_pooled(model)
    fields = _fields(body, model)
    inputs = _inputs(fields, "prompt", model)
    fields.pop("options")
    form = EmbeddingForm(dimensions=_dimensions(fields, model), is_cut=fields.boolean("truncate", default=True))
    fields.check_unknown()
    warnings = warnings_field()

    def build(embedded: list[Embedded]) -> object:
        vectors = [one.vectors[0].tolist() for one in embedded]
        if is_single:
            return {"embedding": vectors[0]}
        counts = {"total_duration": 0, "load_duration": 0, "prompt_eval_count": _num_tokens(embedded)}
        return {"model": model.name, "embeddings": vectors, **counts, **warnings}

    return inputs, form, build


def _num_tokens(embedded: list[Embedded]) -> int:
    return sum(one.num_tokens for one in embedded)


def _usage(embedded: list[Embedded]) -> Json:
    return {"prompt_tokens": _num_tokens(embedded), "total_tokens": _num_tokens(embedded)}


def _read_inputs(
    body: Json, model: EmbeddingModel
) -> tuple[tuple[Input, ...], EmbeddingForm, Callable[[array[float]], object]]:
    """Read the fields of OpenAI's and llama.cpp's requests; the last result encodes a vector."""
    if model.pooling is Pooling.RANK:
        raise _no_vectors_error(model)
    fields = _fields(body, model)
    inputs = _inputs(fields, "content", model)
    encoding, normalize = fields.text("encoding_format"), fields.integer("embd_normalize")
    if encoding not in (None, "float", "base64"):
        raise invalid("encoding_format", "`encoding_format` must be float or base64.")
    if normalize not in (None, _NOT_NORMALIZED, _EUCLIDEAN):
        raise unsupported("embd_normalize", "`embd_normalize` must be 2 (to the length 1) or -1 (as they are).")
    is_normalized = normalize != _NOT_NORMALIZED and model.pooling is not Pooling.NONE
    form = EmbeddingForm(is_normalized, _dimensions(fields, model))
    fields.check_unknown()
    if encoding == "base64":
        return inputs, form, lambda vector: b64encode(vector.tobytes()).decode()
    return inputs, form, array.tolist


def no_embeddings_error() -> ApiError:
    """The error if no embedding model is loaded, with llama.cpp's wording and a status that clients do not retry."""
    message = "This server makes no embeddings: no embedding model was named. Start it with `--embedding-model`."
    return ApiError(404, message, param="model", code="model_not_found", headers={"x-should-retry": "false"})


def _check_pooled(model: EmbeddingModel) -> None:
    if model.pooling is Pooling.RANK:
        raise _no_vectors_error(model)
    if model.pooling is Pooling.NONE:
        message = f"`{model.name}` has a vector for each token, not one for a text."
        raise unsupported("model", message)


def _no_vectors_error(model: EmbeddingModel) -> ApiError:
    return unsupported("model", f"`{model.name}` ranks documents, and makes no vectors.")


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
        raise unsupported("dimensions", message)
    return number


def _inputs(fields: Fields, other_name: str, model: EmbeddingModel) -> tuple[Input, ...]:
    """Read `input`, or its other name: one or several texts or lists of token ids."""
    name = other_name if fields.has(other_name) else "input"
    value = fields.pop(name)
    if value is None:
        raise missing(name)
    is_many = isinstance(value, list) and not any(isinstance(one, int) for one in value)
    given = value if isinstance(value, list) and is_many else [value]
    if not 0 < len(given) <= MAX_INPUTS:
        raise invalid(name, f"`{name}` may have 1 to {MAX_INPUTS:,} inputs.")
    inputs = list[Input]()
    for index, one in enumerate(given):
        param = f"{name}[{index}]" if is_many else name
        if not isinstance(one, str | list):
            raise wrong_type(param, "a string, token ids, or an array of such")
        if isinstance(one, list):
            token_ids([each for each in one if not isinstance(each, str)], param, model.n_vocab)
        inputs.append(one if isinstance(one, str) else tuple(one))
    return tuple(inputs)


DIALECTS: dict[str, Callable[[Json, EmbeddingModel], ParsedRequest]] = {
    "/v1/embeddings": read_openai,
    # OpenAI's API requires the name of a model.
    "/embeddings": lambda body, model: (read_openai if "model" in body else read_native)(body, model),
    "/v1/embedding": read_native,
    "/api/embed": read_ollama,
    "/api/embeddings": partial(read_ollama, is_single=True),
}
