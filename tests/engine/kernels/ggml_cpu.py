"""Opens llama.cpp's CPU library as compiled by the set-up."""

import ctypes
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

IS_ARM = platform.machine() in ("aarch64", "arm64")  # ARM has its own, fewer matrix products
PLACE = "PACELINE_GGML_CPU"  # path of another libggml-cpu.so to test


class InitParams(ctypes.Structure):
    """ggml's ggml_init_params."""

    _fields_ = (("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool))


def functions_of(cpu: ctypes.CDLL, signatures: dict[str, tuple[Any, list[Any]]]) -> dict[str, Callable[..., Any]]:
    """Ggml's functions by their names without ``ggml_``; ``signatures``: result and argument types."""
    functions: dict[str, Callable[..., Any]] = {}
    for name, (result, arguments) in signatures.items():
        function = cpu[f"ggml_{name}"]  # also finds functions of libggml-base.so, to which the library is linked
        function.restype, function.argtypes = result, arguments
        functions[name] = function
    return functions


def open_library(stock_name: str) -> ctypes.CDLL:
    """The library with our matrix products. Skips the test if the set-up omitted them.

    ``stock_name``: the name that llama.cpp's own product has only in a library that also has ours.
    """
    spec = importlib.util.find_spec("llama_cpp")
    assert spec is not None
    assert spec.origin is not None
    path = Path(os.environ.get(PLACE) or Path(spec.origin).parent / "lib" / "libggml-cpu.so")
    is_wanted = PLACE in os.environ or _set_up_with().startswith("few tokens")
    loaded = ctypes.CDLL(str(path)) if is_wanted or path.exists() else None
    if not is_wanted and not hasattr(loaded, stock_name):
        pytest.skip("llama.cpp was compiled without our products: the processor calls for other kernels")
    assert loaded is not None
    loaded.ggml_cpu_init()  # its own products look scales up in a table
    return loaded


def _set_up_with() -> str:
    """The kernels that the set-up has compiled into this environment, as it recorded."""
    record = Path(sys.prefix) / "paceline-setup.json"
    return str(json.loads(record.read_text("utf-8"))["kernels"]) if record.exists() else ""
