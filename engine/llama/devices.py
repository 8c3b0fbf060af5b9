"""The graphics processors that this build of llama.cpp can use, with their memory."""

from __future__ import annotations

import ctypes
import logging
from dataclasses import dataclass
from typing import Any

from engine.llama import library

log = logging.getLogger(__name__)

_GPU_TYPES = (1, 2)  # ggml-backend.h's enum ggml_backend_dev_type: 1 a GPU of its own, 2 one that shares main memory


@dataclass(frozen=True, slots=True)
class GpuDevice:
    """One graphics processor; bytes as its driver tells, None where it does not."""

    name: str
    total_bytes: int | None
    free_bytes: int | None


def find_gpus() -> tuple[GpuDevice, ...]:
    """All graphics processors, in llama.cpp's order; none where this build computes on the processor only."""
    if not library.supports_gpu():
        return ()
    ggml = _ggml()
    if ggml is None:
        return ()
    found = []
    for number in range(ggml.ggml_backend_dev_count()):
        device = ctypes.c_void_p(ggml.ggml_backend_dev_get(number))
        if ggml.ggml_backend_dev_type(device) in _GPU_TYPES:
            free, total = ctypes.c_size_t(0), ctypes.c_size_t(0)
            ggml.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
            name = ggml.ggml_backend_dev_description(device) or b"graphics processor"
            known = total.value > 0
            found.append(
                GpuDevice(
                    name.decode("utf-8", "replace"), total.value if known else None, free.value if known else None
                )
            )
    return tuple(found)


def _ggml() -> Any:  # noqa: ANN401  (the binding ships no types)
    """The part of ggml that knows devices; None where the binding has it under another name."""
    try:
        from llama_cpp._ggml import libggml  # noqa: PLC0415

        libggml.ggml_backend_dev_count.restype = ctypes.c_size_t
        libggml.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
        libggml.ggml_backend_dev_get.restype = ctypes.c_void_p
        libggml.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
        libggml.ggml_backend_dev_description.argtypes = [ctypes.c_void_p]
        libggml.ggml_backend_dev_description.restype = ctypes.c_char_p
        libggml.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p] + [ctypes.POINTER(ctypes.c_size_t)] * 2
    except (ImportError, AttributeError) as error:
        log.info("llama.cpp's devices cannot be listed: %s", error)
        return None
    return libggml
