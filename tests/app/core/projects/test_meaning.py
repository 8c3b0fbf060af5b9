"""Tests passages by meaning: an embedding model in its own process computes each vector once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.projects.index import DocumentIndex
from app.core.projects.indexing import update
from app.core.projects.meaning import PassageEmbedder
from engine.errors import EngineError
from tests.engine.embedding_factory import TinyBert

pytestmark = pytest.mark.usefixtures("warm_helpers")


@pytest.fixture
def embedder(tmp_path: Path) -> Iterator[PassageEmbedder]:
    made = PassageEmbedder(str(TinyBert().file().write(tmp_path / "bert.gguf")))
    yield made
    made.close()


@pytest.fixture
def index(tmp_path: Path) -> DocumentIndex:
    for name, text in {"a.txt": "hello world", "b.txt": "zebra crossing", "c.txt": "9 8 7 6"}.items():
        (tmp_path / "papers").mkdir(exist_ok=True)
        (tmp_path / "papers" / name).write_text(text)
    made = DocumentIndex(tmp_path / "documents.db")
    update(made, [str(tmp_path / "papers")])
    return made


def test_a_passage_is_found_by_its_vector_alone(
    index: DocumentIndex, tmp_path: Path, embedder: PassageEmbedder
) -> None:
    sources, told = [str(tmp_path / "papers")], list[tuple[int, int]]()
    embedder.fill_vectors(index, sources, lambda: False, lambda done, total: told.append((done, total)))
    assert told == [(0, 3)]
    assert index.find(sources, "") == []
    found = index.find(sources, "", embedder.embed_question("\nhello world"))
    assert next(one.name for one in found) == "a.txt"
    assert len(found) == 3


def test_vectors_are_made_once_and_again_after_a_change(
    index: DocumentIndex, tmp_path: Path, embedder: PassageEmbedder
) -> None:
    sources, told = [str(tmp_path / "papers")], list[tuple[int, int]]()
    embedder.fill_vectors(index, sources, lambda: True, lambda *_: told.append((0, 0)))  # stopped before any passage
    embedder.fill_vectors(index, sources, lambda: False, lambda done, total: told.append((done, total)))
    (tmp_path / "papers" / "a.txt").write_text("hello you")
    update(index, sources)
    embedder.fill_vectors(index, sources, lambda: False, lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (0, 1)]


def test_a_model_that_was_not_made_for_it_is_refused(tmp_path: Path) -> None:
    embedder = PassageEmbedder(str(TinyBert(pooling=None).file().write(tmp_path / "text.gguf")))
    with pytest.raises(EngineError, match="not made for embeddings"):
        embedder.load()
    embedder.close()


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"no model")
    embedder = PassageEmbedder(str(tmp_path / "x.gguf"))
    with pytest.raises(EngineError):
        embedder.load()
    embedder.close()
