"""What a race says: a table of its lanes, and a verdict with its uncertainty; as text, Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType

from app.core.benchmark.markdown import figure, percent, setting_lines
from app.core.benchmark.race import base_of
from app.core.benchmark.ratios import Ratio, ratio_of
from app.core.benchmark.report import Report, machine, models
from app.core.benchmark.runs import BenchmarkRun, Variant
from app.core.benchmark.summary import ALL, Row, summarise
from app.core.domain.speed.races import TOO_WIDE, Parting
from engine.records import ChatRequest, EngineReady

NOTE = (
    "All lanes answered the same question with the same settings, alternated in short slices. Tokens/s count the time "
    "of a lane's own slices; rollback ms is what dropping rejected tokens took, with the bookkeeping after a pass, "
    "over all rounds."
)
HEADS = ("lane", "tokens", "tokens/s", "tokens per pass", "accepted", "p50 ms", "p95 ms", "rollback ms")


@dataclass(frozen=True, slots=True)
class RaceVerdict:
    """One lane against what it is compared with. ``ratio`` is None where one of them has no token.

    ``alike`` is False where the two have other targets, whose answers are not compared.
    """

    variant: Variant
    base: Variant
    ratio: Ratio | None
    rounds: int
    difference: Parting | None
    temperature: float
    complete: bool = True
    alike: bool = True

    @property
    def sentence(self) -> str:
        """``auto 1.62x plain (1.48-1.77 over 4 rounds); identical answers, token for token``."""
        return f"{self._speed}; {self._answers}"

    @property
    def _speed(self) -> str:
        if self.ratio is None:
            return f"{self.variant.label} and {self.base.label} cannot be compared"
        speed = f"{self.variant.label} {self.ratio.value:.2f}x {self.base.label}"
        low, high = self.ratio.measured_low, self.ratio.measured_high
        if not self.complete:
            return f"{speed} (a round that was cut short, so without an interval)"
        if low is None or high is None:
            return f"{speed} (one round, so without an interval)"
        if high > TOO_WIDE * low:
            return f"{speed} ({self.rounds} rounds that differ too much for an interval)"
        unsure = ", so neither is surely faster" if low <= 1.0 <= high else ""
        return f"{speed} ({low:.2f}-{high:.2f} over {self.rounds} rounds{unsure})"

    @property
    def _answers(self) -> str:
        if not self.alike:
            return "other models, so the answers are not compared"
        found = self.difference
        if found is None:
            return "identical answers, token for token" if self.complete else "identical answers as far as both came"
        place = f"differs at token {found.token}"
        if found.num_rounds < self.rounds:
            place += f" in {found.num_rounds} of {self.rounds} rounds"
        if found.is_fault:
            return f"{place}, WHICH MUST NOT BE: here answers are exact to the bit. Please report it"
        return f"{place}. {found.reason}" if found.reason else place

    def as_dict(self) -> dict[str, object]:
        """The verdict as JSON keeps it."""
        return {
            "lane": self.variant.label,
            "over": self.base.label,
            "ratio": asdict(self.ratio) if self.ratio is not None else None,
            "rounds": self.rounds,
            "complete": self.complete,
            "same_target": self.alike,
            "difference": asdict(self.difference) if self.difference is not None else None,
            "sentence": self.sentence,
        }


def judge(
    runs: Sequence[BenchmarkRun],
    inexact: str | None = None,
    *,
    complete: bool = True,
    targets: Mapping[Variant, str] = MappingProxyType({}),
) -> list[RaceVerdict]:
    """A verdict for each lane but the one that the others are compared with.

    ``inexact`` is what `ModelInfo` says of the target. ``targets`` names those of lanes that have one of their own.
    """
    variants = list(dict.fromkeys(run.variant for run in runs))
    if not variants:
        return []
    base = base_of(variants)
    rounds = len({run.round for run in runs})
    verdicts = []
    for variant in variants:
        if variant == base:
            continue
        alike = targets.get(variant) == targets.get(base)
        difference = find_difference(runs, variant, base, inexact) if alike else None
        ratio = ratio_of(runs, variant, base)
        verdicts.append(RaceVerdict(variant, base, ratio, rounds, difference, runs[0].temperature, complete, alike))
    return verdicts


def find_difference(
    runs: Sequence[BenchmarkRun], variant: Variant, base: Variant, inexact: str | None = None
) -> Parting | None:
    """The first difference of two lanes' answers; of answers that were cut, only as far as both came."""
    answers = {(run.round, run.variant): run.token_ids for run in runs}
    first, num_rounds = None, 0
    for number in sorted({run.round for run in runs}):
        own, other = answers.get((number, variant), ()), answers.get((number, base), ())
        place = next((i for i, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), None)
        if place is not None:
            num_rounds += 1
            first = place if first is None else first
    return None if first is None else Parting(first + 1, num_rounds, inexact)


def lane_rows(runs: Sequence[BenchmarkRun]) -> list[tuple[str, ...]]:
    """A row of text for each lane, in the columns of `HEADS`."""
    rows = {Variant(row.mode, row.depth, row.engine): row for row in summarise(runs) if row.category == ALL}
    return [_cells(variant, row, runs) for variant, row in rows.items()]


def _cells(variant: Variant, row: Row, runs: Sequence[BenchmarkRun]) -> tuple[str, ...]:
    rollback_s = sum(run.stats.rollback_s for run in runs if run.variant == variant)
    return (
        variant.label,
        f"{row.tokens}",
        figure(row.tokens_per_second, 1),
        figure(row.tokens_per_pass, 2),
        percent(row.acceptance_rate),
        figure(row.inter_token_ms_p50, 1),
        figure(row.inter_token_ms_p95, 1),
        figure(rollback_s * 1000.0, 1),
    )


@dataclass(frozen=True, slots=True)
class RaceReport:
    """All results of one race."""

    measured: Report
    verdicts: tuple[RaceVerdict, ...]

    def as_dict(self) -> dict[str, object]:
        """The report as JSON keeps it: as that of a benchmark, with verdicts in place of comparisons."""
        report = self.measured
        return {
            "machine": report.machine,
            "models": report.models,
            "settings": report.settings,
            "verdicts": [verdict.as_dict() for verdict in self.verdicts],
            "rows": [row.as_dict() for row in report.rows if row.category == ALL],
            "answers": [run.as_dict() for run in report.answers],
        }

    def as_markdown(self) -> str:
        """Verdicts, table, and what was measured with."""
        lines = ["# Race", "", *(f"- {verdict.sentence}" for verdict in self.verdicts), "", NOTE, ""]
        lines += [f"| {' | '.join(HEADS)} |", f"|---|{'---:|' * (len(HEADS) - 1)}"]
        lines += [f"| {' | '.join(row)} |" for row in lane_rows(self.measured.answers)]
        return "\n".join([*lines, "", *setting_lines(self.measured)]).rstrip() + "\n"


def decoding_settings(request: ChatRequest) -> dict[str, object]:
    """What all lanes of a race decode with, as its report names it."""
    sampling = request.sampling
    names = (
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "repeat_penalty",
        "frequency_penalty",
        "presence_penalty",
        "seed",
    )
    return {**{name: getattr(sampling, name) for name in names}, "max_tokens": request.max_tokens}


def make_race_report(
    ready: EngineReady, settings: dict[str, object], runs: Sequence[BenchmarkRun], verdicts: Sequence[RaceVerdict]
) -> RaceReport:
    """Sum up a race."""
    measured = Report(machine(), models(ready), settings, tuple(summarise(runs, seeded=True)), (), tuple(runs))
    return RaceReport(measured, tuple(verdicts))
