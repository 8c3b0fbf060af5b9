"""What a pass of a model will take here: its own measured passes, or those of others, or the speed of the memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from engine.gguf.token_weights import TokenWeights
from engine.pacing.cost_curve import CostCurve
from engine.storage.pass_samples import PassSample

# Milliseconds of a layer beside its weights (attention, norms, threads that wait for each other), on one core of Zen 5.
LAYER_MS = 0.1
# Of models below it the caches hold much, so that their passes tell little of larger ones.
LEAST_BYTES = 60_000_000
# Passes of several tokens, in plain ones, where no curve was measured here: between the processors of
# docs/benchmarks/builtin-pair.md, whose kernels the set-up builds.
USUAL_SHAPE = {1: 1.0, 2: 1.5, 4: 1.5, 8: 2.2, 16: 3.9, 33: 8.2}
# Bytes of weights that a plain pass reads a second, beside what NumPy reads: the kernels fetch ahead, NumPy does not.
READ_SHARE = 1.15
# Times the least pass that a token of an answer takes: it is drawn, the cache grows, and no machine is always at its
# best. 1.1 to 1.4 on two cores, of SmolLM2 135M, Gemma 3 270M and Qwen2.5-Coder 1.5B.
ANSWERING = 1.2
_BAND = 1.26  # from the middle of a range to either end: 1.26 * 1.26 is 1.6
_SMALL_BAND = 1.25  # of a model that was measured, or is alike to one that was
_ALIKE = 1.6  # times the bytes


class Basis(StrEnum):
    """What a forecast rests on, from the best to the least."""

    MODEL = "model"  # its own passes
    OTHERS = "others"  # passes of other models
    MEMORY = "memory"  # the speed of the memory


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """What was measured here. ``read_bytes_per_s`` is that of the memory, None where it was not."""

    samples: Sequence[PassSample] = ()
    read_bytes_per_s: float | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model in a placement: what its passes are wanted for. Without a chat template it ``answers`` nothing."""

    weights: TokenWeights
    threads: int
    on_gpu: bool = False
    cache_type: str = "f16"
    name: str = ""
    size_bytes: int = 0
    answers: bool = True


@dataclass(frozen=True, slots=True)
class PassForecast:
    """A plain pass takes about ``plain_ms``, off by at most ``band`` times; larger ones follow ``curve``."""

    plain_ms: float
    band: float
    curve: CostCurve = field(compare=False)
    basis: Basis = Basis.MEMORY
    measured_with: str = ""  # the model whose passes were the nearest

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """From the least to the most, by plain decoding."""
        token_ms = self.plain_ms * ANSWERING
        return 1000.0 / (token_ms * self.band), 1000.0 * self.band / token_ms


def forecast_pass(machine: MachineSpeed, asked: PlacedModel) -> PassForecast | None:
    """What passes will take; None where nothing was measured that could tell."""
    own = [each for each in machine.samples if _is_same(each, asked) and 1 in each.points_ms]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        scale = _threads_scale(best.threads, asked.threads)
        points = {n: ms * scale for n, ms in best.points_ms.items()}
        return PassForecast(points[1], _SMALL_BAND, CostCurve(points), Basis.MODEL, best.name)
    others = [each for each in machine.samples if _is_comparable(each, asked)]
    if others:
        return _by_others(others, asked)
    if machine.read_bytes_per_s is None or asked.on_gpu:
        return None
    speed = machine.read_bytes_per_s * READ_SHARE / _threads_scale(machine.threads, asked.threads)
    plain_ms = asked.weights.cost_bytes / speed * 1000.0 + asked.weights.num_layers * LAYER_MS
    return PassForecast(plain_ms, _BAND, _scaled(USUAL_SHAPE, plain_ms), Basis.MEMORY)


def forecast_step(machine: MachineSpeed, asked: PlacedModel) -> float | None:
    """Milliseconds of a token that this model drafts; None where nothing was measured that could tell."""
    own = [each for each in machine.samples if _is_same(each, asked) and each.step_ms is not None]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        return (best.step_ms or 0.0) * _threads_scale(best.threads, asked.threads)
    forecast = forecast_pass(machine, asked)
    return forecast.plain_ms if forecast is not None else None


def _by_others(samples: Sequence[PassSample], asked: PlacedModel) -> PassForecast:
    """By how far off the models of this placement are from what their weights would take, the nearest counting most."""
    nearest = sorted(samples, key=lambda each: _distance(each, asked))
    rates = [_ms_per_unit(each) * _threads_scale(each.threads, asked.threads) for each in nearest[:3]]
    # The nearest, or the middle of the three nearest where one is far off.
    rate = rates[0] if len(rates) < 3 else median(rates)
    plain_ms = rate * _units(asked.weights)
    best = nearest[0]
    alike = 1.0 / _ALIKE <= best.weights.num_bytes / max(asked.weights.num_bytes, 1) <= _ALIKE
    band = _SMALL_BAND if alike and best.threads == asked.threads else _BAND
    curves = [each for each in nearest if max(each.points_ms, default=0) >= 8]
    shape = {n: ms / curves[0].points_ms[1] for n, ms in curves[0].points_ms.items()} if curves else USUAL_SHAPE
    return PassForecast(plain_ms, band, _scaled(shape, plain_ms), Basis.OTHERS, best.name)


def _units(weights: TokenWeights) -> float:
    """Milliseconds of a plain pass where a gigabyte of the cheapest kind takes 40."""
    return weights.cost_bytes / 25e6 + weights.num_layers * LAYER_MS


def _ms_per_unit(sample: PassSample) -> float:
    return sample.plain_ms / _units(sample.weights)


def _scaled(shape: dict[int, float], plain_ms: float) -> CostCurve:
    return CostCurve({n: cost * plain_ms for n, cost in shape.items()})


def _is_same(sample: PassSample, asked: PlacedModel) -> bool:
    return sample.name == asked.name and sample.size_bytes == asked.size_bytes and sample.on_gpu == asked.on_gpu


def _is_comparable(sample: PassSample, asked: PlacedModel) -> bool:
    """A small model lies in the caches: it tells of small ones only."""
    if sample.on_gpu != asked.on_gpu:
        return False
    return sample.weights.num_bytes >= LEAST_BYTES or asked.weights.num_bytes < LEAST_BYTES


def _distance(sample: PassSample, asked: PlacedModel) -> tuple[float, ...]:
    """Threads first, then how far the sizes are apart, then the kind of cache."""
    sizes = sorted((sample.weights.num_bytes, max(asked.weights.num_bytes, 1)))
    return (
        abs(sample.threads - asked.threads),
        not sample.points_ms,
        sizes[1] / sizes[0],
        sample.cache_type != asked.cache_type,
    )


def _threads_scale(measured: int, wanted: int) -> float:
    """Times that passes take with another number of threads: they share one memory, so twice as many gain 1.8."""
    return float((measured / wanted) ** 0.85) if measured > 0 and wanted > 0 else 1.0
