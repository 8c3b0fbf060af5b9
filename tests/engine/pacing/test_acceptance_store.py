"""Learnt acceptance survives a restart: the same estimates, limited in size, and safe against damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.pacing.acceptance import draft_kind
from engine.pacing.acceptance_store import FILE_NAME, MAX_KINDS, MAX_PAIRS, AcceptanceStore
from engine.pacing.cost_curve import CostCurve
from engine.pacing.learning import AcceptanceStats, SavedStats
from engine.pacing.pacer import Pacer

PLAIN_MS = 7.0
CURVE = {1: PLAIN_MS, 4: 1.6 * PLAIN_MS, 32: 8.0 * PLAIN_MS}


def taught(acceptance: float, kind: str = "drafted greedy", curve: dict[int, float] | None = None) -> Pacer:
    """A pacer that has observed 300 drafting passes with this share of accepted tokens."""
    rng = np.random.default_rng(7)
    pacer = Pacer(CostCurve(curve or CURVE), 0.3)
    pacer.begin(kind)
    for _ in range(300):
        kept = next((i for i in range(3) if rng.random() > acceptance), 3)
        pacer.observe_draft([0.91] * 3, kept, pacer.curve.cost_ms(4) + 0.9)
    return pacer


def restarted(pacer: Pacer, kept: dict[str, SavedStats]) -> Pacer:
    """The pacer of the same pair after a restart."""
    after = Pacer(pacer.curve, 0.3)
    after.restore(kept)
    return after


def numbers() -> SavedStats:
    return taught(0.5).acceptance.saved


@pytest.mark.parametrize("acceptance", [0.05, 0.95])
def test_the_next_start_goes_on_where_the_last_one_ended(tmp_path: Path, acceptance: float) -> None:
    before = taught(acceptance)
    AcceptanceStore(tmp_path).put("pair", before.saved)
    after = restarted(before, AcceptanceStore(tmp_path).get("pair"))
    for pacer in (before, after):
        pacer.begin("drafted greedy")
    kind = draft_kind(0.91)
    assert after.acceptance.draft.probability(kind) == pytest.approx(
        before.acceptance.draft.probability(kind), rel=0.01
    )
    assert after.acceptance.drafted.probability(0) == pytest.approx(before.acceptance.drafted.probability(0), rel=0.01)
    decisions = [pacer.decide([], has_model=True, limit=8) for pacer in (before, after)]
    assert decisions[1].choice is decisions[0].choice
    assert decisions[1].draft_gain_ms == pytest.approx(decisions[0].draft_gain_ms, rel=0.05)
    assert (decisions[1].draft_gain_ms or 0.0) * (acceptance - 0.5) > 0.0


def test_what_a_slower_machine_taught_is_reported_in_plain_passes() -> None:
    slow = taught(0.8, curve={n: 10.0 * ms for n, ms in CURVE.items()})
    quick = Pacer(CostCurve(CURVE), 0.03)
    quick.restore(slow.saved)
    for pacer in (slow, quick):
        pacer.begin("drafted greedy")
    gains = [pacer.decide([], has_model=True, limit=8).draft_gain_ms for pacer in (slow, quick)]
    assert gains[0] == pytest.approx(10.0 * (gains[1] or 0.0), rel=0.05)


def test_answers_that_are_drawn_learn_apart_from_greedy_ones() -> None:
    before = taught(0.05)
    after = restarted(before, before.saved)
    after.begin("drafted sampled", greedy=False)
    assert not after.acceptance.drafted.is_observed
    after.begin("drafted greedy")
    assert after.acceptance.drafted.probability(0) < 0.3


def test_the_oldest_pairs_and_kinds_go_first(tmp_path: Path) -> None:
    store, one = AcceptanceStore(tmp_path), numbers()
    for i in range(MAX_PAIRS + 2):
        store.put(f"pair {i}", {f"kind {k}": one for k in range(MAX_KINDS + 1)})
    again = AcceptanceStore(tmp_path)
    assert again.get("pair 1") == {}
    assert list(again.get("pair 2")) == [f"kind {k}" for k in range(1, MAX_KINDS + 1)]
    assert sorted(file.name for file in tmp_path.iterdir()) == [FILE_NAME, f"{FILE_NAME}.lock"]


def test_what_another_process_learnt_meanwhile_stays(tmp_path: Path) -> None:
    """Also for the same pair, if its answers were of another kind."""
    before = taught(0.9)
    AcceptanceStore(tmp_path).put("pair", before.saved)
    stores = [AcceptanceStore(tmp_path) for _ in range(2)]
    for store, kind in zip(stores, ("drafted greedy", "looked up greedy"), strict=True):
        pacer = restarted(before, store.get("pair"))
        pacer.begin(kind)
        for _ in range(300):
            pacer.acceptance.drafted.observe([0], 0)
        store.put("pair", pacer.saved)
        store.put(f"own {kind}", pacer.saved)
    again = AcceptanceStore(tmp_path)
    after = restarted(before, again.get("pair"))
    for kind in ("drafted greedy", "looked up greedy"):
        assert again.get(f"own {kind}")
        after.begin(kind)
        assert after.acceptance.drafted.probability(0) < 0.2


def test_a_pair_of_which_nothing_was_learnt_puts_no_other_out(tmp_path: Path) -> None:
    store, one = AcceptanceStore(tmp_path), numbers()
    for i in range(MAX_PAIRS):
        store.put(f"pair {i}", {"kind": one})
    AcceptanceStore(tmp_path).put("another", {})
    assert AcceptanceStore(tmp_path).get("pair 0")


def test_without_a_folder_it_is_kept_in_memory() -> None:
    store, one = AcceptanceStore(None), numbers()
    store.put("pair", {"kind": one})
    kept = store.get("pair")["kind"]
    assert kept.keys() == one.keys()
    for noun, values in one.items():
        assert kept[noun] == pytest.approx(values, rel=0.001)


@pytest.mark.parametrize(
    ("noun", "value"),
    [
        ("text", [1.0]),
        ("text", [-1.0] * 36),
        ("draft", ["many"] * 22),
        ("draft", [float("nan")] * 22),
        ("draft", [*([1.0] * 11), *([0.0] * 11)]),  # more accepted than proposed
        ("draft", [1e300] * 22),
        ("drafted", []),
        ("drafted", None),
        ("average", [1.0, 1.0]),
        ("average", [0.0, 1.0, 1.0]),
        ("average", [1.0, 1e300, 1.0]),
        ("average", [1.0, float("nan"), 1.0]),
    ],
)
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, noun: str, value: object) -> None:
    AcceptanceStore(tmp_path).put("pair", {"kind": numbers()})
    file = tmp_path / FILE_NAME
    saved = json.loads(file.read_text())
    assert noun in saved["pairs"]["pair"]["kind"]
    saved["pairs"]["pair"]["kind"][noun] = value
    file.write_text(json.dumps(saved))
    assert AcceptanceStore(tmp_path).get("pair") == {}


def test_counts_of_other_classes_than_today_are_not_taken(tmp_path: Path) -> None:
    AcceptanceStore(tmp_path).put("pair", {"kind": {**numbers(), "draft": [0.0] * 20}})
    assert AcceptanceStore(tmp_path).get("pair") == {}


@pytest.mark.parametrize("missing", ["text", "draft", "drafted", "average"])
def test_an_entry_that_lacks_something_is_as_good_as_none(tmp_path: Path, missing: str) -> None:
    AcceptanceStore(tmp_path).put("pair", {"kind": {k: v for k, v in numbers().items() if k != missing}})
    assert AcceptanceStore(tmp_path).get("pair") == {}


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[]", b"[" * 100_000, b'{"format": 1, "pairs": {}}', b'{"format": 2, "pairs": {"a": 1}}', b"null"],
)
def test_a_damaged_or_foreign_file_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    store = AcceptanceStore(tmp_path)
    assert store.get("pair") == store.get("a") == {}
    store.put("pair", {"kind": numbers()})
    assert AcceptanceStore(tmp_path).get("pair")


def test_before_anything_was_drafted_there_is_nothing_to_tell_of_it() -> None:
    untaught = AcceptanceStats(greedy=True)
    again = AcceptanceStats(greedy=True)
    again.restore(untaught.saved)
    assert again.average is None
    assert not again.drafted.is_observed
