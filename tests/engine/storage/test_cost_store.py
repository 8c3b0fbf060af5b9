"""Tests stored costs: returned unchanged, limited, and safe against foreign files."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage import json_store
from engine.storage.cost_store import FILE_NAME, MAX_ENTRIES, CostStore, SavedCosts, file_facts, key_of

REPOSITORY = Path(__file__).resolve().parents[3]
COSTS = SavedCosts(2, {0: {1: 7.0, 8: 19.25}, 2: {1: 9.5}})


def test_what_was_put_is_there_after_a_restart(tmp_path: Path) -> None:
    CostStore(tmp_path / "cache").put("a", COSTS)
    again = CostStore(tmp_path / "cache")
    assert again.get("a") == COSTS
    assert again.get("b") is None
    assert sorted(file.name for file in (tmp_path / "cache").iterdir()) == [FILE_NAME, f"{FILE_NAME}.lock"]


def test_without_a_folder_it_is_kept_in_memory() -> None:
    store = CostStore()
    store.put("a", COSTS)
    assert store.get("a") == COSTS


def test_the_oldest_go_first(tmp_path: Path) -> None:
    store = CostStore(tmp_path)
    for i in range(MAX_ENTRIES + 5):
        store.put(f"key {i}", COSTS)
    again = CostStore(tmp_path)
    assert again.get("key 4") is None
    assert again.get("key 5") == COSTS
    assert len(json.loads((tmp_path / FILE_NAME).read_text())["costs"]) == MAX_ENTRIES


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe not text",
        b"[]",
        b"[" * 100_000,
        b'{"format": 2, "costs": {"a": 1}}',
        b'{"format": 1, "costs": {"a": {"threads": 0, "bands": {"0": {"1": 7.0}}}}}',
        b'{"format": 1, "costs": {"a": {"threads": 2, "bands": {"0": {"2": 7.0}}}}}',
        b'{"format": 1, "costs": {"a": {"threads": 2, "bands": {"0": {"1": -7.0}}}}}',
        b'{"format": 1, "costs": {"a": {"threads": 2, "bands": {"0": {"1": NaN}}}}}',
        b'{"format": 1, "costs": {"a": {"threads": 2, "bands": {}}}}',
        b'{"format": 1, "costs": {"a": {"threads": 2}}}',
        # llama.cpp would end the process over the first; numbers overflow with the second
        b'{"format": 1, "costs": {"a": {"threads": 2000, "bands": {"0": {"1": 7.0}}}}}',
        b'{"format": 1, "costs": {"a": {"threads": 2, "bands": {"0": {"1": 5e-324}}}}}',
    ],
)
def test_a_damaged_or_foreign_file_is_as_good_as_none(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "engine.storage.json_store")
    (tmp_path / FILE_NAME).write_bytes(content)
    store = CostStore(tmp_path)
    assert store.get("a") is None
    assert len(caplog.records) <= 1
    store.put("a", COSTS)
    assert CostStore(tmp_path).get("a") == COSTS


@given(st.binary(max_size=200))
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("costs")
    (folder / FILE_NAME).write_bytes(content)
    assert CostStore(folder).get("a") is None


def test_what_another_process_put_meanwhile_stays(tmp_path: Path) -> None:
    CostStore(tmp_path).put("both", COSTS)
    one, other = CostStore(tmp_path), CostStore(tmp_path)
    one.put("one", COSTS)
    one.put("both", SavedCosts(2, {0: {1: 6.0}}))
    other.put("other", COSTS)
    again = CostStore(tmp_path)
    assert again.get("one") == again.get("other") == COSTS
    assert again.get("both") == other.get("both") == SavedCosts(2, {0: {1: 6.0}})


def test_newer_bands_of_a_key_stay_and_dropped_ones_do_not_return(tmp_path: Path) -> None:
    CostStore(tmp_path).put("a", SavedCosts(2, {0: {1: 7.0}, 1: {1: 8.0}, 2: {1: 9.0}}))
    one, other = CostStore(tmp_path), CostStore(tmp_path)
    one.put("a", SavedCosts(2, {0: {1: 5.0}, 3: {1: 11.0}}))  # the others were equally wrong
    other.put("a", SavedCosts(2, {0: {1: 7.0}, 1: {1: 8.0}, 2: {1: 8.5}}))
    kept = CostStore(tmp_path).get("a")
    assert kept is not None
    assert kept.bands == {0: {1: 5.0}, 1: {1: 8.0}, 2: {1: 8.5}, 3: {1: 11.0}}
    other.put("a", SavedCosts(2, {0: {1: 4.0}}))
    kept = CostStore(tmp_path).get("a")
    assert kept is not None
    assert kept.bands == {0: {1: 4.0}}
    one.put("a", SavedCosts(1, {0: {1: 12.0}}))
    assert CostStore(tmp_path).get("a") == SavedCosts(1, {0: {1: 12.0}})


PUTS = """
import sys
from pathlib import Path
from engine.storage import json_store
from engine.storage.cost_store import CostStore, SavedCosts

json_store.WAIT_S = 60.0  # on a busy machine many turns pass between two looks
store = CostStore(Path(sys.argv[1]))
for i in range(20):
    store.put(f"{sys.argv[2]} {i}", SavedCosts(2, {0: {1: 7.0}}))
"""


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    commands = [[sys.executable, "-c", PUTS, str(tmp_path), str(number)] for number in range(3)]
    running = [subprocess.Popen(command, cwd=REPOSITORY) for command in commands]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    again = CostStore(tmp_path)
    assert [key for number in range(3) for i in range(20) if again.get(key := f"{number} {i}") is None] == []


def test_who_holds_the_lock_for_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_store, "WAIT_S", 0.05)
    with json_store.locked(tmp_path / f"{FILE_NAME}.lock") as is_held:
        assert is_held
        CostStore(tmp_path).put("a", COSTS)
    assert CostStore(tmp_path).get("a") == COSTS
    (tmp_path / "other" / f"{FILE_NAME}.lock").mkdir(parents=True)
    CostStore(tmp_path / "other").put("a", COSTS)
    assert CostStore(tmp_path / "other").get("a") == COSTS


def test_a_folder_that_cannot_be_written_is_only_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "engine.storage.json_store")
    (tmp_path / "file").write_text("in the way")
    store = CostStore(tmp_path / "file")
    store.put("a", COSTS)
    assert store.get("a") == COSTS
    assert "could not be written" in caplog.text


def test_another_file_or_fact_has_another_key(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"one")
    first = file_facts(str(file))
    os.utime(file, ns=(1, 1))
    assert file_facts(str(file)) != first
    assert key_of("target", 2) != key_of("target", 1)
    assert key_of("ab", "c") != key_of("a", "bc")
    assert file_facts(str(tmp_path / "absent")) == (str(tmp_path / "absent"),)
