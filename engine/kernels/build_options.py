"""Decides with which of the project's kernels llama.cpp is compiled for this processor, and the option for CMake.

The set-up imports this module before any package is installed.
"""

import hashlib
import shlex
from pathlib import Path

KERNELS_256_BIT = "few tokens, 256-bit"  # narrow.sh with few_tokens*.h; see the script
KERNELS_ORDERED = "few tokens, ordered"  # ordered.sh with few_tokens*.h
KERNELS_FEW_TOKENS = "few tokens"  # few_tokens*.h alone
_COMPILER_LAUNCHERS = {
    KERNELS_FEW_TOKENS: Path(__file__).with_name("few_tokens.sh"),
    KERNELS_256_BIT: Path(__file__).with_name("narrow.sh"),
    KERNELS_ORDERED: Path(__file__).with_name("ordered.sh"),
}
_CPU_INFO = Path("/proc/cpuinfo")
_AMD_FAMILIES = {"25": KERNELS_256_BIT, "26": KERNELS_ORDERED}  # Zen 3 and Zen 4 (only Zen 4 has AVX-512); Zen 5
# Features that the kernels require.
_NEEDED = frozenset({"avx2", "f16c", "fma"})
_NEEDED_ON_ARM = "asimddp"  # Linux's name for dot products


def wanted_kernels(cmake_args: str, cpu_info: Path = _CPU_INFO) -> str:
    """The kernels for this processor, or empty; also empty if options set a compiler or target."""
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
    if _NEEDED_ON_ARM in facts.get("Features", "").split():
        return KERNELS_FEW_TOKENS
    flags = frozenset(facts.get("flags", "").split())
    if not flags >= _NEEDED:
        return ""
    is_zen = facts.get("vendor_id") == "AuthenticAMD" and "avx512_vnni" in flags
    return _AMD_FAMILIES.get(facts.get("cpu family", ""), KERNELS_FEW_TOKENS) if is_zen else KERNELS_FEW_TOKENS


def with_source_digest(kernels: str) -> str:
    """Append a digest of the sources to ``kernels``, so that llama.cpp is compiled again after a change."""
    if kernels not in _COMPILER_LAUNCHERS:
        return kernels
    folder = Path(__file__).parent
    files = [_COMPILER_LAUNCHERS[kernels], *sorted((*folder.glob("*.h"), *folder.glob("few_tokens*.sh")))]
    return f"{kernels} #{hashlib.sha256(b''.join(path.read_bytes() for path in files)).hexdigest()[:8]}"


def with_kernels(cmake_args: str, kernels: str) -> str:
    """Add the option for ``kernels``, with or without a digest, to CMake's options."""
    launcher = _COMPILER_LAUNCHERS.get(kernels.partition(" #")[0])
    if launcher is None:
        return cmake_args
    option = shlex.quote(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}")
    return f"{cmake_args} {option}".strip()
