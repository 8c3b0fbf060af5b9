"""Forecasts the speed of a target and a draft before they are loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

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
# Smaller models mostly fit the processor's caches, so their passes say little about larger models.
MIN_BYTES = 60_000_000
# Cost of a pass by its number of tokens, relative to a plain pass, if no curve was measured on this machine. The values
# lie between those of the processors in docs/benchmarks/builtin-pair.md, with the kernels that the set-up builds.
DEFAULT_SHAPE = {1: 1.0, 2: 1.5, 4: 1.5, 8: 2.2, 16: 3.9, 33: 8.2}
# A plain pass reads weights faster than NumPy reads memory by this factor: the kernels prefetch, NumPy does not.
READ_SPEEDUP = 1.15
# Mean time of an answer's token relative to the fastest pass, because of sampling, a growing cache, and changes of the
# processor's speed: 1.1 to 1.4 on two cores, for SmolLM2 135M, Gemma 3 270M and Qwen2.5-Coder 1.5B.
ANSWER_OVERHEAD = 1.2
_BAND = 1.26  # a range reaches from its middle divided by this to its middle times this; 1.26 * 1.26 = 1.6
_SMALL_BAND = 1.25  # the same factor for a measured model, or one similar to a measured model
_SIMILAR_FACTOR = 1.6  # similar models differ in bytes by at most this factor
MAX_RANGE = 1.6  # largest ratio of a range's ends: a wider range does not help the user
# Share of an answer's tokens that suffix matching proposes: (little, much) repetition in the prompt, at temperature 0
# and 0.8. Measured in `auto` without a draft, with two models on two processors (docs/benchmarks/real-models.md).
TEXT_SHARES = ((0.25, 0.55), (0.12, 0.40))
# Shares for models without a chat template, which continue a text: greedy decoding makes them repeat themselves
# (Holtzman et al. 2019, https://arxiv.org/abs/1904.09751). For Gemma 3 270M suffix matching proposed 75% and more.
CONTINUED_SHARES = ((0.50, 0.85), (0.12, 0.40))
CONTINUED_ACCEPTANCE = 0.92
TEXT_ACCEPTANCE = 0.82  # acceptance of a token that suffix matching proposes
# Acceptance of a drafted token: (lowest, highest) at temperature 0, and at 0.8.
DRAFT_ACCEPTANCE = {
    "distilled": ((0.94, 0.99), (0.92, 0.985)),  # docs/benchmarks/builtin-pair.md
    "family": ((0.66, 0.84), (0.60, 0.80)),  # same maker and training: Qwen2.5-Coder 1.5B with its 0.5B
    "other": ((0.45, 0.70), (0.40, 0.65)),  # only the vocabulary is the same
    "tiny": ((0.05, 0.25), (0.05, 0.22)),  # the built-in draft for SmolLM2 135M: 6 to 23%
    # Published, not measured here: 0.85 to 0.9 for the second token of DeepSeek-V3's head (arXiv 2412.19437); for
    # EAGLE-3 of Llama 3.1 8B 2.77 to 3.49 tokens per pass at depth 7 and T = 1, equivalent to 0.64 to 0.73 per token
    # (https://huggingface.co/nebius/EAGLE3-Llama-3.3-70B-Instruct); heads with little training reach less.
    "head": ((0.55, 0.85), (0.50, 0.80)),
}
_USUAL_TEMPERATURE = 0.8
DEPTHS = (1, 3, 7, 15, MAX_PASS - 1)
HEAD_DEPTHS = (1, 2, 3)  # published depths of heads; acceptance falls with each drafted token
WORK_MS = 0.12  # Python's share of a pass with proposals
_ERROR = 1.1  # error factor of the forecast itself, applied to both ends
_NO_GAIN = 1.01  # a smaller speedup counts as no gain
_MAX_TIME = 0.97  # largest time relative to plain decoding that counts as a gain
_BLOCK_BYTES = 64 << 20  # per thread: larger than a thread's share of the processor's cache
_BUDGET_S = 0.3
_BUILTIN = "paceline-tiny"
TINY_PARAMS, TINY_SHARE = 30_000_000, 50  # most parameters of a tiny draft; its target has at least 50 times as many


class Basis(StrEnum):
    """The measurements that a forecast uses, best first."""

    MODEL = "model"  # passes of this model
    OTHERS = "others"  # passes of other models
    MEMORY = "memory"  # the speed of the memory


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """Measurements of this machine. ``read_bytes_per_s`` is the speed of the memory, None if not measured."""

    samples: Sequence[PassSample] = ()
    read_bytes_per_s: float | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model in a placement. ``has_template`` is False for a model without a chat template, which continues texts.

    ``block_size`` is the number of tokens that a head drafts in one pass.
    """

    weights: TokenWeights
    threads: int
    on_gpu: bool = False
    cache_type: str = "f16"
    name: str = ""
    size_bytes: int = 0
    has_template: bool = True
    block_size: int = 1


@dataclass(frozen=True, slots=True)
class PassForecast:
    """A plain pass takes ``plain_ms`` within a factor of ``band``; ``curve`` gives the cost of larger passes."""

    plain_ms: float
    band: float
    curve: CostCurve = field(compare=False)
    basis: Basis = Basis.MEMORY
    measured_with: str = ""  # the measured model that is most similar

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Lowest and highest speed of plain decoding."""
        token_ms = self.plain_ms * ANSWER_OVERHEAD
        return 1000.0 / (token_ms * self.band), 1000.0 * self.band / token_ms


def forecast_pass(machine: MachineSpeed, asked: PlacedModel) -> PassForecast | None:
    """Forecast the cost of passes; None if no measurement applies."""
    own = [each for each in machine.samples if _is_same(each, asked) and 1 in each.points_ms]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        scale = _threads_scale(best.threads, asked.threads)
        points = {n: ms * scale for n, ms in best.points_ms.items()}
        return PassForecast(points[1], _SMALL_BAND, CostCurve(points), Basis.MODEL, best.name)
    others = [each for each in machine.samples if _is_comparable(each, asked)]
    if others:
        return _from_others(others, asked)
    if machine.read_bytes_per_s is None or asked.on_gpu:
        return None
    speed = machine.read_bytes_per_s * READ_SPEEDUP / _threads_scale(machine.threads, asked.threads)
    plain_ms = asked.weights.cost_bytes / speed * 1000.0 + asked.weights.num_layers * LAYER_MS
    return PassForecast(plain_ms, _BAND, _scaled(DEFAULT_SHAPE, plain_ms), Basis.MEMORY)


def forecast_step(machine: MachineSpeed, asked: PlacedModel) -> float | None:
    """Forecast the milliseconds per drafted token; None if no measurement applies."""
    own = [each for each in machine.samples if _is_same(each, asked) and each.step_ms is not None]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        return (best.step_ms or 0.0) * _threads_scale(best.threads, asked.threads)
    forecast = forecast_pass(machine, asked)
    return forecast.plain_ms if forecast is not None else None


def _from_others(samples: Sequence[PassSample], asked: PlacedModel) -> PassForecast:
    """Scale measured passes of other models by the bytes of weights, preferring the most similar models."""
    nearest = sorted(samples, key=lambda each: _distance(each, asked))
    rates = [one.plain_ms / _rough_ms(one.weights) * _threads_scale(one.threads, asked.threads) for one in nearest[:3]]
    # The rate of the most similar model, or the median of three, in case one is an outlier.
    rate = rates[0] if len(rates) < 3 else median(rates)
    plain_ms = rate * _rough_ms(asked.weights)
    best = nearest[0]
    alike = 1.0 / _SIMILAR_FACTOR <= best.weights.num_bytes / max(asked.weights.num_bytes, 1) <= _SIMILAR_FACTOR
    band = _SMALL_BAND if alike and best.threads == asked.threads else _BAND
    curves = [each for each in nearest if max(each.points_ms, default=0) >= 8]
    shape = {n: ms / curves[0].points_ms[1] for n, ms in curves[0].points_ms.items()} if curves else DEFAULT_SHAPE
    return PassForecast(plain_ms, band, _scaled(shape, plain_ms), Basis.OTHERS, best.name)


def _rough_ms(weights: TokenWeights) -> float:
    """Relative cost of a plain pass: its milliseconds if memory delivered 25 GB/s."""
    return weights.cost_bytes / 25e6 + weights.num_layers * LAYER_MS


def _scaled(shape: dict[int, float], plain_ms: float) -> CostCurve:
    return CostCurve({n: cost * plain_ms for n, cost in shape.items()})


def _is_same(sample: PassSample, asked: PlacedModel) -> bool:
    return sample.name == asked.name and sample.size_bytes == asked.size_bytes and sample.on_gpu == asked.on_gpu


def _is_comparable(sample: PassSample, asked: PlacedModel) -> bool:
    """True if the sample applies. A small model fits the processor's caches, so it says nothing about larger ones."""
    if sample.on_gpu != asked.on_gpu:
        return False
    return sample.weights.num_bytes >= MIN_BYTES or asked.weights.num_bytes < MIN_BYTES


def _distance(sample: PassSample, asked: PlacedModel) -> tuple[float, ...]:
    """Sort key for similarity: threads, then the ratio of sizes, then the type of the cache."""
    sizes = sorted((sample.weights.num_bytes, max(asked.weights.num_bytes, 1)))
    return (
        abs(sample.threads - asked.threads),
        not sample.points_ms,
        sizes[1] / sizes[0],
        sample.cache_type != asked.cache_type,
    )


def _threads_scale(measured: int, wanted: int) -> float:
    """Factor on the time with another number of threads. They share the memory: twice as many are 1.8 times as fast."""
    return float((measured / wanted) ** 0.85) if measured > 0 and wanted > 0 else 1.0


# The gain of drafting is a range, computed from the cost of passes and the usual acceptance of such a pair.
#
# An answer is modelled as a mixture: suffix matching proposes the share of its tokens that repeats the conversation;
# the draft model proposes the others if that pays off; the rest is decoded plain, as in `Mode.AUTO`. The curve gives
# the cost of passes, so a pair gains little if a pass of four tokens costs three plain passes, and much if it costs
# one.


class PairKind(StrEnum):
    """How similar a draft is to its target."""

    DISTILLED = "distilled"  # the draft was trained on the target's own answers
    FAMILY = "family"  # models of one family
    OTHER = "other"
    TINY = "tiny"  # a draft that predicts few of the target's tokens
    HEAD = "head"  # a head that reads the target's hidden rows


def forecast_gain(  # noqa: PLR0913  (independent inputs)
    curve: CostCurve,
    step_ms: float | None = None,
    kind: PairKind = PairKind.FAMILY,
    temperature: float = 0.8,
    coverage: float = 1.0,
    *,
    has_template: bool = True,
    block_size: int = 1,
) -> GainForecast:
    """Forecast the gain for usual answers. ``step_ms``: cost of a drafted token or block; None without a draft.

    ``coverage``: the share of the target's tokens that a draft with another vocabulary can propose. ``has_template`` is
    False for a target without a chat template, which continues texts.
    """
    plain_ms = curve.cost_ms(1)
    shares = _at_temperature(TEXT_SHARES if has_template else CONTINUED_SHARES, temperature)
    chances = tuple(chance * coverage for chance in _at_temperature(DRAFT_ACCEPTANCE[kind.value], temperature))
    # At a higher temperature the model stops repeating itself, and proposals are accepted as in an answer.
    repeats = not has_template and temperature < _USUAL_TEMPERATURE / 2
    text = min(_text_time(curve, CONTINUED_ACCEPTANCE if repeats else TEXT_ACCEPTANCE), 1.0)
    depths: Sequence[int] = HEAD_DEPTHS if kind is PairKind.HEAD else DEPTHS
    if block_size > 1:
        depths = [depth for depth in DEPTHS if depth <= block_size] or [1]
    drafted = [1.0 if step_ms is None else _draft_time(curve, step_ms, each, depths, block_size) for each in chances]
    ends = [1.0 / _time_of_token(text, share, each) for share, each in zip(shares, drafted, strict=True)]
    low, high = limit_range(max(ends[0] / _ERROR, 1.0), max(ends[1], 1.0) * (_ERROR if ends[1] > _NO_GAIN else 1.0))
    four = curve.cost_ms(4) / plain_ms
    if step_ms is None:
        return GainForecast(low, high, cost_of_four=four)
    pays = _draft_time(curve, step_ms, chances[1], depths, block_size) < _MAX_TIME
    return GainForecast(low, high, step_ms / plain_ms, pays, four)


def limit_range(low: float, high: float) -> tuple[float, float]:
    """Limit the range to a ratio of `MAX_RANGE` around its middle, and to values of at least 1 (plain decoding)."""
    if high <= MAX_RANGE * low:
        return low, high
    middle = sqrt(low * high)
    low = max(middle / sqrt(MAX_RANGE), 1.0)
    return low, low * MAX_RANGE


def _time_of_token(text: float, text_share: float, drafted: float) -> float:
    """Mean time of a token, relative to a plain pass; ``text`` and ``drafted`` are the times of the two drafters."""
    other = min(drafted, 1.0)
    return text_share * min(text, other) + (1.0 - text_share) * other


def _text_time(curve: CostCurve, chance: float) -> float:
    plain_ms = curve.cost_ms(1)
    return min((curve.cost_ms(k + 1) + WORK_MS) / plain_ms / _expected(chance, k) for k in DEPTHS)


def _draft_time(curve: CostCurve, step_ms: float, chance: float, depths: Sequence[int], block_size: int) -> float:
    plain_ms, of_block = curve.cost_ms(1), block_size > 1
    drafting_ms = {k: step_ms * (1 if of_block else k) + WORK_MS for k in depths}
    return min((curve.cost_ms(k + 1) + drafting_ms[k]) / plain_ms / _expected(chance, k) for k in depths)


def _expected(chance: float, depth: int) -> float:
    """Expected tokens of a pass with ``depth`` proposed ones: accepted ones and one more (Leviathan et al. 2022)."""
    return (1.0 - chance ** (depth + 1)) / (1.0 - chance) if chance < 1.0 else depth + 1.0


def _at_temperature(ends: tuple[tuple[float, float], tuple[float, float]], temperature: float) -> tuple[float, float]:
    """Interpolate both ends at a temperature; neither falls below half of its value at temperature 0."""
    share = min(max(temperature, 0.0) / _USUAL_TEMPERATURE, 1.5)
    low, high = (cold + (warm - cold) * share for cold, warm in zip(*ends, strict=True))
    least = [min(cold / 2, warm) for cold, warm in zip(*ends, strict=True)]
    return max(low, least[0]), max(high, least[1])


def measure_read_speed(threads: int, budget_s: float = _BUDGET_S, clock: Callable[[], float] = perf_counter) -> float:
    """Bytes per second that ``threads`` threads read together: the best of at least two runs within ``budget_s``.

    NumPy releases the GIL while it reads.

    Raises:
        MemoryError: the blocks do not fit in memory.
    """
    blocks = [np.ones(_BLOCK_BYTES // 8) for _ in range(threads)]
    ends, best, tries = clock() + budget_s, 0.0, 0
    while tries < 2 or clock() < ends:
        best = max(best, _BLOCK_BYTES * threads / _read_s(blocks, clock))
        tries += 1
    return best


def _read_s(blocks: list[NDArray[np.float64]], clock: Callable[[], float]) -> float:
    readers = [threading.Thread(target=np.max, args=(block,), name="read speed") for block in blocks]
    started = clock()
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    return max(clock() - started, 1e-9)


@dataclass(frozen=True, slots=True)
class Forecast:
    """``plain``: the target alone. ``gain``: ``auto`` with this draft, if any. ``ngram_gain``: without a draft."""

    plain: PassForecast
    gain: GainForecast
    ngram_gain: GainForecast


def forecast(
    machine: MachineSpeed,
    target: PlacedModel,
    draft: PlacedModel | None,
    kind: PairKind,
    temperature: float,
    coverage: float = 1.0,
) -> Forecast | None:
    """Forecast the speed of a pair; None if no measurement applies."""
    plain = forecast_pass(machine, target)
    step_ms = forecast_step(machine, draft) if draft is not None else None
    if plain is None or (draft is not None and step_ms is None):
        return None
    alone = gain = forecast_gain(plain.curve, None, kind, temperature, has_template=target.has_template)
    if draft is not None and step_ms is not None:
        if draft.block_size > 1:  # a pass of the head has ``block_size`` tokens
            step_ms *= plain.curve.cost_ms(draft.block_size + 1) / plain.curve.cost_ms(1)
        facts = (plain.curve, step_ms, kind, temperature, coverage)
        gain = forecast_gain(*facts, has_template=target.has_template, block_size=draft.block_size)
    return Forecast(plain, gain, alone)


def pair_kind(target: GgufHeader, draft: GgufHeader) -> PairKind:
    """Classify a pair by the model families in the headers; a head file gives `PairKind.HEAD`."""
    if head_method(draft):
        return PairKind.HEAD
    first, second = (_family(header) for header in (target, draft))
    if first == second == _BUILTIN:
        return PairKind.DISTILLED
    if first and first == second:
        return PairKind.FAMILY
    is_tiny = draft.num_params < TINY_PARAMS and target.num_params > TINY_SHARE * draft.num_params
    return PairKind.TINY if is_tiny else PairKind.OTHER


def _family(header: GgufHeader) -> str:
    """The family of a model: its base name, or an architecture that few families share."""
    name = header.metadata.get("general.basename")
    if isinstance(name, str) and name.strip():
        return name.strip().lower()
    return "" if header.architecture == "llama" else header.architecture
