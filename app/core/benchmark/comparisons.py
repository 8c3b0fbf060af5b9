"""Compares `auto` with the best fixed setting and with every peer, without selection bias.

The best of many candidates looks too good on the prompts that it was picked on. So it is picked on one half of the
prompts and compared on the other half, in both directions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from app.core.benchmark.ratios import Choice, Ratio, ratio_of
from app.core.benchmark.runs import AUTO, OURS, PLAIN, BenchmarkRun, Variant
from app.core.benchmark.summary import ALL
from engine.records import Mode

FIXED = "auto_vs_best_fixed"
EACH_PEER = "auto_vs_peer"
BEST_PEER = "auto_vs_best_peer"
BEST_PEER_DRAFT = "auto_vs_best_peer_draft"
PLAIN_PEER = "plain_vs_peer_plain"
PLAIN_CONFIG = "plain"  # a peer's configuration without speculation
NAMES = (FIXED, EACH_PEER, BEST_PEER, BEST_PEER_DRAFT, PLAIN_PEER)


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
        for category in (*dict.fromkeys(run.category for run in runs), ALL):
            same = [run for run in runs if run.temperature == temperature and category in (ALL, run.category)]
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
    half = _halves(runs)
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
    fixed = [v for v in variants if v.engine == OURS and (v == PLAIN or v.depth is not None) and v.mode != Mode.AUTO]
    both_halves = len(set(_halves(runs).values())) == 2
    if paced and both_halves and len(fixed) > 1:
        yield _best(FIXED, OURS, runs, fixed)
    for engine in dict.fromkeys(variant.engine for variant in variants if variant.engine != OURS):
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
    labels = tuple(variant.label if engine == OURS else variant.mode for variant in picked)
    return name, engine, AUTO, chosen.__getitem__, labels


def _halves(runs: Sequence[BenchmarkRun]) -> dict[str, int]:
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
