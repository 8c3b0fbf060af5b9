"""Embeddings of texts, by an embedding model in a separate helper process.

The process isolates an untrusted model file, and keeps the model loaded. Callers must prevent embeddings and chat
models from computing at once.
"""

from __future__ import annotations

import json
import threading
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from engine.embeddings import Embedded, EmbeddingForm, EmbeddingModel, Pooling
from engine.errors import EngineError, ModelLoadError, PromptTooLongError
from engine.sandbox.helper import HelperProcess, error_from_json
from engine.sentences import i18n

_MAX_LINE_BYTES = 4_000_000_000  # one vector for each of 8,192 tokens
_unpickled: dict[tuple[object, ...], Embedder] = {}  # embedders that were unpickled in this process


class Embedder:
    """A helper process with one model. A call starts it if it does not run; calls are serialised.

    Unpickling in another process gives that process's embedder of the same model.
    """

    def __init__(self, path: Path, threads: int | None = None, pooling: Pooling | None = None) -> None:
        """``pooling`` None uses the file's pooling."""
        self._path = path
        self._arguments = path, threads, pooling
        self._words = (str(path.absolute()), str(threads or 0), pooling.value if pooling else "")
        self._lock = threading.Lock()
        self._process: HelperProcess | None = None
        self._model: EmbeddingModel | None = None

    def __reduce__(self) -> tuple[Callable[..., Embedder], tuple[object, ...]]:
        return _unpickle, self._arguments

    def model(self) -> EmbeddingModel:
        """Describe the model; the first call loads it.

        Raises:
            EngineError: the model cannot be used.
        """
        with self._lock:
            return self._model or self._start()[1]

    def embed(
        self,
        inputs: Iterable[str | tuple[int | str, ...]],
        form: EmbeddingForm,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> list[Embedded]:
        """Embed texts, or token ids mixed with texts; ends early if ``should_stop`` returns True.

        Raises:
            PromptTooLongError: an input has more tokens than the model takes, or none.
            EngineError: the model cannot be used, or failed.
        """
        found = list[Embedded]()
        with self._lock:
            process, model = self._start()
            for index, one in enumerate(inputs):
                if should_stop():
                    break
                asked: dict[str, object] = {"input": one, "form": (form.is_normalized, form.dimensions, form.is_cut)}
                found.append(_read_embeddings(self._request(process, json.dumps(asked).encode() + b"\n"), index, model))
        return found

    def close(self) -> None:
        """End the helper to free the model; the next call starts it again."""
        with self._lock:
            self._stop()

    def _start(self) -> tuple[HelperProcess, EmbeddingModel]:
        if self._model is not None and self._process is not None and self._process.is_running:
            return self._process, self._model
        self._stop()
        self._process = process = HelperProcess("embeddings", self._words)
        try:
            facts = self._request(process, b"")
        except EngineError:
            self._stop()
            raise
        self._model = EmbeddingModel(**{**facts, "pooling": Pooling(facts["pooling"])})
        return process, self._model

    def _request(self, process: HelperProcess, line: bytes) -> dict[str, Any]:
        read = process.request(line, _MAX_LINE_BYTES)
        if not read.endswith(b"\n"):
            self._stop()
            raise ModelLoadError(
                i18n("The process that ran {name} ended without an answer.", name=self._path.name),
                "Choose another embedding model if it happens again.",
            )
        answer: dict[str, Any] = json.loads(read)
        if "error" in answer:
            raise error_from_json(answer["error"])
        return answer

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()


def _read_embeddings(answer: dict[str, Any], index: int, model: EmbeddingModel) -> Embedded:
    number = int(answer["num_tokens"])
    if "vectors" in answer:
        return Embedded(number, tuple(array("f", b64decode(one)) for one in answer["vectors"]))
    if not number:
        raise PromptTooLongError(i18n("Input {number} has no tokens.", number=index + 1), "Leave it out.")
    raise PromptTooLongError(
        i18n(
            "Input {number} is too large: it has {num_tokens:,} tokens, and this model reads {most:,} at once.",
            number=index + 1,
            num_tokens=number,
            most=model.n_ctx,
        ),
        "Cut it into parts.",
    )


def _unpickle(path: Path, threads: int | None, pooling: Pooling | None) -> Embedder:
    return _unpickled.setdefault((path, threads, pooling), Embedder(path, threads, pooling))


def close_embedders() -> None:
    """Close all embedders that were unpickled in this process."""
    for embedder in _unpickled.values():
        embedder.close()
