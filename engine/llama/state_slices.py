"""Copies out all cells of a sequence whose layers have a sliding window, and puts them back.

llama.cpp leaves out of a sequence's state what lies behind the window of its end. So a spare sequence takes one window
after another, and the state is what it holds of each.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_MAGIC = 0x5743454C  # before the number of slices and their sizes, all of 8 bytes


@dataclass(frozen=True, slots=True)
class StateSlices:
    """Of a context: llama.cpp's binding, context and memory, the spare sequence, and how many tokens a window has."""

    lib: Any
    handle: int
    memory: int
    spare: int
    window: int

    def size(self, seq_id: int) -> int:
        """How many bytes `export` gives."""
        sizes = [int(self.lib.llama_state_seq_get_size(self.handle, self.spare)) for _ in self._windows(seq_id)]
        return 8 * (2 + len(sizes)) + sum(sizes) if sizes else 0

    def export(self, seq_id: int) -> NDArray[np.uint8] | None:
        """Everything that a sequence holds; None where llama.cpp gives nothing."""
        slices = list[NDArray[np.uint8]]()
        for _ in self._windows(seq_id):
            size = int(self.lib.llama_state_seq_get_size(self.handle, self.spare))
            data = np.empty(size, dtype=np.uint8)
            address = data.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
            if not size or self.lib.llama_state_seq_get_data(self.handle, address, size, self.spare) != size:
                self._empty()
                return None
            slices.append(data)
        if not slices:
            return None
        head = np.array([_MAGIC, len(slices), *map(len, slices)], dtype="<i8").view(np.uint8)
        return np.concatenate([head, *slices])

    def put_back(self, state: NDArray[np.uint8], owners: tuple[int, ...]) -> bool:
        """Have ``owners``, which hold nothing, hold what `export` gave; False where it is another's state."""
        if len(state) < 16 or len(state) < 16 + 8 * (count := int(state[8:16].view("<i8")[0])) or count < 1:
            return False
        sizes, begin = state[16 : 16 + 8 * count].view("<i8").tolist(), 16 + 8 * count
        if int(state[:8].view("<i8")[0]) != _MAGIC or begin + sum(sizes) != len(state) or min(sizes) < 1:
            return False
        for size in sizes:
            address = state[begin : begin + size].ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
            if self.lib.llama_state_seq_set_data(self.handle, address, size, self.spare) != size:
                self._empty()
                return False
            for owner in owners:
                self.lib.llama_memory_seq_cp(self.memory, self.spare, owner, -1, -1)
            begin += size
        self._empty()
        return True

    def _windows(self, seq_id: int) -> Iterator[None]:
        """Have the spare sequence hold one window of another after the next."""
        end = int(self.lib.llama_memory_seq_pos_max(self.memory, seq_id)) + 1
        for begin in range(0, end, self.window):
            self.lib.llama_memory_seq_cp(self.memory, seq_id, self.spare, begin, begin + self.window)
            yield
            self._empty()

    def _empty(self) -> None:
        self.lib.llama_memory_seq_rm(self.memory, self.spare, -1, -1)
