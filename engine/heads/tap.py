"""Keeps the hidden rows of a target's passes for as long as a head may still need them: all of them, or the last."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.llama.context import N_BATCH, LlamaContext
from engine.llama.head_context import HiddenRows
from engine.llama.hidden_rows import FinalRows, RowPart

FOLLOW_AT = 256  # waiting rows at which a head reads along, so that no more than these and a pass's have to be kept
CAPACITY = FOLLOW_AT + N_BATCH  # rows
_KEPT = 16  # rows behind what was read: a short way back needs them again
_BYTES = 4
HiddenRow = NDArray[np.float32]


class _Tap:
    """What both have of the target's context."""

    def __init__(self, context: LlamaContext) -> None:
        self._context = context

    @property
    def num_past(self) -> int:
        """How many tokens the target holds, with or without a row."""
        return self._context.num_past

    @property
    def is_on(self) -> bool:
        """Whether rows are kept now."""
        own: object = self  # a tap only with what follows in each kind
        return self._context.tap is own


class HiddenTap(_Tap):
    """Implements `engine.llama.context.RowTap`: the row of position i is there for ``first`` <= i < ``end``."""

    def __init__(self, context: LlamaContext, parts: Sequence[RowPart], n_embd: int) -> None:
        """A row is made of ``parts``, each of ``n_embd`` numbers."""
        super().__init__(context)
        self.parts, self.n_embd = tuple(parts), n_embd
        self._rows = np.zeros((len(self.parts), CAPACITY, n_embd), dtype=np.float32)
        self._first = self._place = self._end = 0  # `_place`: where the row of `_first` lies in the buffer
        self._row_bytes = n_embd * _BYTES

    @property
    def num_bytes(self) -> int:
        """What the buffer takes."""
        return int(self._rows.nbytes)

    @property
    def first(self) -> int:
        """The first position whose row is there."""
        return self._first

    @property
    def end(self) -> int:
        """The position behind the last whose row is there; what the target has forgotten is not."""
        return max(self._first, min(self._end, self._context.num_past))

    def switch(self, *, on: bool) -> None:
        """Keep rows of the passes that follow, or none; what was kept is lost at either change."""
        if on == self.is_on:
            return
        for part in self.parts:
            part.switch(self._context.handle, on=on)
        self._context.tap = self if on else None
        self.forget()

    def forget(self) -> None:
        """See `RowTap.forget`."""
        self._first = self._place = self._end = 0

    def prepare(self, *, is_whole: bool) -> bool:  # noqa: ARG002  (the protocol's signature)
        """See `RowTap.prepare`: rows come from passes of any kind."""
        return False

    def take(self, past: int, count: int) -> None:
        """See `RowTap.take`."""
        if not self._first <= past <= self._end:  # nothing is known of what lies between
            self._first, self._place, self._end = past, 0, past
        self._end = past
        self._make_room(count)
        place = self._place + past - self._first
        for rows, part in zip(self._rows, self.parts, strict=True):
            address = part.address(self._context.handle)
            if address is None:
                self.forget()
                return
            ctypes.memmove(rows.ctypes.data + place * self._row_bytes, address, count * self._row_bytes)
        self._end = past + count

    def _make_room(self, count: int) -> None:
        held = self._end - self._first
        if self._place + held + count <= CAPACITY:
            return
        lost = max(0, held + count - CAPACITY)
        begin = self._place + lost
        self._rows[:, : held - lost] = self._rows[:, begin : begin + held - lost].copy()
        self._first, self._place = self._first + lost, 0

    def release(self, position: int) -> None:
        """The rows of the positions before are hardly needed any more."""
        position = min(position - _KEPT, self._end)
        if position > self._first:
            self._place += position - self._first
            self._first = position

    def rows(self, first: int, count: int) -> HiddenRows:
        """The rows of ``count`` positions from ``first`` on, all of which must be there [count, width]."""
        place = self._place + first - self._first
        if len(self.parts) == 1:
            return self._rows[0, place : place + count]
        return np.concatenate([rows[place : place + count] for rows in self._rows], axis=1)


class LastRows(_Tap):
    """Implements `engine.llama.context.RowTap` for heads that read the row of the target's last token only.

    Rows stay where llama.cpp leaves them until one is asked for.
    """

    def __init__(self, context: LlamaContext, n_embd: int) -> None:
        super().__init__(context)
        self._rows, self.n_embd = FinalRows(context.handle), n_embd
        self._first = self._end = 0  # positions of the last pass's tokens, where it gave rows
        self._gives = False

    def switch(self, *, on: bool) -> None:
        """Have the passes that follow give rows where they can, or none."""
        if on == self.is_on:
            return
        self._context.tap = self if on else None
        self._rows.switch(on=False)
        self.forget()

    def forget(self) -> None:
        """See `RowTap.forget`."""
        self._first = self._end = 0

    def prepare(self, *, is_whole: bool) -> bool:
        """See `RowTap.prepare`."""
        self._gives = is_whole
        self._rows.switch(on=is_whole)
        return is_whole

    def take(self, past: int, count: int) -> None:
        """See `RowTap.take`."""
        self._first, self._end = past, past + count if self._gives else past

    def row(self) -> HiddenRow | None:
        """The row of the target's last token [n_embd], as a copy; None where its pass gave none."""
        place = self._context.num_past - 1
        if not self._first <= place < self._end:
            return None
        return self._rows.copy(place - self._first, self.n_embd)
