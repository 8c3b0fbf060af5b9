"""`paceline demo`: two races of the small real model, where it is here, and one of the built-in pair's modes.

In the first race of the real model much of the answer stands in the prompt, which drafts it; in the second nothing
does. A pass of the built-in target takes a third of a millisecond, so that little can be gained there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
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

CODE = """\
def area(width, height):
    return width * height

def volume(width, height, depth):
    return width * height * depth

def perimeter(width, height):
    return 2 * (width + height)
"""
REAL_QUESTIONS = (
    (
        "much of the answer stands in the question",
        f"Rename `width` to `w` in this Python code, and write all of it:\n\n```python\n{CODE}```",
    ),
    ("the answer is new", "Why is the sky blue?"),
)
REAL_MODES = (Mode.OFF, Mode.AUTO)
QUESTION = "Write a short story about a dog."  # ninety tokens: shorter answers say little about speed
MAX_TOKENS = 128
ROUNDS = 4
NOTE = (
    "The modes took turns of a quarter of a second, so that whatever else this computer does meets all of them; "
    "brackets hold 95% intervals. What drafting gains with a model and a question of yours, `paceline race` says."
)


def command(_options: argparse.Namespace) -> int:
    """Ask the questions; the exit code as `main` says."""
    session = open_session()
    with stop_on_interrupt() as interrupted, ExitStack() as stack:
        stack.callback(session.close)
        try:
            _race_real(session, interrupted.is_set)
            if interrupted.is_set():
                return INTERRUPTED
            ready = session.load(LoadRequest(str(builtin_target()), str(builtin_draft())))
            session.measure()
            print(f"The built-in pair is tiny and shows the mechanics only. The question: {QUESTION}\n")
            _ask(session, _request(QUESTION))
            variants = make_variants(list(Mode), [None], set(ready.unavailable))
            lanes = open_beside(variants, session, _request(QUESTION), stack, interrupted.is_set)
            _race(lanes, _request(QUESTION), interrupted.is_set)
            print(NOTE)
            return INTERRUPTED if interrupted.is_set() else 0
        except EngineError as error:
            return INTERRUPTED if interrupted.is_set() else fail_with(error)
        except LaneFailedError as error:
            return fail_with(error.error)


def _race(lanes: Sequence[OpenLane], request: ChatRequest, should_stop: Callable[[], bool]) -> None:
    """Have the modes answer the question in turns, and tell how fast each was beside plain decoding."""
    race = Race([Lane(lane.variant, lane.session) for lane in lanes], request, RacePlan(ROUNDS))
    lines = LaneLines([lane.variant for lane in lanes])
    for event in race.events(should_stop):
        if isinstance(event, SliceEnded):
            lines.show(event)
    lines.clear()
    if race.runs:
        rounds = counted(race.rounds, "round", "rounds")
        print(f"The same question in each mode that is here; tokens of {rounds} together:")
        print(table([HEADS, *lane_rows(race.runs)], numbers_from=1))
        for verdict in judge(race.runs):
            print(verdict.sentence)


def _race_real(session: Session, should_stop: Callable[[], bool]) -> None:
    """Let the small real model race; where it is not here, or does not load, say so and go on."""
    model = _real_model()
    if model is None:
        print("A small real model, 98 MB, comes with: paceline models pull small", file=sys.stderr)
        return
    try:
        ready = session.load(LoadRequest(str(model), None, parallel=1))
    except EngineError as error:
        notify(error.one_line)
        return
    session.measure()
    print(f"{SMALL.name} is a small real model.")
    for about, question in REAL_QUESTIONS:
        print(f"\nWhere {about}: {question}\n")
        request = _request(question, str(dict(SMALL.own)["system_prompt"]))
        with ExitStack() as lanes_end:
            variants = make_variants(list(REAL_MODES), [None], set(ready.unavailable))
            lanes = open_beside(variants, session, request, lanes_end, should_stop)
            _ask(lanes[-1].session, request)
            _race(lanes, request, should_stop)
    print()


def _real_model() -> Path | None:
    try:
        found = find_in_library(open_library(find_paths()), SMALL)
    except (AppError, OSError) as error:
        notify(f"The library cannot be read: {error}.")
        return None
    return found.path if found is not None else None


def _request(question: str, system: str = "") -> ChatRequest:
    sampling = SamplingParams(temperature=0.0)
    messages = (*((Message("system", system),) if system else ()), Message("user", question))
    return ChatRequest(messages, Mode.AUTO, sampling=sampling, max_tokens=MAX_TOKENS)


def _ask(session: Session, request: ChatRequest) -> None:
    """Print the answer, which also warms up what a race would otherwise meet first."""
    print(f"[{request.mode.value}] ", end="")
    for event in session.generate(request):
        if isinstance(event, TextChunk):
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            print(f"\n  {figures(event.stats, event.reason)}\n")
