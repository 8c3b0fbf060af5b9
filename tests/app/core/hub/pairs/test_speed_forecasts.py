"""Tests a pair's speed forecast from headers and local measurements; memory bandwidth is measured once."""

from pathlib import Path

import pytest

from app.core.domain.speed.pair_speed import RaceSpeed
from app.core.hub.pairs import speed_forecasts
from app.core.hub.pairs.catalog import CatalogModel
from app.core.hub.pairs.speed_forecasts import Conditions, SpeedForecasts
from app.core.hub.remote_header import read_local_header
from app.core.paths import builtin_draft, builtin_target
from app.core.storage.pair_speeds import PairSpeeds
from engine.gguf.model_parts import size_of_files
from engine.gguf.token_weights import TokenWeights
from engine.storage.pass_samples import PassSample, SampleStore, weights_of_file

SEVEN_B = CatalogModel("Qwen/Qwen2.5-7B", "7b.gguf", "Q4_K_M", "", 4_680_000_000)
HALF_B = CatalogModel("Qwen/Qwen2.5-0.5B", "0.5b.gguf", "Q8_0", "", 530_000_000)


def keep_passes(cache: Path, path: Path, plain_ms: float) -> None:
    weights = weights_of_file(path)
    assert weights is not None
    points = {1: plain_ms, 2: 1.4 * plain_ms, 4: 1.3 * plain_ms, 8: 2.1 * plain_ms, 16: 4.1 * plain_ms}
    SampleStore(cache).add(PassSample(path.name, size_of_files(path), weights, 2, False, "f16", points))


def test_a_pair_whose_passes_are_known(tmp_path: Path) -> None:
    keep_passes(tmp_path, builtin_target(), 4.0)
    keep_passes(tmp_path, builtin_draft(), 0.2)
    known = read_local_header(builtin_target()), read_local_header(builtin_draft())
    found = SpeedForecasts(tmp_path).of_pair(*known, Conditions(threads=2, draft_threads=2))
    assert found is not None
    assert found.basis == "model"
    assert found.plain.low < 210.0 < found.plain.high < 270.0  # a token of an answer takes longer than a pass
    assert 1.5 < found.gain.low <= found.gain.high < 4.0
    assert found.gain.draft_cost == pytest.approx(0.05)
    assert found.measured is None


def test_a_race_is_reported_in_place_of_the_range(tmp_path: Path) -> None:
    keep_passes(tmp_path, builtin_target(), 4.0)
    keep_passes(tmp_path, builtin_draft(), 0.2)
    speeds = PairSpeeds(tmp_path / "speeds.json")
    race = RaceSpeed(1.0, "auto", 0.0, 2.9, 2.8, 3.0, 3)
    speeds.add_race(builtin_target().stem, builtin_draft().stem, race)
    known = read_local_header(builtin_target()), read_local_header(builtin_draft())
    found = SpeedForecasts(tmp_path, speeds).of_pair(*known, Conditions())
    assert found is not None
    assert found.headline == "Measured here: 2.90× the speed without drafting, in a race (2.80–3.00)."


def test_where_nothing_was_measured_the_memory_is_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(speed_forecasts.ForeignCpuLoad, "is_low", True)
    monkeypatch.setattr(speed_forecasts, "measure_read_speed", lambda threads: asked.append(threads) or 40e9)
    for _start in range(2):
        source = SpeedForecasts(tmp_path)
        for _question in range(2):
            found = source.of_list(SEVEN_B, HALF_B, Conditions())
            assert found is not None
            assert 4.0 < found.plain.low < found.plain.high < 16.0
            assert found.plain.high <= 1.6 * found.plain.low
            assert 1.0 <= found.gain.low < found.gain.high <= 1.6001 * found.gain.low
            assert found.gain.draft_cost == pytest.approx(0.12, abs=0.03)
    assert len(asked) == 1


def test_what_was_measured_beside_other_programs_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_forecasts, "measure_read_speed", lambda _threads: 10e9)
    monkeypatch.setattr(speed_forecasts.ForeignCpuLoad, "is_low", False)
    assert SpeedForecasts(tmp_path).of_list(SEVEN_B, None, Conditions()) is not None
    assert not (tmp_path / "read-speed.json").exists()


def test_a_measured_model_is_better_than_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed_forecasts, "measure_read_speed", lambda _threads: pytest.fail("measured for nothing"))
    monkeypatch.setattr(speed_forecasts, "physical_cores", lambda: 2)
    padded = TokenWeights({"Q4_0": 223_000_000, "Q8_0": 3_000_000}, 6)
    SampleStore(tmp_path).add(PassSample("padded.gguf", 226_000_000, padded, 2, False, "f16", {1: 7.0, 8: 14.0}))
    found = SpeedForecasts(tmp_path).of_list(SEVEN_B, None, Conditions(threads=2))
    assert found is not None
    assert found.plain.middle == pytest.approx(1000.0 / (7.0 * 4680 / 226), rel=0.35)


def test_a_tiny_model_alone_says_nothing_and_has_no_range(tmp_path: Path) -> None:
    known = read_local_header(builtin_target())
    assert SpeedForecasts(tmp_path).of_pair(known, None, Conditions()) is None


def test_no_memory_for_a_measurement_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_threads: int) -> float:
        raise MemoryError

    monkeypatch.setattr(speed_forecasts, "measure_read_speed", full)
    assert SpeedForecasts(tmp_path).of_list(SEVEN_B, None, Conditions()) is None
