"""`paceline race`: answers one question in two or three modes, in alternating short slices; prints tables and verdicts.

Only the requested report, the measured pass costs and the speeds of pairs are stored.
"""

import argparse
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from app.cli.interrupts import stop_on_interrupt
from app.cli.layers import missing_drafter
from app.cli.models.names import resolve_names
from app.cli.output import (
    INTERRUPTED,
    ProgressLine,
    check_reports,
    counted_text,
    fail,
    option_errors,
    print_notices,
    table,
    write_reports,
)
from app.cli.run import load_models, load_request, make_request, open_session
from app.core.benchmark.opened_lanes import LaneFailedError, read_lanes
from app.core.benchmark.race import Race, race_as_dict
from app.core.benchmark.report import lane_table
from app.core.benchmark.runs import variant_of
from app.core.domain.speed.races import (
    LaneChoice,
    LaneProgress,
    LaneVerdict,
    RaceEnded,
    RaceRoundEnded,
    RaceSetup,
    verdict_sentence,
)
from app.core.paths import find_paths
from app.core.storage.pair_speeds import PairSpeeds
from engine.errors import DraftRefusedError
from engine.records import ChatRequest, EngineReady, LoadRequest, Mode, RunStats
from engine.session.session import Session

NO_DRAFT_ADVICE = "Give a draft of the same model family, or leave --draft out."


def command(options: argparse.Namespace) -> int:
    """Race and report; after Ctrl+C or a failure the report has the results so far. Returns the exit code."""
    with option_errors("This cannot be raced", "See paceline race --help."):
        resolve_names(options)
        check_reports(options.json)
        choices, request = _choices(options), _request(options)
    with closing(open_session()) as session, closing(ProgressLine()) as progress, stop_on_interrupt() as interrupted:
        progress.show("Loading the models and measuring the time of a pass ...")
        ready = _load(session, load_request(options), choices)
        question = request.raw_prompt or request.messages[-1].content
        setup = RaceSetup(question, choices, options.rounds, request.max_tokens or 0)
        race = Race(setup, request, PairSpeeds(find_paths().pair_speeds_file))
        labels, stats = [variant_of(choice).label for choice in choices], [RunStats()] * len(choices)
        progress.close()
        print_notices(ready)
        progress.show("Reading the question ...")
        status = 0
        for event in race.events(session, interrupted.is_set):
            if isinstance(event, LaneProgress):
                stats[event.lane] = event.stats
                tokens = ", ".join(f"{label} {one.tokens}" for label, one in zip(labels, stats, strict=True))
                progress.show(f"Round {event.round + 1}, tokens: {tokens}")
            elif isinstance(event, RaceRoundEnded) and options.rounds > 1:
                progress.close()
                _print_verdicts(f"Round {event.num_rounds}", labels, stats, event.verdicts)
            elif isinstance(event, RaceEnded):
                progress.close()
                status = _report(options, labels, replace(event, problem=None) if interrupted.is_set() else event)
        return INTERRUPTED if interrupted.is_set() else status


def _choices(options: argparse.Namespace) -> tuple[LaneChoice, ...]:
    choices = read_lanes(options.lanes)
    for choice in choices:
        if missing := missing_drafter(choice.mode, options.model, options.draft):
            raise ValueError(f"The lane {variant_of(choice).label} needs {missing}")
    return choices


def _request(options: argparse.Namespace) -> ChatRequest:
    """The question. Temperature is 0 unless an option or the preset sets one, so that answers can be compared."""
    if options.temperature is None and options.preset is None:
        options.temperature = 0.0
    request = make_request(options)
    return replace(request, sampling=replace(request.sampling, seed=request.sampling.seed or 0))


def _load(session: Session, load: LoadRequest, choices: Sequence[LaneChoice]) -> EngineReady:
    """Load the models once for all lanes.

    Raises:
        LaneFailedError: the draft cannot be used; `auto` would answer without it.
        EngineError: the models cannot be loaded.
        KeyboardInterrupt: after Ctrl+C.
    """
    load = load if any(choice.uses_draft for choice in choices) else replace(load, draft=None)
    ready = load_models(session, load)
    if load.draft is not None and ready.draft is None:
        error = DraftRefusedError(ready.unavailable.get(Mode.DRAFT, ""), NO_DRAFT_ADVICE)
        raise LaneFailedError(next(choice for choice in choices if choice.uses_draft), error)
    return ready


def _report(options: argparse.Namespace, labels: Sequence[str], ended: RaceEnded) -> int:
    """Print the result and write the report; returns the exit code."""
    result, status = ended.result, 0
    if result is not None:
        rounds = counted_text(result.num_rounds, "round", "rounds")
        title = f"All {rounds}" if result.is_complete else "The first round, which was stopped"
        title += ": tokens and rollbacks are sums" if result.num_rounds > 1 else ""
        _print_verdicts(title, labels, [lane.stats for lane in result.lanes], result.verdicts)
        status = write_reports((options.json, json.dumps(race_as_dict(result), ensure_ascii=False, indent=1) + "\n"))
        status = status or int(any(one.parting is not None and one.parting.is_fault for one in result.verdicts))
    return fail(ended.problem) if ended.problem is not None else status


def _print_verdicts(
    title: str, labels: Sequence[str], stats: Sequence[RunStats], verdicts: Sequence[LaneVerdict]
) -> None:
    lanes = lane_table(list(zip(labels, stats, strict=True)))
    print(f"{title}\n{table(lanes, numbers_from=1)}")
    for verdict in verdicts:
        print(verdict_sentence(verdict, labels))
    print(flush=True)
