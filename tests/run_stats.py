"""Consistent counters of whole answers, for tests and screenshots."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from app.core.domain.sums import PairSums, Sums, add_sums, sums_of
from engine.intervals import bucket_of
from engine.records import Mode, RunStats, Source

ByDepth = tuple[tuple[int, ...], tuple[int, ...]]  # proposed and accepted tokens per depth, as in `RunStats`


def answered(mode: Mode, passes: int, by_depth: ByDepth, provenance: Mapping[Source, int], decode_s: float) -> RunStats:
    """Counters of an answer; the totals are computed from the parts."""
    proposed, accepted = by_depth
    return RunStats(
        mode=mode,
        passes=passes,
        tokens=sum(provenance.values()),
        proposed=sum(proposed),
        accepted=sum(accepted),
        proposed_by_depth=proposed,
        accepted_by_depth=accepted,
        provenance=provenance,
        decode_s=decode_s,
    )


ROUND = replace(
    answered(Mode.DRAFT, 10, ((10, 10, 10), (9, 8, 7)), {Source.DRAFT: 24, Source.RECOVERED: 16}, 2.0), plain_ms=100.0
)
DRAFTED = replace(
    answered(
        Mode.DRAFT, 143, ((130, 80), (118, 25)), {Source.DRAFT: 143, Source.RECOVERED: 200, Source.BONUS: 45}, 9.42
    ),
    draft_s=1.7,
    verify_s=7.44,
    sample_s=0.1,
    time_to_first_token_s=0.213,
    inter_token_ms_p50=22.1,
    inter_token_ms_p95=61.4,
    context_used=1204,
    context_size=4096,
)
PACED = replace(
    answered(
        Mode.AUTO,
        143,
        ((130, 104, 70, 48), (112, 74, 41, 18)),
        {Source.DRAFT: 189, Source.NGRAM: 56, Source.RECOVERED: 97, Source.BONUS: 33, Source.TARGET: 13},
        9.42,
    ),
    prompt_tokens=816,
    prompt_cached_tokens=640,
    draft_s=1.7,
    verify_s=7.24,
    sample_s=0.2,
    plain_ms=39.3,
    time_to_first_token_s=0.213,
    inter_token_ms_p50=22.1,
    inter_token_ms_p95=61.4,
    inter_token_ms_p99=74.8,
    interval_counts=Counter(bucket_of(ms * 1000) for ms in (*[22.1] * 92, *[61.4] * 6, *[74.8] * 2)),
    context_used=1204,
    context_size=4096,
    decisions=("draft on: 86% of its first tokens are accepted",),
)


def sums_by_pair(runs: Iterable[tuple[str, str, RunStats]]) -> tuple[PairSums, ...]:
    """Sum answers (target, draft, counters) by pair and mode."""
    found: dict[tuple[str, str, Mode], Sums] = {}
    for target, draft, run in runs:
        key = (target, draft, run.mode)
        found[key] = add_sums(found.get(key, Sums()), sums_of(run))
    return tuple(PairSums(target, draft, mode.value, sums) for (target, draft, mode), sums in found.items())
