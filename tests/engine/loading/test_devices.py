"""Tests how a model is split over devices, and fallbacks if it does not fit: fake devices, real headers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import ModelLoadError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import DeviceSplit, estimate_memory
from engine.gguf.header import read_header
from engine.llama.devices import shared_by_default
from engine.loading import devices, loading
from engine.loading.devices import ALL_LAYERS, LoadAttempt, free_memory, load_attempts, split_over
from engine.loading.loading import (
    LoadedModel,
    LoadOptions,
    experts_notices,
    layers_notices,
    open_model,
    with_draft_memory,
)
from engine.records import Device, DeviceKind, LoadRequest, Placement, SplitMode
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import tiny_llama
from tests.engine.moe_factory import N_LAYER, tiny_moe

GB = 10**9
SETUP = CacheSetup(8192)
LADDER = [LoadAttempt(layers) for layers in (32, 16, 8, 0)]


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
    assert split_over(Placement(split_mode=SplitMode.NONE, main_device=1), found, found).shares == (0.0, 1 * GB)
    assert split_over(Placement(), found, found[1:]).shares == (0.0, 1 * GB)
    assert split_over(Placement(), (), ()).shares == (1.0,)


def test_overrides_name_devices_by_number() -> None:
    found = gpus(GB, GB)
    placement = Placement(cpu_moe_layers=1, overrides=(("attn_q", "CUDA1"), ("attn_k", "CPU"), ("attn_v", "CUDA_Host")))
    spread = split_over(placement, found, found)
    assert [where for _, where in spread.moved] == [1, None, None, None]
    assert spread.device_of("blk.0.ffn_up_exps.weight", 0) is None
    assert spread.device_of("blk.1.ffn_up_exps.weight", 0) == 0


def test_an_integrated_gpu_is_a_default_only_without_another() -> None:
    integrated = Device("Vulkan1", "GPU", 8 * GB, 8 * GB, DeviceKind.INTEGRATED)
    both = (integrated, *gpus(GB, GB))
    assert shared_by_default(both) == gpus(GB, GB)
    assert shared_by_default((integrated,)) == (integrated,)
    assert shared_by_default(()) == ()


def test_a_mixture_of_experts_that_fits_goes_to_the_gpu_whole(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = tried(moe, monkeypatch, gpus(40 * GB))
    assert found == [
        LoadAttempt(ALL_LAYERS),
        LoadAttempt(ALL_LAYERS, 48),
        *LADDER,
    ]  # the second, if the first did not fit


@pytest.mark.parametrize("free", [4 * GB, 8 * GB, 12 * GB, 16 * GB])
def test_where_a_gpu_is_short_the_fewest_experts_stay_in_main_memory(
    free: int, moe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = tried(moe, monkeypatch, gpus(free))
    assert first.gpu_layers == ALL_LAYERS
    number = first.cpu_moe_layers
    assert number is not None
    header = read_header(moe)

    def needed(layers: int) -> int:
        spread = split_over(Placement(cpu_moe_layers=layers), gpus(free), gpus(free))
        return estimate_memory(header, SETUP, ALL_LAYERS, spread=spread).total.gpu_bytes

    assert needed(number) <= 0.95 * free < needed(number - 1)
    assert [one.cpu_moe_layers for one in others[:-4]] == sorted({(number + 49) // 2, 48} - {number})
    assert others[-4:] == LADDER


def test_more_experts_stay_where_a_draft_is_to_lie_beside(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone, beside = (tried(moe, monkeypatch, gpus(8 * GB), draft_bytes=size)[0] for size in (0, 2 * GB))
    assert (beside.cpu_moe_layers or 0) >= (alone.cpu_moe_layers or 0) + 5


def test_the_smallest_of_several_devices_decides(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tried(moe, monkeypatch, gpus(12 * GB, 12 * GB))[0] == LoadAttempt(ALL_LAYERS)
    monkeypatch.setattr(devices, "find_devices", lambda _names: gpus(20 * GB, 4 * GB))
    even = Placement(tensor_split=(1.0, 1.0))
    number = next(iter(load_attempts(moe, even, SETUP))).cpu_moe_layers or 0
    # Layers of the second device: experts of its first layers, and of all layers before, must move.
    assert number > 24


def test_what_was_asked_for_is_not_changed(moe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "find_devices", lambda _names: gpus(GB))
    asked = Placement(cpu_moe_layers=3)
    assert {one.cpu_moe_layers for one in load_attempts(moe, asked, SETUP)} == {3}


def test_a_dense_model_asks_for_no_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(devices, "find_devices")
    path = tiny_llama().write(tmp_path / "dense.gguf")
    assert list(load_attempts(path, Placement(), SETUP)) == [LoadAttempt(ALL_LAYERS), *LADDER]


def test_without_figures_of_the_driver_all_is_tried_before_no_experts(
    moe: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tried(moe, monkeypatch, gpus(None)) == [LoadAttempt(ALL_LAYERS), LoadAttempt(ALL_LAYERS, 48), *LADDER]


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
    assert "the experts of 4 layers stay in main memory" in experts_notices(request, told)[0]
    assert experts_notices(replace(request, placement=told.placement), told) == ()
    assert experts_notices(request, loaded.info) == ()
    alone = replace(loaded.info, placement=Placement(cpu_moe_layers=1))
    assert "the experts of 1 layer stay in main memory" in experts_notices(request, alone)[0]


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
        told = layers_notices(LoadRequest(str(path)), loaded)
        assert layers_notices(LoadRequest(str(path), gpu_layers=layers), loaded) == ()
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


def test_the_room_is_that_of_each_device() -> None:
    room = free_memory(gpus(3 * GB, None), 5 * GB)
    assert (room.gpu_bytes, room.devices) == (3 * GB, (("CUDA0", 3 * GB), ("CUDA1", 0)))
    assert DeviceSplit().num_used == 1
