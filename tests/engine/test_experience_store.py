"""What drafting taught outlives the program: the same estimates after a restart, bounded, and no file can do harm."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.acceptance import Part
from engine.cost_curve import CostCurve
from engine.experience import Experience, Numbers
from engine.experience_store import FILE_NAME, MAX_KINDS, MAX_PAIRS, ExperienceStore
from engine.pacer import MAX_DEPTH, Pacer
from engine.records import Source

PLAIN_MS = 7.0


def taught(acceptance: float) -> Pacer:
    """A pacer that has seen 300 drafting passes, of whose tokens such a share was kept."""
    rng = np.random.default_rng(7)
    pacer = Pacer(CostCurve({1: PLAIN_MS, 4: 2.4 * PLAIN_MS, 32: 16.0 * PLAIN_MS}), 0.3)
    pacer.begin("drafted")
    for _ in range(300):
        pacer.choose([], has_model=True, limit=3)
        kept = next((i for i in range(3) if rng.random() > acceptance), 3)
        pacer.observe([Part(Source.DRAFT, [0.9] * 3)], kept, draft_ms=0.9)
    return pacer


def numbers() -> Numbers:
    return Experience(PLAIN_MS, MAX_DEPTH).numbers(PLAIN_MS)


@pytest.mark.parametrize("acceptance", [0.05, 0.95])
def test_the_next_start_goes_on_where_the_last_one_ended(tmp_path: Path, acceptance: float) -> None:
    before = taught(acceptance)
    ExperienceStore(tmp_path, MAX_DEPTH).put("pair", before.lessons.numbers(before.plain_ms))
    after = Pacer(before.curve, 0.3)
    after.lessons.restore(ExperienceStore(tmp_path, MAX_DEPTH).get("pair"), after.plain_ms)
    after.begin("drafted")
    assert after.chance(0.9) == pytest.approx(before.chance(0.9), rel=0.01)
    for depth in range(4):
        assert after.learnt.by_depth.chance(depth) == pytest.approx(before.learnt.by_depth.chance(depth), rel=0.01)
    assert after.rate == pytest.approx(before.rate, rel=0.05)
    assert after.choose([], has_model=True, limit=8)[0] == before.choose([], has_model=True, limit=8)[0]


def test_what_a_slower_machine_taught_is_told_in_plain_passes() -> None:
    kept = Experience(PLAIN_MS, MAX_DEPTH).numbers(PLAIN_MS)
    other = Experience(1.0, MAX_DEPTH)
    other.restore(kept, 10.0 * PLAIN_MS)
    assert other.model.cost_ms == pytest.approx(2.0 * 10.0 * PLAIN_MS)
    assert other.rate == pytest.approx(1.0 / (10.0 * PLAIN_MS))


def test_a_new_kind_begins_with_what_was_kept_of_another() -> None:
    before = taught(0.05)
    after = Pacer(before.curve, 0.3)
    after.lessons.restore(before.lessons.numbers(before.plain_ms), after.plain_ms)
    after.begin("another")
    assert after.learnt.by_depth.chance(0) < 0.3


def test_the_oldest_pairs_and_kinds_go_first(tmp_path: Path) -> None:
    store = ExperienceStore(tmp_path, MAX_DEPTH)
    for i in range(MAX_PAIRS + 2):
        store.put(f"pair {i}", {f"kind {k}": numbers() for k in range(MAX_KINDS + 1)})
    again = ExperienceStore(tmp_path, MAX_DEPTH)
    assert again.get("pair 1") == {}
    assert list(again.get("pair 2")) == [f"kind {k}" for k in range(1, MAX_KINDS + 1)]
    assert sorted(file.name for file in tmp_path.iterdir()) == [FILE_NAME, f"{FILE_NAME}.lock"]


def test_what_another_process_learnt_meanwhile_stays(tmp_path: Path) -> None:
    """Also of the same pair, where the answers were of another kind."""
    before = taught(0.5)
    ExperienceStore(tmp_path, MAX_DEPTH).put("pair", before.lessons.numbers(before.plain_ms))
    stores = [ExperienceStore(tmp_path, MAX_DEPTH) for _ in range(2)]
    for store, kind in zip(stores, ("drafted", "looked up"), strict=True):
        pacer = Pacer(before.curve, 0.3)
        pacer.lessons.restore(store.get("pair"), pacer.plain_ms)
        pacer.begin(kind)
        for _ in range(100):
            pacer.learnt.by_depth.observe(1, 0)
        store.put("pair", pacer.lessons.numbers(pacer.plain_ms))
        store.put(f"own {kind}", pacer.lessons.numbers(pacer.plain_ms))
    again = ExperienceStore(tmp_path, MAX_DEPTH)
    after = Pacer(before.curve, 0.3)
    after.lessons.restore(again.get("pair"), after.plain_ms)
    for kind in ("drafted", "looked up"):
        assert again.get(f"own {kind}")
        after.begin(kind)
        assert after.learnt.by_depth.chance(0) < 0.2


def test_a_pair_of_which_nothing_was_learnt_puts_no_other_out(tmp_path: Path) -> None:
    store = ExperienceStore(tmp_path, MAX_DEPTH)
    for i in range(MAX_PAIRS):
        store.put(f"pair {i}", {"kind": numbers()})
    ExperienceStore(tmp_path, MAX_DEPTH).put("another", {})
    assert ExperienceStore(tmp_path, MAX_DEPTH).get("pair 0")


def test_without_a_folder_it_is_kept_in_memory() -> None:
    store = ExperienceStore(None, MAX_DEPTH)
    store.put("pair", {"kind": numbers()})
    assert store.get("pair") == {"kind": numbers()}


def test_what_was_kept_for_other_depths_is_not_used(tmp_path: Path) -> None:
    ExperienceStore(tmp_path, MAX_DEPTH).put("pair", {"kind": numbers()})
    assert ExperienceStore(tmp_path, MAX_DEPTH - 1).get("pair") == {}


@pytest.mark.parametrize(
    ("noun", "value"),
    [
        ("text", [1.0]),
        ("text", [0.0] * 25 + [1.0]),  # no chance at all, of which no mean can be taken
        ("model", [-1.0] * 26),
        ("model", ["many"] * 26),
        ("model", [float("nan")] * 26),
        ("depths", []),
        ("trial", [0.0, 1.0]),
        ("trial", [1.0, 1e300]),
        ("rate", [1.0]),
        ("rate", None),
    ],
)
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, noun: str, value: object) -> None:
    ExperienceStore(tmp_path, MAX_DEPTH).put("pair", {"kind": numbers()})
    file = tmp_path / FILE_NAME
    saved = json.loads(file.read_text())
    saved["pairs"]["pair"]["kind"][noun] = value
    file.write_text(json.dumps(saved))
    assert ExperienceStore(tmp_path, MAX_DEPTH).get("pair") == {}


@pytest.mark.parametrize("content", [b"", b"\xff", b"[]", b"[" * 100_000, b'{"format": 2, "pairs": {}}', b"null"])
def test_a_damaged_or_foreign_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert ExperienceStore(tmp_path, MAX_DEPTH).get("pair") == {}
