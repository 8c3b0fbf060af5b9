"""Interrupts running passes of llama.cpp from any thread, since a pass of a long prompt may take seconds.

llama.cpp calls a C function between the operations of a pass on the CPU. A Python function would have to wait for the
interpreter hundreds of times per pass, so the function is C's `strlen`, called on a text of at most one character: it
returns false while the text is empty. Passes on a GPU do not call it.
"""

import ctypes
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from engine.interfaces import ComputeContext
from engine.llama import library


class Interrupt:
    """The interrupt of a session. `set` is thread-safe and stays in effect until `clear`."""

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(2)
        self._attached: dict[int, int] = {}  # attach count of each context

    def set(self) -> None:
        """End the passes of attached contexts, each with a `DecodeError` that leaves its cache unchanged."""
        self._text[0] = b"\x01"

    def clear(self) -> None:
        self._text[0] = b"\x00"

    @contextmanager
    def attached_to(self, contexts: Sequence[ComputeContext]) -> Iterator[None]:
        """Attach contexts during the block, except recurrent ones, which would lose their state.

        Parallel answers may attach the same contexts; these are detached when the last answer is done.
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

    def _count(self, context: ComputeContext, change: int) -> int:
        number = self._attached.pop(id(context), 0) + change
        if number:
            self._attached[id(context)] = number
        return number


@cache
def _asks() -> Any:  # noqa: ANN401  (the binding ships no types)
    """`strlen` as llama.cpp's callback; its results 0 and 1 are valid as a bool of any width."""
    strlen = ctypes.cdll.msvcrt.strlen if sys.platform == "win32" else ctypes.CDLL(None).strlen
    return ctypes.cast(strlen, library.start().ggml_abort_callback)
