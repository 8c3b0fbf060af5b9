"""`paceline demo`: one question to the small real model, where it is here, and a race of the built-in pair's modes.

The built-in target is so small that drafting for it cannot pay: what is shown is how tokens are proposed and kept.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from app.cli.interrupts import stop_on_interrupt
from app.cli.output import INTERRUPTED, counted, fail_with, figures, notify, table
from app.cli.race import LaneLines
from app.cli.run import open_session
from app.core.benchmark.opened_lanes import OpenLane, open_beside
from app.core.benchmark.own_engine import make_variants
from app.core.benchmark.race import Lane, LaneFailedError, Race, RacePlan, SliceEnded
from app.core.benchmark.race_report import HEADS, judge, lane_rows
from app.core.domain.errors import AppError
from app.core.hub.downloads.first_model import SMALL, find_in_library
from app.core.hub.opening import open_library
from app.core.paths import builtin_draft, builtin_target, find_paths
from engine.errors import EngineError
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams, TextChunk
from engine.session.session import Session

REAL_QUESTION = "What is the capital of France?"
QUESTION = "Write a short story about a dog."  # ninety tokens: shorter answers say little about speed
MAX_TOKENS = 128
ROUNDS = 4
NOTE = (
    "The modes took turns of a quarter of a second, so that whatever else this computer does meets all of them; "
    "brackets hold 95% intervals. A pass of the built-in target takes so little that drafting gains nothing "
    "there; what it gains with a model of yours, `paceline race` says."
)


def command(_options: argparse.Namespace) -> int:
    """Ask the questions; the exit code as `main` says."""
    session = open_session()
    with stop_on_interrupt() as interrupted, ExitStack() as stack:
        stack.callback(session.close)
        try:
            _ask_real(session)
            ready = session.load(LoadRequest(str(builtin_target()), str(builtin_draft())))
            session.measure()
            print(f"The built-in pair is tiny and shows the mechanics only. The question: {QUESTION}\n")
            _ask(session, Mode.AUTO)  # which warms up what the race would otherwise meet first
            variants = make_variants(list(Mode), [None], set(ready.unavailable))
            lanes = open_beside(variants, session, _request(QUESTION), stack, interrupted.is_set)
            return _race(lanes, interrupted.is_set) or (INTERRUPTED if interrupted.is_set() else 0)
        except EngineError as error:
            return INTERRUPTED if interrupted.is_set() else fail_with(error)
        except LaneFailedError as error:
            return fail_with(error.error)


def _race(lanes: Sequence[OpenLane], should_stop: Callable[[], bool]) -> int:
    """Have the modes answer the question in turns, and tell how fast each was beside plain decoding."""
    race = Race([Lane(lane.variant, lane.session) for lane in lanes], _request(QUESTION), RacePlan(ROUNDS))
    lines = LaneLines([lane.variant for lane in lanes])
    for event in race.events(should_stop):
        if isinstance(event, SliceEnded):
            lines.show(event)
    lines.clear()
    if race.runs:
        print(f"The same question in each mode that is here, {counted(race.rounds, 'round', 'rounds')}:")
        print(table([HEADS, *lane_rows(race.runs)], numbers_from=1))
        for verdict in judge(race.runs):
            print(verdict.sentence)
        print(NOTE)
    return 0


def _ask_real(session: Session) -> None:
    """Let the small real model answer; where it is not here, or does not load, say so and go on."""
    model = _real_model()
    if model is None:
        print("A small real model, 98 MB, comes with: paceline models pull small", file=sys.stderr)
        return
    try:
        session.load(LoadRequest(str(model), None, parallel=1))
    except EngineError as error:
        notify(error.one_line)
        return
    print(f"{SMALL.name} is a small real model. The question: {REAL_QUESTION}\n")
    words = str(dict(SMALL.own)["system_prompt"])
    _ask(session, Mode.AUTO, (Message("system", words), Message("user", REAL_QUESTION)))


def _real_model() -> Path | None:
    try:
        found = find_in_library(open_library(find_paths()), SMALL)
    except (AppError, OSError) as error:
        notify(f"The library cannot be read: {error}.")
        return None
    return found.path if found is not None else None


def _request(question: str) -> ChatRequest:
    sampling = SamplingParams(temperature=0.0)
    return ChatRequest((Message("user", question),), Mode.AUTO, sampling=sampling, max_tokens=MAX_TOKENS)


def _ask(session: Session, mode: Mode, messages: tuple[Message, ...] = ()) -> None:
    """Print the answer in this mode, to the question of the race unless there are other ``messages``."""
    request = replace(_request(QUESTION), mode=mode)
    print(f"[{mode.value}] ", end="")
    for event in session.generate(replace(request, messages=messages) if messages else request):
        if isinstance(event, TextChunk):
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            print(f"\n  {figures(event.stats, event.reason)}\n")
