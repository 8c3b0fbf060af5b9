"""Forecasts the speed of a target and a draft before they are loaded."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from time import perf_counter

import numpy as np

from engine.gguf.head_files import head_method
from engine.gguf.header import GgufHeader
from engine.gguf.token_weights import TokenWeights
from engine.pacing.constants import MAX_PASS
from engine.pacing.cost_curve import CostCurve
from engine.records import GainForecast
from engine.storage.pass_samples import PassSample

# Milliseconds of a layer, without reading its weights: attention, norms and synchronization of threads. Measured on one
# core of Zen 5.
LAYER_MS = 0.1
MIN_BYTES = 60_000_000  # smaller models mostly fit the processor's caches
# Cost of a pass by its number of tokens, relative to a plain pass, if no curve was measured on this machine. The values
# lie between those of the processors in docs/benchmarks/builtin-pair.md, with the kernels that the set-up builds.
DEFAULT_SHAPE = {1: 1.0, 2: 1.5, 4: 1.5, 8: 2.2, 16: 3.9, 33: 8.2}
# A plain pass reads weights faster than NumPy reads memory by this factor: the kernels prefetch, NumPy does not.
READ_SPEEDUP = 1.15
# Mean time of an answer's token relative to the fastest pass, because of sampling, a growing cache, and changes of the
# processor's speed: 1.1 to 1.4 on two cores, for SmolLM2 135M, Gemma 3 270M and Qwen2.5-Coder 1.5B.
ANSWER_OVERHEAD = 1.2
_BAND = 1.26  # a range reaches from its middle divided by this to its middle times this; 1.26 * 1.26 = 1.6
MAX_RANGE = 1.6  # largest ratio of a range's ends: a wider range does not help the user
# Share of an answer's tokens that suffix matching proposes: (little, much) repetition in the prompt, at temperature 0
# and 0.8. Measured in `auto` without a draft, with two models on two processors (docs/benchmarks/real-models.md).
TEXT_SHARES = ((0.25, 0.55), (0.12, 0.40))
TEXT_ACCEPTANCE = 0.82  # acceptance of a token that suffix matching proposes
_USUAL_TEMPERATURE = 0.8
DEPTHS = (1, 3, 7, 15, MAX_PASS - 1)
HEAD_DEPTHS = (1, 2, 3)  # published depths of heads; acceptance falls with each drafted token
WORK_MS = 0.12  # Python's share of a pass with proposals
_ERROR = 1.1  # error factor of the forecast itself, applied to both ends
_MAX_TIME = 0.97  # largest time relative to plain decoding that counts as a gain
_BLOCK_BYTES = 64 << 20  # per thread: larger than a thread's share of the processor's cache
_BUDGET_S = 0.3
_BUILTIN = "paceline-tiny"


class PairKind(StrEnum):
    """How similar a draft is to its target."""

    DISTILLED = "distilled"  # the draft was trained on the target's own answers
    FAMILY = "family"  # models of one family: same maker and training
    OTHER = "other"  # only the vocabulary is the same
    HEAD = "head"  # a head that reads the target's hidden rows


# Acceptance of a drafted token: (lowest, highest) at temperature 0, and at 0.8.
DRAFT_ACCEPTANCE = {
    PairKind.DISTILLED: ((0.94, 0.99), (0.92, 0.985)),  # docs/benchmarks/builtin-pair.md
    PairKind.FAMILY: ((0.66, 0.84), (0.60, 0.80)),  # Qwen2.5-Coder 1.5B with its 0.5B
    PairKind.OTHER: ((0.45, 0.70), (0.40, 0.65)),
    # Published, not measured here: 0.85 to 0.9 for the second token of DeepSeek-V3's head (arXiv 2412.19437); for
    # EAGLE-3 of Llama 3.1 8B 2.77 to 3.49 tokens per pass at depth 7 and T = 1, equivalent to 0.64 to 0.73 per token
    # (https://huggingface.co/nebius/EAGLE3-Llama-3.3-70B-Instruct); heads with little training reach less.
    PairKind.HEAD: ((0.55, 0.85), (0.50, 0.80)),
}


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model in a placement. ``block_size`` is the number of tokens that a head drafts in one pass."""

    weights: TokenWeights
    threads: int
    on_gpu: bool = False
    cache_type: str = "f16"
    name: str = ""
    size_bytes: int = 0
    block_size: int = 1


@dataclass(frozen=True, slots=True)
class PassForecast:
    """Cost of a plain pass, and of larger ones by ``curve``.

    ``basis``: what was measured, best first: passes of this "model", of "others", or the speed of the "memory".
    ``measured_with``: the measured model.
    """

    plain_ms: float
    curve: CostCurve = field(compare=False)
    basis: str
    measured_with: str = ""

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Lowest and highest speed of plain decoding."""
        middle = 1000.0 / (self.plain_ms * ANSWER_OVERHEAD)
        return middle / _BAND, middle * _BAND


def forecast_pass(
    samples: Sequence[PassSample], asked: PlacedModel, memory: Callable[[], float | None] = lambda: None
) -> PassForecast | None:
    """Forecast the cost of passes; None if no measurement applies.

    ``memory`` gives bytes per second that ``asked.threads`` threads read. It is called only if no sample is similar.
    """
    own = [each for each in samples if _is_same(each, asked) and 1 in each.points_ms]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        scale = threads_scale(best.threads, asked.threads)
        points = {n: ms * scale for n, ms in best.points_ms.items()}
        return PassForecast(points[1], CostCurve(points), "model", best.name)
    # Passes of small models say little about larger ones.
    is_small = asked.weights.num_bytes < MIN_BYTES
    others = [
        each for each in samples if each.on_gpu == asked.on_gpu and (is_small or each.weights.num_bytes >= MIN_BYTES)
    ]
    if others:
        others.sort(key=lambda each: _distance(each, asked))
        best = others[0]
        scale = threads_scale(best.threads, asked.threads)
        plain_ms = best.plain_ms * scale * _rough_ms(asked.weights) / _rough_ms(best.weights)
        shape: Mapping[int, float] = next(
            (each.points_ms for each in others if max(each.points_ms, default=0) >= 8), DEFAULT_SHAPE
        )
        return PassForecast(plain_ms, _scaled(shape, plain_ms), "others", best.name)
    speed = None if asked.on_gpu else memory()
    if speed is None:
        return None
    plain_ms = asked.weights.cost_bytes / (speed * READ_SPEEDUP) * 1000.0 + asked.weights.num_layers * LAYER_MS
    return PassForecast(plain_ms, _scaled(DEFAULT_SHAPE, plain_ms), "memory")


def forecast_step(
    samples: Sequence[PassSample], asked: PlacedModel, memory: Callable[[], float | None] = lambda: None
) -> float | None:
    """Forecast the milliseconds per drafted token; None if no measurement applies."""
    own = [each for each in samples if _is_same(each, asked) and each.step_ms is not None]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        return (best.step_ms or 0.0) * threads_scale(best.threads, asked.threads)
    found = forecast_pass(samples, asked, memory)
    return found.plain_ms if found is not None else None


def _rough_ms(weights: TokenWeights) -> float:
    """Relative cost of a plain pass: its milliseconds if memory delivered 25 GB/s."""
    return weights.cost_bytes / 25e6 + weights.num_layers * LAYER_MS


def _scaled(points: Mapping[int, float], plain_ms: float) -> CostCurve:
    return CostCurve({n: cost / points[1] * plain_ms for n, cost in points.items()})


def _is_same(sample: PassSample, asked: PlacedModel) -> bool:
    return sample.name == asked.name and sample.size_bytes == asked.size_bytes and sample.on_gpu == asked.on_gpu


def _distance(sample: PassSample, asked: PlacedModel) -> tuple[float, ...]:
    """Sort key for similarity: threads, then the ratio of sizes, then the type of the cache."""
    sizes = sorted((sample.weights.num_bytes, max(asked.weights.num_bytes, 1)))
    return (
        abs(sample.threads - asked.threads),
        not sample.points_ms,
        sizes[1] / sizes[0],
        sample.cache_type != asked.cache_type,
    )


def threads_scale(measured: int, wanted: int) -> float:
    """Factor on the time with another number of threads. They share the memory: twice as many are 1.8 times as fast."""
    return float((measured / wanted) ** 0.85)


# The gain of drafting is a range, computed from the cost of passes and the usual acceptance of such a pair.
#
# An answer is modelled as a mixture: suffix matching proposes the share of its tokens that repeats the conversation;
# the draft model proposes the others if that pays off; the rest is decoded plain, as in `Mode.AUTO`. The curve gives
# the cost of passes, so a pair gains little if a pass of four tokens costs three plain passes, and much if it costs
# one.


def forecast_gain(
    curve: CostCurve,
    step_ms: float | None = None,
    kind: PairKind = PairKind.FAMILY,
    temperature: float = 0.8,
    coverage: float = 1.0,
    block_size: int = 1,
) -> GainForecast:
    """Forecast the gain for usual answers. ``step_ms``: cost of a drafted token or block; None without a draft.

    ``coverage``: the share of the target's tokens that a draft with another vocabulary can propose.
    """
    plain_ms, is_block = curve.cost_ms(1), block_size > 1
    four, warmth = curve.cost_ms(4) / plain_ms, min(max(temperature, 0.0) / _USUAL_TEMPERATURE, 1.0)

    def token_time(chance: float, depths: Sequence[int], pass_ms: float, token_ms: float = 0.0) -> float:
        """Time of a token, relative to a plain pass, at the best depth."""
        return min((curve.cost_ms(k + 1) + WORK_MS + pass_ms + k * token_ms) / _expected(chance, k) for k in depths)

    def at_temperature(ends: tuple[tuple[float, float], tuple[float, float]]) -> list[float]:
        return [cold + (warm - cold) * warmth for cold, warm in zip(*ends, strict=True)]

    text, drafted = min(token_time(TEXT_ACCEPTANCE, DEPTHS, 0.0) / plain_ms, 1.0), [1.0, 1.0]
    if step_ms is not None:
        depths: Sequence[int] = HEAD_DEPTHS if kind is PairKind.HEAD else DEPTHS
        if is_block:
            depths = [depth for depth in DEPTHS if depth <= block_size] or [1]
        costs = (step_ms, 0.0) if is_block else (0.0, step_ms)
        chances = [chance * coverage for chance in at_temperature(DRAFT_ACCEPTANCE[kind])]
        drafted = [token_time(chance, depths, *costs) / plain_ms for chance in chances]
    low, high = (
        1.0 / (share * min(text, other, 1.0) + (1.0 - share) * min(other, 1.0))
        for share, other in zip(at_temperature(TEXT_SHARES), drafted, strict=True)
    )
    low, high = max(low / _ERROR, 1.0), high * _ERROR if high > 1.0 else 1.0
    if high > MAX_RANGE * low:
        low = max(sqrt(low * high / MAX_RANGE), 1.0)
        high = low * MAX_RANGE
    if step_ms is None:
        return GainForecast(low, high, cost_of_four=four)
    return GainForecast(low, high, step_ms / plain_ms, drafted[1] < _MAX_TIME, four)


def _expected(chance: float, depth: int) -> float:
    """Expected tokens of a pass with ``depth`` proposed ones: accepted ones and one more (Leviathan et al. 2022)."""
    return (1.0 - chance ** (depth + 1)) / (1.0 - chance) if chance < 1.0 else depth + 1.0


def measure_read_speed(threads: int) -> float:
    """Bytes per second that ``threads`` threads read together: the best of at least two runs within 0.3 seconds.

    NumPy releases the GIL while it reads.

    Raises:
        MemoryError: the blocks do not fit in memory.
    """
    blocks = [np.ones(_BLOCK_BYTES // 8) for _ in range(threads)]
    ends, times_s = perf_counter() + _BUDGET_S, list[float]()
    while len(times_s) < 2 or perf_counter() < ends:
        readers = [threading.Thread(target=np.max, args=(block,), name="read speed") for block in blocks]
        started = perf_counter()
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        times_s.append(perf_counter() - started)
    return _BLOCK_BYTES * threads / max(min(times_s), 1e-9)


def pair_kind(target: GgufHeader, draft: GgufHeader) -> PairKind:
    """Classify a pair by the model families in the headers; a head file gives `PairKind.HEAD`."""
    if head_method(draft):
        return PairKind.HEAD
    first, second = (_family(header) for header in (target, draft))
    if first == second == _BUILTIN:
        return PairKind.DISTILLED
    return PairKind.FAMILY if first and first == second else PairKind.OTHER


def _family(header: GgufHeader) -> str:
    """The family of a model: its base name, or an architecture that few families share."""
    name = header.metadata.get("general.basename")
    if isinstance(name, str) and name.strip():
        return name.strip().lower()
    return "" if header.architecture == "llama" else header.architecture
