"""One sequence of tokens in llama.cpp's memory: passes, logits rows, rollback. Knows neither text nor sampling."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.errors import ContextError, DecodeError
from engine.interfaces import Rows, TokenIds
from engine.llama import library
from engine.llama.model import LlamaModel

N_BATCH = 512  # tokens a prefill pass may carry
# Of these, so many are computed at once. Buffers grow with it; a processor gains nothing from more, a GPU does.
CPU_UBATCH, GPU_UBATCH = 128, 512
_N_CTX_STEP = 256  # llama.cpp rounds a context up to this, but not the batch that it then asserts
MAX_ROWS = 64  # logits rows a pass may ask for: bounds the output buffer, which is rows x vocabulary


@dataclass(frozen=True, slots=True)
class ContextParams:
    """Size in tokens and threads of a context."""

    n_ctx: int
    threads: int


class LlamaContext:
    """Implements `engine.interfaces.LanguageModel` over a `LlamaModel`.

    Raises:
        ContextError: llama.cpp could not make a context of this size.
    """

    def __init__(self, model: LlamaModel, params: ContextParams) -> None:
        self._lib = library.start()
        self._model = model
        self._n_vocab = model.vocab.n_vocab
        self._handle = self._make(params)
        self._memory = self._lib.llama_get_memory(self._handle)
        self._n_ctx = int(self._lib.llama_n_ctx(self._handle))
        self._n_batch = int(self._lib.llama_n_batch(self._handle))
        self._num_past = 0
        self._batch = self._lib.llama_batch_init(N_BATCH, 0, 1)
        self._ids = np.ctypeslib.as_array(self._batch.token, (N_BATCH,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, (N_BATCH,))
        self._wants_row = np.ctypeslib.as_array(self._batch.logits, (N_BATCH,))
        self._counting = np.arange(N_BATCH, dtype=np.int32)
        np.ctypeslib.as_array(self._batch.n_seq_id, (N_BATCH,))[:] = 1
        for i in range(N_BATCH):
            self._batch.seq_id[i][0] = 0
        self._wants_row[:] = 0
        self._rows_address = 0
        self._rows: Rows = np.empty((0, self._n_vocab), dtype=np.float32)

    def _make(self, params: ContextParams) -> int:
        native = self._lib.llama_context_default_params()
        native.n_ctx = -(-params.n_ctx // _N_CTX_STEP) * _N_CTX_STEP
        native.n_batch = min(N_BATCH, native.n_ctx)
        native.n_ubatch = min(GPU_UBATCH if self._model.gpu_layers else CPU_UBATCH, native.n_batch)
        native.n_outputs_max = MAX_ROWS
        native.n_threads = native.n_threads_batch = params.threads
        # A cache of the window's size only would have overwritten cells that a rollback brings back into the window.
        native.swa_full = True
        native.no_perf = True
        with library.errors():
            handle = self._lib.llama_init_from_model(self._model.handle, native)
            reason = library.last_error()
        if not handle:
            raise ContextError(
                f"A context of {params.n_ctx:,} tokens for {self._model.path.name} could not be made"
                f"{': ' + reason if reason else ''}."
            )
        return int(handle)

    def close(self) -> None:
        """Free the cache and the buffers."""
        if self._handle:
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self._handle)
            self._handle = 0

    def __enter__(self) -> LlamaContext:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def n_vocab(self) -> int:
        """The width of a row."""
        return self._n_vocab

    @property
    def n_ctx(self) -> int:
        """How many tokens the cache can hold."""
        return self._n_ctx

    @property
    def num_past(self) -> int:
        """How many tokens the cache holds."""
        return self._num_past

    @property
    def threads(self) -> int:
        """Threads that a pass uses on the CPU."""
        return int(self._lib.llama_n_threads(self._handle))

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`. At most `N_BATCH` ids and `MAX_ROWS` rows.

        Raises:
            DecodeError: the pass failed, or the cache is full.
        """
        count = len(ids)
        end = count - num_padding
        if not (0 < count <= self._n_batch and 0 <= n_rows <= min(end, MAX_ROWS)):
            raise ValueError(f"a pass of {count} tokens with {n_rows} rows is outside the batch")
        past = self._num_past
        self._ids[:count] = ids
        np.add(self._counting[:count], past, out=self._positions[:count])
        self._wants_row[:count] = 0
        self._wants_row[end - n_rows : end] = 1
        self._batch.n_tokens = count
        code = self._lib.llama_decode(self._handle, self._batch)
        if code != 0:
            self._after_failure(code, past)
        self._num_past = past + count
        return self._view(n_rows)

    def _view(self, n_rows: int) -> NDArray[np.float32]:
        """A view over llama.cpp's own output buffer; made anew only when the buffer has moved or grown."""
        if n_rows == 0:
            return self._rows[:0]
        pointer = self._lib.llama_get_logits(self._handle)
        address = ctypes.addressof(pointer.contents)
        if address != self._rows_address or n_rows > self._rows.shape[0]:
            self._rows = np.ctypeslib.as_array(pointer, (n_rows, self._n_vocab))
            self._rows_address = address
        return self._rows[:n_rows]

    def _after_failure(self, code: int, past: int) -> None:
        # An abort or a fatal error may leave part of the batch in memory.
        if not self._lib.llama_memory_seq_rm(self._memory, 0, past, -1):
            self.clear()
        if code == 1:
            raise DecodeError(
                f"The context of {self._n_ctx:,} tokens is full.",
                "Start a new chat, or choose a larger context in the settings.",
            )
        raise DecodeError(f"llama.cpp could not compute a pass (code {code}): {library.last_error() or 'no reason'}.")

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`."""
        if num_past >= self._num_past:
            return True
        if num_past == 0:
            self.clear()
            return True
        if not self._lib.llama_memory_seq_rm(self._memory, 0, num_past, -1):
            return False
        self._num_past = num_past
        return True

    def clear(self) -> None:
        """Forget everything."""
        self._lib.llama_memory_clear(self._memory, False)
        self._num_past = 0
