"""`paceline bench`: compares every mode, and peers, with plain decoding on the same prompts; prints tables and JSON.

Only the requested reports are stored.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    check_reports,
    fail,
    fail_with,
    message_stream,
    notify,
    print_notices,
    unreadable,
    write_reports,
)
from app.cli.run import load_request, open_session
from app.core.benchmark.facts import facts_in_common, program_facts
from app.core.benchmark.journal import Journal
from app.core.benchmark.markdown import as_markdown, tables
from app.core.benchmark.own_engine import OwnEngine, make_variants
from app.core.benchmark.peers.opening import PeerRequest, open_peers, read_peer_requests
from app.core.benchmark.prompts import BenchmarkPrompt, distinct, prompt_files, read_prompts
from app.core.benchmark.report import Report, make_report
from app.core.benchmark.runner import BenchmarkPlan, Runner
from app.core.benchmark.runs import BenchmarkRun, Variant
from app.core.benchmark.summary import answers_verdict
from app.core.domain.errors import PeerError
from app.core.domain.speed.races import OPEN_END_MINUTES
from app.core.hub.errors import LibraryError
from app.core.paths import assets_dir
from engine.errors import EngineError
from engine.pacing.draft_length import choose_draft_length
from engine.records import EngineReady, Mode, Problem, SamplingParams
from engine.session.session import Session


def command(options: argparse.Namespace) -> int:
    """Measure and report; after Ctrl+C or a failure the report has the results so far. Returns the exit code."""
    try:
        resolve_names(options)
        check_reports(options.json, options.markdown)
        prompts = _prompts(options)
        plan = _plan(options)
        requests = read_peer_requests(options.peer, options.peer_configs)
        journal = _journal(options, plan, requests)
    except LibraryError as error:
        return fail(error.problem)
    except (ValueError, OSError) as error:
        return fail(unreadable("This cannot be measured", error, "Change the option or the file."))
    try:
        with sigterm_as_interrupt(), ExitStack() as stack:
            if journal is not None:
                stack.callback(journal.close)
            session = open_session()
            stack.callback(session.close)
            report, status = _measure(session, options, _Task(prompts, plan, requests, journal), stack)
            told, is_fault = answers_verdict(report.rows, session.ready().target.inexact_reason)
    except EngineError as error:
        return fail_with(error)
    except PeerError as error:
        return fail(error.problem)
    except KeyboardInterrupt:
        return INTERRUPTED
    if told:
        notify(told)
    return _write(report, options) or status or int(is_fault)


@dataclass(frozen=True, slots=True)
class _Task:
    prompts: list[BenchmarkPrompt]
    plan: BenchmarkPlan
    requests: tuple[PeerRequest, ...]
    journal: Journal | None


def _measure(session: Session, options: argparse.Namespace, task: _Task, stack: ExitStack) -> tuple[Report, int]:
    """Load the models and measure; returns the report and the exit code.

    After a failure the report holds the results measured before it.

    Raises:
        EngineError, PeerError, KeyboardInterrupt: the run failed or was stopped before the first result.
    """
    load = load_request(options)
    ready = session.load(load)
    print_notices(ready)
    session.measure()
    own = OwnEngine(session, _variants(options, ready))
    peers = open_peers(task.requests, load, ready, stack)
    runner = Runner(own, peers, task.prompts, task.plan, journal=task.journal)
    progress = Progress(runner.runs_per_round)
    runner.on_run = progress.on_run
    status = 0
    try:
        runner.run()
    except (KeyboardInterrupt, PeerError, EngineError, OSError) as stopped:
        progress.end()
        if not runner.runs and not isinstance(stopped, OSError):
            raise
        status = report_stop(stopped)
    else:
        progress.end()
    if task.journal is not None and (status or runner.out_of_time):
        print(f"paceline: the same command continues after these {len(runner.runs)} answers.", file=sys.stderr)
    return make_report(ready, settings_of(runner, task.plan, task.prompts), runner.runs), status


def report_stop(stopped: BaseException) -> int:
    """Print why a measurement ended early; returns the exit code."""
    if isinstance(stopped, PeerError | EngineError):
        return fail(stopped.problem)
    if isinstance(stopped, OSError):
        reason = f"{stopped.strerror or stopped}."
        return fail(Problem("The answers cannot be stored", reason, "Free some space, then start it again."))
    return INTERRUPTED


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


class Progress:
    """A progress line on stderr, rewritten in place; nothing if stderr is no terminal."""

    def __init__(self, total: int) -> None:
        """``total``: number of answers in one round."""
        self._total = total
        self._done = 0

    def on_run(self, run: BenchmarkRun) -> None:
        round_number, place = divmod(self._done, self._total)
        self._done += 1
        if sys.stderr.isatty():
            where = f"round {round_number + 1}: {place + 1} of {self._total}"
            print(f"\r{where}: {run.prompt_id:<30.30}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._done and sys.stderr.isatty():
            print(file=sys.stderr)


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
    places = [Path(name) for name in options.prompts] or [assets_dir() / "workloads"]
    files = [file for place in places for file in prompt_files(place)]
    prompts = distinct(prompt for file in files for prompt in read_prompts(file))
    known = dict.fromkeys(prompt.category for prompt in prompts)
    unknown = [category for category in options.categories if category not in known]
    if unknown:
        raise ValueError(f"No prompt is of the category {' or '.join(unknown)}; there are {', '.join(known)}.")
    counts: dict[str, int] = {}
    chosen = []
    for prompt in prompts:
        counts[prompt.category] = counts.get(prompt.category, 0) + 1
        wanted = not options.categories or prompt.category in options.categories
        if wanted and counts[prompt.category] <= (options.per_category or counts[prompt.category]):
            chosen.append(prompt)
    return chosen


def _plan(options: argparse.Namespace) -> BenchmarkPlan:
    for depth in options.depths:
        choose_draft_length(Mode.NGRAM, depth, can_pace=True)
    counts = {"--max-tokens": options.max_tokens, "--repeat": options.repeat, "--per-category": options.per_category}
    for name, count in counts.items():
        if count is not None and count < 1:
            raise ValueError(f"{name} must be 1 or more.")
    for name, number in (("--until", options.until), ("--max-minutes", options.max_minutes)):
        if number is not None and not number > 0:  # `not >` is also true for NaN
            raise ValueError(f"{name} must be more than 0.")
    if options.until is not None and Mode.AUTO not in options.modes:
        raise ValueError("--until needs the mode auto: add it to --modes.")
    samplings = [
        SamplingParams(temperature, options.top_k, options.top_p, options.min_p, seed=options.seed)
        for temperature in options.temperature
    ]
    return BenchmarkPlan(
        temperatures=tuple(sampling.temperature for sampling in samplings),
        sampling=samplings[0],
        max_tokens=options.max_tokens,
        repeat=options.repeat,
        raw=options.raw,
        ignore_eos=options.ignore_eos,
        until_percent=options.until,
        max_minutes=options.max_minutes or (OPEN_END_MINUTES if options.until else None),
    )


def _variants(options: argparse.Namespace, ready: EngineReady) -> tuple[Variant, ...]:
    """The variants that can run; prints why others cannot."""
    for mode, reason in ready.unavailable.items():
        if mode in options.modes:
            print(f"paceline: {mode.value} is left out: {reason}", file=sys.stderr)
    return make_variants(options.modes, options.depths, set(ready.unavailable))


def settings_of(runner: Runner, plan: BenchmarkPlan, prompts: Sequence[BenchmarkPrompt]) -> dict[str, object]:
    """The settings and the progress as the report stores them."""
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
        "until_percent": plan.until_percent,
        "max_minutes": plan.max_minutes,
        "complete_rounds": runner.rounds,
        "widest_interval_percent": runner.widest_percent,
        "compared": list(dict.fromkeys(run.variant.label for run in runner.runs)),
    }


def _write(report: Report, options: argparse.Namespace) -> int:
    print(tables(report.rows), file=message_stream(options.json, options.markdown))
    as_json = json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n"
    return write_reports((options.json, as_json), (options.markdown, as_markdown(report)))
