"""`paceline race`: one question in two or three modes, alternated in short slices; tables, verdicts and reports.

Nothing is kept but the reports that are asked for, and what passes cost.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TextIO

from app.cli.interrupts import stop_on_interrupt
from app.cli.layers import missing_drafter
from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    check_reports,
    counted,
    fail,
    fail_with,
    notify,
    notify_of,
    stream_beside,
    table,
    unreadable,
    write_reports,
)
from app.cli.run import load_request, make_request, open_session
from app.cli.terminal_stream import TerminalStream
from app.cli.terminal_words import problem_for_terminal
from app.core.benchmark.lanes import read_lanes, uses_draft
from app.core.benchmark.markdown import figure, percent
from app.core.benchmark.opened_lanes import OpenLane, open_beside, why_inexact_of
from app.core.benchmark.race import (
    Lane,
    LaneFailedError,
    Race,
    RacePlan,
    RoundEnded,
    SliceEnded,
)
from app.core.benchmark.race_report import HEADS, RaceVerdict, decoding_settings, judge, lane_rows, make_race_report
from app.core.benchmark.runs import BenchmarkRun, Variant
from app.core.domain.errors import AppError
from app.core.domain.speed.races import UNTIL_MINUTES
from engine.errors import DraftRefusedError, EngineError
from engine.records import ChatRequest, LoadRequest, Mode, RunStats

NO_DRAFT_ADVICE = "Give a draft of the same model family, or leave --draft out."
TOO_SHORT = (
    "The answers took less than a slice of time, which says little: ask for longer ones, with --max-tokens or "
    "--ignore-eos."
)


def command(options: argparse.Namespace) -> int:
    """Race and report; the exit code as `main` says. What there is after Ctrl+C or a failure is reported."""
    try:
        resolve_names(options)
        check_reports(options.json, options.markdown)
        variants, plan, request = _variants(options), _plan(options), _request(options)
    except AppError as error:
        return fail(error.problem)
    except (ValueError, OSError) as error:
        return fail(unreadable("This cannot be raced", error, "See paceline race --help."))
    with stop_on_interrupt() as interrupted, ExitStack() as stack:
        try:
            load = load_request(options)
            load = load if any(map(uses_draft, variants)) else replace(load, draft=None)
            lanes = _opened(variants, load, request, stack, interrupted)
        except LaneFailedError as error:
            return INTERRUPTED if interrupted.is_set() else _fail_lane(error)
        except EngineError as error:
            return INTERRUPTED if interrupted.is_set() else fail_with(error)
        if interrupted.is_set():
            return INTERRUPTED
        return _RaceCommand(options, lanes, request, plan).run(interrupted)


def _fail_lane(error: LaneFailedError) -> int:
    problem = problem_for_terminal(error.error.problem)
    return fail(replace(problem, message=f"The lane {error.variant.label}: {problem.message}"))


def _variants(options: argparse.Namespace) -> tuple[Variant, ...]:
    variants = read_lanes(options.lanes)
    for variant in variants:
        if missing := missing_drafter(Mode(variant.mode), options.model, options.draft):
            raise ValueError(f"The lane {variant.label} needs {missing}")
    return variants


def _plan(options: argparse.Namespace) -> RacePlan:
    if options.rounds < 1:
        raise ValueError("--rounds must be 1 or more.")
    for name, number in (("--until", options.until), ("--max-minutes", options.max_minutes)):
        if number is not None and not number > 0:  # nan is not
            raise ValueError(f"{name} must be more than 0.")
    return RacePlan(
        options.rounds, options.until, options.max_minutes or (UNTIL_MINUTES if options.until is not None else None)
    )


def _request(options: argparse.Namespace) -> ChatRequest:
    """The question; at temperature 0 unless an option or the preset says otherwise, so that answers can be compared."""
    if options.temperature is None and options.preset is None:
        options.temperature = 0.0
    request = make_request(options)
    return replace(request, sampling=replace(request.sampling, seed=request.sampling.seed or 0))


def _opened(
    variants: Sequence[Variant],
    load: LoadRequest,
    request: ChatRequest,
    stack: ExitStack,
    interrupted: threading.Event,
) -> list[OpenLane]:
    """Load the models once and open the lanes on them; print their notices.

    Raises:
        LaneFailedError: a lane cannot run as it was asked to.
        EngineError: the models cannot be loaded, or the lanes do not fit.
    """
    if sys.stderr.isatty():
        print("\rLoading, and measuring what passes cost ...", end="", file=sys.stderr, flush=True)
    session = open_session()
    stack.callback(session.close)
    session.is_load_cancelled = interrupted.is_set
    try:
        ready = session.load(load, lambda _path, _fraction: not interrupted.is_set())
        if load.draft is not None and ready.draft is None:  # `auto` would answer without it, and not as was asked
            error = DraftRefusedError(ready.unavailable.get(Mode.DRAFT, ""), NO_DRAFT_ADVICE)
            raise LaneFailedError(next(filter(uses_draft, variants)), error)
        lanes = open_beside(variants, session, request, stack, interrupted.is_set)
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)
    notify_of(ready)
    return lanes


class _RaceCommand:
    """A race of loaded lanes, shown as it runs."""

    def __init__(
        self, options: argparse.Namespace, lanes: Sequence[OpenLane], request: ChatRequest, plan: RacePlan
    ) -> None:
        self._options, self._lanes, self._request, self._plan = options, lanes, request, plan
        self._race = Race([Lane(lane.variant, lane.session) for lane in lanes], request, plan)
        self._out: TextIO = stream_beside(options.json, options.markdown)
        self._partial: tuple[BenchmarkRun, ...] = ()

    def run(self, interrupted: threading.Event) -> int:
        """Race, and tell what came of it; the exit code."""
        lines, status = LaneLines([lane.variant for lane in self._lanes]), 0
        try:
            for event in self._race.events(interrupted.is_set):
                if isinstance(event, SliceEnded):
                    lines.show(event)
                else:
                    lines.clear()
                    self._end_round(event)
        except LaneFailedError as error:
            lines.clear()
            status = _fail_lane(error)
        lines.clear()
        if interrupted.is_set():
            status = INTERRUPTED
        runs = self._race.runs or list(self._partial)
        return (self._end(runs) if runs else 0) or status

    def _end_round(self, ended: RoundEnded) -> None:
        """Say how a round went; one that is the whole race is told as such, one that was cut only where it is all."""
        if not ended.complete:
            self._partial = ended.runs
        elif self._plan.rounds > 1 or self._plan.until_percent is not None:
            self._report(f"Round {ended.round + 1}", ended.runs, judge(self._race.runs))

    def _end(self, runs: Sequence[BenchmarkRun]) -> int:
        complete = bool(self._race.runs)
        verdicts = judge(runs, why_inexact_of(self._lanes), complete=complete)
        if sum(run.stats.decode_s for run in runs) < self._plan.slice_s * len(runs):
            notify(TOO_SHORT)
        title = f"All of {counted(self._race.rounds, 'round', 'rounds')}" if complete else "A round that was cut short"
        summed = ": tokens and rollbacks are sums" if self._race.rounds > 1 else ""
        self._report(title + summed, runs, verdicts)
        self._notify_threads()
        ready = max((lane.ready for lane in self._lanes), key=lambda ready: ready.draft is not None)
        report = make_race_report(ready, self._settings(), runs, verdicts)
        as_json = json.dumps(report.as_dict(), indent=1, ensure_ascii=False) + "\n"
        written = write_reports((self._options.json, as_json), (self._options.markdown, report.as_markdown()))
        return written or int(any(one.difference is not None and one.difference.is_fault for one in verdicts))

    def _notify_threads(self) -> None:
        """Say where the lanes did not compute alike to the end: each gives cores to other programs by itself."""
        threads = [lane.session.threads for lane in self._lanes]
        if len(set(threads)) > 1:
            named = ", ".join(
                f"{lane.variant.label} {number}" for lane, number in zip(self._lanes, threads, strict=True)
            )
            notify(
                f"Other programs wanted the cores, and the lanes ended with unlike threads ({named}). Give --threads."
            )

    def _report(self, title: str, runs: Sequence[BenchmarkRun], verdicts: Sequence[RaceVerdict]) -> None:
        print(f"{title}\n{table([HEADS, *lane_rows(runs)], numbers_from=1)}", file=self._out)
        for verdict in verdicts:
            print(verdict.sentence, file=self._out)
        print(file=self._out, flush=True)

    def _settings(self) -> dict[str, object]:
        request, plan = self._request, self._plan
        return {
            "lanes": [lane.variant.label for lane in self._lanes],
            **decoding_settings(request),
            "ignore_eos": request.ignore_eos,
            "slice_s": plan.slice_s,
            "rounds": plan.rounds,
            "until_percent": plan.until_percent,
            "max_minutes": plan.max_minutes,
            "complete_rounds": self._race.rounds,
        }


class LaneLines:
    """A line for each lane on stderr that is written over, where somebody looks; in a pipe there is nothing."""

    def __init__(self, variants: Sequence[Variant]) -> None:
        self._stream = sys.stderr if isinstance(sys.stderr, TerminalStream) else None
        self._width = max(len(variant.label) for variant in variants)
        self._lines = {variant: self._line(variant, None) for variant in variants}
        self._drawn = False

    def show(self, ended: SliceEnded) -> None:
        """Write the lines, that of the lane whose slice ended anew."""
        self._lines[ended.variant] = self._line(ended.variant, ended)
        if self._stream is None:
            return
        if self._drawn:
            self._stream.move_up(len(self._lines))
        columns = shutil.get_terminal_size().columns - 1  # a line that wraps would not be written over
        for line in self._lines.values():
            self._stream.write(f"\r\033[K{line[:columns]}")
            self._stream.write("\n")
        self._stream.flush()
        self._drawn = True

    def clear(self) -> None:
        """Take the lines away, and begin anew with the next."""
        self._lines = {variant: self._line(variant, None) for variant in self._lines}
        if self._stream is None or not self._drawn:
            return
        self._stream.move_up(len(self._lines))
        for _ in self._lines:
            self._stream.write("\r\033[K")
            self._stream.write("\n")
        self._stream.move_up(len(self._lines))
        self._stream.flush()
        self._drawn = False

    def _line(self, variant: Variant, ended: SliceEnded | None) -> str:
        stats = ended.stats if ended is not None else RunStats()
        parts = [
            f"{stats.tokens:5} tokens",
            f"{figure(stats.tokens_per_second, 1):>6} tokens/s",
            f"{figure(stats.tokens_per_pass, 2):>5} per pass",
            f"{percent(stats.acceptance_rate):>5} accepted",
        ]
        done = "  done" if ended is not None and ended.finished else ""
        return f"{variant.label:<{self._width}} {'  '.join(parts)}{done}"
