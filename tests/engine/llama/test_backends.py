"""Tests the ggml backends that are loaded from beside the library, as in a bundle."""

import ctypes
import os
from pathlib import Path

import pytest

from engine.kernels.build_options import KERNELS_256_BIT, KERNELS_ORDERED
from engine.llama import library
from engine.llama.library import OWN_VARIANTS_FOLDER, file_name, find_kernel_variant, load_backends


class Function:
    """A ggml function that records its calls."""

    def __init__(self, answer: int, calls: list[str]) -> None:
        self.answer, self.calls = answer, calls
        self.argtypes: list[type] = []
        self.restype: type | None = None

    def __call__(self, *words: bytes) -> int:
        self.calls.extend(Path(os.fsdecode(word)).name for word in words)
        return self.answer


class Ggml:
    """The backend functions of ggml."""

    def __init__(self, num_backends: int = 0, loads: int = 1) -> None:
        self.loaded: list[str] = []
        self.folders: list[str] = []
        self.ggml_backend_reg_count = Function(num_backends, [])
        self.ggml_backend_load = Function(loads, self.loaded)
        self.ggml_backend_load_all_from_path = Function(0, self.folders)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle's libraries: two variants of llama.cpp's, two of ours, and two device backends."""
    monkeypatch.delenv(library.VARIANT_VARIABLE, raising=False)
    (tmp_path / OWN_VARIANTS_FOLDER).mkdir()
    for name in ("ggml-cpu-haswell", "ggml-cpu-zen4", "ggml-vulkan", "ggml-blas"):
        (tmp_path / file_name(name)).touch()
    for name in ("ggml-cpu-zen4", "ggml-cpu-zen5"):
        (tmp_path / OWN_VARIANTS_FOLDER / file_name(name)).touch()
    return tmp_path


def on(kernels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "wanted_kernels", lambda _options: kernels)


@pytest.mark.parametrize(("kernels", "name"), [(KERNELS_256_BIT, "zen4"), (KERNELS_ORDERED, "zen5")])
def test_a_processor_of_our_kernels_gets_them_and_the_devices(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kernels: str, name: str
) -> None:
    on(kernels, monkeypatch)
    assert find_kernel_variant(folder) == folder / OWN_VARIANTS_FOLDER / file_name(f"ggml-cpu-{name}")
    fake = Ggml()
    load_backends(fake, folder)
    assert fake.loaded == [file_name(f"ggml-{each}") for each in (f"cpu-{name}", "vulkan", "blas")]
    assert fake.folders == []


def test_any_other_is_left_to_ggml(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on("", monkeypatch)
    assert find_kernel_variant(folder) is None
    fake = Ggml()
    load_backends(fake, folder)
    assert (fake.loaded, fake.folders) == ([], [folder.name])


def test_a_variant_that_does_not_load_is_left_to_ggml_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(KERNELS_256_BIT, monkeypatch)
    fake = Ggml(loads=0)
    load_backends(fake, folder)
    assert fake.folders == [folder.name]


def test_where_backends_are_compiled_in_nothing_is_loaded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on(KERNELS_256_BIT, monkeypatch)
    fake = Ggml(num_backends=1)
    load_backends(fake, folder)
    assert (fake.loaded, fake.folders) == ([], [])


@pytest.mark.parametrize(("named", "found"), [("haswell", True), ("none-such", False), ("../../haswell", True)])
def test_a_variable_names_one(folder: Path, monkeypatch: pytest.MonkeyPatch, named: str, found: bool) -> None:
    on(KERNELS_256_BIT, monkeypatch)
    monkeypatch.setenv(library.VARIANT_VARIABLE, named)
    assert find_kernel_variant(folder) == (folder / file_name("ggml-cpu-haswell") if found else None)


def test_the_library_in_this_process_has_backends() -> None:
    ggml = library.ggml()
    assert ggml is not None
    assert ggml.ggml_backend_reg_count() >= 1
    assert ggml.ggml_backend_reg_count.restype is ctypes.c_size_t
