"""Computes vectors of passages and questions with an embedding model in a child process (`engine.process.embedder`)."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.core.projects.index import DocumentIndex, QuestionEmbedding
from app.core.projects.passages import EMBEDDED_CHARS, embedded_parts
from engine.embeddings import EmbeddingForm, Pooling
from engine.errors import ModelLoadError
from engine.process.embedder import Embedder
from engine.sentences import i18n

BATCH_SIZE = 32  # number of passages between two calls of ``should_stop``
# Prefixes for questions and for passages that models were trained with, by architecture. From the model cards:
# https://huggingface.co/nomic-ai/nomic-embed-text-v1.5, https://huggingface.co/google/embeddinggemma-300m,
# https://huggingface.co/Qwen/Qwen3-Embedding-0.6B
_PROMPT_PREFIXES = {
    "nomic-bert": ("search_query: ", "search_document: "),
    "gemma-embedding": ("task: search result | query: ", "title: none | text: "),
    "qwen3": ("Instruct: Find passages that answer the question\nQuery: ", ""),
}
_TRUNCATED_CHARS = EmbeddingForm(is_cut=True)


class PassageEmbedder:
    """One embedding model. Thread-safe; the first call loads the model.

    Raises:
        EngineError: the model cannot be used.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._embedder = Embedder(Path(path))

    def load(self) -> None:
        """Load the model and check that it makes vectors."""
        model = self._embedder.model()
        if model.pooling in (Pooling.NONE, Pooling.RANK):
            raise ModelLoadError(
                i18n("{name} was not made for embeddings.", name=model.name),
                i18n("Choose a model made for them, such as Nomic Embed or EmbeddingGemma, in the settings."),
            )

    def embed_question(self, question: str) -> QuestionEmbedding:
        """The embedding of a question."""
        return QuestionEmbedding(self.name, self._vectors([question], 0)[0])

    def fill_vectors(
        self,
        index: DocumentIndex,
        sources: Sequence[str],
        should_stop: Callable[[], bool],
        on_progress: Callable[[int, int], None],
    ) -> None:
        """Compute the missing vectors of passages of these sources. If stopped, finished vectors are kept."""
        name, waiting = self.name, index.passages_to_embed(sources, self.name)
        for done in range(0, len(waiting), BATCH_SIZE):
            if should_stop():
                return
            on_progress(done, len(waiting))
            batch = waiting[done : done + BATCH_SIZE]
            pieces = [(number, piece) for number, text in batch for piece in embedded_parts(text)]
            vectors = dict[int, list[NDArray[np.float32]]]()
            for (number, _), vector in zip(pieces, self._vectors([piece for _, piece in pieces], 1), strict=True):
                vectors.setdefault(number, []).append(vector)
            index.put_vectors(name, {number: np.stack(found) for number, found in vectors.items()})

    @property
    def name(self) -> str:
        """The model's name in the index."""
        model = self._embedder.model()
        return f"{model.name} {model.size_bytes} {EMBEDDED_CHARS}"

    def close(self) -> None:
        """Unload the model."""
        self._embedder.close()

    def _vectors(self, texts: Sequence[str], place: int) -> list[NDArray[np.float32]]:
        before = _PROMPT_PREFIXES.get(self._embedder.model().architecture, ("", ""))[place]
        found = self._embedder.embed([before + text for text in texts], _TRUNCATED_CHARS)
        return [np.array(one.vectors[0], np.float32) for one in found]
