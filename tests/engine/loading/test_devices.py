"""Tests how a model is split over devices, and fallbacks if it does not fit: fake devices, real headers."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import ModelLoadError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import estimate_memory
from engine.gguf.header import read_header
from engine.loading import devices, loading
from engine.loading.devices import ALL_LAYERS, LoadAttempt, load_attempts, split_over
from engine.loading.loading import (
    LoadedModel,
    LoadOptions,
    load_notices,
    open_model,
    with_draft_memory,
)
from engine.records import Device, LoadRequest, Placement
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import tiny_llama
from tests.engine.moe_factory import N_LAYER, tiny_moe

GB = 10**9
SETUP = CacheSetup(8192)
LADDER: list[LoadAttempt] = [(layers, None) for layers in (32, 16, 8, 0)]


def gpus(*free_bytes: int | None) -> tuple[Device, ...]:
    return tuple(Device(f"CUDA{number}", "GPU", 24 * GB, free) for number, free in enumerate(free_bytes))


@pytest.fixture(name="moe", scope="module")
def fixture_moe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return GEOMETRIES["Qwen3 30B-A3B"].write(tmp_path_factory.mktemp("moe") / "moe.gguf")


def tried(path: Path, monkeypatch: pytest.MonkeyPatch, found: tuple[Device, ...], **options: int) -> list[LoadAttempt]:
    monkeypatch.setattr(devices, "find_devices", lambda _names: found)
    return list(load_attempts(path, Placement(), SETUP, **options))


def test_shares_are_by_free_memory_or_as_given() -> None:
    found = gpus(3 * GB, 1 * GB)
    assert split_over(Placement(), found, found).shares == (3 * GB, 1 * GB)
    assert split_over(Placement(tensor_split=(1.0, 4.0)), found, found).shares == (1.0, 4.0)
    assert split_over(Placement(tensor_split=(1.0, 4.0)), found, found[::-1]).shares == (4.0, 1.0)
    assert split_over(Placement(), found, found[1:]).shares == (0.0, 1 * GB)
    assert split_over(Placement(), (), ()).shares == (1.0,)


def test_a_mixture_of_experts_that_fits_goes_to_the_gpu_whole(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tried(moe, monkeypatch, gpus(40 * GB))
    assert found == [
        (ALL_LAYERS, None),
        (ALL_LAYERS, 48),
        *LADDER,
    ]  # the second, if the first did not fit


@pytest.mark.parametrize("free", [4 * GB, 8 * GB, 12 * GB, 16 * GB])
def test_where_a_gpu_is_short_the_fewest_experts_stay_in_main_memory(
    free: int, moe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = tried(moe, monkeypatch, gpus(free))
    assert first[0] == ALL_LAYERS
    number = first[1]
    assert number is not None
    header = read_header(moe)

    def needed(layers: int) -> int:
        spread = split_over(Placement(cpu_moe_layers=layers), gpus(free), gpus(free))
        return estimate_memory(header, SETUP, ALL_LAYERS, spread=spread).total.gpu_bytes

    assert needed(number) <= 0.95 * free < needed(number - 1)
    assert [one[1] for one in others[:-4]] == sorted({(number + 49) // 2, 48} - {number})
    assert others[-4:] == LADDER


def test_the_smallest_of_several_devices_decides(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(moe, monkeypatch, gpus(12 * GB, 12 * GB))[0] == (ALL_LAYERS, None)
    monkeypatch.setattr(devices, "find_devices", lambda _names: gpus(20 * GB, 4 * GB))
    even = Placement(tensor_split=(1.0, 1.0))
    number = next(iter(load_attempts(moe, even, SETUP)))[1] or 0
    # Layers of the second device: experts of its first layers, and of all layers before, must move.
    assert number > 24


def test_what_was_asked_for_is_not_changed(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find_devices", lambda _names: gpus(GB))
    asked = Placement(cpu_moe_layers=3)
    assert {one[1] for one in load_attempts(moe, asked, SETUP)} == {3}


def test_a_dense_model_asks_for_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(devices, "find_devices")
    path = tiny_llama().write(tmp_path / "dense.gguf")
    assert list(load_attempts(path, Placement(), SETUP)) == [(ALL_LAYERS, None), *LADDER]


def test_loading_tries_them_one_after_the_other_and_says_what_stayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tiny_moe().write(tmp_path / "moe.gguf")
    monkeypatch.setattr(devices, "find_devices", lambda _names: gpus(1000))
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    really, opened = loading._open_with, list[tuple[int, int | None]]()

    def open_with(path: Path, options: LoadOptions, gpu_layers: int, progress: object) -> LoadedModel:
        opened.append((gpu_layers, options.placement.cpu_moe_layers))
        if len(opened) < 3:
            raise ModelLoadError("There is no room.")
        return really(path, options, gpu_layers, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(loading, "_open_with", open_with)
    loaded = open_model(path, LoadOptions(256, 1))
    loaded.close()
    assert opened == [(ALL_LAYERS, N_LAYER), (32, None), (16, None)]
    monkeypatch.setattr(devices, "find_devices", lambda _names: gpus(10 * GB))
    opened.clear()
    loaded = open_model(path, LoadOptions(256, 1, placement=Placement()))
    loaded.close()
    assert opened == [(ALL_LAYERS, None), (ALL_LAYERS, N_LAYER), (32, None)]
    told = replace(loaded.info, placement=Placement(cpu_moe_layers=4))
    request = LoadRequest(str(path))
    assert "Layers with experts in main memory: 4." in load_notices(request, told, 0)[0]
    assert load_notices(replace(request, placement=told.placement), told, 0) == ()
    assert load_notices(request, loaded.info, 0) == ()


@pytest.mark.parametrize(
    ("layers", "words"), [(ALL_LAYERS, ""), (1, "1 of 3 layers lie there"), (0, "on the processor")]
)
def test_layers_that_found_no_room_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layers: int, words: str
) -> None:
    path = tiny_llama().write(tmp_path / "dense.gguf")
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    loaded = open_model(path, LoadOptions(256, 1, gpu_layers=layers))
    try:
        every = loaded.model.n_layer + 1
        told = load_notices(LoadRequest(str(path)), loaded.info, loaded.model.n_layer)
        assert load_notices(LoadRequest(str(path), gpu_layers=layers), loaded.info, loaded.model.n_layer) == ()
    finally:
        loaded.close()
    assert [words.replace("of 3", f"of {every}") in notice for notice in told] == ([True] if words else [])


def test_room_is_left_for_a_draft_that_lies_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    draft = str(tiny_llama().write(tmp_path / "draft.gguf"))
    monkeypatch.setattr("engine.llama.library.supports_gpu", lambda: True)
    request, options = LoadRequest("t", draft), LoadOptions(512)
    needed = estimate_memory(read_header(Path(draft)), CacheSetup(512), ALL_LAYERS).total.gpu_bytes
    assert with_draft_memory(draft, request, options).draft_bytes == needed > 0
    for elsewhere in (replace(request, draft_gpu_layers=0), replace(request, draft_devices=("CUDA1",))):
        assert with_draft_memory(draft, elsewhere, options) == options
    assert with_draft_memory(None, request, options) == options
    assert with_draft_memory(str(tmp_path / "none.gguf"), request, options) == options
