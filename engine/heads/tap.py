"""Records the hidden rows of a target's passes for a head."""

import ctypes
from collections.abc import Sequence

import numpy as np

from engine.llama.context import N_BATCH, LlamaContext
from engine.llama.head_context import HiddenRows
from engine.llama.hidden_rows import RowPart

READ_AT_ROWS = 256  # number of waiting rows at which a head reads them, which bounds the buffer
CAPACITY = READ_AT_ROWS + N_BATCH  # rows
_ROLLBACK_ROWS = 16  # rows kept before the last read row, for a short rollback
_BYTES = 4


class HiddenRowRecorder:
    """Implements `engine.llama.context.RowObserver`; records the rows of positions ``first`` <= i < ``end``."""

    def __init__(self, context: LlamaContext, parts: Sequence[RowPart], n_embd: int) -> None:
        """A row consists of ``parts`` of ``n_embd`` numbers each."""
        self._context = context
        self.parts, self.n_embd = tuple(parts), n_embd
        self._rows = np.zeros((len(self.parts), CAPACITY, n_embd), dtype=np.float32)
        self._first = self._offset = self._end = 0  # `_offset`: index of the first row in the buffer
        self._row_bytes = n_embd * _BYTES

    @property
    def num_past(self) -> int:
        """Number of tokens in the target's cache, with or without rows."""
        return self._context.num_past

    @property
    def is_on(self) -> bool:
        return self._context.tap is self

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
