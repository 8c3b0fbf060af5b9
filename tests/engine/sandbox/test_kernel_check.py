"""Kernels that do not work on this CPU are detected in a child process and disabled."""

import time
from pathlib import Path

import numpy as np
import pytest

from app.core.paths import builtin_target
from engine.errors import ModelLoadError, NotEnoughMemoryError
from engine.llama import library
from engine.records import LoadRequest
from engine.sandbox import machine_check, trials
from engine.sandbox.machine_check import KERNELS_FILE, check_kernels, file_inspector, kernel_notices
from engine.session.session import Session
from tests.engine.gguf_factory import tiny_llama
from tests.exact import require_exact


@pytest.fixture(name="sample")
def fixture_sample(tmp_path: Path) -> Path:
    return tiny_llama(seed=1).write(tmp_path / "sample.gguf")


@pytest.fixture(autouse=True)
def fixture_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_disabled", [])
    monkeypatch.setattr(library, "_inexact", [])


def asking(monkeypatch: pytest.MonkeyPatch, error: Exception | None) -> list[Path]:
    """Let the child process fail with ``error``; returns the list of checked files."""
    asked: list[Path] = []

    def ask(helper: str, paths: list[Path], _limit_s: float, _should_stop: object) -> dict[str, bool]:
        assert helper == "kernels"
        asked.extend(paths)
        if error is not None:
            raise error
        return {"works": True}

    monkeypatch.setattr(machine_check, "ask_child", ask)
    return asked


def test_the_kernels_of_this_build_work_in_a_real_child(sample: Path, tmp_path: Path) -> None:
    assert check_kernels(sample, tmp_path)
    assert library.uses_repacking()
    assert kernel_notices() == ()


def test_a_crash_does_without_them_and_is_reported(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(monkeypatch, ModelLoadError("llama.cpp crashed"))
    assert not check_kernels(sample, tmp_path)
    assert not library.uses_repacking()
    session = Session()
    try:
        ready = session.load(LoadRequest(str(sample), n_ctx=256))
    finally:
        session.close()
    assert any("slower ones are used" in notice for notice in ready.notices)


@pytest.mark.parametrize("error", [None, ModelLoadError("llama.cpp crashed")])
def test_a_verdict_is_kept_for_the_next_start(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    asked = asking(monkeypatch, error)
    check_kernels(sample, tmp_path)
    monkeypatch.setattr(library, "_disabled", [])
    assert check_kernels(sample, tmp_path) is (error is None)
    assert asked == [sample]


def test_want_of_memory_says_nothing_of_the_kernels(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking(monkeypatch, NotEnoughMemoryError("no room"))
    assert check_kernels(sample, tmp_path)
    assert not (tmp_path / KERNELS_FILE).exists()


def test_a_machine_that_was_too_busy_is_asked_again_at_the_next_start(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_check, "_KERNELS_LIMIT_S", 0.0)
    assert not check_kernels(sample, tmp_path)  # they may hang: disabled this time
    monkeypatch.undo()
    monkeypatch.setattr(library, "_disabled", [])
    assert check_kernels(sample, tmp_path)


def test_a_trial_that_is_stopped_says_nothing_of_the_kernels(sample: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    assert check_kernels(sample, tmp_path, lambda: True)
    assert time.monotonic() - began < machine_check._KERNELS_LIMIT_S / 2
    assert not (tmp_path / KERNELS_FILE).exists()
    assert library.uses_repacking()


def test_a_load_that_is_given_up_leaves_the_trial_to_the_next_file(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asking(monkeypatch, None)
    monkeypatch.setattr(machine_check, "probe", lambda path, _cache, **_: asked.append(path))
    inspect = file_inspector(None, sample)
    inspect(Path("given up.gguf"), lambda: True)
    inspect(Path("wanted.gguf"), lambda: False)
    assert asked == [sample, Path("given up.gguf"), sample, Path("wanted.gguf")]


def test_wrong_numbers_are_a_failure(sample: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = trials._kernel_rows(sample, repack=False)
    rows = {False: good, True: [*good[:-1], np.roll(good[-1], 1)]}
    monkeypatch.setattr(trials, "limit_memory", lambda _most: None)
    monkeypatch.setattr(trials, "_kernel_rows", lambda _path, *, repack: rows[repack])
    with pytest.raises(ModelLoadError, match="wrong numbers"):
        trials.try_kernels([str(sample)])


def test_the_built_in_target_is_exact_by_the_check_of_the_first_start(tmp_path: Path) -> None:
    require_exact(str(builtin_target()))
    assert check_kernels(builtin_target(), tmp_path)
    assert library.has_every_kernel()


@pytest.mark.parametrize("exact", [True, False])
def test_rows_that_differ_are_noted_and_remembered(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exact: bool
) -> None:
    asked = list[str]()

    def ask(helper: str, *_: object) -> dict[str, bool]:
        asked.append(helper)
        return {"works": True, "exact": exact}

    monkeypatch.setattr(machine_check, "ask_child", ask)
    for _start in range(2):
        monkeypatch.setattr(library, "_inexact", [])
        assert check_kernels(sample, tmp_path)
        assert library.uses_repacking()
        assert (library._inexact == []) is exact
    assert asked == ["kernels"]
