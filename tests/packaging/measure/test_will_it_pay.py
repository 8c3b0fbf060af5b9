"""The table of expected against measured gains counts what holds, and a model's own passes are not told beforehand."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from engine.gguf.token_weights import TokenWeights
from engine.storage.pass_samples import PassSample, SampleStore
from tests.scripts import load_script

script = load_script("measure/will_it_pay.py")


def row(speedup: float, low: float, high: float, threads: int = 2) -> dict[str, Any]:
    told = {"speedup": [low, high], "plain": [10.0, 15.0], "basis": "others", "with": "x"}
    return {
        "key": "t + d", "target": "t.gguf", "draft": "d.gguf", "cache_type": "f16", "threads": threads,
        "temperature": 0.0, "told": dict.fromkeys(script.BASES, told), "speedup": speedup, "interval": [1.0, 2.0],
        "plain_tokens_per_second": 12.0,
    }  # fmt: skip


@pytest.mark.parametrize(("misses", "good"), [(0, "yes"), (2, "yes"), (3, "NO")])
def test_eight_of_ten_must_hold(misses: int, good: str) -> None:
    rows = [row(2.0 if number < misses else 1.3, 1.1, 1.5) for number in range(10)]
    table = script.table(rows)
    assert f"speedup, {script.BASES[0]}: {10 - misses} of 10 held, widest factor 1.36: {good}" in table
    assert table.count("1.10-1.50 (!)") == len(script.BASES) * misses


def test_a_range_that_is_too_wide_holds_nothing() -> None:
    assert "widest factor 2.00: NO" in script.table([row(1.3, 1.0, 2.0)])


def test_what_was_never_reported_is_a_hyphen() -> None:
    made = row(1.3, 1.1, 1.5)
    told = script.table([{**made, "told": {**made["told"], script.BASES[0]: None}}])
    assert "| t + d | - | 1.10-1.50 | 1.10-1.50 | 1.30 (1.00-2.00) |" in told


def test_models_are_judged_without_their_own_passes(tmp_path: Path) -> None:
    store = SampleStore(tmp_path / "cache")
    for name in ("a.gguf", "b.gguf"):
        store.put(PassSample(name, 1, TokenWeights({"Q4_0": 100}, 2), 2, False, "f16", {1: 2.0}))
    left = script._folder_with(tmp_path / "others", [one for one in store.samples if one.name != "a.gguf"])
    assert [sample.name for sample in SampleStore(left).samples] == ["b.gguf"]
    again = script._folder_with(left, ())
    assert not SampleStore(again).samples


def test_every_target_is_taken_with_its_draft_and_alone(tmp_path: Path) -> None:
    for name in ("qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m", "other"):
        (tmp_path / f"{name}.gguf").touch()
    options = Namespace(
        models=tmp_path, padded=Path("padded.gguf"), cache_types=["f16", "q8_0"], threads=[1, 2], temperatures=[0.0]
    )
    found = list(script.combinations(options))
    assert len(found) == 5 * 2 * 2
    assert len({one.key for one in found}) == len(found)
    assert {bool(one.draft) for one in found if "qwen" in one.target} == {True, False}
