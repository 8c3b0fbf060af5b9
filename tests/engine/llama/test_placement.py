"""Tests where llama.cpp places moved tensors, by its own report; missing devices are one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_target
from engine.errors import DeviceError
from engine.fit.estimate import experts_pattern
from engine.llama import library
from engine.llama.context import ContextParams, LlamaContext
from engine.llama.devices import find_devices, find_gpus
from engine.llama.model import LlamaModel
from engine.records import NO_DEVICE, Placement, SplitMode
from tests.engine.moe_factory import N_LAYER, tiny_moe

LOG = "engine.llama.library"
_MOVED = re.compile(r"tensor (\S+) \(.*buffer type overridden to (\S+)")


@pytest.fixture(name="moe", scope="module")
def fixture_moe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_moe().write(tmp_path_factory.mktemp("moe") / "moe.gguf")


def moved(path: Path, where: Placement) -> dict[str, str]:
    """The tensors that llama.cpp reports as moved, and their buffer types."""
    with library.placement_lines() as lines, LlamaModel(path, placement=where, repack=False):
        pass
    return dict(found for line in lines for found in _MOVED.findall(line))


@pytest.mark.parametrize("number", [1, 4, N_LAYER, 10_000])
def test_only_the_experts_of_the_first_layers_go_to_main_memory(number: int, moe: Path) -> None:
    told = moved(moe, Placement(cpu_moe_layers=number))
    parts = ("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps")
    assert set(told) == {f"blk.{layer}.{part}.weight" for layer in range(min(number, N_LAYER)) for part in parts}
    assert set(told.values()) == {"CPU"}


@pytest.mark.parametrize("number", [None, 0])
def test_without_a_number_nothing_is_moved(number: int | None, moe: Path) -> None:
    assert moved(moe, Placement(cpu_moe_layers=number)) == {}


def test_the_pattern_of_experts_matches_what_llama_cpps_own_do() -> None:
    own = [rf"blk\.{i}\.ffn_(up|down|gate|gate_up)_(ch|)exps" for i in range(12)]
    names = [
        f"blk.{i}.{part}.weight"
        for i in (0, 1, 2, 11, 12, 110)
        for part in ("ffn_up_exps", "ffn_gate_up_exps", "ffn_down_chexps", "ffn_up_shexp", "attn_q", "ffn_up")
    ]
    for name in names:
        assert bool(re.search(experts_pattern(12), name)) == any(re.search(one, name) for one in own), name


def test_a_model_with_moved_experts_computes_the_same(moe: Path) -> None:
    rows = []
    for where in (Placement(), Placement(cpu_moe_layers=3), Placement((NO_DEVICE,))):
        with (
            LlamaModel(moe, placement=where, repack=False) as model,
            LlamaContext(model, ContextParams(256, 1)) as context,
        ):
            rows.append(context.forward([1, 5, 9], 3).copy())
    for row in rows[1:]:
        np.testing.assert_array_equal(rows[0], row)


def test_a_device_that_is_missing_is_named_with_those_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.llama.devices._gpu_handles", tuple)
    with pytest.raises(DeviceError, match=r"There is no device CUDA1: llama\.cpp finds none besides the processor\."):
        LlamaModel(builtin_target(), placement=Placement(("CUDA1",)))


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        (Placement(tensor_split=(1.0, 2.0)), "The tensor split has 2 parts; the number of devices is 1"),
        (Placement(tensor_split=(0.0,)), "The tensor split has 0 parts"),
    ],
)
def test_numbers_that_do_not_go_with_the_devices(
    where: Placement, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.llama.model.default_gpus", lambda: ("one",))
    with pytest.raises(DeviceError, match=sentence):
        LlamaModel(builtin_target(), placement=where)


def test_the_processor_alone_takes_no_layers_elsewhere() -> None:
    with LlamaModel(builtin_target(), gpu_layers=99, placement=Placement((NO_DEVICE,))) as model:
        assert model.gpu_layers == 0


def test_what_is_listed_is_what_supports_a_gpu() -> None:
    assert bool(find_gpus()) == library.supports_gpu()
    for gpu in find_gpus():
        assert find_devices((gpu.name,))[0].name == gpu.name


@pytest.mark.parametrize("mode", SplitMode)
def test_on_the_processor_there_is_nothing_to_split(mode: SplitMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.llama.model.default_gpus", tuple)
    for names in ((), (NO_DEVICE,)):
        with LlamaModel(builtin_target(), placement=Placement(names, mode), gpu_layers=0) as model:
            assert model.n_layer > 0
