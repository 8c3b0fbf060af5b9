"""A context that embeds texts: one pass over the whole text gives its pooled hidden rows."""

import numpy as np
from numpy.typing import NDArray

from engine.embeddings import EmbeddingForm, Pooling
from engine.errors import ContextError, DecodeError
from engine.interfaces import TokenIds
from engine.llama import library
from engine.llama.model import LlamaModel
from engine.sentences import i18n

Vectors = NDArray[np.float32]  # [1, width] pooled, else [num_tokens, width]
MAX_CTX = 8192  # most tokens of a text, which is computed at once
MIN_CTX = 512  # tokens; smallest context if memory is short

_POOLING_TYPES = {Pooling.NONE: 0, Pooling.MEAN: 1, Pooling.CLS: 2, Pooling.LAST: 3, Pooling.RANK: 4}


class EmbeddingContext:
    """Embeds texts of up to ``n_ctx`` tokens, one at a time; a vector has ``width`` numbers.

    Raises:
        ContextError: llama.cpp could not create the context.
    """

    def __init__(self, model: LlamaModel, n_ctx: int, threads: int, pooling: Pooling | None = None) -> None:
        """``pooling`` None uses the file's pooling; if the file has none, vectors are not pooled."""
        self._lib = lib = library.start()
        native = lib.llama_context_default_params()
        # Attention over the whole text requires a single micro-batch.
        native.n_ctx = native.n_batch = native.n_ubatch = n_ctx
        native.n_threads = native.n_threads_batch = threads
        native.embeddings = native.no_perf = True
        native.offload_kqv = native.op_offload = False
        native.pooling_type = -1 if pooling is None else _POOLING_TYPES[pooling]
        with library.collected_errors():
            handle = lib.llama_init_from_model(model.handle, native)
            reason = library.last_error()
        if not handle:
            raise ContextError(
                i18n(
                    "A context of {n_ctx:,} tokens for {path} could not be made: {reason}.",
                    n_ctx=n_ctx,
                    path=model.path.name,
                    reason=reason or i18n("no reason was given"),
                )
            )
        self._handle = handle
        self._memory = lib.llama_get_memory(handle)  # encoders have no memory
        self.n_ctx = n_ctx
        self.pooling = {number: name for name, number in _POOLING_TYPES.items()}[int(lib.llama_pooling_type(handle))]
        self.width = model.n_embd_out
        self._batch = lib.llama_batch_init(n_ctx, 0, 1)

    def close(self) -> None:
        if self._handle:
            if hasattr(self, "_batch"):
                self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._handle)
            self._handle = None

    def embed(self, ids: TokenIds) -> Vectors:
        """The vector of a text, not normalized; without pooling one for each token.

        Raises:
            DecodeError: the pass failed, or its result is not finite.
        """
        count, batch, lib = len(ids), self._batch, self._lib
        if not 0 < count <= self.n_ctx:
            raise ValueError(f"a text of {count} tokens is outside the batch")
        if self._memory:
            lib.llama_memory_clear(self._memory, True)
        batch.n_tokens = count
        np.ctypeslib.as_array(batch.token, (self.n_ctx,))[:count] = ids
        np.ctypeslib.as_array(batch.pos, (self.n_ctx,))[:count] = np.arange(count)
        np.ctypeslib.as_array(batch.n_seq_id, (self.n_ctx,))[:count] = 1
        np.ctypeslib.as_array(batch.logits, (self.n_ctx,))[:count] = 1
        for index in range(count):
            batch.seq_id[index][0] = 0
        library.clear_errors()
        code = lib.llama_decode(self._handle, batch)
        is_pooled = self.pooling is not Pooling.NONE
        found = [lib.llama_get_embeddings_seq(self._handle, 0)] if is_pooled and code == 0 else []
        if not is_pooled and code == 0:
            found = [lib.llama_get_embeddings_ith(self._handle, index) for index in range(count)]
        if not found or not all(found):
            raise DecodeError(
                i18n(
                    "llama.cpp could not compute a pass (code {code}): {reason}.",
                    code=code,
                    reason=library.last_error() or i18n("no reason was given"),
                )
            )
        vectors = np.stack([np.ctypeslib.as_array(row, (self.width,)) for row in found])
        if not np.isfinite(vectors).all():
            raise DecodeError("The model gave numbers that are not finite: its file is damaged.")
        return vectors


def apply_form(vectors: Vectors, form: EmbeddingForm) -> Vectors:
    """Truncate vectors to the requested width, then normalize them if requested."""
    shown = vectors if form.dimensions is None else vectors[:, : form.dimensions]
    if not form.is_normalized:
        return np.ascontiguousarray(shown)
    lengths = np.sqrt(np.square(shown, dtype=np.float64).sum(axis=1, keepdims=True))
    lengths[lengths == 0.0] = 1.0
    normalized: Vectors = (shown / lengths).astype(np.float32)
    return normalized
