"""Tests the predicted time of a pass: own measurements first, then those of others, then memory bandwidth."""

import pytest

from engine.forecast import ANSWER_OVERHEAD, PlacedModel, forecast_pass, forecast_step
from engine.gguf.token_weights import TokenWeights
from engine.storage.pass_samples import PassSample

SHAPE = {1: 1.0, 2: 1.5, 4: 1.2, 8: 1.6, 16: 3.0}
MB = 10**6


def weights(megabytes: int, kind: str = "Q4_K", layers: int = 28) -> TokenWeights:
    return TokenWeights({kind: megabytes * MB}, layers)


def sample(
    name: str, megabytes: int, plain_ms: float, *, threads: int = 2, on_gpu: bool = False, cache: str = "f16"
) -> PassSample:
    points = {n: cost * plain_ms for n, cost in SHAPE.items()}
    return PassSample(name, megabytes * MB, weights(megabytes), threads, on_gpu, cache, points)


def asked(megabytes: int, name: str = "x.gguf", **more: object) -> PlacedModel:
    return PlacedModel(weights(megabytes), 2, name=name, size_bytes=megabytes * MB, **more)  # type: ignore[arg-type]


def test_its_own_passes_count_before_others() -> None:
    found = forecast_pass((sample("x.gguf", 1000, 24.0), sample("y.gguf", 1000, 99.0)), asked(1000), lambda: 40e9)
    assert found is not None
    assert (found.plain_ms, found.basis, found.measured_with) == (24.0, "model", "x.gguf")
    assert found.curve.cost_ms(4) == pytest.approx(24.0 * 1.2)


def test_passes_with_the_same_threads_and_cache_count() -> None:
    samples = (
        sample("x.gguf", 1000, 47.0, threads=1),
        sample("x.gguf", 1000, 24.0),
        sample("x.gguf", 1000, 26.0, cache="q8_0"),
    )
    found = forecast_pass(samples, asked(1000, cache_type="q8_0"))
    assert found is not None
    assert found.plain_ms == 26.0


def test_another_file_of_that_name_is_another_model() -> None:
    found = forecast_pass([sample("x.gguf", 500, 12.0)], asked(1000))
    assert found is not None
    assert found.basis == "others"


def test_a_model_twice_as_large_takes_about_twice_as_long() -> None:
    found = forecast_pass([sample("y.gguf", 1000, 24.0)], asked(2000))
    assert found is not None
    assert found.plain_ms == pytest.approx(48.0, rel=0.1)
    slow, fast = found.tokens_per_second
    assert slow < 1000 / 48 / ANSWER_OVERHEAD < fast
    assert fast / slow <= 1.6
    assert found.curve.cost_ms(8) / found.plain_ms == pytest.approx(1.6)


def test_kinds_that_take_longer_to_unpack_are_slower_a_byte() -> None:
    machine = [sample("y.gguf", 1000, 24.0)]
    slow = forecast_pass(machine, PlacedModel(weights(1000, "Q5_0"), 2))
    assert slow is not None
    assert slow.plain_ms > 1.8 * 24.0


def test_what_lies_in_the_caches_tells_nothing_of_what_does_not() -> None:
    tiny = [sample("tiny.gguf", 5, 0.2)]
    assert forecast_pass(tiny, asked(1000)) is None
    assert forecast_pass(tiny, asked(4)) is not None


def test_a_processor_tells_nothing_of_a_gpu() -> None:
    assert forecast_pass([sample("y.gguf", 1000, 24.0)], asked(1000, on_gpu=True), lambda: 40e9) is None


def test_without_any_model_the_memory_tells() -> None:
    found = forecast_pass((), asked(1000), lambda: 40e9)
    assert found is not None
    assert found.basis == "memory"
    assert 15.0 < found.plain_ms < 40.0


def test_fewer_threads_are_slower_but_share_the_memory() -> None:
    found = forecast_pass(
        [sample("x.gguf", 1000, 24.0)],
        PlacedModel(weights(1000), 1, name="x.gguf", size_bytes=1000 * MB),
    )
    assert found is not None
    assert 1.5 * 24.0 < found.plain_ms < 2.0 * 24.0


def test_a_drafted_token_is_its_own_measurement() -> None:
    drafted = PassSample("d.gguf", 400 * MB, weights(400), 2, False, "f16", {}, 13.0)
    asked_draft = asked(400, "d.gguf")
    assert forecast_step([drafted], asked_draft) == 13.0
    other = forecast_step([sample("y.gguf", 1000, 24.0)], asked_draft)
    assert other == pytest.approx(10.0, rel=0.3)
    assert forecast_step((), asked_draft) is None
