"""GPUs on which a small model crashes or computes wrong results are detected in a child process."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.errors import DeviceError, ModelLoadError, NotEnoughMemoryError, TooSlowError
from engine.llama import gpu_verdict, library
from engine.llama.context import ContextParams, with_gpu_limits
from engine.llama.devices import find_gpus, handles_of
from engine.llama.gpu_verdict import GpuVerdict
from engine.records import CacheType, Device, FlashAttention, LoadRequest
from engine.sandbox import machine_check, trials
from engine.sandbox.machine_check import GPUS_FILE, check_gpus, file_inspector, stored_verdict
from engine.sandbox.probe import ask_child
from engine.session.session import Session
from tests.engine.gguf_factory import tiny_llama
from tests.engine.warm_helpers import run_instead

WORKS = {"works": True, "refusal": None}
WRONG = {"works": False, "refusal": None}
NO_ROOM = {"works": False, "refusal": "out of device memory"}
CRASH = ModelLoadError("llama.cpp crashed")

Answer = dict[str, object] | Exception


@pytest.fixture(name="sample")
def fixture_sample(tmp_path: Path) -> Path:
    return tiny_llama(seed=1).write(tmp_path / "sample.gguf")


@pytest.fixture(autouse=True)
def fixture_trust() -> Iterator[None]:
    gpu_verdict.set_current(GpuVerdict.USABLE)
    yield
    gpu_verdict.set_current(GpuVerdict.USABLE)


@pytest.fixture(name="gpus", autouse=True)
def fixture_gpus(monkeypatch: pytest.MonkeyPatch) -> list[Device]:
    """A device that this machine lacks; `library.supports_gpu` follows the verdict like the real one."""
    found = [Device("Vulkan0", "a card", 8 * 10**9, 7 * 10**9)]
    monkeypatch.setattr(library, "supports_gpu", lambda: bool(found) and not gpu_verdict.excludes_gpus())
    monkeypatch.setattr(machine_check, "find_gpus", lambda: tuple(found))
    return found


def answering(monkeypatch: pytest.MonkeyPatch, auto: Answer, off: Answer = CRASH) -> list[str]:
    """Script the child's answers by flash attention; returns the list of requests."""
    asked: list[str] = []

    def ask(
        job: str, _paths: list[Path], _limit_s: float, _stop: object, words: Sequence[str] = ()
    ) -> dict[str, object]:
        if job == "kernels":
            return {"works": True, "exact": True}
        assert job == "gpus"
        asked.append(words[0])
        answer = {"auto": auto, "off": off}[words[0]]
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(machine_check, "ask_child", ask)
    return asked


@pytest.mark.parametrize(
    ("answers", "verdict", "asked", "is_kept"),
    [
        ((WORKS, CRASH), GpuVerdict.USABLE, ["auto"], True),
        ((CRASH, WORKS), GpuVerdict.REDUCED, ["auto", "off"], True),
        ((WRONG, WORKS), GpuVerdict.REDUCED, ["auto", "off"], True),
        ((CRASH, CRASH), GpuVerdict.PROCESSOR_ONLY, ["auto", "off"], True),
        ((WRONG, WRONG), GpuVerdict.PROCESSOR_ONLY, ["auto", "off"], True),
        ((NO_ROOM, WORKS), GpuVerdict.UNTRIED, ["auto"], False),
        ((TooSlowError("slow"), WORKS), GpuVerdict.UNTRIED, ["auto"], False),
        ((NotEnoughMemoryError("no room"), WORKS), GpuVerdict.UNTRIED, ["auto"], False),
        ((CRASH, TooSlowError("slow")), GpuVerdict.UNTRIED, ["auto", "off"], False),
    ],
)
def test_the_verdict_follows_from_the_trials(
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answers: tuple[Answer, Answer],
    verdict: GpuVerdict,
    asked: list[str],
    *,
    is_kept: bool,
) -> None:
    told = answering(monkeypatch, *answers)
    assert check_gpus(sample, tmp_path) is verdict
    assert gpu_verdict.current() is verdict
    assert told == asked
    gpu_verdict.set_current(GpuVerdict.USABLE)  # the state at the next start
    assert check_gpus(sample, tmp_path) is verdict
    assert told == (asked if is_kept else [*asked, *asked])


def test_nothing_is_started_where_there_is_no_gpu(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: list[Device]
) -> None:
    gpus.clear()
    asked = answering(monkeypatch, CRASH)
    assert check_gpus(sample, tmp_path) is GpuVerdict.USABLE
    assert asked == []
    assert not (tmp_path / GPUS_FILE).exists()


@pytest.mark.parametrize("what", ["device", "driver", "build"])
def test_another_device_driver_or_build_is_tried_anew(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpus: list[Device], what: str
) -> None:
    asked = answering(monkeypatch, WORKS)
    check_gpus(sample, tmp_path)
    assert stored_verdict(tmp_path) == (GpuVerdict.USABLE, None)
    if what == "device":
        gpus[0] = Device("Vulkan0", "another card", 8 * 10**9, 7 * 10**9)
    else:
        monkeypatch.setattr(library, f"{what}_facts", lambda: ("a newer one",))
    assert stored_verdict(tmp_path) == (None, None)
    check_gpus(sample, tmp_path)
    assert asked == ["auto", "auto"]


def test_a_crashing_driver_takes_no_model_and_is_reported(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, CRASH, CRASH)
    session = Session(file_inspector(tmp_path, sample))
    try:
        ready = session.load(LoadRequest(str(sample), n_ctx=256))
    finally:
        session.close()
    assert ready.target.gpu_layers == 0
    assert [str(notice) for notice in ready.notices if "models run on the processor" in notice]


def test_flash_attention_what_needs_it_and_candidates_are_off_there_only() -> None:
    asked = ContextParams(256, 1, cache_type=CacheType.Q8_0, flash_attention=FlashAttention.ON, num_candidates=8)
    assert with_gpu_limits(asked, 999) == asked
    gpu_verdict.set_current(GpuVerdict.REDUCED)
    assert with_gpu_limits(asked, 0) == asked
    assert with_gpu_limits(asked, 999) == ContextParams(256, 1, flash_attention=FlashAttention.OFF)


def test_a_device_that_failed_is_named_no_more() -> None:
    gpu_verdict.set_current(GpuVerdict.PROCESSOR_ONLY)
    assert find_gpus() == ()
    with pytest.raises(DeviceError, match="failed a test"):
        handles_of(["Vulkan0"])
    gpu_verdict.set_current(GpuVerdict.UNTRIED)
    assert find_gpus() == ()
    with pytest.raises(DeviceError, match="could not be tried"):
        handles_of(["Vulkan0"])


def test_the_child_compares_and_says_what_is_wrong(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trials.try_gpus([str(sample), "auto"]) == WORKS  # without a GPU here: the CPU compared with itself
    real = trials._gpu_rows

    def spoiled(path: Path, gpu_layers: int, flash: FlashAttention) -> list[trials.Row]:
        rows = real(path, gpu_layers, flash)
        return [*rows[:-1], np.roll(rows[-1], 1)] if gpu_layers else rows

    monkeypatch.setattr(trials, "_gpu_rows", spoiled)
    assert trials.try_gpus([str(sample), "auto"]) == WRONG


@pytest.mark.parametrize(("job", "there"), [("probe", "-1"), ("gpus", None)])
def test_only_this_trial_sees_the_gpus(
    sample: Path, monkeypatch: pytest.MonkeyPatch, job: str, there: str | None
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    tell = "import json, os; print(json.dumps({'there': os.environ.get('CUDA_VISIBLE_DEVICES')}))"
    run_instead(monkeypatch, tell)
    assert ask_child(job, [sample], 60.0) == {"there": there}
    assert "CUDA_VISIBLE_DEVICES" not in os.environ
