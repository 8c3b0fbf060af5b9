"""The helper process with an embedding model, isolated because an untrusted model file may crash llama.cpp.

It first writes a JSON line that describes the model or an error. Then it answers each line of input, a text or token
ids, with a line.
"""

import json
import os
import sys
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.embeddings import EmbeddingForm, Pooling
from engine.errors import ContextError, EngineError
from engine.fit.fit import estimate
from engine.gguf.hyperparameters import read_checked_header
from engine.gguf.model_parts import size_of_files
from engine.llama import library
from engine.llama.embedding_context import MAX_CTX, MIN_CTX, EmbeddingContext, apply_form
from engine.llama.model import LlamaModel
from engine.sandbox.helper import error_to_json
from engine.sandbox.limits import limit_memory, quiet_crashes, write_no_files

MAX_BUFFER_BYTES_PER_TOKEN = 2**20  # bytes of buffers per token of a text, at worst


def main(arguments: list[str]) -> int:
    """Serve until the parent closes the pipe. ``arguments``: the model's path, threads, and pooling."""
    path, threads, pooling = Path(arguments[0]), int(arguments[1]), Pooling(arguments[2]) if arguments[2] else None
    quiet_crashes()
    # Output of llama.cpp or of a thread must not mix with the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        for answer in _serve(path, threads, pooling):
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()
    except EngineError as error:
        answers.write(json.dumps(error_to_json(error)).encode() + b"\n")
        answers.flush()
    return 0


def _serve(path: Path, threads: int, pooling: Pooling | None) -> Iterator[dict[str, Any]]:
    read_checked_header(path, writes_text=False)
    needed = estimate([path], MIN_CTX)
    needed.check()
    limit_memory(needed.needed_bytes + 2 * size_of_files(path) + MAX_CTX * MAX_BUFFER_BYTES_PER_TOKEN // 4)
    write_no_files()
    with LlamaModel(path, repack=False) as model:
        context = _context(model, threads or library.default_threads(model.num_params), pooling)
        try:
            yield {
                "name": path.stem.encode("utf-8", "replace").decode(),
                "n_ctx": context.n_ctx,
                "width": context.width,
                "n_vocab": model.vocab.n_vocab,
                "pooling": context.pooling.value,
                "architecture": model.architecture,
                "num_params": model.num_params,
                "size_bytes": model.size_bytes,
                "n_ctx_train": model.n_ctx_train,
            }
            for line in sys.stdin.buffer:
                yield _answer(model, context, json.loads(line))
        finally:
            context.close()


def _context(model: LlamaModel, threads: int, pooling: Pooling | None) -> EmbeddingContext:
    """Create the largest context that fits in memory."""
    n_ctx = min(model.n_ctx_train or MIN_CTX, MAX_CTX)
    while True:
        try:
            return EmbeddingContext(model, n_ctx, threads, pooling)
        except ContextError:
            if n_ctx // 2 < MIN_CTX:
                raise
            n_ctx //= 2


def _answer(model: LlamaModel, context: EmbeddingContext, asked: dict[str, Any]) -> dict[str, Any]:
    given, form = asked["input"], EmbeddingForm(*asked["form"])
    try:
        ids = _ids(model, given)
        if form.is_cut and len(ids) > context.n_ctx:
            ids = [*ids[: context.n_ctx - 1], ids[-1]]  # keep the token that ends a text
        if not 0 < len(ids) <= context.n_ctx:
            return {"num_tokens": len(ids)}
        vectors = apply_form(context.embed(ids), form)
        return {"num_tokens": len(ids), "vectors": [b64encode(one.tobytes()).decode() for one in vectors]}
    except EngineError as error:
        return error_to_json(error)


def _ids(model: LlamaModel, given: str | list[int | str]) -> list[int]:
    """Ids of an input, as in llama.cpp's server: special tokens are added only if a text comes first."""
    if isinstance(given, str):
        return model.vocab.embedding_ids(given)
    ids = list[int]()
    for index, part in enumerate(given):
        if isinstance(part, int):
            ids.append(part)
        else:
            ids += model.vocab.tokenize(part, special=True) if index else model.vocab.embedding_ids(part)
    return ids
