"""Tests an embedding model in a separate process, compared with the same network in NumPy."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.embeddings import EmbeddingForm, Pooling
from engine.errors import ModelFileError, PromptTooLongError
from engine.process.embedder import Embedder
from tests.engine.embedding_factory import CLS, CTX, SEP, UNK, WIDTH, WORDS, TinyBert
from tests.engine.gguf_factory import tiny_llama

AS_IT_IS = EmbeddingForm(is_normalized=False)
HELLO = [CLS, WORDS.index("hello"), WORDS.index("world"), SEP]
NEAR = 2e-3  # llama.cpp uses a half-precision table for the activation


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return TinyBert().file().write(tmp_path_factory.mktemp("bert") / "bert.gguf")


@pytest.fixture(scope="module")
def embedder(bert: Path) -> Iterator[Embedder]:
    found = Embedder(bert, threads=1)
    yield found
    found.close()


def normalized(row: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    made: np.ndarray = row / np.linalg.norm(row)  # type: ignore[type-arg]
    return made


def close(ours: array[float], theirs: np.ndarray) -> bool:  # type: ignore[type-arg]
    return bool(np.abs(np.array(ours) - theirs).max() < NEAR)


def test_a_text_is_the_mean_of_its_rows(embedder: Embedder) -> None:
    mean = TinyBert().rows(HELLO).mean(axis=0)
    plain, same = embedder.embed(["hello world", tuple(HELLO)], AS_IT_IS)
    assert (plain.num_tokens, len(plain.vectors), plain.vectors) == (4, 1, same.vectors)
    assert close(plain.vectors[0], mean)
    (unit,) = embedder.embed(["hello world"], EmbeddingForm())
    assert close(unit.vectors[0], normalized(mean))
    (cut,) = embedder.embed(["hello world"], EmbeddingForm(dimensions=5))
    assert close(cut.vectors[0], normalized(mean[:5]))
    assert len(cut.vectors[0]) == 5


def test_a_text_does_not_depend_on_those_before_it(embedder: Embedder) -> None:
    first, other, again = embedder.embed(["hello world", "worlds, hello!", "hello world"], EmbeddingForm())
    assert first == again != other


@pytest.mark.parametrize("pooling", [each for each in Pooling if each is not Pooling.RANK])
def test_rows_are_pooled_as_is_wanted(bert: Path, pooling: Pooling) -> None:
    found = Embedder(bert, pooling=pooling)
    rows = TinyBert().rows(HELLO)
    wanted = {Pooling.NONE: rows, Pooling.CLS: rows[:1], Pooling.LAST: rows[-1:], Pooling.MEAN: rows.mean(axis=0)[None]}
    try:
        (embedded,) = found.embed(["hello world"], AS_IT_IS)
        assert found.model().pooling is pooling
    finally:
        found.close()
    assert len(embedded.vectors) == len(wanted[pooling])
    assert all(close(ours, theirs) for ours, theirs in zip(embedded.vectors, wanted[pooling], strict=True))


def test_what_is_known_of_the_model(embedder: Embedder) -> None:
    model = embedder.model()
    assert (model.n_ctx, model.width, model.n_vocab, model.pooling) == (CTX, WIDTH, len(WORDS), Pooling.MEAN)
    assert model.architecture == "bert"


def test_a_text_that_is_too_long_is_named_and_the_next_one_is_read(embedder: Embedder) -> None:
    with pytest.raises(PromptTooLongError, match=rf"Input 2 is too large: it has 102 tokens, .* {CTX} at once"):
        embedder.embed(["hello", "hello " * 100], EmbeddingForm())
    with pytest.raises(PromptTooLongError, match="Input 1 has no tokens"):
        embedder.embed([()], EmbeddingForm())
    (whole,) = embedder.embed([(UNK,) * CTX], EmbeddingForm())
    assert whole.num_tokens == CTX


def test_the_rest_is_left_where_nobody_waits(embedder: Embedder) -> None:
    asked = iter([False, False, True])
    assert len(embedder.embed(["a", "b", "c", "d"], EmbeddingForm(), lambda: next(asked))) == 2


def test_a_helper_that_died_is_started_again(embedder: Embedder) -> None:
    before = embedder.embed(["hello"], EmbeddingForm())
    assert embedder._process is not None
    embedder._process.kill()
    embedder._process.close()
    assert embedder.embed(["hello"], EmbeddingForm()) == before


def test_a_model_that_writes_text_has_vectors_of_its_tokens(tmp_path: Path) -> None:
    """Its file does not specify pooling; the request does."""
    path = tiny_llama().write(tmp_path / "tiny.gguf")
    plain, last = Embedder(path), Embedder(path, pooling=Pooling.LAST)
    try:
        (rows,) = plain.embed(["ab"], AS_IT_IS)
        (row,) = last.embed(["ab"], AS_IT_IS)
        assert plain.model().pooling is Pooling.NONE
    finally:
        plain.close()
        last.close()
    assert len(rows.vectors) == rows.num_tokens > 1
    assert close(row.vectors[0], np.array(rows.vectors[-1]))


def test_a_file_that_is_no_model_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("Hello")
    with pytest.raises(ModelFileError, match=r"text\.gguf"):
        Embedder(tmp_path / "text.gguf").model()
    with pytest.raises(ModelFileError, match=r"no file|cannot be read"):
        Embedder(tmp_path / "none.gguf").model()
