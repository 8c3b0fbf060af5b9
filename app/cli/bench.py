"""`paceline bench`: compares every mode, and peers, with plain decoding on the same prompts; prints tables and JSON.

Only the requested reports are stored.
"""

import argparse
import json
import sys
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path

from app.cli.interrupts import ended_by_signals
from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    ProgressLine,
    check_reports,
    fail,
    notify,
    option_errors,
    print_notices,
    write_reports,
)
from app.cli.run import load_request, open_session
from app.core.benchmark.peers import LlamaServerPeer
from app.core.benchmark.prompts import BenchmarkPrompt, distinct, prompt_files, read_prompts
from app.core.benchmark.report import answers_verdict, as_markdown, make_report
from app.core.benchmark.runner import OwnEngine, Runner, make_variants
from app.core.benchmark.runs import BenchmarkPlan, BenchmarkRun
from app.core.domain.errors import PeerError
from app.core.paths import assets_dir
from engine.errors import EngineError
from engine.pacing.draft_length import choose_draft_length
from engine.records import Mode, SamplingParams


def command(options: argparse.Namespace) -> int:
    """Measure and report; after Ctrl+C or a failure the report has the results so far. Returns the exit code."""
    with option_errors("This cannot be measured", "Change the option or the file."):
        resolve_names(options)
        check_reports(options.json)
        prompts = _prompts(options)
        plan = _plan(options)
    with ended_by_signals(), ExitStack() as stack:
        session = open_session()
        stack.callback(session.close)
        load = load_request(options)
        ready = session.load(load)
        print_notices(ready)
        session.measure()
        for mode, reason in ready.unavailable.items():
            if mode in options.modes:
                print(f"paceline: {mode.value} is left out: {reason}", file=sys.stderr)
        own = OwnEngine(session, make_variants(options.modes, options.depths, set(ready.unavailable)))
        peers = [LlamaServerPeer(options.peer, load, ready)] if options.peer else []
        for peer in peers:
            stack.callback(peer.close)
        runner = Runner(own, peers, prompts, plan)
        status = measure(runner)
    if not runner.runs:
        return status
    progress = {
        "prompts": len(prompts),
        "complete_rounds": runner.rounds,
        "compared": list(dict.fromkeys(run.variant.label for run in runner.runs)),
    }
    settings = asdict(plan)
    report = make_report(ready, {**settings.pop("sampling"), **settings, **progress}, runner.runs)
    verdict, is_fault = answers_verdict(report.rows, ready.target.inexact_reason)
    if verdict:
        notify(verdict)
    page, as_json = as_markdown(report), json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n"
    print(page)
    return write_reports((options.json, as_json)) or status or int(is_fault)


def measure(runner: Runner) -> int:
    """Run with a progress line, and print why it ended early; returns the exit code."""
    with closing(ProgressLine()) as progress:

        def on_run(run: BenchmarkRun) -> None:
            number, index = divmod(len(runner.runs) - 1, runner.runs_per_round)
            progress.show(f"round {number + 1}: {index + 1} of {runner.runs_per_round}: {run.prompt_id}")

        runner.on_run = on_run
        try:
            runner.run()
        except KeyboardInterrupt:
            return INTERRUPTED
        except (PeerError, EngineError) as error:
            progress.close()
            return fail(error.problem)
    return 0


def _prompts(options: argparse.Namespace) -> list[BenchmarkPrompt]:
    paths = [Path(name) for name in options.prompts] or [assets_dir() / "workloads"]
    files = [file for path in paths for file in prompt_files(path)]
    prompts = distinct(prompt for file in files for prompt in read_prompts(file))
    seen: Counter[str] = Counter()
    chosen = list[BenchmarkPrompt]()
    for prompt in prompts:
        seen[prompt.category] += 1
        if options.per_category is None or seen[prompt.category] <= options.per_category:
            chosen.append(prompt)
    return chosen


def _plan(options: argparse.Namespace) -> BenchmarkPlan:
    for depth in options.depths:
        choose_draft_length(Mode.NGRAM, depth, can_pace=True)
    samplings = [SamplingParams(one, seed=options.seed) for one in options.temperature]  # checks each
    return BenchmarkPlan(
        temperatures=tuple(options.temperature),
        sampling=samplings[0],
        max_tokens=options.max_tokens,
        repeat=options.repeat,
        ignore_eos=options.ignore_eos,
        max_minutes=options.max_minutes,
    )
