"""Contexts of heads that read rows of the target: with tokens (MTP, EAGLE-3), or instead of them (DFlash, DSpark)."""

import ctypes
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import DecodeError
from engine.gguf.head_files import BlockShape
from engine.interfaces import Rows, TokenIds
from engine.llama import library
from engine.llama.context import N_BATCH, NO_FREE_CELLS, ContextParams, LlamaContext
from engine.llama.hidden_rows import function
from engine.llama.model import LlamaModel
from engine.sentences import i18n

HiddenRows = NDArray[np.float32]  # [num_tokens, width]
# Architectures whose graphs for heads give the hidden rows of all tokens of a pass, and the logits of its outputs
# (`t_h_nextn` and `t_logits` in llama.cpp's src/models). For others, the hidden rows are correct only if all tokens of
# a pass are outputs.
_GIVE_ALL_ROWS = frozenset(
    {
        "bailingmoe3",
        "cohere2moe",
        "deepseek2",
        "deepseek32",
        "glm-dsa",
        "glm4moe",
        "hy_v3",
        "nemotron_h_moe",
        "qwen35",
        "qwen35moe",
    }
)
_MAX_OUTPUTS = 4  # most tokens that all get an output if few need one; more are split into two passes
HEAD_UBATCH = 32  # micro-batch of EAGLE-3 and block heads: llama.cpp computes logits for each of its tokens
MAX_HEAD_ROWS = 16  # rows of logits in a pass, or rows encoded at once, each of which takes a row of logits


class RowContext(LlamaContext):
    """One sequence of a head that reads rows of ``target``, and may use its embedding and output layer.

    Raises:
        ContextError: llama.cpp could not make it.
    """

    def __init__(self, model: LlamaModel, params: ContextParams, target: LlamaContext, width: int) -> None:
        """``width`` is the width of the rows that passes read."""
        self._target_handle, self.width = target.handle, width
        super().__init__(model, params)
        self.no_rows: Rows = np.empty((0, self.n_vocab), dtype=np.float32)
        self._inputs: HiddenRows = np.empty((0, width), dtype=np.float32)
        self._row_at = function("llama_get_embeddings_nextn_ith")

    def _read_rows_with_tokens(self) -> None:
        """Let passes read each token's row from `_inputs`."""
        self._inputs = np.zeros((N_BATCH, self.width), dtype=np.float32)
        self._batch.embd = self._inputs.ctypes.data_as(ctypes.POINTER(ctypes.c_float))

    def close(self) -> None:
        if self.handle and len(self._inputs):
            self._batch.embd = None  # the memory is NumPy's; llama.cpp must not free it
        super().close()

    def _own_row(self, number: int) -> HiddenRows:
        """A copy of the last pass's row after this token [width]; zeros if the pass gave none."""
        row = np.empty(self.width, dtype=np.float32)
        address = self._row_at(self.handle, number)
        if address is None:
            row[:] = 0.0
        else:
            ctypes.memmove(row.ctypes.data, address, row.nbytes)
        return row

    def _batch_of(self, rows: HiddenRows, position: int, *, wants_rows: bool) -> Any:  # noqa: ANN401  (no types)
        """A batch of contiguous ``rows`` instead of tokens, from ``position`` on."""
        count, batch = len(rows), self._lib.llama_batch()
        batch.n_tokens, batch.token = count, None
        batch.embd = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        np.add(self._index_range[:count], position, out=self._positions[:count])
        self._wants_row[:count] = wants_rows
        batch.pos, batch.n_seq_id, batch.seq_id = self._batch.pos, self._batch.n_seq_id, self._batch.seq_id
        batch.logits = self._batch.logits
        return batch

    def _adjust_params(self, native: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        native.n_rs_seq = 0
        native.ctx_other = self._target_handle

    def _snapshots(self) -> int | None:
        return None  # the head has only keys and values, even if the target is recurrent

    def move_to(self, num_past: int) -> None:
        """Clear the cache, and continue as if ``num_past`` tokens had been read."""
        self.clear()
        self.num_past = num_past

    def check_room(self, num_tokens: int) -> None:
        """Raise `DecodeError` if the cache cannot hold ``num_tokens``."""
        if num_tokens > self.n_ctx:
            self._raise(NO_FREE_CELLS)


class HeadContext(RowContext):
    """One sequence of an MTP or EAGLE-3 head. ``width`` is the width of the rows that passes read and give.

    Raises:
        ContextError: llama.cpp could not make it.
    """

    def __init__(
        self, model: LlamaModel, params: ContextParams, target: LlamaContext, width: int, *, is_mtp: bool
    ) -> None:
        """``is_mtp``: passes compute the model's next-token layers."""
        self.is_mtp = is_mtp
        super().__init__(model, params, target, width)
        self._read_rows_with_tokens()
        # If the last argument is False, a pass gives a row for each token; else one per output, from the first tokens.
        self._gives_all = model.architecture in _GIVE_ALL_ROWS
        function("llama_set_embeddings_nextn")(self.handle, True, not self._gives_all)
        self._num_last = 0  # number of tokens in the last pass

    def _adjust_params(self, native: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        super()._adjust_params(native)
        if self.is_mtp:
            native.ctx_type = self._lib.LLAMA_CONTEXT_TYPE_MTP
        else:
            native.n_ubatch = min(HEAD_UBATCH, native.n_batch)

    def read(self, ids: TokenIds, hidden: HiddenRows, n_rows: int) -> Rows:
        """Append ``ids`` with their rows ``hidden`` in one or two passes; return logits after the last ``n_rows``.

        Raises:
            DecodeError: the pass failed, or the cache is full.
        """
        num_given, before = n_rows, len(ids) - n_rows
        if not self._gives_all and n_rows and before:
            if len(ids) <= _MAX_OUTPUTS:
                num_given = len(ids)
            else:
                self.read(ids[:before], hidden[:before], 0)
                ids, hidden = ids[before:], hidden[before:]
        self._inputs[: len(ids)] = hidden
        self._num_last = len(ids)
        rows = self.forward(ids, num_given)
        return rows[num_given - n_rows :]

    def last_row(self) -> HiddenRows:
        """A copy of the row after the last token of the last pass [width]; the pass must have given rows."""
        return self._own_row(self._num_last - 1)

    def use_layer(self, number: int) -> None:
        """Select the next-token layer of the following passes; each has separate keys and values."""
        function("llama_set_nextn_layer_offset")(self.handle, number)

    def encode(self, features: HiddenRows) -> HiddenRows:
        """Project concatenated rows of the target's layers [num_tokens, width of all] to the head's width.

        Raises:
            DecodeError: the pass failed.
        """
        parts = [self._encode(features[i : i + MAX_HEAD_ROWS]) for i in range(0, len(features), MAX_HEAD_ROWS)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _encode(self, features: HiddenRows) -> HiddenRows:
        features = np.ascontiguousarray(features, dtype=np.float32)
        # Positions have no effect here, but llama.cpp requires that they follow the cache's content.
        batch = self._batch_of(features, self._position(self.num_past), wants_rows=True)
        library.clear_errors()
        code = self._lib.llama_encode(self.handle, batch)
        address = function("llama_get_embeddings_nextn")(self.handle) if code == 0 else None
        if not address:
            raise DecodeError(
                i18n(
                    "llama.cpp could not encode the target's layers for the head (code {code}): {reason}.",
                    code=code,
                    reason=library.last_error() or i18n("no reason was given"),
                )
            )
        rows = np.empty((len(features), self.width), dtype=np.float32)
        ctypes.memmove(rows.ctypes.data, address, rows.nbytes)
        return rows


class BlockContext(RowContext):
    """One sequence of a DFlash or DSpark head, whose cache holds the target's rows; one pass drafts a block of masks.

    ``width`` is the width of a target's row: the inputs of all layers that the head reads.

    Raises:
        ContextError: llama.cpp could not make it.
    """

    def __init__(
        self, model: LlamaModel, params: ContextParams, target: LlamaContext, width: int, shape: BlockShape
    ) -> None:
        self.shape = shape
        super().__init__(model, replace(params, max_rows=shape.size), target, width)
        self._mask = int(self._lib.llama_vocab_mask(model.vocab.handle))
        # A selector's candidates, or the confidence of a DSpark head, are output as a hidden row.
        function("llama_set_embeddings_nextn")(self.handle, True, not shape.num_candidates)
        self._lib.llama_set_causal_attn(self.handle, shape.is_causal)

    def _adjust_params(self, native: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        super()._adjust_params(native)
        native.n_ubatch = min(max(HEAD_UBATCH, self.shape.size), native.n_batch)

    def add_rows(self, hidden: HiddenRows) -> None:
        """Append rows of the target [num_tokens, width], each of which becomes the keys and values of a token.

        Raises:
            DecodeError: the pass failed, or the cache is full.
        """
        for first in range(0, len(hidden), self.n_ubatch):
            rows = np.ascontiguousarray(hidden[first : first + self.n_ubatch], dtype=np.float32)
            self.append_run(len(rows), len(rows), partial(self._decode_rows, rows))

    def _decode_rows(self, rows: HiddenRows, handle: int, position: int) -> int:
        return int(self._lib.llama_decode(handle, self._batch_of(rows, position, wants_rows=False)))

    def draft_block(self, anchor: int) -> tuple[Rows, NDArray[np.float32] | None]:
        """Draft a block after the token ``anchor``, which follows all rows; the cache does not change.

        Returns:
            The logits of each drafted token [num_drafted, n_vocab], or, with a selector, its lattice [num_drafted,
            num_candidates * (num_candidates + 1)]: the candidates' ids, then for each possible predecessor a score of
            each candidate. Second, the probability that each token is accepted [num_drafted], if the head estimates it.

        Raises:
            DecodeError: the pass failed, or the cache is full.
        """
        shape, past = self.shape, self.num_past
        block = [anchor, *[self._mask] * (shape.size - 1)][: max(self.n_ctx - past, 1)]
        rows = self.forward(block, 0 if shape.num_candidates else len(block))
        given = self._given_rows(len(block))
        first = 0 if shape.drafts_at_anchor else 1
        if shape.num_candidates:
            count = shape.num_candidates
            drafted, confidences = given[first:, : count * (count + 1)].copy(), None
        else:
            drafted = rows[first:].copy()
            confidences = given[first:, 0].copy() if shape.has_confidence else None
        if not self.rollback(past):
            raise DecodeError(i18n("The head cannot discard its rejected drafts."))
        return drafted, confidences

    def _given_rows(self, count: int) -> HiddenRows:
        """The hidden rows of the last pass [count, embedding_length], a view that the next pass overwrites."""
        shape = self.shape
        if not (shape.num_candidates or shape.has_confidence):
            return self.no_rows
        address = function("llama_get_embeddings_nextn")(self.handle)
        if not address:
            raise DecodeError(i18n("llama.cpp gave no hidden states of the head."))
        floats = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(floats, (count, self._model.n_embd))


class AssistantContext(RowContext):
    """The passes of a head without a cache, which reads the keys and values of its target.

    Every pass has one token, after the target's tokens, and leaves nothing in the cache.

    Raises:
        ContextError: llama.cpp could not make it.
    """

    def __init__(self, model: LlamaModel, params: ContextParams, target: LlamaContext, width: int) -> None:
        """``target`` may be one of several sequences: the head's context has the same number."""
        self._target = target
        sequences = replace(params, num_sequences=target.params.num_sequences)
        super().__init__(model, sequences, target, width)
        self._reset(target.seq_id)
        self._read_rows_with_tokens()
        function("llama_set_embeddings_nextn")(self.handle, True, True)

    def close(self) -> None:
        """Free the buffers, for any sequence of the target."""
        self.seq_id = 0
        super().close()

    def draft(self, token_id: int, row: HiddenRows) -> tuple[Rows, HiddenRows]:
        """Read a token after the target's last token, with a hidden row [width].

        Returns:
            The logits [1, n_vocab], and the head's row to read the sampled token with.

        Raises:
            DecodeError: the pass failed.
        """
        self.num_past, self.gap = self._target.num_past, self._target.gap
        self._inputs[0] = row
        try:
            rows = self.forward([token_id], 1).copy()
        finally:
            self.num_past = self.gap = 0
        return rows, self._own_row(0)
