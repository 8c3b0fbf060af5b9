"""Holds the verdicts of races, as the window runs them, against what the benchmark gives for the same questions.

    python packaging/measure/race/beside_bench.py --target T.gguf --draft D.gguf --out both.json [--minutes 4]

Plain decoding, suffix, draft and auto answer one prompt of each kind of ``assets/workloads/real``: once by the job that
races in the window, and once as `paceline bench` measures, each for some rounds. Told are both ratios over plain
decoding, with their intervals over rounds (95%), and whether these have a value in common. A run that was stopped goes
on behind the last prompt that is in ``--out``.

Exit status: 0 when all is measured, 3 when the time was over before.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from app.benchmark.own_engine import OwnEngine
from app.benchmark.prompts import Prompt, read_prompts
from app.benchmark.ratios import ratio_of
from app.benchmark.runner import Plan, Runner
from app.benchmark.runs import AUTO, PLAIN, Variant
from app.controllers.race.job import RaceJob
from app.domain.speed.races import LaneChoice, RaceEnded, RaceResult, RaceSetup
from app.storage.pair_speeds import PairSpeeds
from app.storage.races import RaceStore
from engine.records import ChatRequest, Event, LoadRequest, Message, Mode, SamplingParams
from engine.session.session import Session
from engine.storage.atomic import write_atomically

WORKLOADS = Path(__file__).resolve().parents[3] / "assets" / "workloads" / "real"
TIME_OVER = 3
OTHERS = (Variant(Mode.SUFFIX.value), Variant(Mode.DRAFT.value), AUTO)
Figures = dict[str, list[float | None]]  # by mode: ratio, low, high


def raced(session: Session, prompt: Prompt, options: argparse.Namespace, folder: Path) -> tuple[Figures, list[str]]:
    """The ratios of a race of all modes at once, and what was said of the answers."""
    *before, question = prompt.messages
    lanes = tuple(LaneChoice(Mode(variant.mode)) for variant in (PLAIN, *OTHERS))
    setup = RaceSetup(question.content, lanes, options.rounds, options.max_tokens, before=tuple(before))
    request = ChatRequest(
        messages=(*before, Message("user", question.content)),
        sampling=SamplingParams(temperature=0.0, seed=0),
        max_tokens=options.max_tokens,
    )
    reported: list[Event] = []
    job = RaceJob(setup, request, RaceStore(folder / "races"), PairSpeeds(folder / "speeds.json"))
    job.run(session, lambda: False, reported.append, lambda: None)
    ended = reported[-1]
    if not isinstance(ended, RaceEnded) or ended.result is None:
        raise SystemExit(f"{prompt.id}: the race gave nothing: {ended}")
    return _figures(ended.result), [line for line in ended.result.markdown.splitlines() if line.startswith("- ")]


def _figures(result: RaceResult) -> Figures:
    modes = [lane.choice.mode.value for lane in result.lanes]
    return {modes[one.lane]: [one.ratio, one.low, one.high] for one in result.verdicts}


def benched(session: Session, prompt: Prompt, options: argparse.Namespace) -> Figures:
    """The ratios as the benchmark measures them."""
    plan = Plan((0.0,), SamplingParams(seed=0), options.max_tokens, options.rounds)
    runner = Runner(OwnEngine(session, (PLAIN, *OTHERS)), (), [prompt], plan)
    runner.run()
    found: Figures = {}
    for variant in OTHERS:
        ratio = ratio_of(runner.runs, variant, PLAIN)
        found[variant.mode] = [ratio.value, ratio.measured_low, ratio.measured_high] if ratio else [None] * 3
    return found


def table(rows: dict[str, Any]) -> str:
    """Markdown: a line for each prompt and mode, and how many agree."""
    lines = ["| question | mode | race | bench | agree |", "|---|---|---:|---:|---|"]
    agreed = []
    for name, row in rows.items():
        for mode, race in row["race"].items():
            agreed.append(_agree(race, row["bench"][mode]))
            answer = "yes" if agreed[-1] else "NO"
            lines.append(f"| {name} | {mode} | {_words(race)} | {_words(row['bench'][mode])} | {answer} |")
    return "\n".join([*lines, "", f"{sum(agreed)} of {len(agreed)} agree within their intervals."])


def _agree(first: Sequence[float | None], second: Sequence[float | None]) -> bool:
    """Whether two intervals have a value in common."""
    (_, low, high), (_, other_low, other_high) = first, second
    if None in (low, high, other_low, other_high):
        return False
    return max(low or 0.0, other_low or 0.0) <= min(high or 0.0, other_high or 0.0)


def _words(figures: Sequence[float | None]) -> str:
    value, low, high = (math.nan if figure is None else figure for figure in figures)
    return f"{value:.2f} ({low:.2f}-{high:.2f})"


def main() -> int:
    """Race and benchmark what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--kinds", nargs="+", default=["chat", "completion", "editing", "reasoning", "structured"])
    options = parser.parse_args()
    rows: dict[str, Any] = json.loads(options.out.read_text()) if options.out.exists() else {}
    ends, code = time.monotonic() + options.minutes * 60.0, 0
    session = Session(cost_folder=options.out.parent)
    session.load(LoadRequest(options.target, options.draft, n_ctx=2048, gpu_layers=0))
    session.measure()
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            prompt = read_prompts(WORKLOADS / f"{kind}.jsonl")[0]
            if prompt.id in rows:
                continue
            if time.monotonic() > ends:
                code = TIME_OVER
                break
            race, sentences = raced(session, prompt, options, Path(folder))
            rows[prompt.id] = {"race": race, "sentences": sentences, "bench": benched(session, prompt, options)}
            write_atomically(options.out, json.dumps(rows, indent=1).encode())
    session.close()
    print(table(rows))
    return code


if __name__ == "__main__":
    sys.exit(main())
