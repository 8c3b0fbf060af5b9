"""From measured answers to rows: speeds, speed-ups over plain with intervals, acceptance. Knows no file.

The interval is a bootstrap over prompts (Efron 1979, https://doi.org/10.1214/aos/1176344552): prompts are drawn with
replacement, each with all its variants, so what a prompt does to all variants alike cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from app.benchmark.runner import PLAIN, Run, Variant

ALL = "all"
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Row:
    """One category (or ``all``) at one temperature, mode and depth; ``depth`` None is paced."""

    category: str
    temperature: float
    mode: str
    depth: int | None
    tokens: int
    seconds: float
    tokens_per_second: float | None
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    tokens_per_pass: float | None
    acceptance_rate: float | None
    accepted_by_depth: tuple[int, ...]
    proposed_by_depth: tuple[int, ...]
    inter_token_ms_p50: float | None
    inter_token_ms_p95: float | None
    draft_share: float | None
    verify_share: float | None

    def as_dict(self) -> dict[str, object]:
        """The row as JSON keeps it."""
        return asdict(self)


def summarise(runs: Sequence[Run]) -> list[Row]:
    """A row for each category and for all, temperature, mode and depth."""
    categories = [*dict.fromkeys(run.category for run in runs), ALL]
    keys = list(dict.fromkeys((run.temperature, run.variant) for run in runs))
    rows = []
    for category in categories:
        chosen = [run for run in runs if category in (ALL, run.category)]
        for temperature, variant in keys:
            same = [run for run in chosen if run.temperature == temperature]
            rows.append(_row(category, temperature, variant, same))
    return rows


def _row(category: str, temperature: float, variant: Variant, runs: Sequence[Run]) -> Row:
    own = [run.stats for run in runs if run.variant == variant]
    tokens, seconds = sum(stats.tokens for stats in own), sum(stats.decode_s for stats in own)
    passes, proposed = sum(stats.passes for stats in own), sum(stats.proposed for stats in own)
    low, middle, high = _speedup(variant, runs)
    return Row(
        category=category,
        temperature=temperature,
        mode=variant.mode.value,
        depth=variant.depth,
        tokens=tokens,
        seconds=seconds,
        tokens_per_second=tokens / seconds if seconds else None,
        speedup=middle,
        speedup_low=low,
        speedup_high=high,
        tokens_per_pass=tokens / passes if passes else None,
        acceptance_rate=sum(stats.accepted for stats in own) / proposed if proposed else None,
        accepted_by_depth=_added([stats.accepted_by_depth for stats in own]),
        proposed_by_depth=_added([stats.proposed_by_depth for stats in own]),
        inter_token_ms_p50=_median([stats.inter_token_ms_p50 for stats in own]),
        inter_token_ms_p95=_median([stats.inter_token_ms_p95 for stats in own]),
        draft_share=sum(stats.draft_s for stats in own) / seconds if seconds else None,
        verify_share=sum(stats.verify_s for stats in own) / seconds if seconds else None,
    )


def _speedup(variant: Variant, runs: Sequence[Run]) -> tuple[float | None, float | None, float | None]:
    """Tokens per second over plain's, all prompts together, with its 95 % interval."""
    prompts = list(dict.fromkeys(run.prompt_id for run in runs))
    table = np.zeros((len(prompts), 4))  # own tokens, own seconds, plain tokens, plain seconds
    place = {prompt_id: i for i, prompt_id in enumerate(prompts)}
    for run in runs:
        for first, wanted in ((0, variant), (2, PLAIN)):
            if run.variant == wanted:
                table[place[run.prompt_id], first : first + 2] += (run.stats.tokens, run.stats.decode_s)
    if not (table.sum(axis=0) > 0).all():
        return None, None, None
    drawn = np.random.default_rng(0).integers(0, len(prompts), (_RESAMPLES, len(prompts)))
    low, high = np.percentile(_ratio(table[drawn].sum(axis=1)), [2.5, 97.5])
    return float(low), float(_ratio(table.sum(axis=0))), float(high)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    own_tokens, own_s, plain_tokens, plain_s = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: NDArray[np.float64] = (own_tokens / own_s) / (plain_tokens / plain_s)
    return ratio


def _added(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    longest = max((len(count) for count in counts), default=0)
    return tuple(sum(count[i] for count in counts if i < len(count)) for i in range(longest))


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None
