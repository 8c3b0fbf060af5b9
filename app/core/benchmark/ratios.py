"""How much faster one variant is than another: a ratio of throughputs and two 95% intervals.

The first interval is a bootstrap over prompts (Efron 1979, https://doi.org/10.1214/aos/1176344552): it covers the ratio
on other prompts of the same kind. The second covers the ratio on these prompts only. It is computed from the
differences between rounds within each prompt (linearised ratio; Student's t), and narrows with more rounds.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.benchmark.runs import BenchmarkRun, Variant

_RESAMPLES = 2000
_Z = 1.959964  # the 97.5% point of the normal distribution
_T_BY_DF = {1: 12.7062, 2: 4.3027}  # Student's t by degrees of freedom, for which the series below is off by 24% and 3%
Table = NDArray[np.float64]  # rows: prompt and round; columns: own tokens, own seconds, other tokens, other seconds


@dataclass(frozen=True, slots=True)
class Ratio:
    """``value``, its interval over prompts (``low``, ``high``) and over rounds; None for a single prompt or round."""

    value: float
    low: float | None
    high: float | None
    measured_low: float | None = None
    measured_high: float | None = None


def ratio_of(runs: Sequence[BenchmarkRun], own: Variant, other: Variant) -> Ratio | None:
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


def _table(runs: Sequence[BenchmarkRun], own: Variant, other: Variant) -> tuple[NDArray[np.int64], Table]:
    sums: dict[tuple[str, int], list[float]] = {}
    seen: dict[tuple[str, int], set[int]] = {}
    for run in runs:
        key = (run.prompt_id, run.round)
        for first, wanted in ((0, own), (2, other)):
            if run.variant == wanted:
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
