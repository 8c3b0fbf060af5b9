"""`paceline bench`: compares every mode, and peers, with plain decoding on the same prompts; prints tables and JSON.

Only the requested reports are stored.
"""

import argparse
import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    ProgressLine,
    check_positive,
    check_reports,
    fail,
    notify,
    option_errors,
    print_notices,
    write_reports,
)
from app.cli.run import load_request, open_session
from app.core.benchmark.journal import Journal, facts_in_common, program_facts
from app.core.benchmark.markdown import as_markdown, tables
from app.core.benchmark.peers.opening import PeerRequest, open_peers, read_peer_requests
from app.core.benchmark.prompts import BenchmarkPrompt, distinct, prompt_files, read_prompts
from app.core.benchmark.report import answers_verdict, make_report
from app.core.benchmark.runner import OwnEngine, Runner, make_variants
from app.core.benchmark.runs import BenchmarkPlan, BenchmarkRun
from app.core.domain.errors import PeerError
from app.core.domain.speed.races import MAX_OPEN_MINUTES
from app.core.paths import assets_dir
from engine.errors import EngineError
from engine.pacing.draft_length import choose_draft_length
from engine.records import Mode, Problem, SamplingParams


def command(options: argparse.Namespace) -> int:
    """Measure and report; after Ctrl+C or a failure the report has the results so far. Returns the exit code."""
    with option_errors("This cannot be measured", "Change the option or the file."):
        resolve_names(options)
        check_reports(options.json, options.markdown)
        prompts = _prompts(options)
        plan = _plan(options)
        requests = read_peer_requests(options.peer, options.peer_configs)
        journal = _journal(options, plan, requests)
    with sigterm_as_interrupt(), ExitStack() as stack:
        if journal is not None:
            stack.callback(journal.close)
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
        runner = Runner(own, open_peers(requests, load, ready, stack), prompts, plan, journal=journal)
        status = measure(runner)
    if not runner.runs:
        return status
    if journal is not None and (status or runner.out_of_time):
        print(f"paceline: the same command continues after these {len(runner.runs)} answers.", file=sys.stderr)
    progress = {
        "prompts": len(prompts),
        "complete_rounds": runner.rounds,
        "widest_interval_percent": runner.widest_percent,
        "compared": list(dict.fromkeys(run.variant.label for run in runner.runs)),
    }
    settings = asdict(plan)
    report = make_report(ready, {**settings.pop("sampling"), **settings, **progress}, runner.runs)
    verdict, is_fault = answers_verdict(report.rows, ready.target.inexact_reason)
    if verdict:
        notify(verdict)
    print(tables(report.rows))
    as_json = json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n"
    return write_reports((options.json, as_json), (options.markdown, as_markdown(report))) or status or int(is_fault)


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
        except OSError as error:
            progress.close()
            reason = f"{error.strerror or error}."
            return fail(Problem("The answers cannot be stored", reason, "Free some space, then start it again."))
    return 0


def _journal(options: argparse.Namespace, plan: BenchmarkPlan, requests: Sequence[PeerRequest]) -> Journal | None:
    """The journal that ``--resume`` names; None without the option.

    Raises:
        ValueError, OSError: the journal cannot be used.
    """
    if options.resume is None:
        return None
    facts = facts_in_common(load_request(options), plan)
    facts |= {peer.title: program_facts(peer.path) for peer in requests if peer.path}
    journal = Journal(Path(options.resume), facts)
    if len(journal):
        print(f"paceline: {options.resume} has {len(journal)} answers already.", file=sys.stderr)
    return journal


@contextmanager
def sigterm_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM and a closed terminal like Ctrl+C, so that peers end with this process."""

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup sets SIG_IGN
        numbers.append(signal.SIGHUP)
    before = [(number, signal.signal(number, on_signal)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


def _prompts(options: argparse.Namespace) -> list[BenchmarkPrompt]:
    paths = [Path(name) for name in options.prompts] or [assets_dir() / "workloads"]
    files = [file for path in paths for file in prompt_files(path)]
    prompts = distinct(prompt for file in files for prompt in read_prompts(file))
    known = dict.fromkeys(prompt.category for prompt in prompts)
    unknown = [category for category in options.categories if category not in known]
    if unknown:
        raise ValueError(f"No prompt is of the category {' or '.join(unknown)}; there are {', '.join(known)}.")
    kept: dict[str, list[BenchmarkPrompt]] = {}
    for prompt in prompts:
        kept.setdefault(prompt.category, []).append(prompt)
    most = options.per_category
    chosen = [one for category in options.categories or known for one in kept[category][:most]]
    return [prompt for prompt in prompts if prompt in chosen]


def _plan(options: argparse.Namespace) -> BenchmarkPlan:
    for depth in options.depths:
        choose_draft_length(Mode.NGRAM, depth, can_pace=True)
    check_positive(options, "max_tokens", "repeat", "per_category", least=1)
    check_positive(options, "until", "max_minutes")
    if options.until is not None and Mode.AUTO not in options.modes:
        raise ValueError("--until needs the mode auto: add it to --modes.")
    others = (options.top_k, options.top_p, options.min_p)
    samplings = [SamplingParams(one, *others, seed=options.seed) for one in options.temperature]  # checks each
    return BenchmarkPlan(
        temperatures=tuple(options.temperature),
        sampling=samplings[0],
        max_tokens=options.max_tokens,
        repeat=options.repeat,
        raw=options.raw,
        ignore_eos=options.ignore_eos,
        until_percent=options.until,
        max_minutes=options.max_minutes or (MAX_OPEN_MINUTES if options.until else None),
    )
