"""Access to the hidden rows of a target's passes, which heads read together with tokens.

The rows for MTP and EAGLE-3 come from C++ functions of llama.cpp without a stable ABI, whose mangled names depend on
the compiler. They are looked up by name; `missing_for` names the functions that a method needs and a build lacks.
"""

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

from engine.gguf.head_files import ASSISTANT, DFLASH, DSPARK, EAGLE3, MTP
from engine.llama import library

_CONTEXT, _FLOATS = ctypes.c_void_p, ctypes.c_void_p
# Argument types and result type of each function, and the suffixes of its mangled name (GCC and Clang, MSVC).
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
    """Find one of llama.cpp's functions on hidden rows; None if this build lacks it."""
    arguments, result, gcc, msvc = _FUNCTIONS[name]
    exported = library.start()._lib  # noqa: SLF001  (the binding's own extensions take it as well)
    for spelling in (name, f"_Z{len(name)}{name}P13llama_context{gcc}", f"?{name}@@{msvc}"):
        found = getattr(exported, spelling, None)
        if found is not None:
            found.argtypes, found.restype = arguments, result
            return found
    return None


def missing_for(method: str) -> tuple[str, ...]:
    """Names of functions that heads of this method need and this build of llama.cpp lacks."""
    return tuple(name for name in _NEEDED[method] if function(name) is None)


@dataclass(frozen=True, slots=True)
class RowPart:
    """A part of a hidden row: the input of a layer, or (``layer`` None) the output of the last layer."""

    layer: int | None = None

    def set_recording(self, handle: int, *, on: bool) -> None:
        """Enable or disable this part in the passes of a context."""
        if self.layer is None:
            function("llama_set_embeddings_nextn")(handle, on, False)
        else:
            function("llama_set_embeddings_layer_inp")(handle, self.layer, on)

    def address(self, handle: int) -> int | None:
        """Address of the last pass's rows: one per token, float32, contiguous; None if the pass gave none."""
        if self.layer is None:
            found = function("llama_get_embeddings_nextn")(handle)
        else:
            found = function("llama_get_embeddings_layer_inp")(handle, self.layer)
        return None if found is None else int(found)
