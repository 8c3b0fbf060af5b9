"""Holds what is expected of pairs before they are loaded against what they give.

    python packaging/measure/will_it_pay.py --models DIR --padded PADDED.gguf --out table.json [--minutes 40]

For each combination of target, draft, cache type and threads `auto` and plain decoding answer the same prompts in
turn; the quickest of ``--rounds`` counts. The range is told three times from the headers: with the speed of the memory
alone, as where nothing was run yet; with the passes of *other* models, as before a download; with the target's own, as
before a later load. Answers, passes and the table are kept beside ``--out``: a run that was stopped goes on where it
was, and ``--judge`` tells the ranges anew from what is kept, without measuring. PADDED.gguf is the built-in target at
real weight:
``python -m engine.gguf.pad assets/models/paceline-tiny-target.gguf PADDED.gguf``.

Exit status: 0 when all is measured, 3 when the time was over before, 130 after Ctrl+C.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.benchmark.journal import Journal
from app.benchmark.own_engine import OwnEngine
from app.benchmark.prompts import Prompt, read_prompts
from app.benchmark.ratios import ratio_of
from app.benchmark.runner import Plan, Runner
from app.benchmark.runs import AUTO, PLAIN, Run, Variant
from app.domain.speed.outlook import Outlook
from app.hub.pairs.assessment import LoadPlan
from app.hub.pairs.outlooks import Conditions, Outlooks
from app.hub.remote_header import read_local_header
from app.paths import builtin_draft
from engine.llama.library import physical_cores
from engine.records import CacheType, LoadRequest, SamplingParams
from engine.session.session import Session
from engine.storage.atomic import write_atomically
from engine.storage.pass_samples import PassSample, SampleStore

ROOT = Path(__file__).resolve().parents[2]
WORKLOADS = ROOT / "assets" / "workloads"
BASES = ("nothing run", "others run", "this one run")
UNKNOWN = "-"
WIDEST, NEEDED = 1.6, 0.8  # times the lower end; of the combinations
MEASURE_S = 4.0  # for the passes of a model
TIME_OVER, INTERRUPTED = 3, 130


@dataclass(frozen=True, slots=True)
class Combination:
    """One row of the table. ``draft`` is empty where the target runs alone."""

    target: str
    draft: str
    cache_type: str
    threads: int
    temperature: float

    @property
    def key(self) -> str:
        """By which it is found again."""
        names = [Path(path).stem for path in (self.target, self.draft) if path]
        return f"{' + '.join(names)}, {self.cache_type}, {self.threads} threads, T {self.temperature:g}"

    @property
    def load(self) -> LoadRequest:
        """How it is loaded."""
        cache = CacheType(self.cache_type)
        return LoadRequest(
            self.target, self.draft or None, n_ctx=2048, threads=self.threads, gpu_layers=0, cache_type=cache,
            draft_threads=self.threads, draft_cache_type=cache,
        )  # fmt: skip


def combinations(options: argparse.Namespace) -> Iterator[Combination]:
    """All rows: every target that is there, with its draft and alone."""
    pairs: list[tuple[str, str]] = []
    folder: Path = options.models
    qwen, small = (folder / f"qwen2.5-coder-{size}b-instruct-q4_k_m.gguf" for size in ("1.5", "0.5"))
    if qwen.exists():
        pairs += [(str(qwen), str(small))] if small.exists() else []
        pairs.append((str(qwen), ""))
    alone = [path for path in sorted(folder.glob("*.gguf")) if path not in (qwen, small)]
    pairs += [(str(path), "") for path in alone]
    if options.padded is not None:
        pairs += [(str(options.padded), str(builtin_draft())), (str(options.padded), "")]
    for (target, draft), cache, threads, temperature in product(
        pairs, options.cache_types, options.threads, options.temperatures
    ):
        yield Combination(target, draft, cache, threads, temperature)


# ---- expected -------------------------------------------------------------------------------------------------------


def measure_passes(target: Path, cache: Path, threads: int) -> None:
    """Have the engine measure what passes of a model take, and keep it in ``cache``; where it is kept, do nothing."""
    for _try in range(3):  # what was measured beside another program is not kept
        if any(each.name == target.name and each.threads == threads for each in SampleStore(cache).samples):
            return
        with_passes = Session(cost_folder=cache)
        with_passes.load(LoadRequest(str(target), n_ctx=2048, threads=threads, gpu_layers=0))
        with_passes.measure(MEASURE_S)
        with_passes.close()


def expected(one: Combination, known: Path) -> Outlook | None:
    """What is told of a combination with what the folder ``known`` has."""
    target = read_local_header(Path(one.target))
    draft = read_local_header(Path(one.draft)) if one.draft else None
    plan = LoadPlan(2048, one.cache_type, one.cache_type)
    return Outlooks(known).of_pair(target, draft, Conditions(plan, one.threads, one.threads, one.temperature))


def expectations(one: Combination, folder: Path) -> dict[str, Outlook | None]:
    """What is told of it by each of `BASES`."""
    names = {Path(path).name for path in (one.target, one.draft) if path and Path(path) != builtin_draft()}
    cache = folder / "cache"
    if not any(sample.name == Path(one.target).name for sample in SampleStore(cache).samples):
        sys.stderr.write(f"{one.key}: its own passes are not kept, so it is told from others'\n")
    reported = (
        _folder_with(folder / "memory", ()),
        _folder_with(folder / "others", [each for each in SampleStore(cache).samples if each.name not in names]),
        cache,
    )
    return {basis: expected(one, known) for basis, known in zip(BASES, reported, strict=True)}


def _folder_with(folder: Path, samples: Iterable[PassSample]) -> Path:
    """A folder that knows these passes only, and how fast the memory is once that was measured in it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "passes.json").unlink(missing_ok=True)
    store = SampleStore(folder)
    for sample in samples:
        store.put(sample)
    return folder


# ---- measured -------------------------------------------------------------------------------------------------------


def prompts_for(one: Combination, per_kind: int) -> list[Prompt]:
    """A few of each kind; of those of the built-in pair where its padded target answers."""
    folder = (
        WORKLOADS if "paceline" in Path(one.draft).name or "padded" in Path(one.target).name else WORKLOADS / "real"
    )
    return [prompt for file in sorted(folder.glob("*.jsonl")) for prompt in read_prompts(file)[:per_kind]]


def least(runs: Sequence[Run]) -> list[Run]:
    """Of each prompt and mode the quickest round: what another program takes of one is not the pair's."""
    found: dict[tuple[str, Variant], Run] = {}
    for run in runs:
        before = found.setdefault((run.prompt_id, run.variant), run)
        if run.stats.decode_s / max(run.stats.tokens, 1) < before.stats.decode_s / max(before.stats.tokens, 1):
            found[run.prompt_id, run.variant] = run
    return [replace(run, round=0) for run in found.values()]


def measured(one: Combination, options: argparse.Namespace, cache: Path) -> list[Run]:
    """`auto` and plain decoding, both answering each prompt in turn, round after round."""
    session = Session(cost_folder=cache)
    ready = session.load(one.load)
    session.measure(MEASURE_S)
    raw = not ready.target.has_template
    plan = Plan((one.temperature,), SamplingParams(seed=0), options.max_tokens, options.rounds, raw=raw)
    facts = {"combination": one.key, "max_tokens": options.max_tokens, "prompts": options.per_kind}
    journal = Journal(cache / f"{one.key}.jsonl", facts)
    own = OwnEngine(session, (PLAIN, AUTO))
    runner = Runner(own, (), prompts_for(one, options.per_kind), plan, journal=journal)
    runner.run()
    journal.close()
    session.close()
    return runner.runs


# ---- the table ------------------------------------------------------------------------------------------------------


def row_of(one: Combination, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """Measure passes and answers."""
    measure_passes(Path(one.target), folder / "cache", one.threads)
    runs_folder = folder / "runs"
    runs_folder.mkdir(exist_ok=True)
    runs = least(measured(one, options, runs_folder))
    ratio = ratio_of(runs, AUTO, PLAIN)
    plain = [run.stats for run in runs if run.variant == PLAIN]
    speed = sum(stats.tokens for stats in plain) / max(sum(stats.decode_s for stats in plain), 1e-9)
    return {
        **asdict(one),
        "speedup": ratio.value if ratio else None,
        "interval": [ratio.low, ratio.high] if ratio else None,
        "plain_tokens_per_second": speed,
    }


def judged(row: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A row with what is told of it now."""
    one = Combination(**{name: row[name] for name in Combination.__dataclass_fields__})
    reported = {basis: _figures(outlook) for basis, outlook in expectations(one, folder).items()}
    return {**row, "key": one.key, "told": reported}


def _figures(outlook: Outlook | None) -> dict[str, Any] | None:
    if outlook is None:
        return None
    return {
        "speedup": [outlook.gain.low, outlook.gain.high],
        "plain": [outlook.plain.low, outlook.plain.high],
        "basis": outlook.basis,
        "with": outlook.measured_with,
    }


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown of judged rows: a line for each combination, then how many ranges hold the figure."""
    heads = ("combination", *BASES, "measured")
    lines = []
    for what, value, digits in (("speedup", "speedup", 2), ("plain", "plain_tokens_per_second", 0)):
        lines += [f"\n{what}\n", f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
        for row in rows:
            cells = [_range(row["told"][basis], what, row[value], digits) for basis in BASES]
            lines.append(f"| {row['key']} | {' | '.join(cells)} | {_measured(row, value, digits)} |")
        lines.append("")
        for basis in BASES:
            reported = [row for row in rows if row["told"][basis] is not None]
            held = sum(_holds(row["told"][basis][what], row[value]) for row in reported)
            widest = max(
                (row["told"][basis][what][1] / row["told"][basis][what][0] for row in reported), default=math.nan
            )
            good = "yes" if reported and held >= NEEDED * len(reported) and widest <= WIDEST + 1e-6 else "NO"
            lines.append(f"{what}, {basis}: {held} of {len(reported)} held, widest factor {widest:.2f}: {good}")
    return "\n".join(lines)


def _measured(row: dict[str, Any], value: str, digits: int) -> str:
    interval = row["interval"] if value == "speedup" else None
    ends = f" ({interval[0]:.2f}-{interval[1]:.2f})" if interval and None not in interval else ""
    return UNKNOWN if row[value] is None else f"{row[value]:.{digits}f}{ends}"


def _holds(ends: Sequence[float], value: float | None) -> bool:
    return value is not None and ends[0] <= value <= ends[1]


def _range(figures: dict[str, Any] | None, what: str, value: float | None, digits: int) -> str:
    if figures is None:
        return UNKNOWN
    low, high = figures[what]
    return f"{low:.{digits}f}-{high:.{digits}f}{'' if _holds(figures[what], value) else ' (!)'}"


def main() -> int:
    """Measure what is missing, print the table."""
    parser = argparse.ArgumentParser(description="Expected against measured gains.")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--padded", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--per-kind", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--cache-types", nargs="+", default=["f16", "q8_0"])
    parser.add_argument("--threads", nargs="+", type=int, default=sorted({1, physical_cores()}))
    parser.add_argument("--temperatures", nargs="+", type=float, default=[0.0])
    parser.add_argument("--only", default="", help="a part of a combination's name")
    parser.add_argument("--judge", action="store_true", help="measure nothing")
    options = parser.parse_args()
    rows: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    folder = options.out.with_suffix("")
    if options.judge:
        print(table([judged(row, folder) for row in rows.values()]))
        return 0
    if options.padded is not None:  # what a machine has measured before anything is downloaded: the speed demo
        for threads in options.threads:
            measure_passes(options.padded, folder / "cache", threads)
    ends = time.monotonic() + options.minutes * 60.0
    code = 0
    try:
        for one in combinations(options):
            if one.key in rows or options.only not in one.key:
                continue
            if time.monotonic() > ends:
                code = TIME_OVER
                break
            rows[one.key] = row_of(one, options, folder)
            write_atomically(options.out, json.dumps(rows, indent=1).encode())
            sys.stderr.write(f"{one.key}: {rows[one.key]['speedup']}\n")
    except KeyboardInterrupt:
        code = INTERRUPTED
    print(table([judged(row, folder) for row in rows.values()]))
    return code


if __name__ == "__main__":
    sys.exit(main())
