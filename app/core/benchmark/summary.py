"""Sums up measured answers in rows: speed, speed-up over our plain decoding, acceptance, time by phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from app.core.benchmark.ratios import ratio_of
from app.core.benchmark.runs import OURS, PLAIN, BenchmarkRun, Variant

ALL = "all"


@dataclass(frozen=True, slots=True)
class Row:
    """One category (or ``all``), temperature, engine, mode and depth. ``depth`` None: the engine or peer chooses it.

    ``speedup_low`` and ``speedup_high`` are the 95% interval over prompts, ``measured_*`` the interval over rounds.
    ``same_answers`` is the share of answers that equal plain decoding token for token, if that is required: at
    temperature 0, and in our engine with a seed. Only our engine reports times between tokens and times by phase.
    """

    engine: str
    category: str
    temperature: float
    mode: str
    depth: int | None
    answers: int
    tokens: int
    seconds: float
    wall_seconds: float | None
    tokens_per_second: float | None
    speedup: float | None
    speedup_low: float | None
    speedup_high: float | None
    measured_low: float | None
    measured_high: float | None
    tokens_per_pass: float | None
    acceptance_rate: float | None
    accepted_by_depth: tuple[int, ...]
    proposed_by_depth: tuple[int, ...]
    inter_token_ms_p50: float | None
    inter_token_ms_p95: float | None
    draft_share: float | None
    verify_share: float | None
    sample_share: float | None
    rollback_share: float | None
    same_answers: float | None

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def summarise(runs: Sequence[BenchmarkRun], *, seeded: bool = False) -> list[Row]:
    """One row for each category (and for all), temperature and variant. ``seeded``: answers were sampled with seeds."""
    categories = [*dict.fromkeys(run.category for run in runs), ALL]
    keys = list(dict.fromkeys((run.temperature, run.variant) for run in runs))
    rows = []
    for category in categories:
        chosen = [run for run in runs if category in (ALL, run.category)]
        for temperature, variant in keys:
            same = [run for run in chosen if run.temperature == temperature]
            if any(run.variant == variant for run in same):
                rows.append(_row(category, temperature, variant, same, seeded=seeded))
    return rows


def _row(category: str, temperature: float, variant: Variant, runs: Sequence[BenchmarkRun], *, seeded: bool) -> Row:
    mine = [run for run in runs if run.variant == variant]
    own = [run.stats for run in mine]
    tokens, seconds = sum(stats.tokens for stats in own), sum(stats.decode_s for stats in own)
    passes, proposed = sum(stats.passes for stats in own), sum(stats.proposed for stats in own)
    ratio = ratio_of(runs, variant, PLAIN)
    walls = [run.wall_s for run in mine if run.wall_s is not None]
    split = _split(mine, seconds)
    return Row(
        engine=variant.engine,
        category=category,
        temperature=temperature,
        mode=variant.mode,
        depth=variant.depth,
        answers=len(mine),
        tokens=tokens,
        seconds=seconds,
        wall_seconds=sum(walls) if len(walls) == len(mine) else None,
        tokens_per_second=tokens / seconds if seconds else None,
        speedup=ratio.value if ratio else None,
        speedup_low=ratio.low if ratio else None,
        speedup_high=ratio.high if ratio else None,
        measured_low=ratio.measured_low if ratio else None,
        measured_high=ratio.measured_high if ratio else None,
        tokens_per_pass=tokens / passes if passes else None,
        acceptance_rate=sum(stats.accepted for stats in own) / proposed if proposed else None,
        accepted_by_depth=_added([stats.accepted_by_depth for stats in own]),
        proposed_by_depth=_added([stats.proposed_by_depth for stats in own]),
        inter_token_ms_p50=_median([stats.inter_token_ms_p50 for stats in own]),
        inter_token_ms_p95=_median([stats.inter_token_ms_p95 for stats in own]),
        draft_share=split[0],
        verify_share=split[1],
        sample_share=split[2],
        rollback_share=split[3],
        same_answers=_same_answers(variant, runs)
        if temperature == 0.0 or (seeded and variant.engine == PLAIN.engine)
        else None,
    )


def _split(mine: Sequence[BenchmarkRun], seconds: float) -> tuple[float | None, ...]:
    """Time shares of drafting, verifying, sampling and rolling back; None if the engine does not report them."""
    own = [run.stats for run in mine]
    sums = (
        sum(stats.draft_s for stats in own),
        sum(stats.verify_s for stats in own),
        sum(stats.sample_s for stats in own),
        sum(stats.rollback_s for stats in own),
    )
    known = seconds > 0 and any(sums)
    return tuple(part / seconds if known else None for part in sums)


def answers_verdict(rows: Sequence[Row], inexact: str) -> tuple[str, bool]:
    """Compare drafted with plain answers. Returns a sentence, and True if they differ but must not.

    ``inexact`` is the target's `ModelInfo.inexact_reason`. The sentence is empty if there is nothing to compare.
    """
    ours = [row for row in rows if row.category == ALL and row.engine.startswith(OURS)]
    compared = [row for row in ours if (row.engine, row.mode) != (PLAIN.engine, PLAIN.mode)]
    known = [(row.answers, row.same_answers) for row in compared if row.same_answers is not None]
    total, same = sum(number for number, _ in known), round(sum(number * share for number, share in known))
    if not total:
        return "", False
    if same == total:
        return f"All {total} answers with drafting are identical to those without, token for token.", False
    differ = f"{total - same} of {total} answers with drafting differ from those without"
    if inexact:
        return f"{differ}. {inexact}", False
    return f"{differ}. This should not happen: answers are exact on this computer. Please report it.", True


def _same_answers(variant: Variant, runs: Sequence[BenchmarkRun]) -> float | None:
    plain = {(run.prompt_id, run.round): run.token_ids for run in runs if run.variant == PLAIN}
    mine = [run for run in runs if run.variant == variant and run.token_ids and plain.get((run.prompt_id, run.round))]
    if not mine:
        return None
    return sum(run.token_ids == plain[run.prompt_id, run.round] for run in mine) / len(mine)


def _added(counts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    longest = max((len(count) for count in counts), default=0)
    return tuple(sum(count[i] for count in counts if i < len(count)) for i in range(longest))


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None
