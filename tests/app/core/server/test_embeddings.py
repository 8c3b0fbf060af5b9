"""Tests embeddings over HTTP with a model whose vectors contain the text's length."""

import struct
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from app.core.server.embeddings import MAX_INPUTS, Input
from engine.embeddings import Embedded, EmbeddingForm, EmbeddingModel, Pooling
from engine.errors import PromptTooLongError
from tests.app.core.server.scripted_session import ScriptedServer

PATH = "/v1/embeddings"
FACTS = EmbeddingModel("words", 512, 4, 100, Pooling.MEAN, "bert", 1000, 2000, 512)


@dataclass
class ScriptedEmbedder:
    """A text's vector is its length and three times 0.25; that of token ids contains their number."""

    facts: EmbeddingModel = FACTS
    forms: list[EmbeddingForm] = field(default_factory=list)
    asked: list[Input] = field(default_factory=list)

    def model(self) -> EmbeddingModel:
        return self.facts

    def embed(self, inputs: Sequence[Input], form: EmbeddingForm, should_stop: Callable[[], bool]) -> list[Embedded]:
        self.forms.append(form)
        self.asked += inputs
        if any(len(one) > self.facts.n_ctx for one in inputs) and not form.is_cut:
            raise PromptTooLongError("Input 1 is too large.", "Cut it into parts.")
        number = 2 if self.facts.pooling is Pooling.NONE else 1
        return [Embedded(len(one), (array("f", [len(one), 0.25, 0.25, 0.25]),) * number) for one in inputs]


@pytest.fixture
def embedder() -> ScriptedEmbedder:
    return ScriptedEmbedder()


@pytest.fixture
def embedding(embedder: ScriptedEmbedder) -> Iterator[ScriptedServer]:
    server = ScriptedServer(embedder=embedder)
    yield server
    server.close()


def test_texts_become_vectors(embedding: ScriptedServer, embedder: ScriptedEmbedder) -> None:
    told = embedding.client.post(PATH, json={"model": "words", "input": ["Hello", "Hi"]}).json()
    assert told == {
        "object": "list",
        "model": "words",
        "data": [
            {"object": "embedding", "index": 0, "embedding": [5.0, 0.25, 0.25, 0.25]},
            {"object": "embedding", "index": 1, "embedding": [2.0, 0.25, 0.25, 0.25]},
        ],
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }
    assert embedder.forms == [EmbeddingForm()]
    assert not embedding.session.requests


def test_a_vector_may_be_base64(embedding: ScriptedServer) -> None:
    body = {"input": "Hello", "encoding_format": "base64"}
    data = embedding.client.post(PATH, json=body).json()["data"][0]["embedding"]
    assert struct.unpack("<4f", b64decode(data)) == (5.0, 0.25, 0.25, 0.25)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("Hello", ["Hello"]),
        ("", [""]),
        ([1, 2], [(1, 2)]),
        ([[1, 2], "a", [3]], [(1, 2), "a", (3,)]),
        ([1, "a", 2], [(1, "a", 2)]),
    ],
)
def test_inputs_have_many_forms(
    embedding: ScriptedServer, embedder: ScriptedEmbedder, given: object, asked: list[Input]
) -> None:
    assert embedding.client.post(PATH, json={"input": given}).status_code == 200
    assert embedder.asked == asked


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": [""] * (MAX_INPUTS + 1)}, "input"),
        ({"input": [100]}, "input"),
        ({"input": [[-1]]}, "input[0]"),
        ({"input": [["a", 1.5]]}, "input[0]"),
        ({"input": {"content": "a"}}, "input"),
        ({"input": "a", "encoding_format": "hex"}, "encoding_format"),
        ({"input": "a", "embd_normalize": 7}, "embd_normalize"),
        ({"input": "a", "dimensions": 0}, "dimensions"),
        ({"input": "a", "dimensions": 2}, "dimensions"),
        ({"input": "a" * 513}, "input"),
    ],
)
def test_what_cannot_be_embedded_is_refused_by_name(
    embedding: ScriptedServer, body: dict[str, object], param: str
) -> None:
    refused = embedding.client.post(PATH, json=body)
    assert (refused.status_code, refused.json()["error"]["param"]) == (400, param)


def test_beginnings_of_vectors_are_for_models_that_were_trained_so(
    embedding: ScriptedServer, embedder: ScriptedEmbedder
) -> None:
    assert embedding.client.post(PATH, json={"input": "a", "dimensions": 4}).status_code == 200
    embedder.facts = replace(FACTS, architecture="gemma-embedding")
    assert embedding.client.post(PATH, json={"input": "a", "dimensions": 2}).status_code == 200
    assert [form.dimensions for form in embedder.forms] == [None, 2]


def test_vectors_come_in_llama_cpps_way_and_in_ollamas(embedding: ScriptedServer, embedder: ScriptedEmbedder) -> None:
    def told(path: str, **body: object) -> Any:  # noqa: ANN401
        return embedding.client.post(path, json=body).json()

    vector = [1.0, 0.25, 0.25, 0.25]
    native = [{"index": 0, "embedding": [vector]}]
    assert told("/embedding", content="a") == told("/embeddings", input="a") == native
    assert told("/embeddings", input="a", model="words")["data"][0]["embedding"] == vector
    told("/embedding", content="a", embd_normalize=-1)
    assert not embedder.forms[-1].is_normalized
    ollama = told("/api/embed", model="words", input=["a"], keep_alive="5m")
    assert (ollama["embeddings"], ollama["prompt_eval_count"]) == ([vector], 1)
    assert told("/api/embeddings", model="words", prompt="a") == {"embedding": vector}
    assert told("/api/embed", input="a" * 600)["prompt_eval_count"] == 600  # the text would be truncated
    assert "error" in told("/api/embed", input="a" * 600, truncate=False)


def test_vectors_of_tokens_are_not_openais(embedding: ScriptedServer, embedder: ScriptedEmbedder) -> None:
    embedder.facts = replace(FACTS, pooling=Pooling.NONE)
    assert embedding.client.post(PATH, json={"input": "a"}).status_code == 400
    assert embedding.client.post("/api/embed", json={"input": "a"}).status_code == 400
    assert len(embedding.client.post("/embedding", json={"input": "a"}).json()[0]["embedding"]) == 2
    assert not embedder.forms[-1].is_normalized


def test_another_name_is_told_and_the_model_is_listed(embedding: ScriptedServer) -> None:
    told = embedding.client.post(PATH, json={"input": "a", "model": "text-embedding-3-small"}).json()
    assert told["warnings"] == ["There is no such embedding model here; this server has `words`."]
    assert [one["id"] for one in embedding.client.get("/v1/models").json()["data"]] == ["tiny", "words"]


@pytest.mark.parametrize("path", [PATH, "/embeddings", "/embedding", "/api/embed"])
def test_without_a_model_for_it_there_are_none(server: ScriptedServer, path: str) -> None:
    refused = server.client.post(path, json={"input": "Hello"})
    assert refused.status_code == 404
    assert refused.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("path", [PATH, "/embedding", "/api/embed"])
def test_a_model_that_ranks_makes_no_vectors(path: str) -> None:
    server = ScriptedServer(embedder=ScriptedEmbedder(replace(FACTS, pooling=Pooling.RANK)))
    assert "ranks documents" in server.client.post(path, json={"input": "x"}).text
    server.close()
