"""The report of a benchmark, as JSON and Markdown: machine, models, settings, a row for each variant, every answer.

How much faster a variant is than another is a ratio of throughputs with two 95% intervals. The first is a bootstrap
over prompts (Efron 1979, https://doi.org/10.1214/aos/1176344552): it covers the ratio on other prompts of the same
kind. The second covers the ratio on these prompts only. It is computed from the differences between rounds within each
prompt (linearised ratio; Student's t), and narrows with more rounds.
"""

import json
import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce

import numpy as np
import psutil
from numpy.typing import NDArray

import app
from app.core.benchmark.runs import ALL_CATEGORIES, AUTO, OWN_ENGINE, PLAIN, BenchmarkRun, Variant
from app.core.domain.sums import summed
from app.core.storage.chats.codec import stats_to_text
from engine.llama import library
from engine.records import EngineReady, ModelInfo, RunStats

# ---- ratios ---------------------------------------------------------------------------------------------------------


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
    owners, table = _paired(runs, own, other)
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


def _paired(runs: Sequence[BenchmarkRun], own: Variant, other: Variant) -> tuple[NDArray[np.int64], Table]:
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


# ---- rows -----------------------------------------------------------------------------------------------------------


Line = Sequence[str]
_NOTE = (
    "Speed-ups are over our plain decoding of the same prompts, in alternated runs, and of our auto over each line. In "
    "brackets the 95% interval over prompts, after it the one over rounds where there were several."
)
_STATS: tuple[tuple[str, Callable[[RunStats], str]], ...] = (
    ("tokens", lambda stats: str(stats.tokens)),
    ("tokens/s", lambda stats: _decimal(stats.tokens_per_second, 1)),
    ("tokens per pass", lambda stats: _decimal(stats.tokens_per_pass, 2)),
    ("accepted", lambda stats: _percent(stats.acceptance_rate)),
    ("p50 ms", lambda stats: _decimal(stats.inter_token_ms_p50, 1)),
    ("p95 ms", lambda stats: _decimal(stats.inter_token_ms_p95, 1)),
    ("rollback ms", lambda stats: _decimal(stats.rollback_s * 1000.0, 1)),
)
_HEAD = ("tokens/s", "over plain", "auto over it", "tokens per pass", "accepted", "p50 ms", "p95 ms", "identical")


@dataclass(frozen=True, slots=True)
class Row:
    """All answers of a variant at one temperature, of one category or of all.

    ``stats`` has the summed counters and the medians of the times between tokens. ``ratio`` is the speed over our plain
    decoding, ``auto_ratio`` the speed of our ``auto`` over this variant. ``same_answers`` is the share of answers that
    equal plain decoding token for token, if that is required: at temperature 0, and in our engine with a seed.
    """

    category: str
    temperature: float
    variant: Variant
    answers: int
    stats: RunStats
    ratio: Ratio | None
    auto_ratio: Ratio | None
    same_answers: float | None

    def as_dict(self) -> dict[str, object]:
        return {
            "engine": self.variant.engine,
            "category": self.category,
            "temperature": self.temperature,
            "mode": self.variant.mode,
            "depth": self.variant.depth,
            "answers": self.answers,
            "tokens_per_second": self.stats.tokens_per_second,
            "tokens_per_pass": self.stats.tokens_per_pass,
            "acceptance_rate": self.stats.acceptance_rate,
            **_ratio_as_dict("speedup", self.ratio),
            **_ratio_as_dict("auto_over_it", self.auto_ratio),
            "same_answers": self.same_answers,
            "stats": json.loads(stats_to_text(self.stats) or "{}"),
        }


def _ratio_as_dict(name: str, ratio: Ratio | None) -> dict[str, object]:
    """A ratio with its intervals over prompts and over rounds."""
    parts = {"": "value", "_low": "low", "_high": "high", "_measured_low": "measured_low"}
    parts["_measured_high"] = "measured_high"
    return {f"{name}{suffix}": getattr(ratio, part) if ratio else None for suffix, part in parts.items()}


@dataclass(frozen=True, slots=True)
class Report:
    machine: dict[str, object]
    models: dict[str, object]
    settings: dict[str, object]
    rows: tuple[Row, ...]
    answers: tuple[BenchmarkRun, ...] = ()  # in the order of measurement

    def as_dict(self) -> dict[str, object]:
        return {
            "machine": self.machine,
            "models": self.models,
            "settings": self.settings,
            "rows": [row.as_dict() for row in self.rows],
            "answers": [run.as_dict() for run in self.answers],
        }


def make_report(ready: EngineReady, settings: dict[str, object], runs: Sequence[BenchmarkRun]) -> Report:
    rows = summarise(runs, seeded=settings.get("seed") is not None)
    return Report(machine(), models(ready), settings, tuple(rows), tuple(runs))


def summarise(runs: Sequence[BenchmarkRun], *, seeded: bool = False) -> list[Row]:
    """One row for each category (and for all), temperature and variant. ``seeded``: answers were sampled with seeds."""
    keys = list(dict.fromkeys((run.temperature, run.variant) for run in runs))
    rows = []
    for category in (*dict.fromkeys(run.category for run in runs), ALL_CATEGORIES):
        for temperature, variant in keys:
            same = [
                run for run in runs if category in (ALL_CATEGORIES, run.category) and run.temperature == temperature
            ]
            if any(run.variant == variant for run in same):
                rows.append(_row(category, temperature, variant, same, seeded=seeded))
    return rows


def _row(category: str, temperature: float, variant: Variant, runs: Sequence[BenchmarkRun], *, seeded: bool) -> Row:
    mine = [run for run in runs if run.variant == variant]
    is_compared = temperature == 0.0 or (seeded and variant.engine == OWN_ENGINE)
    return Row(
        category,
        temperature,
        variant,
        len(mine),
        sum_of([run.stats for run in mine]),
        ratio_of(runs, variant, PLAIN),
        None if variant == AUTO else ratio_of(runs, AUTO, variant),
        _same_answers(mine, runs) if is_compared else None,
    )


def sum_of(stats: Sequence[RunStats]) -> RunStats:
    """The summed counters, with the medians of the times between tokens. ``decode_s`` includes all time."""
    both = reduce(lambda one, other: summed(one, other) or other, stats, RunStats())
    medians = (_median([one.inter_token_ms_p50 for one in stats]), _median([one.inter_token_ms_p95 for one in stats]))
    return replace(both, draft_prompt_s=0.0, inter_token_ms_p50=medians[0], inter_token_ms_p95=medians[1])


def answers_verdict(rows: Sequence[Row], inexact: str) -> tuple[str, bool]:
    """Compare drafted with plain answers. Returns a sentence, and True if they differ but must not.

    ``inexact`` is the target's `ModelInfo.inexact_reason`. The sentence is empty if there is nothing to compare.
    """
    ours = [
        row
        for row in rows
        if row.category == ALL_CATEGORIES and row.variant.engine == OWN_ENGINE and row.variant != PLAIN
    ]
    known = [(row.answers, row.same_answers) for row in ours if row.same_answers is not None]
    total, same = sum(number for number, _ in known), round(sum(number * share for number, share in known))
    if not total:
        return "", False
    if same == total:
        return f"All {total} answers with drafting are identical to those without, token for token.", False
    differ = f"{total - same} of {total} answers with drafting differ from those without"
    if inexact:
        return f"{differ}. {inexact}", False
    return f"{differ}. This should not happen: answers are exact on this computer. Please report it.", True


def _same_answers(mine: Sequence[BenchmarkRun], runs: Sequence[BenchmarkRun]) -> float | None:
    plain = {(run.prompt_id, run.round): run.token_ids for run in runs if run.variant == PLAIN}
    pairs = [(run.token_ids, plain.get((run.prompt_id, run.round))) for run in mine]
    known = [own == other for own, other in pairs if own and other]
    return sum(known) / len(known) if known else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.median(known)) if known else None


def machine() -> dict[str, object]:
    """The facts of this machine that affect speed, without personal data."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "processor": library.processor_name(),
        "cores": psutil.cpu_count(logical=False),
        "memory_bytes": psutil.virtual_memory().total,
        "llama_cpp": library.system_info().strip(),
        "llama_cpp_libraries": [one.description for one in library.loaded_libraries()],
        "paceline": app.__version__,
    }


def models(ready: EngineReady) -> dict[str, object]:
    draft = ready.draft or ready.own_head
    return {"target": _model(ready.target), "draft": _model(draft) if draft else None}


def _model(info: ModelInfo) -> dict[str, object]:
    names = ("name", "architecture", "num_params", "size_bytes", "n_ctx", "threads", "gpu_layers")
    return {
        **{name: getattr(info, name) for name in names},
        "placement": asdict(info.placement),
        "inexact": info.inexact_reason,
        "keys": info.cache_type.value,
        "values": info.cache_type.value,
        "flash_attention": info.flash_attention.value,
    }


# ---- tables ----------------------------------------------------------------------------------------------------------


def lane_table(lanes: Sequence[tuple[str, RunStats]]) -> list[Line]:
    """A heading, and a line for each lane of a race."""
    return [("lane", *(title for title, _ in _STATS)), *((name, *_cells(stats).values()) for name, stats in lanes)]


def as_markdown(report: Report) -> str:
    """The setting, and a table of all workloads for each temperature."""
    lines = ["# Benchmark", "", _NOTE, "", *_setting_lines(report.machine, report.models, report.settings), ""]
    for temperature in dict.fromkeys(row.temperature for row in report.rows):
        rows = [row for row in report.rows if row.temperature == temperature]
        cells = [(_bold(row.category), _name_of(row), *_row_cells(row)) for row in rows]
        lines += [f"## T = {temperature:g}", "", *_table([("workload", "mode", *_HEAD), *cells], 2), ""]
    return "\n".join(lines).rstrip() + "\n"


def _setting_lines(
    machine: Mapping[str, object], models: Mapping[str, object], settings: Mapping[str, object]
) -> Iterator[str]:
    yield from ("## Measured with", "", "| | |", "|---|---|")
    for key, value in machine.items():
        yield f"| {key.replace('_', ' ')} | {_escape_pipes(value)} |"
    for role, model in models.items():
        if isinstance(model, dict):
            facts = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in model.items() if key != "name")
            yield f"| {role} | {model['name']}: {facts} |"
    for key, value in settings.items():
        yield f"| {key.replace('_', ' ')} | {_escape_pipes(value)} |"


def _table(lines: Sequence[Line], numbers_from: int) -> Iterator[str]:
    """Markdown of a heading and lines; columns from ``numbers_from`` on are right-aligned."""
    for number, line in enumerate(lines):
        yield f"| {' | '.join(line)} |"
        if number == 0:
            yield f"|{'---|' * numbers_from}{'---:|' * (len(line) - numbers_from)}"


def _cells(stats: RunStats) -> dict[str, str]:
    return {title: cell(stats) for title, cell in _STATS}


def _row_cells(row: Row) -> Iterator[str]:
    cells = {**_cells(row.stats), "identical": _percent(row.same_answers)}
    cells |= {"over plain": _interval(row.ratio), "auto over it": _interval(row.auto_ratio)}
    return (cells[title] for title in _HEAD)


def _name_of(row: Row) -> str:
    label = row.variant.label
    paced = row.variant.engine == OWN_ENGINE and row.variant.depth is None and label not in ("plain", "auto")
    return f"{label} paced" if paced else label


def _bold(category: str) -> str:
    return f"**{category}**" if category == ALL_CATEGORIES else category


def _interval(ratio: Ratio | None) -> str:
    """A ratio, its interval over prompts in brackets, then its interval over rounds."""
    if ratio is None:
        return "-"
    rounds = "" if ratio.measured_low is None else f" {ratio.measured_low:.3f}-{ratio.measured_high:.3f}"
    prompts = "" if ratio.low is None else f" ({ratio.low:.2f}-{ratio.high:.2f})"
    return f"{ratio.value:.3f}{prompts}{rounds}"


def _decimal(value: float | None, digits: int) -> str:
    """A formatted number; a dash for None."""
    return "-" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    """A share in percent; a dash for None."""
    return "-" if value is None else f"{value * 100:.0f}%"


def _escape_pipes(value: object) -> str:
    text = ", ".join(str(item) for item in value) if isinstance(value, list | tuple) else str(value)
    return text.replace(" | ", ", ").replace("|", "/")  # a bar separates cells
