"""Forecasts for a target and a draft before they are loaded, each with its basis."""

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
from engine.storage.pass_samples import PassSample

# Milliseconds of a layer beside its weights (attention, norms, synchronization of threads), on one core of Zen 5.
LAYER_MS = 0.1
# Smaller models are mostly in the caches, so that their passes say little about larger ones.
LEAST_BYTES = 60_000_000
# Passes of several tokens in plain passes, if no curve was measured here: between the processors of
# docs/benchmarks/builtin-pair.md, with the kernels that the set-up builds.
USUAL_SHAPE = {1: 1.0, 2: 1.5, 4: 1.5, 8: 2.2, 16: 3.9, 33: 8.2}
# Bytes of weights per second of a plain pass relative to NumPy's reading: the kernels prefetch, NumPy does not.
READ_SHARE = 1.15
# Time of a token of an answer relative to the fastest pass: sampling, a growing cache, and a machine that is not always
# at its best. 1.1 to 1.4 on two cores, for SmolLM2 135M, Gemma 3 270M and Qwen2.5-Coder 1.5B.
ANSWERING = 1.2
_BAND = 1.26  # from the middle of a range to either end: 1.26 * 1.26 is 1.6
_SMALL_BAND = 1.25  # for a model that was measured, or is similar to one that was
_ALIKE = 1.6  # factor between the bytes of similar models
WIDEST = 1.6  # times its lower end: a wider range does not help the user
# Share of an answer's tokens that are proposed as text, for prompts with little and with much repetition, at
# temperature 0 and 0.8: from `auto` without a draft with two real models on two processors
# (docs/benchmarks/real-models.md).
TEXT_SHARES = ((0.25, 0.55), (0.12, 0.40))
# The same for models without a chat template, which continue a text: greedy decoding makes them repeat themselves
# (Holtzman et al. 2019, https://arxiv.org/abs/1904.09751). For Gemma 3 270M 75% and more was proposed as text.
CONTINUED_SHARES = ((0.50, 0.85), (0.12, 0.40))
CONTINUED_CHANCE = 0.92
TEXT_CHANCE = 0.82  # acceptance of such a token
# Acceptance of a drafted token, at temperature 0 and 0.8.
CHANCES = {
    "distilled": ((0.94, 0.99), (0.92, 0.985)),  # docs/benchmarks/builtin-pair.md
    "family": ((0.66, 0.84), (0.60, 0.80)),  # one maker, one kind of training: Qwen2.5-Coder 1.5B with its 0.5B
    "other": ((0.45, 0.70), (0.40, 0.65)),  # only the vocabulary is the same
    "tiny": ((0.05, 0.25), (0.05, 0.22)),  # the built-in draft for SmolLM2 135M: 6 to 23%
    # Published, not measured here: 0.85 to 0.9 for the second token of DeepSeek-V3's head (arXiv 2412.19437); for
    # EAGLE-3 of Llama 3.1 8B 2.77 to 3.49 tokens per pass at depth 7 and T = 1, equivalent to 0.64 to 0.73 per token
    # (https://huggingface.co/nebius/EAGLE3-Llama-3.3-70B-Instruct); heads with little training reach less.
    "head": ((0.55, 0.85), (0.50, 0.80)),
}
_USUAL_TEMPERATURE = 0.8
DEPTHS = (1, 3, 7, 15, MAX_PASS - 1)
HEAD_DEPTHS = (1, 2, 3)  # published depths of heads; acceptance falls with the distance from the target
WORK_MS = 0.12  # Python's share of a pass with proposals
_UNSURE = 1.1  # factor of the forecast's own error, at either end
_NOTHING = 1.01  # times plain decoding
_PAYS = 0.97  # of plain decoding's time: a smaller saving is not called a gain
# A pass of four tokens in plain passes: below the first the memory is the limit, above the second the arithmetic.
_MEMORY, _ARITHMETIC = 1.6, 2.4
_BLOCK_BYTES = 64 << 20  # per thread: more than its share of any usual cache
_BUDGET_S = 0.3
_BUILTIN = "paceline-tiny"
TINY_PARAMS, TINY_SHARE = 30_000_000, 50  # most of a draft; least ratio to the target's


class Basis(StrEnum):
    """The measurements behind a forecast, from the best to the worst."""

    MODEL = "model"  # its own passes
    OTHERS = "others"  # passes of other models
    MEMORY = "memory"  # the speed of the memory


@dataclass(frozen=True, slots=True)
class MachineSpeed:
    """Measurements of this machine. ``read_bytes_per_s``: speed of the memory; None if not measured."""

    samples: Sequence[PassSample] = ()
    read_bytes_per_s: float | None = None
    threads: int = 1


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model in a placement. ``answers`` is False for a model without a chat template, which continues texts.

    ``block``: tokens that a head drafts in one pass.
    """

    weights: TokenWeights
    threads: int
    on_gpu: bool = False
    cache_type: str = "f16"
    name: str = ""
    size_bytes: int = 0
    answers: bool = True
    block: int = 1


@dataclass(frozen=True, slots=True)
class PassForecast:
    """A plain pass takes ``plain_ms``, within a factor of ``band``; larger ones follow ``curve``."""

    plain_ms: float
    band: float
    curve: CostCurve = field(compare=False)
    basis: Basis = Basis.MEMORY
    measured_with: str = ""  # the model with the most similar measured passes

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Lowest and highest speed of plain decoding."""
        token_ms = self.plain_ms * ANSWERING
        return 1000.0 / (token_ms * self.band), 1000.0 * self.band / token_ms


def forecast_pass(machine: MachineSpeed, asked: PlacedModel) -> PassForecast | None:
    """The cost of passes; None if no measurement applies."""
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
    """Milliseconds of a token that this model drafts; None if no measurement applies."""
    own = [each for each in machine.samples if _is_same(each, asked) and each.step_ms is not None]
    if own:
        best = min(own, key=lambda each: _distance(each, asked))
        return (best.step_ms or 0.0) * _threads_scale(best.threads, asked.threads)
    forecast = forecast_pass(machine, asked)
    return forecast.plain_ms if forecast is not None else None


def _by_others(samples: Sequence[PassSample], asked: PlacedModel) -> PassForecast:
    """From the passes of other models in this placement, relative to their weights; the most similar count most."""
    nearest = sorted(samples, key=lambda each: _distance(each, asked))
    rates = [each.plain_ms / _units(each.weights) * _threads_scale(each.threads, asked.threads) for each in nearest[:3]]
    # The most similar, or the median of three, in case one is an outlier.
    rate = rates[0] if len(rates) < 3 else median(rates)
    plain_ms = rate * _units(asked.weights)
    best = nearest[0]
    alike = 1.0 / _ALIKE <= best.weights.num_bytes / max(asked.weights.num_bytes, 1) <= _ALIKE
    band = _SMALL_BAND if alike and best.threads == asked.threads else _BAND
    curves = [each for each in nearest if max(each.points_ms, default=0) >= 8]
    shape = {n: ms / curves[0].points_ms[1] for n, ms in curves[0].points_ms.items()} if curves else USUAL_SHAPE
    return PassForecast(plain_ms, band, _scaled(shape, plain_ms), Basis.OTHERS, best.name)


def _units(weights: TokenWeights) -> float:
    """Milliseconds of a plain pass at 40 ms per gigabyte of the cheapest kind of weights."""
    return weights.cost_bytes / 25e6 + weights.num_layers * LAYER_MS


def _scaled(shape: dict[int, float], plain_ms: float) -> CostCurve:
    return CostCurve({n: cost * plain_ms for n, cost in shape.items()})


def _is_same(sample: PassSample, asked: PlacedModel) -> bool:
    return sample.name == asked.name and sample.size_bytes == asked.size_bytes and sample.on_gpu == asked.on_gpu


def _is_comparable(sample: PassSample, asked: PlacedModel) -> bool:
    """A small model is in the caches, so it says nothing about larger ones."""
    if sample.on_gpu != asked.on_gpu:
        return False
    return sample.weights.num_bytes >= LEAST_BYTES or asked.weights.num_bytes < LEAST_BYTES


def _distance(sample: PassSample, asked: PlacedModel) -> tuple[float, ...]:
    """Threads first, then the ratio of the sizes, then the type of the cache."""
    sizes = sorted((sample.weights.num_bytes, max(asked.weights.num_bytes, 1)))
    return (
        abs(sample.threads - asked.threads),
        not sample.points_ms,
        sizes[1] / sizes[0],
        sample.cache_type != asked.cache_type,
    )


def _threads_scale(measured: int, wanted: int) -> float:
    """Time with another number of threads: they share one memory, so twice as many gain a factor of 1.8."""
    return float((measured / wanted) ** 0.85) if measured > 0 and wanted > 0 else 1.0


# The gain of drafting: a range, from the cost of passes here and the usual acceptance of such a pair.
#
# An answer is modelled as a mixture: a share of its tokens is in the conversation already and is proposed as text; the
# draft model proposes the others if that pays off; the rest is decoded plain, as in `Mode.AUTO`. The costs of passes
# are those of the curve, so a pair gains little if a pass of four tokens costs three plain passes, and much if it costs
# one.


class PairKind(StrEnum):
    """How similar a draft is to its target."""

    DISTILLED = "distilled"  # the draft was trained on the target's own answers
    FAMILY = "family"  # models of one family
    OTHER = "other"
    TINY = "tiny"  # a draft that predicts few of its target's tokens
    HEAD = "head"  # not a model: reads the target's hidden rows


class Bound(StrEnum):
    """The limit of a pass of several tokens."""

    MEMORY = "memory"
    ARITHMETIC = "arithmetic"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class GainForecast:
    """The speed relative to plain decoding, from ``low`` to ``high``; ``low`` is 1 if there may be no gain.

    ``draft_share``: cost of a drafted token in plain passes; None without a draft. ``draft_pays``: whether the draft
    adds to the gain of text, at the better end. ``break_even_share``: the highest such cost at this acceptance.
    """

    low: float
    high: float
    bound: Bound
    cost_of_four: float
    draft_share: float | None = None
    draft_pays: bool = False
    break_even_share: float | None = None


def forecast_gain(  # noqa: PLR0913  (independent inputs)
    curve: CostCurve,
    step_ms: float | None = None,
    kind: PairKind = PairKind.FAMILY,
    temperature: float = 0.8,
    coverage: float = 1.0,
    *,
    answers: bool = True,
    block: int = 1,
) -> GainForecast:
    """The range for usual answers; ``step_ms``: cost of a drafted token, or of a ``block``; None without a draft.

    ``coverage``: the share of the target's tokens that a draft with another vocabulary can propose. ``answers`` is
    False for a target without a chat template, which continues texts.
    """
    plain_ms = curve.cost_ms(1)
    shares = _range_at(TEXT_SHARES if answers else CONTINUED_SHARES, temperature)
    chances = tuple(chance * coverage for chance in _range_at(CHANCES[kind.value], temperature))
    # If a higher temperature has ended the repetition, text is accepted as in an answer.
    repeats = not answers and temperature < _USUAL_TEMPERATURE / 2
    text = min(_text(curve, CONTINUED_CHANCE if repeats else TEXT_CHANCE), 1.0)
    depths: Sequence[int] = HEAD_DEPTHS if kind is PairKind.HEAD else DEPTHS
    if block > 1:
        depths = [depth for depth in DEPTHS if depth <= block] or [1]
    drafted = [1.0 if step_ms is None else _drafted(curve, step_ms, chance, depths, block) for chance in chances]
    ends = [1.0 / _time_of_token(text, share, each) for share, each in zip(shares, drafted, strict=True)]
    low, high = narrowed(max(ends[0] / _UNSURE, 1.0), max(ends[1], 1.0) * (_UNSURE if ends[1] > _NOTHING else 1.0))
    four = curve.cost_ms(4) / plain_ms
    bound = Bound.MEMORY if four < _MEMORY else Bound.ARITHMETIC if four > _ARITHMETIC else Bound.BOTH
    if step_ms is None:
        return GainForecast(low, high, bound, four)
    pays = _drafted(curve, step_ms, chances[1], depths, block) < _PAYS
    even_ms = _largest(lambda ms: _drafted(curve, ms, sum(chances) / 2, depths, block) < _PAYS, plain_ms)
    return GainForecast(
        low, high, bound, four, step_ms / plain_ms, pays, even_ms / plain_ms if even_ms is not None else None
    )


def narrowed(low: float, high: float) -> tuple[float, float]:
    """The range, or one of `WIDEST` around its middle if it is wider; never below plain decoding."""
    if high <= WIDEST * low:
        return low, high
    middle = sqrt(low * high)
    low = max(middle / sqrt(WIDEST), 1.0)
    return low, low * WIDEST


def _time_of_token(text: float, text_share: float, drafted: float) -> float:
    """Mean time of a token in plain passes: of one that is in the ``text``, and one that is drafted."""
    other = min(drafted, 1.0)
    return text_share * min(text, other) + (1.0 - text_share) * other


def _text(curve: CostCurve, chance: float) -> float:
    plain_ms = curve.cost_ms(1)
    return min((curve.cost_ms(k + 1) + WORK_MS) / plain_ms / _expected(chance, k) for k in DEPTHS)


def _drafted(curve: CostCurve, step_ms: float, chance: float, depths: Sequence[int], block: int) -> float:
    plain_ms, of_block = curve.cost_ms(1), block > 1
    drafting_ms = {k: step_ms * (1 if of_block else k) + WORK_MS for k in depths}
    return min((curve.cost_ms(k + 1) + drafting_ms[k]) / plain_ms / _expected(chance, k) for k in depths)


def _expected(chance: float, depth: int) -> float:
    """Expected tokens of a pass with ``depth`` proposed ones: accepted ones and one more (Leviathan et al. 2022)."""
    return (1.0 - chance ** (depth + 1)) / (1.0 - chance) if chance < 1.0 else depth + 1.0


def _range_at(ends: tuple[tuple[float, float], tuple[float, float]], temperature: float) -> tuple[float, float]:
    """Both ends at a temperature; above the usual one they fall further, to half of those at 0 at most."""
    share = min(max(temperature, 0.0) / _USUAL_TEMPERATURE, 1.5)
    low, high = (cold + (warm - cold) * share for cold, warm in zip(*ends, strict=True))
    least = [min(cold / 2, warm) for cold, warm in zip(*ends, strict=True)]
    return max(low, least[0]), max(high, least[1])


def _largest(holds: Callable[[float], bool], most: float) -> float | None:
    """The largest number up to ``most`` that fulfils a monotonically falling condition; None if none does."""
    low, high = most * 1e-3, most
    if not holds(low):
        return None
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def measure_read_speed(threads: int, budget_s: float = _BUDGET_S, clock: Callable[[], float] = perf_counter) -> float:
    """Bytes per second that ``threads`` threads read together: the best of at least two tries within ``budget_s``.

    NumPy releases the GIL while it reads.

    Raises:
        MemoryError: the blocks do not fit the memory.
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
    """``plain``: of the target; ``gain``: of ``auto`` with this draft, if there is one; ``text_alone``: without it."""

    plain: PassForecast
    gain: GainForecast
    text_alone: GainForecast
    temperature: float

    @property
    def tokens_per_second(self) -> tuple[float, float]:
        """Lowest and highest speed with drafting."""
        low, high = self.plain.tokens_per_second
        return low * self.gain.low, high * self.gain.high


def forecast(
    machine: MachineSpeed,
    target: PlacedModel,
    draft: PlacedModel | None,
    kind: PairKind,
    temperature: float,
    coverage: float = 1.0,
) -> Forecast | None:
    """None if no measurement applies."""
    plain = forecast_pass(machine, target)
    step_ms = forecast_step(machine, draft) if draft is not None else None
    if plain is None or (draft is not None and step_ms is None):
        return None
    alone = gain = forecast_gain(plain.curve, None, kind, temperature, answers=target.answers)
    if draft is not None and step_ms is not None:
        if draft.block > 1:  # its pass has so many tokens
            step_ms *= plain.curve.cost_ms(draft.block + 1) / plain.curve.cost_ms(1)
        facts = (plain.curve, step_ms, kind, temperature, coverage)
        gain = forecast_gain(*facts, answers=target.answers, block=draft.block)
    return Forecast(plain, gain, alone, temperature)


def pair_kind(target: GgufHeader, draft: GgufHeader) -> PairKind:
    """How similar two models are, by the families in their headers; a head file is a head."""
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
    """The family of a model: its base name, or its architecture unless that is shared by many families."""
    name = header.metadata.get("general.basename")
    if isinstance(name, str) and name.strip():
        return name.strip().lower()
    return "" if header.architecture == "llama" else header.architecture
