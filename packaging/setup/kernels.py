"""Tells which of llama.cpp's kernels suit this processor better than those that its build would choose.

Owns the rule and the option of CMake that carries it. Uses the standard library only; compiles nothing.
"""

from __future__ import annotations

import shlex
from pathlib import Path

NARROW = "256-bit"  # launcher.sh: what it changes, and what that gains
_LAUNCHER = Path(__file__).with_name("launcher.sh")
_CPU_INFO = Path("/proc/cpuinfo")
_ZEN_3_AND_4 = "25"  # AMD's family number; of the two only Zen 4 has AVX-512


def wanted_kernels(cmake_args: str, cpu_info: Path = _CPU_INFO) -> str:
    """Give `NARROW` where it suits the processor, else nothing; options that change the compiler or target win."""
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
    is_amd = facts.get("vendor_id") == "AuthenticAMD" and facts.get("cpu family") == _ZEN_3_AND_4
    return NARROW if is_amd and "avx512_vnni" in facts.get("flags", "").split() else ""


def with_kernels(cmake_args: str, kernels: str) -> str:
    """Add to CMake's options what ``kernels`` need."""
    if kernels != NARROW:
        return cmake_args
    option = shlex.quote(f"-DCMAKE_CXX_COMPILER_LAUNCHER={_LAUNCHER}")
    return f"{cmake_args} {option}".strip()
