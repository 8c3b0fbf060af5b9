"""`paceline race`: answers one question in two or three modes, in alternating short slices; prints tables and verdicts.

Only the requested reports and the measured pass costs are stored.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace

from app.cli.interrupts import stop_on_interrupt
from app.cli.layers import missing_drafter
from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    check_reports,
    counted,
    fail,
    fail_with,
    message_stream,
    notify,
    print_notices,
    table,
    unreadable,
    write_reports,
)
from app.cli.run import load_request, make_request, open_session
from app.cli.terminal_stream import TerminalStream
from app.core.benchmark.lane_runner import RaceRun
from app.core.benchmark.lanes import read_lanes, uses_draft
from app.core.benchmark.markdown import decimal, percent
from app.core.benchmark.race import LaneFailedError, RacePlan
from app.core.benchmark.race_report import HEADS, lane_rows, verdict_sentence
from app.core.benchmark.runs import variant_of
from app.core.domain.errors import AppError
from app.core.domain.speed.races import (
    OPEN_END_MINUTES,
    LaneChoice,
    LaneProgress,
    LaneVerdict,
    RaceEnded,
    RaceResult,
    RaceRoundEnded,
    RaceSetup,
)
from engine.errors import DraftRefusedError, EngineError
from engine.records import ChatRequest, EngineReady, LoadRequest, Mode, RunStats
from engine.session.session import Session

NO_DRAFT_ADVICE = "Give a draft of the same model family, or leave --draft out."


def command(options: argparse.Namespace) -> int:
    """Race and report; after Ctrl+C or a failure the report has the results so far. Returns the exit code."""
    try:
        resolve_names(options)
        check_reports(options.json, options.markdown)
        choices, plan, request = _choices(options), _plan(options), _request(options)
    except AppError as error:
        return fail(error.problem)
    except (ValueError, OSError) as error:
        return fail(unreadable("This cannot be raced", error, "See paceline race --help."))
    with stop_on_interrupt() as interrupted, ExitStack() as stack:
        session = open_session()
        stack.callback(session.close)
        try:
            load = load_request(options)
            load = load if any(map(uses_draft, choices)) else replace(load, draft=None)
            ready = _load_once(session, load, choices, interrupted.is_set)
        except LaneFailedError as error:
            return INTERRUPTED if interrupted.is_set() else fail(error.problem)
        except EngineError as error:
            return INTERRUPTED if interrupted.is_set() else fail_with(error)
        question = request.raw_prompt or request.messages[-1].content
        race = RaceRun(RaceSetup(question, choices, plan.rounds, request.max_tokens or 0), request, plan)
        status = _RaceCommand(options, choices, plan).run(race, session, ready, interrupted)
        return INTERRUPTED if interrupted.is_set() else status


def _choices(options: argparse.Namespace) -> tuple[LaneChoice, ...]:
    choices = read_lanes(options.lanes)
    for choice in choices:
        if missing := missing_drafter(choice.mode, options.model, options.draft):
            raise ValueError(f"The lane {variant_of(choice).label} needs {missing}")
    return choices


def _plan(options: argparse.Namespace) -> RacePlan:
    if options.rounds < 1:
        raise ValueError("--rounds must be 1 or more.")
    for name, number in (("--until", options.until), ("--max-minutes", options.max_minutes)):
        if number is not None and not number > 0:  # `not >` is also true for NaN
            raise ValueError(f"{name} must be more than 0.")
    return RacePlan(
        options.rounds, options.until, options.max_minutes or (OPEN_END_MINUTES if options.until is not None else None)
    )


def _request(options: argparse.Namespace) -> ChatRequest:
    """The question. Temperature is 0 unless an option or the preset sets one, so that answers can be compared."""
    if options.temperature is None and options.preset is None:
        options.temperature = 0.0
    request = make_request(options)
    return replace(request, sampling=replace(request.sampling, seed=request.sampling.seed or 0))


def _load_once(
    session: Session, load: LoadRequest, choices: Sequence[LaneChoice], interrupted: Callable[[], bool]
) -> EngineReady:
    """Load the models once for all lanes.

    Raises:
        LaneFailedError: the draft cannot be used; `auto` would answer without it.
        EngineError: the models cannot be loaded.
    """
    _show_loading(is_over=False)
    session.is_load_cancelled = interrupted
    try:
        ready = session.load(load, lambda _path, _fraction: not interrupted())
    except EngineError:
        _show_loading(is_over=True)
        raise
    if load.draft is not None and ready.draft is None:
        _show_loading(is_over=True)
        error = DraftRefusedError(ready.unavailable.get(Mode.DRAFT, ""), NO_DRAFT_ADVICE)
        raise LaneFailedError(next(filter(uses_draft, choices)), error)
    return ready


def _show_loading(*, is_over: bool) -> None:
    if sys.stderr.isatty():
        shown = "\r\033[K" if is_over else "\rLoading the models and measuring the time of a pass ..."
        print(shown, end="", file=sys.stderr, flush=True)


class _RaceCommand:
    """Shows a race as it runs."""

    def __init__(self, options: argparse.Namespace, choices: Sequence[LaneChoice], plan: RacePlan) -> None:
        self._options = options
        self._labels = [variant_of(choice).label for choice in choices]
        self._reports_rounds = plan.rounds > 1 or plan.until_percent is not None
        self._out = message_stream(options.json, options.markdown)

    def run(self, race: RaceRun, session: Session, ready: EngineReady, interrupted: threading.Event) -> int:
        """Race and print the results; returns the exit code."""
        lines, has_begun = LaneLines(self._labels), False
        for event in race.events(session, interrupted.is_set):
            if not has_begun and isinstance(event, LaneProgress | RaceEnded):
                has_begun = True
                _show_loading(is_over=True)
                print_notices(ready)
            if isinstance(event, LaneProgress):
                lines.show(event)
            elif isinstance(event, RaceRoundEnded):
                stats = lines.clear()
                if self._reports_rounds:
                    self._report(f"Round {event.num_rounds}", stats, event.verdicts)
            elif isinstance(event, RaceEnded):
                lines.clear()
                return self._end(replace(event, problem=None) if interrupted.is_set() else event)
        return 1

    def _end(self, ended: RaceEnded) -> int:
        result = ended.result
        status = 0 if result is None else self._report_result(result)
        status = fail(ended.problem) if ended.problem is not None else status
        for notice in ended.notices:
            notify(notice)
        return status

    def _report_result(self, result: RaceResult) -> int:
        rounds = counted(result.num_rounds, "round", "rounds")
        title = f"All {rounds}" if result.is_complete else "The first round, which was stopped"
        summed = ": tokens and rollbacks are sums" if result.num_rounds > 1 else ""
        self._report(title + summed, [lane.stats for lane in result.lanes], result.verdicts)
        written = write_reports((self._options.json, result.report + "\n"), (self._options.markdown, result.markdown))
        faults = [one for one in result.verdicts if one.parting is not None and one.parting.is_fault]
        return written or int(bool(faults))

    def _report(self, title: str, stats: Sequence[RunStats], verdicts: Sequence[LaneVerdict]) -> None:
        rows = lane_rows(list(zip(self._labels, stats, strict=True)))
        print(f"{title}\n{table([HEADS, *rows], numbers_from=1)}", file=self._out)
        for verdict in verdicts:
            print(verdict_sentence(verdict, self._labels), file=self._out)
        print(file=self._out, flush=True)


class LaneLines:
    """One line per lane on stderr, rewritten in place; nothing if stderr is no terminal."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._stream = sys.stderr if isinstance(sys.stderr, TerminalStream) else None
        self._labels, self._width = labels, max(map(len, labels))
        self._stats = [RunStats()] * len(labels)
        self._finished = [False] * len(labels)
        self._drawn = False

    def show(self, progress: LaneProgress) -> None:
        self._stats[progress.lane], self._finished[progress.lane] = progress.stats, progress.finished
        if self._stream is None:
            return
        if self._drawn:
            self._stream.move_up(len(self._labels))
        columns = shutil.get_terminal_size().columns - 1  # a wrapped line could not be rewritten
        for lane in range(len(self._labels)):
            self._stream.write(f"\r\033[K{self._line(lane)[:columns]}")
            self._stream.write("\n")
        self._stream.flush()
        self._drawn = True

    def clear(self) -> list[RunStats]:
        """Remove the lines and start again; returns the counters that they showed."""
        shown = self._stats
        self._stats, self._finished = [RunStats()] * len(shown), [False] * len(shown)
        if self._stream is None or not self._drawn:
            return shown
        self._stream.move_up(len(shown))
        for _ in shown:
            self._stream.write("\r\033[K")
            self._stream.write("\n")
        self._stream.move_up(len(shown))
        self._stream.flush()
        self._drawn = False
        return shown

    def _line(self, lane: int) -> str:
        stats = self._stats[lane]
        parts = [
            f"{stats.tokens:5} tokens",
            f"{decimal(stats.tokens_per_second, 1):>6} tokens/s",
            f"{decimal(stats.tokens_per_pass, 2):>5} per pass",
            f"{percent(stats.acceptance_rate):>5} accepted",
        ]
        return f"{self._labels[lane]:<{self._width}} {'  '.join(parts)}{'  done' if self._finished[lane] else ''}"
