"""`paceline bench`: every mode against plain decoding on the same prompts, as a table and as JSON.

Knows no window and keeps nothing but the report it is asked to write.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from app.benchmark.prompts import Prompt, read_prompts
from app.benchmark.report import as_json, as_markdown
from app.benchmark.runner import Plan, Run, make_variants, run_plan
from app.benchmark.summary import summarise
from app.command_line.output import fail, fail_with
from app.command_line.run import load_request, open_session
from app.paths import assets_dir
from engine.errors import EngineError
from engine.pacing import choose_pace
from engine.records import EngineReady, Mode, Problem, SamplingParams


def command(options: argparse.Namespace) -> int:
    """Measure and report; the exit code as `main` says."""
    try:
        prompts = _prompts(options)
        plan = _plan(options)
    except (ValueError, OSError) as error:
        return fail(Problem("This cannot be measured", str(error), "Change the option or the file."))
    session = open_session()
    try:
        ready = session.load(load_request(options))
        for notice in ready.notices:
            print(f"paceline: {notice}", file=sys.stderr)
        session.measure()
        plan = _available(plan, options, ready)
        progress = _Progress(len(prompts) * plan.runs_per_prompt)
        runs = run_plan(session, prompts, plan, progress.on_run)
    except EngineError as error:
        return fail_with(error)
    finally:
        session.close()
    rows = summarise(runs)
    print(as_markdown(rows))
    if options.json:
        report = as_json(ready, _settings(plan, prompts), rows)
        try:
            Path(options.json).write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        except OSError as error:
            return fail(Problem("The report was not written", str(error), "Choose another file."))
    return 0


class _Progress:
    """One line on stderr that is written over, where somebody looks."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0

    def on_run(self, run: Run) -> None:
        """Count one answer."""
        self._done += 1
        if sys.stderr.isatty():
            print(f"\r{self._done} of {self._total}: {run.prompt_id:<30.30}", end="", file=sys.stderr, flush=True)
            if self._done == self._total:
                print(file=sys.stderr)


def _prompts(options: argparse.Namespace) -> list[Prompt]:
    files = [Path(name) for name in options.prompts] or sorted((assets_dir() / "workloads").glob("*.jsonl"))
    return [prompt for file in files for prompt in read_prompts(file)]


def _plan(options: argparse.Namespace) -> Plan:
    for depth in options.depths:
        choose_pace(Mode.NGRAM, depth, can_pace=True)
    if options.max_tokens < 1 or options.repeat < 1:
        raise ValueError("--max-tokens and --repeat must be 1 or more.")
    sampling = SamplingParams(top_k=options.top_k, top_p=options.top_p, min_p=options.min_p, seed=options.seed)
    for temperature in options.temperature:
        replace(sampling, temperature=temperature)
    return Plan(
        variants=make_variants(options.modes, options.depths, set()),
        temperatures=tuple(options.temperature),
        sampling=sampling,
        max_tokens=options.max_tokens,
        repeat=options.repeat,
        raw=options.raw,
        ignore_eos=options.ignore_eos,
    )


def _available(plan: Plan, options: argparse.Namespace, ready: EngineReady) -> Plan:
    """Leave out what cannot run, and say so."""
    for mode, reason in ready.unavailable.items():
        if mode in options.modes:
            print(f"paceline: {mode.value} is left out: {reason}", file=sys.stderr)
    return replace(plan, variants=make_variants(options.modes, options.depths, set(ready.unavailable)))


def _settings(plan: Plan, prompts: Sequence[Prompt]) -> dict[str, object]:
    sampling = plan.sampling
    return {
        "prompts": len(prompts),
        "temperatures": list(plan.temperatures),
        "top_k": sampling.top_k,
        "top_p": sampling.top_p,
        "min_p": sampling.min_p,
        "seed": sampling.seed,
        "max_tokens": plan.max_tokens,
        "repeat": plan.repeat,
        "raw": plan.raw,
        "ignore_eos": plan.ignore_eos,
    }
