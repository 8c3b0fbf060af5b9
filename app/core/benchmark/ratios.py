"""How much faster one variant is than another: a ratio of throughputs and two 95% intervals; which pairs to compare.

The first interval is a bootstrap over prompts (Efron 1979, https://doi.org/10.1214/aos/1176344552): it covers the ratio
on other prompts of the same kind. The second covers the ratio on these prompts only. It is computed from the
differences between rounds within each prompt (linearised ratio; Student's t), and narrows with more rounds.

The best of many candidates looks too good on the prompts that it was picked on. So it is picked on one half of the
prompts and compared on the other half, in both directions.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.benchmark.runs import ALL_CATEGORIES, AUTO, OWN_ENGINE, PLAIN, BenchmarkRun, Variant
from engine.records import Mode

_RESAMPLES = 2000
_Z = 1.959964  # the 97.5% point of the normal distribution
_T_BY_DF = {1: 12.7062, 2: 4.3027}  # Student's t by degrees of freedom, for which the series below is off by 24% and 3%
FIXED_BASELINE = "auto_vs_best_fixed"
EACH_PEER = "auto_vs_peer"
BEST_PEER = "auto_vs_best_peer"
BEST_PEER_DRAFT = "auto_vs_best_peer_draft"
PLAIN_PEER = "plain_vs_peer_plain"
PLAIN_CONFIG = "plain"  # a peer's configuration without speculation
COMPARISONS = (FIXED_BASELINE, EACH_PEER, BEST_PEER, BEST_PEER_DRAFT, PLAIN_PEER)
Choice = Variant | Callable[[str], Variant]  # a variant, or one for each prompt
Table = NDArray[np.float64]  # rows: prompt and round; columns: own tokens, own seconds, other tokens, other seconds


@dataclass(frozen=True, slots=True)
class Ratio:
    """``value``, its interval over prompts (``low``, ``high``) and over rounds; None for a single prompt or round."""

    value: float
    low: float | None
    high: float | None
    measured_low: float | None = None
    measured_high: float | None = None

    @property
    def half_width_percent(self) -> float | None:
        """Half of the interval over rounds, in percent of the value; None without an interval."""
        if self.measured_low is None or self.measured_high is None:
            return None
        return (self.measured_high - self.measured_low) / 2.0 / self.value * 100.0


def ratio_of(runs: Sequence[BenchmarkRun], own: Choice, other: Choice) -> Ratio | None:
    """Tokens per second of ``own`` over those of ``other``, on the prompts and rounds that both answered.

    None if they have no answer in common.
    """
    owners, table = _table(runs, own, other)
    if not len(table) or not (table.sum(axis=0) > 0).all():
        return None
    prompts = np.unique(owners)
    totals = np.array([table[owners == prompt].sum(axis=0) for prompt in prompts])
    low, high = _over_prompts(totals)
    value = float(_ratio_of_sums(totals.sum(axis=0)))
    spread = _half_width(owners, table)
    if spread is None:
        return Ratio(value, low, high)
    return Ratio(value, low, high, value * math.exp(-spread), value * math.exp(spread))


def student_quantile(df: int) -> float:
    """The 97.5% point of Student's t (Abramowitz and Stegun 26.7.5), within 1%."""
    if df in _T_BY_DF:
        return _T_BY_DF[df]
    z = _Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / df + second / df**2 + third / df**3


def _table(runs: Sequence[BenchmarkRun], own: Choice, other: Choice) -> tuple[NDArray[np.int64], Table]:
    sums: dict[tuple[str, int], list[float]] = {}
    seen: dict[tuple[str, int], set[int]] = {}
    for run in runs:
        key = (run.prompt_id, run.round)
        for first, wanted in ((0, own), (2, other)):
            if run.variant == (wanted if isinstance(wanted, Variant) else wanted(run.prompt_id)):
                row = sums.setdefault(key, [0.0] * 4)
                row[first] += run.stats.tokens
                row[first + 1] += run.stats.decode_s
                seen.setdefault(key, set()).add(first)
    both = [key for key in sums if len(seen[key]) == 2 and sums[key][1] > 0 and sums[key][3] > 0]
    number = {prompt_id: i for i, prompt_id in enumerate(dict.fromkeys(prompt_id for prompt_id, _ in both))}
    owners = np.array([number[prompt_id] for prompt_id, _ in both], dtype=np.int64)
    return owners, np.array([sums[key] for key in both], dtype=np.float64).reshape(-1, 4)


def _over_prompts(totals: Table) -> tuple[float | None, float | None]:
    """The interval over prompts; None for a single prompt, since its resamples are all equal."""
    if len(totals) < 2:
        return None, None
    drawn = np.random.default_rng(0).integers(0, len(totals), (_RESAMPLES, len(totals)))
    low, high = np.percentile(_ratio_of_sums(totals[drawn].sum(axis=1)), [2.5, 97.5])
    return float(low), float(high)


def _ratio_of_sums(sums: Table) -> NDArray[np.float64]:
    own_tokens, own_s, other_tokens, other_s = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: NDArray[np.float64] = (own_tokens / own_s) / (other_tokens / other_s)
    return ratio


def _half_width(owners: NDArray[np.int64], table: Table) -> float | None:
    """Half of the 95% interval of the ratio's logarithm, by the differences between rounds of each prompt."""
    shares = table / table.sum(axis=0)
    terms = shares[:, 0] - shares[:, 1] - shares[:, 2] + shares[:, 3]
    variance, df = 0.0, 0
    for prompt in np.unique(owners):
        own = terms[owners == prompt]
        if len(own) > 1:
            variance += len(own) * float(np.var(own, ddof=1))
            df += len(own) - 1
    return student_quantile(df) * math.sqrt(variance) if df else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The speed ratio of a variant of ours over another variant: ``against``, or the picks of both halves."""

    name: str
    engine: str
    category: str
    temperature: float
    against: tuple[str, ...]
    ratio: Ratio

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), **asdict(self.ratio), "ratio": self.ratio.value}


def compare(runs: Sequence[BenchmarkRun]) -> list[Comparison]:
    """All comparisons that these runs allow, by temperature, then by category, with ``all`` last."""
    found: list[Comparison] = []
    for temperature in dict.fromkeys(run.temperature for run in runs):
        for category in (*dict.fromkeys(run.category for run in runs), ALL_CATEGORIES):
            same = [
                run for run in runs if run.temperature == temperature and category in (ALL_CATEGORIES, run.category)
            ]
            for name, engine, ours, choice, against in _pairs(same):
                ratio = ratio_of(same, ours, choice)
                if ratio is not None:
                    found.append(Comparison(name, engine, category, temperature, against, ratio))
    return found


def best_of_half(
    runs: Sequence[BenchmarkRun], candidates: Sequence[Variant]
) -> tuple[dict[str, Variant], tuple[Variant, ...]]:
    """Returns for each prompt the fastest candidate on the *other* half of the prompts, and the pick of each half.

    The halves are every second prompt, in the order in which they were first answered within their category.
    """
    half = _half_of_prompt(runs)
    picked = []
    for number in (0, 1):
        training = [run for run in runs if half[run.prompt_id] == number]
        speeds = {variant: _speed(training, variant) for variant in candidates}
        picked.append(max(candidates, key=lambda variant: speeds[variant]))
    return {prompt_id: picked[1 - number] for prompt_id, number in half.items()}, tuple(dict.fromkeys(picked))


def _pairs(runs: Sequence[BenchmarkRun]) -> Iterator[tuple[str, str, Variant, Choice, tuple[str, ...]]]:
    """Yield name, engine, our variant, the other variant, and the labels of the other."""
    variants = list(dict.fromkeys(run.variant for run in runs))
    paced = AUTO in variants
    fixed = [
        v for v in variants if v.engine == OWN_ENGINE and (v == PLAIN or v.depth is not None) and v.mode != Mode.AUTO
    ]
    both_halves = len(set(_half_of_prompt(runs).values())) == 2
    if paced and both_halves and len(fixed) > 1:
        yield _best(FIXED_BASELINE, OWN_ENGINE, runs, fixed)
    for engine in dict.fromkeys(variant.engine for variant in variants if variant.engine != OWN_ENGINE):
        theirs = [variant for variant in variants if variant.engine == engine]
        plain = Variant(PLAIN_CONFIG, None, engine)
        if plain in theirs:
            yield PLAIN_PEER, engine, PLAIN, plain, (plain.mode,)
        if not paced:
            continue
        for variant in theirs:
            yield EACH_PEER, engine, AUTO, variant, (variant.mode,)
        drafts = [variant for variant in theirs if variant.mode.startswith("draft")]
        if both_halves:
            yield _best(BEST_PEER, engine, runs, theirs)
        if both_halves and drafts:
            yield _best(BEST_PEER_DRAFT, engine, runs, drafts)


def _best(
    name: str, engine: str, runs: Sequence[BenchmarkRun], candidates: Sequence[Variant]
) -> tuple[str, str, Variant, Choice, tuple[str, ...]]:
    chosen, picked = best_of_half(runs, candidates)
    labels = tuple(variant.label if engine == OWN_ENGINE else variant.mode for variant in picked)
    return name, engine, AUTO, chosen.__getitem__, labels


def _half_of_prompt(runs: Sequence[BenchmarkRun]) -> dict[str, int]:
    half: dict[str, int] = {}
    counts: dict[str, int] = {}
    for run in runs:
        if run.prompt_id not in half:
            index = counts.get(run.category, 0)
            half[run.prompt_id] = index % 2
            counts[run.category] = index + 1
    return half


def _speed(runs: Sequence[BenchmarkRun], variant: Variant) -> float:
    own = [run.stats for run in runs if run.variant == variant]
    seconds = sum(stats.decode_s for stats in own)
    return sum(stats.tokens for stats in own) / seconds if seconds else 0.0
