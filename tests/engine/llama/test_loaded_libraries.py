"""Tests which llama.cpp libraries a process loads: the package's, or those named by a variable."""

import ctypes
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from engine.errors import DeviceError
from engine.kernels.build_options import KERNELS_256_BIT, KERNELS_FEW_TOKENS, KERNELS_ORDERED
from engine.llama import devices, library
from engine.llama.library import KERNEL_MARKS, LoadedLibrary, library_notices, loaded_libraries

ROOT = Path(__file__).resolve().parents[3]
TELL = """
import json
from engine.kernels.build_options import KERNELS_256_BIT, KERNELS_FEW_TOKENS, KERNELS_ORDERED
from engine.llama import library
print(json.dumps({
    "told": [one.description for one in library.loaded_libraries()],
    "package": [one.is_from_package for one in library.loaded_libraries()],
    "notices": library.library_notices(),
    "facts": library.machine_facts(),
}))
"""


def told_by_a_process(**variables: str) -> dict[str, list[str]]:
    """The libraries of a process with these variables."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run([sys.executable, "-c", TELL], env=env, capture_output=True, text=True, check=True)
    result: dict[str, list[str]] = json.loads(done.stdout)
    return result


@pytest.fixture
def compiled() -> Path:
    folder = Path(library.lib.__file__).parent / "lib"
    if sys.platform != "linux" or not any(folder.glob("libggml-cpu.so*")):
        pytest.skip("another build of the package, or a system that finds libraries otherwise")
    return folder


def test_the_package_is_recognised(compiled: Path) -> None:
    found = {one.path.name.split(".")[0]: one for one in loaded_libraries()}
    assert {"libllama", "libggml-cpu", "libggml-base"} <= set(found)
    assert all(one.is_from_package for one in found.values())
    assert all(re.fullmatch("[0-9a-f]{12}", one.build) for one in found.values())
    assert len({one.build for one in found.values()}) == len(found)
    assert library_notices() == ()


def test_another_folder_takes_the_place_of_the_package(compiled: Path, tmp_path: Path) -> None:
    other = shutil.copytree(compiled, tmp_path / "lib")
    ours, theirs = told_by_a_process(), told_by_a_process(LD_LIBRARY_PATH=str(other))
    assert all(ours["package"])
    assert ours["notices"] == []
    cpu = next(line for line in theirs["told"] if "ggml-cpu" in line)
    assert cpu.startswith("ANOTHER library: libggml-cpu.so")
    assert str(tmp_path) not in "".join(theirs["told"])
    assert any("the package’s libllama.so" in line for line in theirs["told"])
    assert "libggml-cpu.so" in theirs["notices"][0]
    assert "libllama" not in theirs["notices"][0]
    assert ours["facts"] != theirs["facts"]  # costs measured with one library are not used for the other


def examined(path: Path, content: bytes) -> LoadedLibrary:
    path.write_bytes(content)
    return library._describe_libraries(str(path))


def test_kernels_are_found_by_the_names_beside_them(tmp_path: Path) -> None:
    marks = list(KERNEL_MARKS.values())
    every = examined(tmp_path / "libggml-cpu.so", b"\0".join(marks))
    assert every.kernels == tuple(KERNEL_MARKS)
    assert every.description.endswith(", the set-up's kernels)")
    one = examined(tmp_path / "libggml-cpu.so.0", b"..." + marks[1])
    assert one.description.endswith(", of the set-up's kernels only few_tokens)")
    none = examined(tmp_path / "libggml-cpu.so.0.1", b"ggml_gemm_q4_0_8x8_q8_0")
    assert none.description.endswith(", no kernels of the set-up)")
    assert "kernels" not in examined(tmp_path / "libllama.so", marks[0]).description


@pytest.mark.parametrize(
    ("wanted", "kernels", "missing"),
    [
        (KERNELS_256_BIT, tuple(KERNEL_MARKS), ""),
        (KERNELS_ORDERED, ("few_tokens",), "(attention, few_tokens_sgemm, few_tokens_tiled)"),
        (KERNELS_ORDERED, (), "(attention, few_tokens, few_tokens_sgemm, few_tokens_tiled)"),
        (KERNELS_FEW_TOKENS, (), "(attention, few_tokens, few_tokens_sgemm, few_tokens_tiled)"),
        ("", (), ""),
    ],
)
def test_a_build_without_the_kernels_for_this_processor_is_reported(
    wanted: str, kernels: tuple[str, ...], missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = LoadedLibrary(tmp_path / "libggml-cpu.so", True, "0123456789ab", kernels)
    monkeypatch.setattr(library, "loaded_libraries", lambda: (built,))
    monkeypatch.setattr(library, "wanted_kernels", lambda _cmake_args: wanted)
    monkeypatch.setattr(library, "supports_gpu", lambda: False)
    notices = library_notices()
    assert len(notices) == bool(missing)
    assert missing in "".join(notices)
    monkeypatch.setattr(library, "supports_gpu", lambda: True)
    assert library_notices() == ()


def test_without_a_note_the_bytes_are_the_build(tmp_path: Path) -> None:
    first, second = (examined(tmp_path / f"lib{text}.so", text.encode()) for text in ("one", "two"))
    assert len(first.build) == 12
    assert first.build != second.build
    assert examined(tmp_path / "libempty.so", b"").build == ""
    assert (
        library._describe_libraries(str(tmp_path / "libggml.so (deleted)")).description
        == "ANOTHER library: libggml.so (build unknown)"
    )


@pytest.mark.parametrize("name", KERNEL_MARKS)
def test_each_mark_is_a_name_that_the_kernels_leave_in_the_library(name: str) -> None:
    file, stock = ROOT / "engine" / "kernels" / f"{name}.h", KERNEL_MARKS[name].decode()
    if not file.is_file():
        pytest.skip(f"{file.name} is not here yet")
    assert f"#define {stock.removesuffix('_stock')} {stock}\n" in file.read_text("utf-8")


def test_a_library_is_exact_with_every_kernel_and_without_a_bad_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*kernels: str) -> None:
        one = LoadedLibrary(tmp_path / "libggml-cpu.so", True, "0123456789ab", kernels)
        monkeypatch.setattr(library, "loaded_libraries", lambda: (one,))

    monkeypatch.setattr(library, "_inexact", [])
    built(*KERNEL_MARKS)
    assert library.has_every_kernel()
    library.mark_kernels_inexact()
    assert not library.has_every_kernel()
    monkeypatch.setattr(library, "_inexact", [])
    monkeypatch.setattr(library, "_disabled", ["repacking"])
    assert not library.has_every_kernel()
    monkeypatch.setattr(library, "_disabled", [])
    built(*list(KERNEL_MARKS)[1:])
    assert not library.has_every_kernel()


def test_what_a_window_loads_is_no_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = [tmp_path / name for name in ("libvulkan_lvp.so", "libicudata.so.72", "libdrm_amdgpu.so.1", "libcuda.so.1")]
    for file in files:
        file.touch()
    monkeypatch.setattr(library, "_mapped_files", lambda: [*map(str, files), str(tmp_path / "libvulkan_gone.so")])
    *_, drivers = library.driver_facts()
    assert [name for name, *_ in drivers] == ["libcuda.so.1", "libvulkan_lvp.so"]  # type: ignore[misc]


def unreadable(*_: object) -> bytes:
    raise PermissionError("a sandbox hides it")


def test_libraries_are_found_without_a_list_of_mapped_files(compiled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library.start()
    known = loaded_libraries()
    monkeypatch.setattr(Path, "read_bytes", unreadable)
    assert loaded_libraries() == known
    monkeypatch.setattr("psutil.Process.memory_maps", unreadable)
    assert loaded_libraries() == ()
    assert library_notices() == ()
    assert library.driver_facts()[2] == []


def test_facts_of_a_machine_that_tells_little_are_facts_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise PackageNotFoundError(name)

    known = library.machine_facts()
    monkeypatch.setattr("engine.llama.library.metadata.version", absent)
    monkeypatch.setattr(Path, "read_text", unreadable)
    facts = library.machine_facts()
    assert facts[0] == "unknown"
    assert facts[1] == known[1]
    assert facts != known
    assert library.processor_name() == platform.processor()
    assert library.driver_facts()[1] == ""


@pytest.fixture
def found_anew() -> Iterator[None]:
    """Search ggml again within the test, and again after it."""
    library._find_ggml.cache_clear()
    yield
    library._find_ggml.cache_clear()


@pytest.mark.usefixtures("found_anew")
def test_devices_of_the_package_are_found_if_the_library_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = library.device_handles()
    assert known
    monkeypatch.setattr(library, "_ggml_of_llama", lambda: ctypes.CDLL(None))  # has none of the functions
    library._find_ggml.cache_clear()
    assert library.device_handles() == known


@pytest.mark.usefixtures("found_anew")
def test_without_ggmls_devices_the_processor_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> object:
        raise ImportError("no such module")

    monkeypatch.setattr(library, "_ggml_of_llama", missing)
    monkeypatch.setattr(library, "_ggml_of_package", missing)
    assert library.ggml() is None
    assert library.device_handles() == ()
    assert devices.find_gpus() == devices.default_gpus() == ()
    with pytest.raises(DeviceError, match="There is no device CUDA0"):
        devices.find_devices(("CUDA0",))


def test_a_package_that_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "llama_cpp").mkdir()
    (tmp_path / "llama_cpp" / "__init__.py").touch()
    (tmp_path / "llama_cpp" / "llama_cpp.py").write_text("raise OSError('libllama.so: cannot open')")
    tell = (
        "from engine.errors import NativeLibraryError\n"
        "try:\n    import engine.llama.library\n"
        "except NativeLibraryError as error:\n    print(error.message)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run([sys.executable, "-c", tell], env=env, capture_output=True, text=True, check=True)
    assert "libllama.so: cannot open." in done.stdout


@pytest.mark.parametrize(
    ("files", "backends"),
    [
        (["libggml-base.so", "libggml-cpu.so", "libllama.so"], ()),
        (["libggml-vulkan.so", "libggml-cuda.so", "libggml-cuda.so.0"], ("cuda", "vulkan")),
        (["ggml-cuda.dll", "ggml-blas.dll"], ("cuda",)),
        (["libggml-metal.dylib"], ("metal",)),
    ],
)
def test_backends_for_graphics_processors_are_known_by_their_files(
    files: list[str], backends: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in files:
        (tmp_path / name).touch()
    monkeypatch.setattr(library, "_folder", lambda: tmp_path)
    assert library.gpu_backends() == backends
