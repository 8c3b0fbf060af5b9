"""Hidden rows of a target's passes: what heads read beside the tokens.

Those that MTP and EAGLE-3 read, llama.cpp gives by functions that it exports as C++, so that their names depend on the
compiler, and promises none of them. They are looked up by name; where a build lacks some, `missing_for` names them, and
the method is left out. `FinalRows` needs none of them.
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
# Of each function its names, as GCC and Clang and as MSVC mangle them, its arguments and its result.
_FUNCTIONS: dict[str, tuple[tuple[str, str], list[Any], Any]] = {
    "llama_set_embeddings_nextn": (
        (
            "_Z26llama_set_embeddings_nextnP13llama_contextbb",
            "?llama_set_embeddings_nextn@@YAXPEAUllama_context@@_N1@Z",
        ),
        [_CONTEXT, ctypes.c_bool, ctypes.c_bool],
        None,
    ),
    "llama_get_embeddings_nextn": (
        ("_Z26llama_get_embeddings_nextnP13llama_context", "?llama_get_embeddings_nextn@@YAPEAMPEAUllama_context@@@Z"),
        [_CONTEXT],
        _FLOATS,
    ),
    "llama_get_embeddings_nextn_ith": (
        (
            "_Z30llama_get_embeddings_nextn_ithP13llama_contexti",
            "?llama_get_embeddings_nextn_ith@@YAPEAMPEAUllama_context@@H@Z",
        ),
        [_CONTEXT, ctypes.c_int32],
        _FLOATS,
    ),
    "llama_set_nextn_layer_offset": (
        (
            "_Z28llama_set_nextn_layer_offsetP13llama_contexti",
            "?llama_set_nextn_layer_offset@@YAXPEAUllama_context@@H@Z",
        ),
        [_CONTEXT, ctypes.c_int32],
        None,
    ),
    "llama_set_embeddings_layer_inp": (
        (
            "_Z30llama_set_embeddings_layer_inpP13llama_contextjb",
            "?llama_set_embeddings_layer_inp@@YAXPEAUllama_context@@I_N@Z",
        ),
        [_CONTEXT, ctypes.c_uint32, ctypes.c_bool],
        None,
    ),
    "llama_get_embeddings_layer_inp": (
        (
            "_Z30llama_get_embeddings_layer_inpP13llama_contextj",
            "?llama_get_embeddings_layer_inp@@YAPEAMPEAUllama_context@@I@Z",
        ),
        [_CONTEXT, ctypes.c_uint32],
        _FLOATS,
    ),
}
_NEXTN = tuple(name for name in _FUNCTIONS if "nextn" in name)
_LAYER_INPUTS = tuple(name for name in _FUNCTIONS if "layer_inp" in name)
_NEEDED = dict.fromkeys((MTP, ASSISTANT), _NEXTN) | dict.fromkeys((EAGLE3, DFLASH, DSPARK), (*_NEXTN, *_LAYER_INPUTS))


@cache
def function(name: str) -> Any:  # noqa: ANN401  (the binding ships no types)
    """One of llama.cpp's functions on hidden rows; None where this build lacks it."""
    mangled, arguments, result = _FUNCTIONS[name]
    exported = library.start()._lib  # noqa: SLF001  (the binding's own extensions take it as well)
    for spelling in (name, *mangled):
        found = getattr(exported, spelling, None)
        if found is not None:
            found.argtypes, found.restype = arguments, result
            return found
    return None


def missing_for(method: str) -> tuple[str, ...]:
    """What this build of llama.cpp lacks for heads of a method: names of functions, none where it has all."""
    return tuple(name for name in _NEEDED[method] if function(name) is None)


class FinalRows:
    """The normed output of a target's last layer, of which its output matrix makes logits; any architecture has it.

    llama.cpp gives them only in passes all of whose tokens give logits.
    """

    def __init__(self, handle: int) -> None:
        lib = library.start()
        self._handle, self._is_on, self._switch = handle, False, lib.llama_set_embeddings
        address = ctypes.cast(lib.llama_get_embeddings, ctypes.c_void_p).value
        self._address = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address or 0)

    def switch(self, *, on: bool) -> None:
        """Have the passes that follow give them, or no longer."""
        if on != self._is_on:
            self._switch(self._handle, on)
            self._is_on = on

    def copy(self, place: int, width: int) -> NDArray[np.float32] | None:
        """The row [width] of one of the last pass's tokens; None where it gave none."""
        address = self._address(self._handle)
        if not address:
            return None
        row = np.empty(width, dtype=np.float32)
        ctypes.memmove(row.ctypes.data, address + place * row.nbytes, row.nbytes)
        return row


@dataclass(frozen=True, slots=True)
class RowPart:
    """Where a part of a hidden row comes from: the input of a layer, or, ``layer`` None, the output of the last."""

    layer: int | None = None

    def switch(self, handle: int, *, on: bool) -> None:
        """Have passes of this context keep the part for every token, or no longer."""
        if self.layer is None:
            function("llama_set_embeddings_nextn")(handle, on, False)
        else:
            function("llama_set_embeddings_layer_inp")(handle, self.layer, on)

    def address(self, handle: int) -> int | None:
        """Where the last pass left it: one row a token, float32, one after another; None where there is none."""
        if self.layer is None:
            found = function("llama_get_embeddings_nextn")(handle)
        else:
            found = function("llama_get_embeddings_layer_inp")(handle, self.layer)
        return None if found is None else int(found)
