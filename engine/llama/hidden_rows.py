"""Hidden rows of a target's passes, which heads read beside the tokens.

The rows for MTP and EAGLE-3 come from functions that llama.cpp exports as C++, without any guarantee, so that their
names depend on the compiler. They are looked up by name; if a build lacks some, `missing_for` names them, and the
method is not available. `FinalRows` needs none of them.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.gguf.head_files import ASSISTANT, DFLASH, DSPARK, EAGLE3, MTP
from engine.llama import library

_CONTEXT, _FLOATS = ctypes.c_void_p, ctypes.c_void_p
# Arguments and result of each function, and the suffix of its mangled name: for GCC and Clang, and for MSVC.
_FUNCTIONS: dict[str, tuple[list[Any], Any, str, str]] = {
    "llama_set_embeddings_nextn": ([_CONTEXT, ctypes.c_bool, ctypes.c_bool], None, "bb", "YAXPEAUllama_context@@_N1@Z"),
    "llama_get_embeddings_nextn": ([_CONTEXT], _FLOATS, "", "YAPEAMPEAUllama_context@@@Z"),
    "llama_get_embeddings_nextn_ith": ([_CONTEXT, ctypes.c_int32], _FLOATS, "i", "YAPEAMPEAUllama_context@@H@Z"),
    "llama_set_nextn_layer_offset": ([_CONTEXT, ctypes.c_int32], None, "i", "YAXPEAUllama_context@@H@Z"),
    "llama_set_embeddings_layer_inp": (
        [_CONTEXT, ctypes.c_uint32, ctypes.c_bool],
        None,
        "jb",
        "YAXPEAUllama_context@@I_N@Z",
    ),
    "llama_get_embeddings_layer_inp": ([_CONTEXT, ctypes.c_uint32], _FLOATS, "j", "YAPEAMPEAUllama_context@@I@Z"),
}
_NEXTN = tuple(name for name in _FUNCTIONS if "nextn" in name)
_LAYER_INPUTS = tuple(name for name in _FUNCTIONS if "layer_inp" in name)
_NEEDED = dict.fromkeys((MTP, ASSISTANT), _NEXTN) | dict.fromkeys((EAGLE3, DFLASH, DSPARK), (*_NEXTN, *_LAYER_INPUTS))


@cache
def function(name: str) -> Any:  # noqa: ANN401  (the binding ships no types)
    """One of llama.cpp's functions on hidden rows; None if this build lacks it."""
    arguments, result, gcc, msvc = _FUNCTIONS[name]
    exported = library.start()._lib  # noqa: SLF001  (the binding's own extensions take it as well)
    for spelling in (name, f"_Z{len(name)}{name}P13llama_context{gcc}", f"?{name}@@{msvc}"):
        found = getattr(exported, spelling, None)
        if found is not None:
            found.argtypes, found.restype = arguments, result
            return found
    return None


def missing_for(method: str) -> tuple[str, ...]:
    """Names of the functions that this build of llama.cpp lacks for heads of a method."""
    return tuple(name for name in _NEEDED[method] if function(name) is None)


class FinalRows:
    """The normed output of a target's last layer, from which the logits are computed; every architecture has it.

    llama.cpp gives them only in passes in which all tokens give logits.
    """

    def __init__(self, handle: int) -> None:
        lib = library.start()
        self._handle, self._is_on, self._switch = handle, False, lib.llama_set_embeddings
        address = ctypes.cast(lib.llama_get_embeddings, ctypes.c_void_p).value
        self._address = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address or 0)

    def switch(self, *, on: bool) -> None:
        """Have the following passes give these rows, or stop."""
        if on != self._is_on:
            self._switch(self._handle, on)
            self._is_on = on

    def copy(self, index: int, width: int) -> NDArray[np.float32] | None:
        """The row [width] of one of the last pass's tokens; None if the pass gave none."""
        address = self._address(self._handle)
        if not address:
            return None
        row = np.empty(width, dtype=np.float32)
        ctypes.memmove(row.ctypes.data, address + index * row.nbytes, row.nbytes)
        return row


@dataclass(frozen=True, slots=True)
class RowPart:
    """Source of a part of a hidden row: the input of a layer, or (``layer`` None) the output of the last."""

    layer: int | None = None

    def switch(self, handle: int, *, on: bool) -> None:
        """Have passes of this context keep the part for every token, or stop."""
        if self.layer is None:
            function("llama_set_embeddings_nextn")(handle, on, False)
        else:
            function("llama_set_embeddings_layer_inp")(handle, self.layer, on)

    def address(self, handle: int) -> int | None:
        """Address after the last pass: one row per token, float32, contiguous; None if there is none."""
        if self.layer is None:
            found = function("llama_get_embeddings_nextn")(handle)
        else:
            found = function("llama_get_embeddings_layer_inp")(handle, self.layer)
        return None if found is None else int(found)
