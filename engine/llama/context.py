"""Sequences of tokens in llama.cpp's memory: passes, rows of logits, and rollback."""

from __future__ import annotations

import copy
import ctypes
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import ContextError, DecodeError
from engine.interfaces import Candidates, Rows, TokenIds
from engine.llama import gpu_verdict, library
from engine.llama.model import LlamaModel
from engine.llama.top_k_sampler import TopKSampler
from engine.records import CacheType, FlashAttention
from engine.sentences import i18n

_MAGIC = 0x5743454C  # begins an export, followed by the number of slices and their sizes, each of 8 bytes
N_BATCH = 512  # largest prefill pass, in tokens
# Tokens of a prefill pass that are computed at once (micro-batch). Buffers grow with it; only GPUs gain from more.
CPU_UBATCH, GPU_UBATCH = 128, 512
_N_CTX_STEP = 256  # llama.cpp itself rounds n_ctx up to a multiple of this, but not n_batch, and may then abort
MAX_ROWS = 64  # most rows of logits in a pass; bounds the output buffer of rows x vocabulary
NO_FREE_CELLS = 1  # llama_decode's code for a lack of free cells; the cache is unchanged
# The binding's names of cache types and flash attention.
_CACHE_TYPES = {
    CacheType.F16: "GGML_TYPE_F16",
    CacheType.Q8_0: "GGML_TYPE_Q8_0",
    CacheType.Q4_0: "GGML_TYPE_Q4_0",
}
_FLASH_TYPES = {
    FlashAttention.AUTO: "LLAMA_FLASH_ATTN_TYPE_AUTO",
    FlashAttention.ON: "LLAMA_FLASH_ATTN_TYPE_ENABLED",
    FlashAttention.OFF: "LLAMA_FLASH_ATTN_TYPE_DISABLED",
}


# Export and import of sequences with sliding-window layers. llama.cpp's sequence state lacks cells outside of the
# window, so a spare sequence gets one window after another, and the export consists of the states of these windows.


@dataclass(frozen=True, slots=True)
class WindowedState:
    """Exports and imports one window of tokens after another through the ``spare_seq_id`` sequence."""

    lib: Any
    handle: int
    memory: int
    spare_seq_id: int
    window: int

    def size(self, seq_id: int) -> int:
        sizes = [int(self.lib.llama_state_seq_get_size(self.handle, self.spare_seq_id)) for _ in self._windows(seq_id)]
        return 8 * (2 + len(sizes)) + sum(sizes) if sizes else 0

    def export(self, seq_id: int) -> NDArray[np.uint8] | None:
        """The whole content of a sequence; None if llama.cpp cannot export it."""
        slices = list[NDArray[np.uint8]]()
        for _ in self._windows(seq_id):
            size = int(self.lib.llama_state_seq_get_size(self.handle, self.spare_seq_id))
            data = np.empty(size, dtype=np.uint8)
            address = data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
            if not size or self.lib.llama_state_seq_get_data(self.handle, address, size, self.spare_seq_id) != size:
                self._empty()
                return None
            slices.append(data)
        if not slices:
            return None
        head = np.array([_MAGIC, len(slices), *map(len, slices)], dtype="<i8").view(np.uint8)
        return np.concatenate([head, *slices])

    def import_state(self, state: NDArray[np.uint8], owners: tuple[int, ...]) -> bool:
        """Import a state into the empty sequences ``owners``; False if it is invalid."""
        if len(state) < 16 or len(state) < 16 + 8 * (count := int(state[8:16].view("<i8")[0])) or count < 1:
            return False
        sizes, begin = state[16 : 16 + 8 * count].view("<i8").tolist(), 16 + 8 * count
        if int(state[:8].view("<i8")[0]) != _MAGIC or begin + sum(sizes) != len(state) or min(sizes) < 1:
            return False
        for size in sizes:
            address = state[begin : begin + size].ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
            if self.lib.llama_state_seq_set_data(self.handle, address, size, self.spare_seq_id) != size:
                self._empty()
                return False
            for owner in owners:
                self.lib.llama_memory_seq_cp(self.memory, self.spare_seq_id, owner, -1, -1)
            begin += size
        self._empty()
        return True

    def _windows(self, seq_id: int) -> Iterator[None]:
        """Let the spare sequence hold one window of the sequence after the other."""
        end = int(self.lib.llama_memory_seq_pos_max(self.memory, seq_id)) + 1
        for begin in range(0, end, self.window):
            self.lib.llama_memory_seq_cp(self.memory, seq_id, self.spare_seq_id, begin, begin + self.window)
            yield
            self._empty()

    def _empty(self) -> None:
        self.lib.llama_memory_seq_rm(self.memory, self.spare_seq_id, -1, -1)


@dataclass(frozen=True, slots=True)
class ContextParams:
    """Size in tokens, threads, and the type of the cache.

    A quantized cache switches flash attention on; keys and values of different types switch it off.
    """

    n_ctx: int
    threads: int
    snapshots: int = 0  # requested snapshots of a recurrent memory; each allows a rollback of one more token
    cache_type: CacheType = CacheType.F16
    flash_attention: FlashAttention = FlashAttention.AUTO
    num_candidates: int = 0  # number of most likely tokens that a pass selects instead of a whole row; 0 if unsupported
    max_rows: int = MAX_ROWS  # rows of logits in a pass
    picture_ubatch: int = 0  # tokens of a picture that are computed at once; 0: like tokens of a prompt
    num_sequences: int = 1  # each has up to ``n_ctx`` tokens


def with_gpu_limits(params: ContextParams, gpu_layers: int) -> ContextParams:
    """Disable flash attention, quantized caches and candidates if the GPU fails with them."""
    if not gpu_layers or not gpu_verdict.is_reduced():
        return params
    return replace(params, flash_attention=FlashAttention.OFF, cache_type=CacheType.F16, num_candidates=0)


def _usual_ubatch(model: LlamaModel) -> int:
    return GPU_UBATCH if model.gpu_layers else CPU_UBATCH


class RowObserver(Protocol):
    """Records hidden rows of a context's passes for a head."""

    def record_pass(self, past: int, count: int) -> None:
        """Called after a pass that appended ``count`` tokens to ``past``; its rows are valid until the next pass."""

    def forget(self) -> None:
        """Called when the cache was replaced."""


@dataclass(frozen=True, slots=True)
class PassPart:
    """The part of one sequence in a pass; see `LlamaContext.forward`."""

    sequence: LlamaContext
    ids: TokenIds
    n_rows: int


class LlamaContext:
    """Implements `engine.interfaces.LanguageModel` over a `LlamaModel`. ``params`` may differ from the requested ones.

    It is the first sequence of its context; `other_sequence` returns other sequences, which share llama.cpp's context
    and buffers. ``handle`` is llama.cpp's context, 0 once closed. ``gap`` is the number of cached tokens minus the
    number of positions, since a picture may take fewer positions.

    Raises:
        ContextError: llama.cpp could not create a context of this size.
    """

    def __init__(self, model: LlamaModel, params: ContextParams) -> None:
        self._lib = library.start()
        self._model, self._max_rows = model, params.max_rows
        self.params = params = with_gpu_limits(params, model.gpu_layers)
        self.n_vocab = model.vocab.n_vocab
        self._keeps_evicted_window = model.sliding_window > 0 and not model.is_recurrent
        self.handle = self._make(params)
        self._memory = self._lib.llama_get_memory(self.handle)
        spare = 2 * params.num_sequences
        self._slices = WindowedState(self._lib, self.handle, self._memory, spare, model.sliding_window)
        self.n_ctx = int(self._lib.llama_n_ctx(self.handle)) // params.num_sequences
        self.n_batch = min(N_BATCH, int(self._lib.llama_n_batch(self.handle)))
        # Text is read in chunks of a fixed size, even if more tokens could be computed at once.
        self.num_at_once = int(self._lib.llama_n_ubatch(self.handle))
        self.n_ubatch = min(self.num_at_once, _usual_ubatch(model) if params.picture_ubatch else self.num_at_once)
        self._reset(0)
        self._top_k_sampler = TopKSampler(self._lib, self.handle, self.n_vocab, params.num_candidates)
        self.num_snapshots = self._snapshots()
        self._state_flags = self._lib.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY
        if model.gpu_layers:
            self._state_flags |= self._lib.LLAMA_STATE_SEQ_FLAGS_ON_DEVICE
        self._batch = self._lib.llama_batch_init(N_BATCH, 0, 1)
        self._ids = np.ctypeslib.as_array(self._batch.token, (N_BATCH,))
        self._positions = np.ctypeslib.as_array(self._batch.pos, (N_BATCH,))
        self._wants_row = np.ctypeslib.as_array(self._batch.logits, (N_BATCH,))
        self._index_range = np.arange(N_BATCH, dtype=np.int32)
        num_owners = len(self._owners)
        np.ctypeslib.as_array(self._batch.n_seq_id, (N_BATCH,))[:] = num_owners
        self._own_seq_ids = [ctypes.cast(self._batch.seq_id[i], ctypes.c_void_p).value for i in range(N_BATCH)]
        self._seq_ids = np.tile(np.array(self._owners, dtype=np.int32), (N_BATCH, 1))
        self._set_seq_ids([self._seq_ids.ctypes.data + 4 * num_owners * i for i in range(N_BATCH)])
        self._in_batch = [self.seq_id]  # sequence that `_seq_ids` refer to; shared with the other sequences
        self._wants_row[:] = 0
        # The same memory for a single token. NumPy is not used, since its calls are slow right after a pass.
        self._one_id, self._one_position, self._one_wants = self._batch.token, self._batch.pos, self._batch.logits
        logits = ctypes.cast(self._lib.llama_get_logits, ctypes.c_void_p).value
        self._logits_at = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(logits or 0)
        self._rows_address = 0
        self._rows: Rows = np.empty((0, self.n_vocab), dtype=np.float32)

    def _reset(self, seq_id: int) -> None:
        self.seq_id = seq_id
        # llama.cpp's sequences that own the cells. A cache of several sequences drops a cell with a single owner once
        # it is outside of the window. A second owner ("keeper"), which no pass uses, prevents that.
        self._owners = (seq_id, self.params.num_sequences + seq_id) if self._keeps_evicted_window else (seq_id,)
        self.num_past = 0
        # A picture may take fewer positions than tokens (M-RoPE): the index after each such picture, and the gap from
        # there on.
        self._gaps: list[tuple[int, int]] = []
        self.gap = 0
        self.tap: RowObserver | None = None
        self._num_rollback = 0  # how many tokens snapshots can roll back now
        self._state = (ctypes.c_uint8 * 0)()
        self._state_bytes, self._state_past = 0, -1

    def _make(self, params: ContextParams) -> int:
        native = self._lib.llama_context_default_params()
        native.n_ctx = -(-params.n_ctx // _N_CTX_STEP) * _N_CTX_STEP * params.num_sequences
        # Includes keepers, and the spare sequence of `WindowedState`.
        native.n_seq_max = 2 * params.num_sequences + 1 if self._keeps_evicted_window else params.num_sequences
        # Only a unified cache allows different numbers of tokens per sequence in a pass.
        native.kv_unified = native.n_seq_max > 1
        native.n_batch = min(max(N_BATCH, params.picture_ubatch), native.n_ctx)
        native.n_ubatch = min(max(_usual_ubatch(self._model), params.picture_ubatch), native.n_batch)
        native.n_outputs_max = max(params.max_rows, native.n_seq_max)
        native.n_threads = native.n_threads_batch = params.threads
        # A cache of the window's size would overwrite cells that a rollback needs again.
        native.swa_full = True
        native.no_perf = True
        native.n_rs_seq = params.snapshots
        native.type_v = getattr(self._lib, _CACHE_TYPES[params.cache_type])
        native.type_k = getattr(self._lib, _CACHE_TYPES[params.cache_type])
        flash = params.flash_attention
        if params.cache_type is not CacheType.F16:  # only fused kernels support quantized values
            flash = FlashAttention.ON
        native.flash_attn_type = getattr(self._lib, _FLASH_TYPES[flash])
        if not self._model.gpu_layers:  # no GPU computes anything
            native.offload_kqv = native.op_offload = False
        self._adjust_params(native)
        with library.collected_errors():
            handle = self._lib.llama_init_from_model(self._model.handle, native)
            reason = library.last_error()
        if not handle:
            raise ContextError(
                i18n(
                    "A context of {n_ctx:,} tokens for {path} could not be made: {reason}.",
                    n_ctx=params.n_ctx,
                    path=self._model.path.name,
                    reason=reason or i18n("no reason was given"),
                )
            )
        return int(handle)

    def _adjust_params(self, native: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """Change llama.cpp's parameters in a subclass."""

    def _snapshots(self) -> int | None:
        """See `LanguageModel.num_snapshots`; llama.cpp sets it to 0 if snapshots are unsupported."""
        confirmed = int(self._lib.llama_n_rs_seq(self.handle))
        return confirmed if confirmed or self._model.is_recurrent else None

    def _set_seq_ids(self, addresses: Sequence[int | None]) -> None:
        """Set the addresses from which the batch reads each token's sequence ids."""
        pointers = ctypes.cast(self._batch.seq_id, ctypes.POINTER(ctypes.c_void_p))
        for i, address in enumerate(addresses):
            pointers[i] = address

    def other_sequence(self, seq_id: int) -> LlamaContext:
        """Return another, empty sequence of this context, which is valid until this one is closed.

        Raises:
            ValueError: the context has no such sequence.
        """
        if not 0 < seq_id < self.params.num_sequences:
            raise ValueError(f"a context of {self.params.num_sequences} sequences has no number {seq_id}")
        other = copy.copy(self)
        other._reset(seq_id)  # noqa: SLF001  (of the same class)
        return other

    def close(self) -> None:
        """Free the cache and the buffers; only the first sequence does this."""
        if self.seq_id:
            return
        if self.handle:
            self._set_seq_ids(self._own_seq_ids)
            self._lib.llama_batch_free(self._batch)
            self._lib.llama_free(self.handle)
            self._top_k_sampler.free()
            self.handle = 0

    def __enter__(self) -> LlamaContext:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def threads(self) -> int:
        return int(self._lib.llama_n_threads(self.handle))

    def set_abort_callback(self, asks: Any, data: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """Let passes call the C function ``asks(data)`` and end early if it returns True; None removes it."""
        if self.handle:
            no_callback = self._lib.ggml_abort_callback()
            self._lib.llama_set_abort_callback(self.handle, no_callback if asks is None else asks, data)

    def set_threads(self, threads: int) -> None:
        self._lib.llama_set_n_threads(self.handle, threads, threads)

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`. Takes at most `N_BATCH` ids and gives at most `MAX_ROWS` rows.

        Raises:
            DecodeError: the pass failed, or the cache is full.
        """
        if n_rows and self._top_k_sampler.is_attached:
            self._top_k_sampler.detach()
        self._decode(ids, n_rows)
        return self._view(n_rows)

    @property
    def num_candidates(self) -> int:
        """See `LanguageModel.num_candidates`. Only the first sequence can select candidates."""
        return self._top_k_sampler.count if not self.seq_id else 0

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """See `LanguageModel.forward_candidates`. The first call after whole rows is slow: llama.cpp plans its buffers.

        Raises:
            DecodeError: the pass failed, or the cache is full.
        """
        attached = self._top_k_sampler.attach()
        self._decode(ids, 1)
        if attached:
            return self._top_k_sampler.read()
        return Candidates(np.arange(self.n_vocab, dtype=np.int64), self._view(1)[0].copy())

    def _decode(self, ids: TokenIds, n_rows: int) -> None:
        count = len(ids)
        if not (0 < count <= self.n_batch and 0 <= n_rows <= min(count, self._max_rows)):
            raise ValueError(f"a pass of {count} tokens with {n_rows} rows is outside the batch")
        past = self.num_past
        position = past - self.gap
        if self._in_batch[0] != self.seq_id:
            self._in_batch[0], self._seq_ids[:] = self.seq_id, self._owners
        if count == 1:
            self._one_id[0], self._one_position[0], self._one_wants[0] = int(ids[0]), position, n_rows
        else:
            self._ids[:count] = ids
            np.add(self._index_range[:count], position, out=self._positions[:count])
            self._wants_row[:count] = 0
            self._wants_row[count - n_rows : count] = 1
        self._batch.n_tokens = count
        library.clear_errors()
        code = self._lib.llama_decode(self.handle, self._batch)
        if code != 0:
            self._after_failure(code, past)
        self.num_past = past + count
        if self.tap is not None:
            self.tap.record_pass(past, count)
        # Only the snapshots of the last pass's tokens are valid.
        self._num_rollback = min(count - 1, self.num_snapshots or 0)

    def forward_joined(self, parts: Sequence[PassPart]) -> list[Rows]:
        """Make one pass for several sequences of this context; return the rows of each, views until the next pass.

        Takes at most `N_BATCH` ids and ``params.max_rows`` rows in all. Records no rows for `tap`.

        Raises:
            DecodeError: the pass failed; each cache is as before the call.
        """
        if self._top_k_sampler.is_attached:
            self._top_k_sampler.detach()
        count, num_rows = 0, 0
        for part in parts:
            begin, sequence = count, part.sequence
            count += len(part.ids)
            self._ids[begin:count] = part.ids
            first = sequence.num_past - sequence.gap
            np.add(self._index_range[: count - begin], first, out=self._positions[begin:count])
            self._seq_ids[begin:count] = sequence._owners  # noqa: SLF001  (of the same class)
            self._wants_row[begin:count] = 0
            self._wants_row[count - part.n_rows : count] = 1
            num_rows += part.n_rows
        self._in_batch[0] = -1
        self._batch.n_tokens = count
        library.clear_errors()
        code = self._lib.llama_decode(self.handle, self._batch)
        if code != 0:
            for part in parts:
                part.sequence._drop_from(part.sequence.num_past)  # noqa: SLF001  (as above)
            self._raise(code)
        rows, taken, given = self._view(num_rows), 0, list[Rows]()
        for part in parts:
            sequence, num_new = part.sequence, len(part.ids)
            sequence.num_past += num_new
            sequence._num_rollback = min(num_new - 1, self.num_snapshots or 0)  # noqa: SLF001  (as above)
            given.append(rows[taken : taken + part.n_rows])
            taken += part.n_rows
        return given

    def copy_prefix(self, other: LlamaContext, num_tokens: int) -> bool:
        """Replace the content by the first tokens of another sequence of this context, sharing cells.

        False, with this sequence empty, if ``other`` has lost cells of these tokens.
        """
        self.clear()
        if not other._has_cells(num_tokens):
            return False
        for owner in self._owners:
            self._lib.llama_memory_seq_cp(self._memory, other.seq_id, owner, 0, num_tokens)
        self._set_num_past(num_tokens)
        return True

    def _has_cells(self, num_past: int) -> bool:
        """Whether llama.cpp still has all cells that the token after ``num_past`` tokens attends to."""
        if not self._keeps_evicted_window:
            return True
        first = int(self._lib.llama_memory_seq_pos_min(self._memory, self.seq_id))
        return 0 <= first <= max(0, self._position(num_past) + 1 - self._model.sliding_window)

    def append_run(self, num_tokens: int, num_positions: int, run: Callable[[int, int], int]) -> None:
        """Append ``num_tokens`` tokens of a picture, which take ``num_positions`` positions.

        ``run`` decodes them: it is called with llama.cpp's context and the first position, and returns `llama_decode`'s
        code.

        Raises:
            DecodeError: the pass failed; the cache is as before the call, or empty if it is recurrent.
        """
        past = self.num_past
        library.clear_errors()
        code = NO_FREE_CELLS if past + num_tokens > self.n_ctx else run(self.handle, past - self.gap)
        if code != 0:
            self._after_failure(code, past)
        for keeper in self._owners[1:]:
            self._lib.llama_memory_seq_cp(self._memory, self.seq_id, keeper, past - self.gap, -1)
        self.num_past, self._num_rollback = past + num_tokens, 0
        if num_positions != num_tokens:
            self.gap += num_tokens - num_positions
            self._gaps.append((self.num_past, self.gap))
        if self.tap is not None:
            self.tap.forget()

    def _position(self, index: int) -> int:
        """llama.cpp's position of the token with this index."""
        return index - next((gap for end, gap in reversed(self._gaps) if end <= index), 0)

    def _set_num_past(self, num_past: int) -> None:
        """Set the number of cached tokens, and drop later gaps."""
        self.num_past, self._num_rollback = num_past, 0
        if self._gaps:
            self._gaps = [(end, gap) for end, gap in self._gaps if end <= num_past]
            self.gap = self._gaps[-1][1] if self._gaps else 0

    def _view(self, n_rows: int) -> NDArray[np.float32]:
        """A view of llama.cpp's output buffer, cached until the buffer moves or grows."""
        if n_rows == 0:
            return self._rows[:0]
        address = self._logits_at(self.handle)
        if address != self._rows_address or n_rows > self._rows.shape[0]:
            pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
            self._rows = np.ctypeslib.as_array(pointer, (n_rows, self.n_vocab))
            self._rows_address = address
        return self._rows[:n_rows]

    def _after_failure(self, code: int, past: int) -> None:
        # An abort or a fatal error may leave a part of the batch in memory. A recurrent state has then advanced, and
        # llama.cpp would restore it from a snapshot that the failed pass did not make, without reporting an error.
        is_whole = code == NO_FREE_CELLS or self.num_snapshots is None
        if not is_whole or not self._drop_from(past):
            self.clear()
        self._raise(code)

    def _drop_from(self, num_past: int) -> bool:
        """Drop the cells after ``num_past`` tokens; False if llama.cpp's memory does not support it."""
        position, done = self._position(num_past), True
        for owner in self._owners:
            done &= bool(self._lib.llama_memory_seq_rm(self._memory, owner, position, -1))
        return done

    def _raise(self, code: int) -> NoReturn:
        if code == NO_FREE_CELLS:
            raise DecodeError(
                i18n("The context of {n_ctx:,} tokens is full.", n_ctx=self.n_ctx),
                "Start a new chat, or choose a larger context in the settings.",
            )
        raise DecodeError(
            i18n(
                "llama.cpp could not compute a pass (code {code}): {reason}.",
                code=code,
                reason=library.last_error() or i18n("no reason was given"),
            )
        )

    def rollback(self, num_past: int) -> bool:
        if num_past >= self.num_past:
            return True
        if num_past == 0:
            self.clear()
            return True
        if self.num_snapshots is not None and self.num_past - num_past > self._num_rollback:
            return False
        if not self._has_cells(num_past) or not self._drop_from(num_past):
            return False
        self._set_num_past(num_past)
        if num_past < self._state_past:
            self._state_past = -1
        return True

    def save(self) -> bool:
        """See `LanguageModel.save`. Saves only the recurrent part, since the tail of a cache can be dropped."""
        self._state_past = -1
        size = int(self._lib.llama_state_seq_get_size_ext(self.handle, self.seq_id, self._state_flags))
        if size > len(self._state):
            self._state = (ctypes.c_uint8 * size)()
        self._state_bytes = int(
            self._lib.llama_state_seq_get_data_ext(self.handle, self._state, size, self.seq_id, self._state_flags)
        )
        if size == 0 or self._state_bytes == 0:
            return False
        self._state_past = self.num_past
        return True

    def restore(self) -> bool:
        past = self._state_past
        if past <= 0:
            self.clear()
            self._state_past = past
            return past == 0
        read = self._lib.llama_state_seq_set_data_ext(
            self.handle, self._state, self._state_bytes, self.seq_id, self._state_flags
        )
        # The cache of a hybrid memory still holds the tokens after the saved state.
        if read == 0 or not self._drop_from(past):
            self.clear()
            return False
        self._set_num_past(past)
        return True

    @property
    def state_bytes(self) -> int:
        if self._keeps_evicted_window:
            return self._slices.size(self.seq_id)
        return int(self._lib.llama_state_seq_get_size(self.handle, self.seq_id))

    def export_state(self) -> NDArray[np.uint8] | None:
        if self._keeps_evicted_window:
            return self._slices.export(self.seq_id) if self.num_past and self._has_cells(0) else None
        size = self.state_bytes if self.num_past else 0
        state = np.empty(size, dtype=np.uint8)
        address = state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        written = int(self._lib.llama_state_seq_get_data(self.handle, address, size, self.seq_id)) if size else 0
        return state[:written] if written else None

    def import_state(self, state: NDArray[np.uint8], num_past: int, gaps: Sequence[tuple[int, int]] = ()) -> bool:
        """See `LanguageModel.import_state`. llama.cpp trusts the bytes: pass only exports of this program."""
        self.clear()
        with library.collected_errors():
            is_read = self._read_state(state)
        last = int(self._lib.llama_memory_seq_pos_max(self._memory, self.seq_id))
        self._gaps = list(gaps)
        if not is_read or last != self._position(num_past) - 1 or not self._has_cells(0):
            self.clear()
            return False
        self._set_num_past(num_past)
        return True

    def _read_state(self, state: NDArray[np.uint8]) -> bool:
        if self._keeps_evicted_window:
            return self._slices.import_state(state, self._owners)
        address = state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
        return bool(self._lib.llama_state_seq_set_data(self.handle, address, len(state), self.seq_id) == len(state))

    def clear(self) -> None:
        if self.params.num_sequences > 1:
            for owner in self._owners:
                self._lib.llama_memory_seq_rm(self._memory, owner, -1, -1)
        else:
            self._lib.llama_memory_clear(self._memory, False)
        self.num_past = self._num_rollback = self.gap = 0
        self._gaps = []
        self._state_past = -1
        if self.tap is not None:
            self.tap.forget()
