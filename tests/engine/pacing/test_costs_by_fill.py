"""Tests curves by fill of the cache: estimated if not measured, then corrected quickly, kept separate."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.paths import builtin_target
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.pacing import pair_costs
from engine.pacing.constants import MEASURED_SIZES
from engine.pacing.cost_curve import CostCurve
from engine.pacing.measuring import ForeignCpuLoad
from engine.pacing.pair_costs import PairCosts
from engine.pacing.plain_speed import BAND_ENDS, band_of
from engine.records import LoadRequest
from engine.sequence import CachedSequence
from engine.storage.cost_store import CostStore

REQUEST = LoadRequest(str(builtin_target()), threads=1)


def takes_ms(sequence: CachedSequence, num_tokens: int) -> float:
    """Attention reads the cached tokens."""
    return (1.0 + 0.1 * num_tokens) * (1.0 + sequence.num_past / 1000.0)


@pytest.fixture(scope="module")
def target() -> Iterator[LoadedModel]:
    target = open_model(builtin_target(), LoadOptions(2048, 1))
    yield target
    target.close()


@pytest.fixture(autouse=True)
def scripted(target: LoadedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes with scripted times, whatever else runs on the machine."""
    target.sequence.clear()
    monkeypatch.setattr(ForeignCpuLoad, "is_low", True)
    monkeypatch.setattr(pair_costs, "choose_threads", lambda *_, **__: 1)
    monkeypatch.setattr(
        pair_costs, "measure_passes", lambda sequence, *_: {n: takes_ms(sequence, n) for n in MEASURED_SIZES}
    )
    monkeypatch.setattr(
        pair_costs, "few_passes_ms", lambda sequence, sizes, *_, **__: {n: takes_ms(sequence, n) for n in sizes}
    )


def fill(sequence: CachedSequence, num_tokens: int) -> None:
    while sequence.num_past < num_tokens:
        sequence.forward([1] * min(300, num_tokens - sequence.num_past), 0)


def curve(costs: PairCosts) -> CostCurve:
    assert costs.pacer is not None
    return costs.pacer.curve


def test_bands_by_fill() -> None:
    assert [band_of(n) for n in (0, 1024, 1025, 4096, 5000, 60_000, 10**6)] == [0, 0, 1, 1, 2, 3, 4]
    assert len(BAND_ENDS) == 4


def test_a_filled_cache_has_a_curve_of_its_own(target: LoadedModel) -> None:
    costs, sequence = PairCosts(target, None, REQUEST, CostStore()), target.sequence
    costs.measure()
    empty = curve(costs)
    fill(sequence, 1200)
    costs.observe_passes(1, [2.4])
    assert curve(costs) is not empty
    assert costs.needs_measuring
    costs.measure()
    assert not costs.needs_measuring
    assert sequence.num_past == 1200
    sequence.clear()
    costs.observe_passes(1, [1.1])
    assert curve(costs) is empty
    assert not costs.needs_measuring


def test_a_fill_that_was_not_measured_is_guessed_and_soon_right(target: LoadedModel) -> None:
    costs = PairCosts(target, None, REQUEST, CostStore())
    costs.measure()
    fill(target.sequence, 1200)
    costs.observe_passes(1, [2.4])
    assert curve(costs).cost_ms(8) == pytest.approx(1.8)
    for _ in range(5):
        curve(costs).observe(1, takes_ms(target.sequence, 1))
    assert curve(costs).cost_ms(8) == pytest.approx(1.8 * 2.2, rel=0.1)


def test_a_long_chat_and_an_empty_cache_have_separate_costs(target: LoadedModel) -> None:
    costs = PairCosts(target, None, REQUEST, CostStore())
    costs.measure()
    fill(target.sequence, 1200)
    costs.observe_passes(4, [5.6])
    for _ in range(50):
        curve(costs).observe(4, 5.6)
    target.sequence.clear()
    costs.observe_passes(1, [1.1])
    assert curve(costs).cost_ms(4) == pytest.approx(1.4)
    fill(target.sequence, 1200)
    costs.observe_passes(4, [5.6])
    assert curve(costs).cost_ms(4) == pytest.approx(5.6, rel=0.05)


def test_every_fill_that_was_measured_is_there_at_the_next_start(target: LoadedModel, tmp_path: Path) -> None:
    first = PairCosts(target, None, REQUEST, CostStore(tmp_path))
    first.measure()
    fill(target.sequence, 1200)
    first.observe_passes(1, [2.4])
    first.measure()
    second = PairCosts(target, None, REQUEST, CostStore(tmp_path))
    second.prepare(paced=True)
    assert curve(second).cost_ms(8) == pytest.approx(takes_ms(target.sequence, 8), rel=0.01)
    target.sequence.clear()
    second.observe_passes(1, [1.1])
    assert curve(second).cost_ms(8) == pytest.approx(1.8, rel=0.01)


def test_a_curve_that_was_wrong_takes_those_of_other_fills_with_it(
    target: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs = PairCosts(target, None, REQUEST, CostStore())
    costs.measure()
    fill(target.sequence, 1200)
    costs.observe_passes(1, [2.4])
    costs.measure()
    target.sequence.clear()
    costs.observe_passes(1, [1.1])
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: dict.fromkeys(MEASURED_SIZES, 0.3))
    monkeypatch.setattr(pair_costs, "few_passes_ms", lambda _sequence, sizes, *_, **__: dict.fromkeys(sizes, 0.3))
    costs._is_checked = False
    costs.measure()
    fill(target.sequence, 1200)
    costs.observe_passes(1, [0.3])
    assert curve(costs).cost_ms(8) == pytest.approx(0.3, rel=0.1)


def test_another_model_of_this_machine_gives_the_shape(
    target: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    PairCosts(target, None, REQUEST, CostStore(tmp_path)).measure()
    monkeypatch.setattr(pair_costs, "measure_passes", lambda *_: {1: 330.0})
    other = PairCosts(target, None, LoadRequest(str(builtin_target()), threads=None), CostStore(tmp_path))
    other.prepare(paced=True)
    assert curve(other).points_ms[16] == pytest.approx(330.0 * 2.6 / 1.1, rel=0.01)


def test_a_disturbed_measurement_is_used_now_but_not_stored(
    target: LoadedModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ForeignCpuLoad, "is_low", False)
    first = PairCosts(target, None, REQUEST, CostStore(tmp_path))
    first.measure()
    assert curve(first).cost_ms(8) == pytest.approx(1.8)
    assert first.needs_measuring
    second = PairCosts(target, None, REQUEST, CostStore(tmp_path))
    second.prepare(paced=False)
    assert second.pacer is None
