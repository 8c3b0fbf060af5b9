"""Models in several files: queries on the first file include all of them."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine.sandbox.probe
from engine.gguf.model_parts import size_of_files
from engine.loading.loading import LoadOptions, open_model
from engine.sandbox import trials
from engine.sandbox.probe import probe
from engine.storage.cost_store import file_facts
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama

pytestmark = pytest.mark.usefixtures("warm_helpers")
WHOLE = tiny_llama()
NAMES = ("m-00001-of-00002.gguf", "m-00002-of-00002.gguf")


def split(folder: Path, num_in_first: int, file: GgufFile = WHOLE) -> Path:
    """Write a model in two parts; the first has ``num_in_first`` tensors. Returns the first path."""
    shared = {"split.count": (Kind.UINT16, 2), "split.tensors.count": (Kind.INT32, len(file.tensors))}
    first = {**file.metadata, **shared, "split.no": (Kind.UINT16, 0)}
    GgufFile({**shared, "split.no": (Kind.UINT16, 1)}, file.tensors[num_in_first:]).write(folder / NAMES[1])
    return replace(file, metadata=first, tensors=file.tensors[:num_in_first]).write(folder / NAMES[0])


@pytest.mark.parametrize("num_in_first", [0, 3])
def test_the_weights_may_lie_in_the_other_part(tmp_path: Path, num_in_first: int) -> None:
    probe(split(tmp_path, num_in_first))


def test_another_second_part_is_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, asked = split(tmp_path, 3), list[object]()
    ask: Callable[..., dict[str, Any]] = engine.sandbox.probe.ask_child
    monkeypatch.setattr(engine.sandbox.probe, "ask_child", lambda *of: (asked.append(of), ask(*of))[1])
    facts = file_facts(str(path))
    for _ in range(2):
        probe(path, tmp_path)
    assert len(asked) == 1
    os.utime(tmp_path / NAMES[1], ns=(1, 1))
    probe(path, tmp_path)
    assert len(asked) == 2
    assert file_facts(str(path)) != facts


def test_memory_and_time_are_allowed_for_all_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, limits, waits = split(tmp_path, 0), list[int](), list[float]()
    monkeypatch.setattr(trials, "limit_memory", limits.append)
    trials.try_model([str(path)])
    sizes = sum((tmp_path / name).stat().st_size for name in NAMES)
    whole = WHOLE.write(tmp_path / "whole.gguf")
    trials.try_model([str(whole)])
    assert limits[0] >= 2 * sizes
    assert limits[0] == pytest.approx(limits[1], abs=20_000)

    def ask(_helper: str, _paths: object, limit_s: float, *_more: object) -> dict[str, Any]:
        waits.append(limit_s)
        raise RuntimeError

    monkeypatch.setattr(engine.sandbox.probe, "ask_child", ask)
    monkeypatch.setattr(engine.sandbox.probe, "MIN_BYTES_PER_S", 1.0)
    with pytest.raises(RuntimeError):
        probe(path)
    assert waits[0] > sizes


def test_parts_that_lie_elsewhere_under_other_names_are_found(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "snapshot").mkdir()
    path = split(tmp_path / "snapshot", 3)
    for name in NAMES:  # as in the cache of huggingface_hub
        (tmp_path / "snapshot" / name).rename(tmp_path / "blobs" / f"{name[6]}f2a")
        try:
            (tmp_path / "snapshot" / name).symlink_to(tmp_path / "blobs" / f"{name[6]}f2a")
        except OSError:
            pytest.skip("this system lets nobody make links")
    probe(path)
    assert len(file_facts(str(path))) == 6


def test_a_model_has_one_size_that_of_its_files(tmp_path: Path) -> None:
    path = split(tmp_path, 3)
    assert size_of_files(path) == sum((tmp_path / name).stat().st_size for name in NAMES)
    loaded = open_model(path, LoadOptions(n_ctx=64))
    try:
        assert loaded.info.size_bytes == size_of_files(path) > loaded.model.size_bytes
    finally:
        loaded.close()
