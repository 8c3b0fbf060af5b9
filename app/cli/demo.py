"""`paceline demo`: two races of the small model if it is installed, and a race of the built-in pair's modes.

In the small model's first race the prompt contains much of the answer, in the second race none of it. A pass of the
built-in target takes a third of a millisecond, so drafting gains little for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from app.cli.interrupts import stop_on_interrupt
from app.cli.output import INTERRUPTED, ProgressLine, counted_text, fail, notify
from app.cli.race import RaceDisplay
from app.cli.run import open_session, show_events
from app.core.benchmark.race import Race
from app.core.domain.errors import AppError
from app.core.domain.speed.races import LaneChoice, RaceEnded, RaceSetup
from app.core.hub.downloads.first_model import SMALL, find_in_library
from app.core.hub.library.library import open_library
from app.core.paths import builtin_draft, builtin_target, find_paths
from engine.errors import EngineError
from engine.records import ChatRequest, LoadRequest, Message, Mode, SamplingParams
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
        "The question contains much of the answer",
        f"Rename `width` to `w` in this Python code, and write all of it:\n\n```python\n{CODE}```",
    ),
    ("The answer is new", "Why is the sky blue?"),
)
REAL_MODES = (Mode.OFF, Mode.AUTO)
QUESTION = "Write a short story about a dog."  # the answer has ninety tokens; shorter answers cannot be compared
MAX_TOKENS = 128
ROUNDS = 4
NOTE = (
    "The modes alternated every quarter of a second, so that other programs slowed all of them alike; brackets are 95% "
    "intervals. To compare modes with your own model and question, use `paceline race`."
)


def command(_options: argparse.Namespace) -> int:
    """Run the demo; returns the exit code (see `main`)."""
    with closing(open_session()) as session, stop_on_interrupt() as interrupted:
        _race_real(session, interrupted.is_set)
        if interrupted.is_set():
            return INTERRUPTED
        session.load(LoadRequest(str(builtin_target()), str(builtin_draft())))
        session.measure()
        print(f"The built-in pair is tiny and shows the mechanics only. The question: {QUESTION}\n")
        _ask(session, _request(QUESTION))
        status = _race(session, list(Mode), _request(QUESTION), interrupted.is_set)
        print(NOTE)
        return INTERRUPTED if interrupted.is_set() else status


def _race(session: Session, modes: Sequence[Mode], request: ChatRequest, should_stop: Callable[[], bool]) -> int:
    """Race the available modes and print each one's speedup over plain decoding; returns the exit code."""
    unavailable = session.ready().unavailable
    choices = tuple(LaneChoice(mode) for mode in modes if mode not in unavailable)
    display = RaceDisplay(choices, sys.stdout, ProgressLine())
    for event in Race(RaceSetup(request.messages[-1].content, choices, ROUNDS), request).events(session, should_stop):
        display.show(event)
        if isinstance(event, RaceEnded) and event.problem is not None:
            return fail(event.problem)
        if isinstance(event, RaceEnded) and (result := event.result) is not None and result.is_complete:
            rounds = counted_text(result.num_rounds, "round", "rounds")
            title = f"The same question in each available mode; tokens of {rounds} together:"
            display.print_verdicts(title, result.verdicts, [lane.stats for lane in result.lanes])
    return 0


def _race_real(session: Session, should_stop: Callable[[], bool]) -> None:
    """Race the small model; if it is missing or fails to load, print that and return."""
    model = _real_model()
    if model is None:
        print("A small real model, 98 MB, comes with: paceline models pull small", file=sys.stderr)
        return
    try:
        session.load(LoadRequest(str(model), None, parallel=1))
    except EngineError as error:
        notify(error.one_line)
        return
    session.measure()
    print(f"{SMALL.name} is a small real model.")
    for about, question in REAL_QUESTIONS:
        print(f"\n{about}: {question}\n")
        request = _request(question, str(dict(SMALL.own)["system_prompt"]))
        _ask(session, request)
        _race(session, REAL_MODES, request, should_stop)
    print()


def _real_model() -> Path | None:
    try:
        found = find_in_library(open_library(find_paths()))
    except (AppError, OSError) as error:
        notify(f"The library cannot be read: {error}.")
        return None
    return found.path if found is not None else None


def _request(question: str, system: str = "") -> ChatRequest:
    sampling = SamplingParams(temperature=0.0)
    messages = (*((Message("system", system),) if system else ()), Message("user", question))
    return ChatRequest(messages, Mode.AUTO, sampling=sampling, max_tokens=MAX_TOKENS)


def _ask(session: Session, request: ChatRequest) -> None:
    """Print the answer, which also warms up the models for the race."""
    print(f"[{request.mode.value}] ", end="")
    show_events(session.generate(request), as_json=False)
    print()
