"""Loads ggml's backends where llama.cpp was built to find them at run time, as a bundle's is.

Most builds have them compiled in; then nothing is done. Else the processor's backend lies there in a variant for each
kind of processor, and beside them, in `FEW_TOKENS`, those with this project's products for passes of few tokens
(`engine/kernels/`). ggml takes the variant with the most features of this machine; which of ours suits it, it cannot
know.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from pathlib import Path
from typing import Any

from engine.kernels.build_options import NARROW, ORDERED, wanted_kernels

log = logging.getLogger(__name__)

FEW_TOKENS = "few_tokens"  # the folder of our variants, beside llama.cpp's
VARIANT_VARIABLE = "PACELINE_CPU_VARIANT"  # the name of one, as "haswell": for tests, and where a choice is wrong
_OURS = {NARROW: "zen4", ORDERED: "zen5"}
_DEVICES = ("cuda", "hip", "metal", "vulkan", "sycl", "rpc", "blas")  # backends beside the processor's


def load_backends(ggml: Any, folder: Path) -> None:  # noqa: ANN401  (the binding ships no types)
    """Have ``ggml``, the one of libllama, load the backends in ``folder``; nothing where it has some, or is None.

    Loaded once more by its own file, ggml could be a second one, with backends of its own.
    """
    if ggml is None or not hasattr(ggml, "ggml_backend_load"):
        return
    ggml.ggml_backend_reg_count.restype = ctypes.c_size_t
    ggml.ggml_backend_load.argtypes, ggml.ggml_backend_load.restype = [ctypes.c_char_p], ctypes.c_void_p
    if ggml.ggml_backend_reg_count() > 0:
        return
    chosen = find_variant(folder)
    if chosen is not None and ggml.ggml_backend_load(os.fsencode(chosen)):
        log.info("llama.cpp computes with %s", chosen.name)
        for name in _DEVICES:
            if (file := folder / file_name(f"ggml-{name}")).is_file() and not ggml.ggml_backend_load(os.fsencode(file)):
                log.info("%s has nothing to work with here", file.name)
        return
    ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
    ggml.ggml_backend_load_all_from_path.restype = None
    ggml.ggml_backend_load_all_from_path(os.fsencode(folder))


def find_variant(folder: Path) -> Path | None:
    """The variant that this machine calls for by more than its features; None leaves the choice to ggml."""
    forced = os.environ.get(VARIANT_VARIABLE, "")
    if forced:
        file = folder / file_name(f"ggml-cpu-{Path(forced).name}")
    else:
        file = folder / FEW_TOKENS / file_name(f"ggml-cpu-{_OURS.get(wanted_kernels(''), 'none')}")
    return file if file.is_file() else None


def file_name(library: str) -> str:
    """What a library is called on this system."""
    if sys.platform == "win32":
        return f"{library}.dll"
    return f"lib{library}.dylib" if sys.platform == "darwin" else f"lib{library}.so"
