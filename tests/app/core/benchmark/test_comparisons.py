"""The best configuration is picked on one half of the prompts and compared on the other, so that it is not luck."""

from __future__ import annotations

from random import Random

import pytest

from app.core.benchmark.comparisons import (
    BEST_PEER,
    BEST_PEER_DRAFT,
    EACH_PEER,
    FIXED,
    PLAIN_PEER,
    best_of_half,
    compare,
)
from app.core.benchmark.runs import AUTO, PLAIN, BenchmarkRun, Variant
from tests.app.core.benchmark.made_runs import DRAFT, made_run

NGRAM = Variant("ngram", 7)
SERVER = [Variant(name, None, "llama-server") for name in ("plain", "draft-3", "ngram-mod")]


def test_each_half_is_compared_with_what_was_best_on_the_other() -> None:
    runs = []
    for i in range(6):
        fast, slow = (DRAFT, NGRAM) if i % 2 == 0 else (NGRAM, DRAFT)
        runs += [made_run(f"p{i}", fast, 1.0), made_run(f"p{i}", slow, 2.0), made_run(f"p{i}", AUTO, 1.0)]
    chosen, picked = best_of_half(runs, [DRAFT, NGRAM])
    assert picked == (DRAFT, NGRAM)
    assert [chosen[f"p{i}"] for i in range(6)] == [NGRAM, DRAFT, NGRAM, DRAFT, NGRAM, DRAFT]


def test_the_best_of_equals_is_not_better_than_the_rest() -> None:
    rng = Random(3)  # noqa: S311  (repeatable draws are the point)
    candidates = [Variant("draft", depth) for depth in range(1, 9)]
    runs: list[BenchmarkRun] = []
    for i in range(200):
        runs += [made_run(f"p{i}", variant, rng.uniform(0.8, 1.2)) for variant in (*candidates, AUTO, PLAIN)]
    fixed = next(one for one in compare(runs) if one.name == FIXED and one.category == "all")
    assert fixed.ratio.value == pytest.approx(1.0, abs=0.03)
    assert 1 <= len(fixed.against) <= 2


def test_paced_modes_are_no_fixed_choice_and_plain_is_one() -> None:
    paced = Variant("draft", None)
    runs = []
    for i in range(4):
        runs += [made_run(f"p{i}", PLAIN, 1.0), made_run(f"p{i}", DRAFT, 2.0)]
        runs += [made_run(f"p{i}", paced, 0.1), made_run(f"p{i}", AUTO, 1.0)]
    fixed = next(one for one in compare(runs) if one.name == FIXED)
    assert fixed.against == ("plain",)
    assert fixed.ratio.value == pytest.approx(1.0)


def test_a_peer_is_compared_in_every_way() -> None:
    speeds = dict(zip(SERVER, (1.0, 0.8, 0.5), strict=True))
    runs = []
    for i in range(4):
        runs += [made_run(f"p{i}", PLAIN, 0.9), made_run(f"p{i}", AUTO, 0.4)]
        runs += [made_run(f"p{i}", variant, seconds) for variant, seconds in speeds.items()]
    found = {(one.name, one.against): one.ratio.value for one in compare(runs) if one.category == "all"}
    assert found == {
        (PLAIN_PEER, ("plain",)): pytest.approx(1.0 / 0.9),
        (EACH_PEER, ("plain",)): pytest.approx(2.5),
        (EACH_PEER, ("draft-3",)): pytest.approx(2.0),
        (EACH_PEER, ("ngram-mod",)): pytest.approx(1.25),
        (BEST_PEER, ("ngram-mod",)): pytest.approx(1.25),
        (BEST_PEER_DRAFT, ("draft-3",)): pytest.approx(2.0),
    }


def test_without_auto_only_plain_is_compared() -> None:
    runs = [made_run("x", PLAIN, 1.0), made_run("x", SERVER[0], 1.0), made_run("x", SERVER[1], 1.0)]
    assert {one.name for one in compare(runs)} == {PLAIN_PEER}


def test_one_prompt_has_no_other_half() -> None:
    runs = [made_run("x", variant, 1.0) for variant in (PLAIN, AUTO, DRAFT, *SERVER)]
    assert {one.name for one in compare(runs)} == {EACH_PEER, PLAIN_PEER}
