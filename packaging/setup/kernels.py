"""Tells where llama.cpp's kernels are better compiled otherwise than its build would on this processor.

Owns the rule and the option of CMake that carries it. Uses the standard library only; compiles nothing.
"""

from __future__ import annotations

import shlex
from pathlib import Path

NARROW = "256-bit"  # narrow.sh: what it changes, and what that gains
TILES = "tiles"  # tiles.sh: a fault of the compiler that it keeps away from processors with AMX
_LAUNCHERS = {NARROW: Path(__file__).with_name("narrow.sh"), TILES: Path(__file__).with_name("tiles.sh")}
_CPU_INFO = Path("/proc/cpuinfo")
_ZEN_3_AND_4 = "25"  # AMD's family number; of the two only Zen 4 has AVX-512


def wanted_kernels(cmake_args: str, cpu_info: Path = _CPU_INFO) -> str:
    """Give `NARROW` or `TILES` where the processor calls for it; options that choose a compiler or target win."""
    if "COMPILER" in cmake_args or "GGML_NATIVE" in cmake_args or "TOOLCHAIN" in cmake_args:
        return ""
    try:
        text = cpu_info.read_text("utf-8", errors="replace")
    except OSError:
        return ""  # not Linux
    facts = {}
    for line in text.split("\n\n", 1)[0].splitlines():
        name, _, value = line.partition(":")
        facts[name.strip()] = value.strip()
    flags = facts.get("flags", "").split()
    if "amx_tile" in flags:
        return TILES
    is_amd = facts.get("vendor_id") == "AuthenticAMD" and facts.get("cpu family") == _ZEN_3_AND_4
    return NARROW if is_amd and "avx512_vnni" in flags else ""


def with_kernels(cmake_args: str, kernels: str) -> str:
    """Add to CMake's options what ``kernels`` need."""
    if kernels not in _LAUNCHERS:
        return cmake_args
    option = shlex.quote(f"-DCMAKE_CXX_COMPILER_LAUNCHER={_LAUNCHERS[kernels]}")
    return f"{cmake_args} {option}".strip()
