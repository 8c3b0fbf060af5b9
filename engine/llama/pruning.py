"""Writes a model without some of its layers, using llama.cpp's quantizer; other tensors are copied unchanged."""

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path

from engine.errors import ToolError
from engine.llama import library
from engine.sentences import i18n

_END = -1  # terminates the list of layers


def prune_layers(source: Path, destination: Path, layers: Sequence[int]) -> None:
    """Write ``source`` to ``destination`` without the blocks ``layers``, counted from 0.

    Raises:
        ToolError: llama.cpp failed; the destination may be incomplete.
    """
    lib = library.start()
    params = lib.llama_model_quantize_default_params()
    params.only_copy, params.nthread = True, 1
    chosen = (ctypes.c_int32 * (len(layers) + 1))(*sorted(layers), _END)
    params.prune_layers = ctypes.cast(chosen, ctypes.POINTER(ctypes.c_int32))
    with library.collected_errors() as lines:
        status = lib.llama_model_quantize(os.fsencode(source), os.fsencode(destination), ctypes.byref(params))
    if status:
        reason = lines[-1].rstrip(".") if lines else i18n("no reason was given")
        raise ToolError(
            i18n("llama.cpp could not leave layers of {file} out: {reason}.", file=source.name, reason=reason)
        )
