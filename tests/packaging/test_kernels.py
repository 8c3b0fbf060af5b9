"""Which kernels of llama.cpp a processor gets, and what the launcher does to the compiler's command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "packaging" / "setup"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the launcher is a script for POSIX systems")
PROCESSOR = "processor\t: {number}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nflags\t\t: fpu avx2 {flags}\n\n"


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "kernels", raising=False)
    return __import__("kernels")


def processor(folder: Path, vendor: str, family: int, flags: str) -> Path:
    path = folder / "cpuinfo"
    path.write_text("".join(PROCESSOR.format(number=i, vendor=vendor, family=family, flags=flags) for i in range(2)))
    return path


@pytest.mark.parametrize(
    ("vendor", "family", "flags", "expected"),
    [
        ("AuthenticAMD", 25, "avx512f avx512_vnni", "256-bit"),  # Zen 4
        ("AuthenticAMD", 25, "", ""),  # Zen 3
        ("AuthenticAMD", 26, "avx512f avx512_vnni", ""),  # Zen 5 has wide units
        ("GenuineIntel", 6, "avx512f avx512_vnni", ""),
    ],
)
def test_only_zen_4_gets_the_narrow_ones(
    kernels: ModuleType, tmp_path: Path, vendor: str, family: int, flags: str, expected: str
) -> None:
    assert kernels.wanted_kernels("", processor(tmp_path, vendor, family, flags)) == expected


@pytest.mark.parametrize(
    ("cmake_args", "expected"),
    [
        ("-DGGML_CUDA=on", "256-bit"),
        ("-DGGML_NATIVE=off", ""),  # for other machines
        ("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", ""),
        ("-DCMAKE_TOOLCHAIN_FILE=arm.cmake", ""),
    ],
)
def test_options_that_choose_compiler_or_machine_win(
    kernels: ModuleType, tmp_path: Path, cmake_args: str, expected: str
) -> None:
    zen_4 = processor(tmp_path, "AuthenticAMD", 25, "avx512_vnni")
    assert kernels.wanted_kernels(cmake_args, zen_4) == expected


def test_a_system_that_does_not_tell_gets_what_llama_cpp_chooses(kernels: ModuleType, tmp_path: Path) -> None:
    assert kernels.wanted_kernels("", tmp_path / "none") == ""
    assert kernels.with_kernels("-DA=b", "") == "-DA=b"


def test_the_launcher_is_named_to_cmake_and_changes_one_file_only(kernels: ModuleType) -> None:
    (option,) = kernels.with_kernels("", "256-bit").split()
    launcher = option.removeprefix("-DCMAKE_CXX_COMPILER_LAUNCHER=")

    def compile_file(path: str) -> list[str]:
        command = [launcher, "echo", "-O3", "-o", "x.o", "-c", path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert "-U__AVX512DQ__" in compile_file("/src/ggml-cpu/arch/x86/repack.cpp")
    assert compile_file("/src/ggml-cpu/repack.cpp") == ["-O3", "-o", "x.o", "-c", "/src/ggml-cpu/repack.cpp"]


def test_a_compiler_that_does_not_know_the_options_gets_the_file_as_it_is(kernels: ModuleType, tmp_path: Path) -> None:
    log, compiler = tmp_path / "log", tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *--param*) exit 1;; esac\necho "$*" > "{log}"\n')
    compiler.chmod(0o755)
    (option,) = kernels.with_kernels("", "256-bit").split()
    launcher = option.removeprefix("-DCMAKE_CXX_COMPILER_LAUNCHER=")
    subprocess.run([launcher, str(compiler), "-c", "/src/ggml-cpu/arch/x86/repack.cpp"], check=True)
    assert log.read_text() == "-c /src/ggml-cpu/arch/x86/repack.cpp\n"
