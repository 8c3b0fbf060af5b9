"""Tests the stores of measurements: kept between starts, limited, shared by processes, safe against damaged files."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from engine.storage import cost_store, json_store
from engine.storage.cost_store import CostStore, SavedCosts, file_facts, key_of
from engine.storage.json_store import JsonStore

REPOSITORY = Path(__file__).resolve().parents[3]
COSTS = SavedCosts(2, {0: {1: 7.0, 8: 19.25}, 2: {1: 9.5}})
# For each store: how it is made, its file's name, the name and format of its entries, and a good entry.
STORES: dict[str, tuple[Any, str, str, int, Any]] = {
    "costs": (CostStore, cost_store.FILE_NAME, "costs", 1, COSTS),
}
DAMAGED = [b"", b"\xff\xfe not text", b"[]", b"null", b"[" * 100_000]


@pytest.mark.parametrize("name", STORES)
def test_an_entry_is_kept_for_the_next_start(name: str, tmp_path: Path) -> None:
    make, file_name, _, _, entry = STORES[name]
    make(tmp_path / "cache").put("a", entry)
    again = make(tmp_path / "cache")
    assert (again.get("a"), again.get("b")) == (entry, None)
    assert sorted(file.name for file in (tmp_path / "cache").iterdir()) == [file_name, f"{file_name}.lock"]


@pytest.mark.parametrize("content", DAMAGED)
@pytest.mark.parametrize("name", STORES)
def test_a_damaged_file_counts_as_missing(
    name: str, content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "engine.storage.json_store")
    make, file_name, _, _, entry = STORES[name]
    (tmp_path / file_name).write_bytes(content)
    store = make(tmp_path)
    assert store.get("a") is None
    assert len(caplog.records) == 1
    store.put("a", entry)
    assert make(tmp_path).get("a") == entry


DAMAGED_ENTRIES: dict[str, list[dict[str, object]]] = {
    # llama.cpp would end the process over so many threads; numbers overflow with the smallest cost
    "costs": [
        {"threads": 0}, {"threads": 2000}, {"threads": None}, {"bands": {}}, {"bands": {"0": {"2": 7.0}}},
        *({"bands": {"0": {"1": ms}}} for ms in (-7.0, float("nan"), 5e-324)),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "damage"), [(name, damage) for name, damages in DAMAGED_ENTRIES.items() for damage in damages]
)
def test_a_damaged_entry_counts_as_missing(name: str, damage: dict[str, object], tmp_path: Path) -> None:
    make, file_name, noun, format_number, entry = STORES[name]
    make(tmp_path).put("a", entry)
    saved = json.loads((tmp_path / file_name).read_text())
    assert saved["format"] == format_number
    saved[noun]["a"].update(damage)
    (tmp_path / file_name).write_text(json.dumps(saved))
    assert make(tmp_path).get("a") is None


def plain_store(file: Path) -> JsonStore[int]:
    return JsonStore(file.parent, file.name, "numbers", 1, int)


@given(st.binary(max_size=200))
def test_no_content_raises(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.mktemp("store") / "numbers.json"
    file.write_bytes(content)
    assert plain_store(file).get("a") is None


@pytest.mark.parametrize("text", ['{"format": 2, "numbers": {"a": 1}}', '{"format": 1}', '{"format": 1, "numbers": 5}'])
def test_a_file_of_another_format_counts_as_missing(text: str, tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    file.write_text(text)
    assert plain_store(file).read() == {}


def test_the_oldest_entries_are_dropped(tmp_path: Path) -> None:
    store = plain_store(tmp_path / "numbers.json")
    store.max_entries = 3
    for key in "abcad":
        store.put(key, 1)
    assert list(plain_store(tmp_path / "numbers.json").read()) == ["c", "a", "d"]


PUTS = """
import sys
from pathlib import Path
from engine.storage import json_store

json_store.WAIT_S = 60.0  # on a busy machine many turns pass between two looks
store = json_store.JsonStore(Path(sys.argv[1]), "numbers.json", "numbers", 1, int)
for i in range(20):
    store.put(f"{sys.argv[2]} {i}", i)
"""


def test_processes_that_write_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    commands = [[sys.executable, "-c", PUTS, str(tmp_path), str(number)] for number in range(3)]
    running = [subprocess.Popen(command, cwd=REPOSITORY) for command in commands]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert len(plain_store(file).read()) == 60


def test_a_lock_that_is_held_for_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_store, "WAIT_S", 0.05)
    file = tmp_path / "numbers.json"
    with FileLock(tmp_path / "numbers.json.lock"):
        plain_store(file).put("a", 1)
    assert plain_store(file).get("a") == 1
    (tmp_path / "other" / "numbers.json.lock").mkdir(parents=True)
    plain_store(tmp_path / "other" / "numbers.json").put("a", 1)
    assert plain_store(tmp_path / "other" / "numbers.json").get("a") == 1


@pytest.mark.parametrize("has_folder", [True, False])
def test_without_a_usable_folder_entries_stay_in_memory(
    has_folder: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "engine.storage.json_store")
    (tmp_path / "file").write_text("in the way")
    store = JsonStore(tmp_path / "file" if has_folder else None, "numbers.json", "numbers", 1, int)
    store.put("a", 1)
    store.put("b", 2)
    assert store.read() == {"a": 1, "b": 2}
    assert any("could not be written" in line for line in caplog.messages) is has_folder


# ---- what the entries mean -----------------------------------------------------------------------------------------


def test_another_file_or_fact_has_another_key(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"one")
    first = file_facts(str(file))
    os.utime(file, ns=(1, 1))
    assert file_facts(str(file)) != first
    assert key_of("target", 2) != key_of("target", 1)
    assert key_of("ab", "c") != key_of("a", "bc")
    assert file_facts(str(tmp_path / "absent")) == (str(tmp_path / "absent"),)
