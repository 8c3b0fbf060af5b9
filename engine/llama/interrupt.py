"""Ends passes of llama.cpp in the middle, from any thread: a pass of a long prompt may take seconds.

llama.cpp calls a C function between the operations of a pass on the processor. A Python function would have to wait for
the interpreter some hundred times a pass; so C's `strlen` is called on a text of at most one character, which is false
while the text is empty. A pass on a GPU does not call it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from engine.interfaces import Computing
from engine.llama import library


class Interrupt:
    """The interrupt of a session. `set` may be called at any time, from any thread; it holds until `clear`."""

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(2)
        self._attached: dict[int, int] = {}  # how often each context is attached

    def set(self) -> None:
        """End the passes of the attached contexts, each with a `DecodeError` that leaves its cache as it was."""
        self._text[0] = b"\x01"

    def clear(self) -> None:
        self._text[0] = b"\x00"

    @contextmanager
    def attached_to(self, contexts: Sequence[Computing]) -> Iterator[None]:
        """Attach contexts inside the block, except recurrent ones, which would lose their state.

        Answers side by side attach the same contexts, until the last of the answers is done.
        """
        listening = [context for context in contexts if context.num_snapshots is None]
        for context in listening:
            if self._count(context, 1) == 1:
                context.set_abort_callback(_asks(), self._text)
        try:
            yield
        finally:
            for context in listening:
                if not self._count(context, -1):
                    context.set_abort_callback(None, None)

    def _count(self, context: Computing, change: int) -> int:
        number = self._attached.pop(id(context), 0) + change
        if number:
            self._attached[id(context)] = number
        return number


@cache
def _asks() -> Any:  # noqa: ANN401  (the binding ships no types)
    """`strlen` as llama.cpp's callback; its results 0 and 1 are those of a bool of any width."""
    strlen = ctypes.cdll.msvcrt.strlen if sys.platform == "win32" else ctypes.CDLL(None).strlen
    return ctypes.cast(strlen, library.start().ggml_abort_callback)
