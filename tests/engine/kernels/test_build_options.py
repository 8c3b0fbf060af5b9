"""Tests the llama.cpp kernels chosen for a CPU, and the launcher's changes of compiler commands."""

import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from engine.kernels import build_options

SCRIPTS = Path(__file__).resolve().parents[3] / "engine" / "kernels"
pytestmark = pytest.mark.skipif(os.name != "posix", reason="the launcher is a script for POSIX systems")
PROCESSOR = "processor\t: {number}\nvendor_id\t: {vendor}\ncpu family\t: {family}\nflags\t\t: fpu {flags}\n\n"

AVX2 = "avx2 f16c fma"
ALSO_CHANGED = {
    "llamafile/sgemm.cpp": "few_tokens_sgemm.h",
    "tiled/tiled.cpp": "few_tokens_tiled.h",
    "arch/arm/repack.cpp": "few_tokens_arm_q4_k.h",
}


@pytest.fixture
def kernels() -> ModuleType:
    return build_options


def processor(folder: Path, vendor: str, family: int, flags: str) -> Path:
    path = folder / "cpuinfo"
    path.write_text("".join(PROCESSOR.format(number=i, vendor=vendor, family=family, flags=flags) for i in range(2)))
    return path


@pytest.mark.parametrize(
    ("vendor", "family", "flags", "expected"),
    [
        ("AuthenticAMD", 25, f"{AVX2} avx512f avx512_vnni", "few tokens, 256-bit"),  # Zen 4
        ("AuthenticAMD", 25, AVX2, "few tokens"),  # Zen 3
        ("AuthenticAMD", 26, f"{AVX2} avx512f avx512_vnni", "few tokens, ordered"),  # Zen 5
        ("AuthenticAMD", 27, f"{AVX2} avx512f avx512_vnni", "few tokens"),
        ("GenuineIntel", 6, f"{AVX2} avx512f avx512_vnni amx_tile amx_int8", "few tokens"),
        ("GenuineIntel", 6, f"{AVX2} avx_vnni", "few tokens"),
        ("GenuineIntel", 6, "avx f16c", ""),
    ],
)
def test_each_processor_gets_its_own(
    kernels: ModuleType, tmp_path: Path, vendor: str, family: int, flags: str, expected: str
) -> None:
    assert kernels.wanted_kernels("", processor(tmp_path, vendor, family, flags)) == expected


@pytest.mark.parametrize(
    ("features", "expected"),
    [("fp asimd asimdhp asimddp", "few tokens"), ("fp asimd asimddp sve i8mm", "few tokens"), ("fp asimd crc32", "")],
)  # Raspberry Pi 5, Graviton 3, Raspberry Pi 4
def test_arm_gets_products_where_it_has_dot_products(
    kernels: ModuleType, tmp_path: Path, features: str, expected: str
) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\nBogoMIPS\t: 108.00\nFeatures\t: {features}\nCPU implementer\t: 0x41\n\n")
    assert kernels.wanted_kernels("", path) == expected


@pytest.mark.parametrize(
    ("cmake_args", "expected"),
    [
        ("-DGGML_CUDA=on", "few tokens, 256-bit"),
        ("-DGGML_NATIVE=off", ""),  # for other machines
        ("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", ""),
        ("-DCMAKE_TOOLCHAIN_FILE=arm.cmake", ""),
    ],
)
def test_options_that_choose_compiler_or_machine_win(
    kernels: ModuleType, tmp_path: Path, cmake_args: str, expected: str
) -> None:
    zen_4 = processor(tmp_path, "AuthenticAMD", 25, f"{AVX2} avx512_vnni")
    assert kernels.wanted_kernels(cmake_args, zen_4) == expected


def test_a_system_that_does_not_tell_gets_what_llama_cpp_chooses(kernels: ModuleType, tmp_path: Path) -> None:
    assert kernels.wanted_kernels("", tmp_path / "none") == ""
    assert kernels.with_kernels("-DA=b", "") == "-DA=b"


def test_another_kernel_has_llama_cpp_compiled_anew(
    kernels: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "narrow.sh"
    launcher.write_text("one")
    monkeypatch.setitem(kernels._COMPILER_LAUNCHERS, kernels.KERNELS_256_BIT, launcher)
    before = kernels.with_source_digest(kernels.KERNELS_256_BIT)
    assert kernels.with_kernels("", before) == kernels.with_kernels("", kernels.KERNELS_256_BIT) != ""
    assert kernels.with_source_digest(kernels.KERNELS_256_BIT) == before
    launcher.write_text("another")
    assert kernels.with_source_digest(kernels.KERNELS_256_BIT) != before
    assert kernels.with_source_digest("") == ""


@pytest.mark.parametrize("chosen", ["few tokens", "few tokens, 256-bit", "few tokens, ordered"])
def test_the_launcher_is_named_to_cmake_and_changes_few_files_only(kernels: ModuleType, chosen: str) -> None:
    (option,) = kernels.with_kernels("", chosen).split()
    launcher = option.removeprefix("-DCMAKE_CXX_COMPILER_LAUNCHER=")

    def compile_file(path: str) -> list[str]:
        command = [launcher, "echo", "-O3", "-o", "x.o", "-c", path]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    changed = compile_file("/src/ggml-cpu/arch/x86/repack.cpp")
    assert ("-fschedule-insns" in changed) is (chosen != "few tokens")
    assert changed[changed.index("-include") + 1] == str(SCRIPTS / "few_tokens.h")
    assert ("-U__AVX512DQ__" in changed) is ("256" in chosen)
    for file, header in ALSO_CHANGED.items():
        assert compile_file(f"/src/ggml-cpu/{file}")[-2:] == ["-include", str(SCRIPTS / header)]
    assert compile_file("/src/ggml-cpu/repack.cpp") == ["-O3", "-o", "x.o", "-c", "/src/ggml-cpu/repack.cpp"]


@pytest.mark.parametrize("chosen", ["few tokens, 256-bit", "few tokens, ordered"])
@pytest.mark.parametrize(("unknown", "expected"), [("--param", "-c {file}\n"), ("-include", "-c {file} {options}\n")])
def test_a_compiler_that_does_not_take_what_is_added_gets_less(
    kernels: ModuleType, tmp_path: Path, chosen: str, unknown: str, expected: str
) -> None:
    log, compiler = tmp_path / "log", tmp_path / "compiler"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *{unknown}*) exit 1;; esac\necho "$*" > "{log}"\n')
    compiler.chmod(0o755)
    (option,) = kernels.with_kernels("", chosen).split()
    launcher = option.removeprefix("-DCMAKE_CXX_COMPILER_LAUNCHER=")
    file = "/src/ggml-cpu/arch/x86/repack.cpp"
    subprocess.run([launcher, str(compiler), "-c", file], check=True)
    options = "-fschedule-insns -fsched-pressure --param=sched-pressure-algorithm=2"
    narrow = "-U__AVX512DQ__ " if "256" in chosen else ""
    assert log.read_text() == expected.format(file=file, options=narrow + options)
    for also in ALSO_CHANGED:
        subprocess.run([launcher, str(compiler), "-c", f"/src/ggml-cpu/{also}"], check=True)
        assert log.read_text().startswith(f"-c /src/ggml-cpu/{also}")
        assert ("-include" in log.read_text()) is (unknown != "-include")


_TILES = """
#include <cstdint>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
struct Config {
    uint8_t palette = 0, start = 0, reserved[14] = {0};
    uint16_t widths[16] = {0};
    uint8_t rows[16] = {0};
};
inline void configure() {
    static thread_local bool done = false;
    if (done) return;
    alignas(64) Config config = {};
    config.palette = 1;
    config.rows[0] = 16;
    config.widths[0] = 64;
    _tile_loadconfig(&config);
    done = true;
}
__attribute__((noinline)) void work() { configure(); }
int main() {
    if (syscall(SYS_arch_prctl, 0x1023, 18)) return 2;
    work();
    static int tile[256];
    tile[255] = 7;
    _tile_loadd(0, tile, 64);
    static int copy[256];
    _tile_stored(0, copy, 64);
    _tile_release();
    return copy[255] == 7 ? 0 : 1;
}
"""


def test_the_mended_instruction_reads_the_whole_configuration(kernels: ModuleType, tmp_path: Path) -> None:
    (option,) = kernels.with_kernels("", "few tokens").split()
    launcher = option.removeprefix("-DCMAKE_CXX_COMPILER_LAUNCHER=")
    source = tmp_path / "ggml-cpu" / "amx" / "mmq.cpp"
    source.parent.mkdir(parents=True)
    source.write_text(_TILES)
    if shutil.which("g++") is None:
        pytest.skip("no g++ here")
    program = tmp_path / "program"
    command = ["g++", "-O3", "-mamx-tile", str(source), "-o", str(program)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("this compiler knows no AMX")
    subprocess.run([launcher, *command], check=True)
    if "amx_tile" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AMX to run it on")
    assert subprocess.run([program], check=False).returncode == 0
