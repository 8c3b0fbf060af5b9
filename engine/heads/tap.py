"""Records the hidden rows of a target's passes for a head: all rows, or only the last."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.llama.context import N_BATCH, LlamaContext
from engine.llama.head_context import HiddenRows
from engine.llama.hidden_rows import FinalRows, RowPart

READ_AT_ROWS = 256  # number of waiting rows at which a head reads them, which bounds the buffer
CAPACITY = READ_AT_ROWS + N_BATCH  # rows
_ROLLBACK_ROWS = 16  # rows kept before the last read row, for a short rollback
_BYTES = 4
HiddenRow = NDArray[np.float32]


class RowRecorder:
    """Base of both recorders; holds the target's context."""

    def __init__(self, context: LlamaContext) -> None:
        self._context = context

    @property
    def num_past(self) -> int:
        """Number of tokens in the target's cache, with or without rows."""
        return self._context.num_past

    @property
    def is_on(self) -> bool:
        own: object = self  # typed as object, since only subclasses are a complete `RowTap`
        return self._context.tap is own


class HiddenRowRecorder(RowRecorder):
    """Implements `engine.llama.context.RowTap`; records the rows of positions ``first`` <= i < ``end``."""

    def __init__(self, context: LlamaContext, parts: Sequence[RowPart], n_embd: int) -> None:
        """A row consists of ``parts`` of ``n_embd`` numbers each."""
        super().__init__(context)
        self.parts, self.n_embd = tuple(parts), n_embd
        self._rows = np.zeros((len(self.parts), CAPACITY, n_embd), dtype=np.float32)
        self._first = self._offset = self._end = 0  # `_offset`: index of the first row in the buffer
        self._row_bytes = n_embd * _BYTES

    @property
    def num_bytes(self) -> int:
        return int(self._rows.nbytes)

    @property
    def first(self) -> int:
        return self._first

    @property
    def end(self) -> int:
        """The position after the last row, without rows that the target has dropped."""
        return max(self._first, min(self._end, self._context.num_past))

    def set_recording(self, *, on: bool) -> None:
        """Start or stop recording rows; a change drops all rows."""
        if on == self.is_on:
            return
        for part in self.parts:
            part.set_recording(self._context.handle, on=on)
        self._context.tap = self if on else None
        self.forget()

    def forget(self) -> None:
        self._first = self._offset = self._end = 0

    def before_pass(self, *, is_whole: bool) -> bool:  # noqa: ARG002  (the protocol's signature)
        return False

    def record_pass(self, past: int, count: int) -> None:
        if not self._first <= past <= self._end:  # rows between are missing
            self._first, self._offset, self._end = past, 0, past
        self._end = past
        self._make_room(count)
        index = self._offset + past - self._first
        for rows, part in zip(self._rows, self.parts, strict=True):
            address = part.address(self._context.handle)
            if address is None:
                self.forget()
                return
            ctypes.memmove(rows.ctypes.data + index * self._row_bytes, address, count * self._row_bytes)
        self._end = past + count

    def _make_room(self, count: int) -> None:
        held = self._end - self._first
        if self._offset + held + count <= CAPACITY:
            return
        lost = max(0, held + count - CAPACITY)
        begin = self._offset + lost
        self._rows[:, : held - lost] = self._rows[:, begin : begin + held - lost].copy()
        self._first, self._offset = self._first + lost, 0

    def release(self, position: int) -> None:
        """Allow dropping the rows before ``position``."""
        position = min(position - _ROLLBACK_ROWS, self._end)
        if position > self._first:
            self._offset += position - self._first
            self._first = position

    def rows(self, first: int, count: int) -> HiddenRows:
        """The rows of ``count`` recorded positions from ``first`` on [count, width]."""
        index = self._offset + first - self._first
        if len(self.parts) == 1:
            return self._rows[0, index : index + count]
        return np.concatenate([rows[index : index + count] for rows in self._rows], axis=1)

    def has_rows_of(self, num_tokens: int) -> bool:
        """Whether the target's first pass of ``num_tokens`` gave rows other than zeros."""
        return bool(self.rows(0, num_tokens).any())


class LastRowRecorder(RowRecorder):
    """Implements `engine.llama.context.RowTap` for heads that read only the row of the target's last token.

    Rows are copied from llama.cpp on demand.
    """

    def __init__(self, context: LlamaContext, n_embd: int) -> None:
        super().__init__(context)
        self._rows, self.n_embd = FinalRows(context.handle), n_embd
        self._first = self._end = 0  # positions of the last pass's tokens, if it gave rows
        self._gives = False

    def set_recording(self, *, on: bool) -> None:
        """Enable or disable rows in the following passes, if supported."""
        if on == self.is_on:
            return
        self._context.tap = self if on else None
        self._rows.set_recording(on=False)
        self.forget()

    def forget(self) -> None:
        self._first = self._end = 0

    def before_pass(self, *, is_whole: bool) -> bool:
        self._gives = is_whole
        self._rows.set_recording(on=is_whole)
        return is_whole

    def record_pass(self, past: int, count: int) -> None:
        self._first, self._end = past, past + count if self._gives else past

    def row(self) -> HiddenRow | None:
        """A copy of the hidden row of the target's last token [n_embd]; None if its pass gave no rows."""
        last = self._context.num_past - 1
        if not self._first <= last < self._end:
            return None
        return self._rows.copy(last - self._first, self.n_embd)

    def has_rows_of(self, num_tokens: int) -> bool:
        """Like `HiddenRowRecorder.has_rows_of`, but for the last token only."""
        row = self.row() if num_tokens == self.num_past else None
        return row is not None and bool(row.any())
