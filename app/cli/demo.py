"""`paceline demo`: one question to the small real model, where it is here, and one to the built-in pair in each mode.

The built-in target is so small that drafting for it cannot pay, so by default it is padded to the cost of a real model
first: the same words at real weight. Nothing is kept but the padded file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.cli.output import fail_with, figures, notify
from app.cli.run import open_session
from app.domain.errors import AppError
from app.hub.downloads.first_model import SMALL, find_in_library
from app.hub.opening import open_library
from app.paths import builtin_draft, builtin_target, find_paths
from engine.errors import EngineError
from engine.gguf.pad import make_padded
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams, TextChunk
from engine.session.session import Session

REAL_QUESTION = "What is the capital of France?"
QUESTION = "Repeat this list: green river, old stone, quiet lamp, paper boat, winter apple, silver bell."
MAX_TOKENS = 128


def command(options: argparse.Namespace) -> int:
    """Ask the questions; the exit code as `main` says."""
    session = open_session()
    try:
        _ask_real(session)
        target = builtin_target() if options.light else padded_target(find_paths().cache)
        session.load(LoadRequest(str(target), str(builtin_draft())))
        session.measure()
        print(f"The built-in pair is tiny and shows the mechanics only. The question: {QUESTION}\n")
        seconds = {mode: _ask(session, mode) for mode in Mode}
    except EngineError as error:
        return fail_with(error)
    finally:
        session.close()
    for mode in (mode for mode in Mode if mode is not Mode.OFF):
        print(f"{mode.value}: {seconds[Mode.OFF] / seconds[mode]:.2f} times plain, measured just now, on one answer")
    return 0


def _ask_real(session: Session) -> None:
    """Let the small real model answer; where it is not here, or does not load, say so and go on."""
    model = _real_model()
    if model is None:
        print("A small real model, 98 MB, comes with: paceline models pull small", file=sys.stderr)
        return
    try:
        session.load(LoadRequest(str(model), None))
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


def padded_target(cache: Path) -> Path:
    """Make the padded target in the cache folder, or take the one that is there.

    Raises:
        EngineError: it cannot be made.
    """
    padded = find_paths().padded_demo_file
    if not padded.exists():
        cache.mkdir(parents=True, exist_ok=True)
        print(f"Padding the built-in target to real weight, once, about 200 MB: {padded}", file=sys.stderr)
        make_padded(builtin_target(), padded)
    return padded


def _ask(session: Session, mode: Mode, messages: tuple[Message, ...] = (Message("user", QUESTION),)) -> float:
    """Print the answer in this mode and return its seconds of decoding."""
    request = ChatRequest(
        messages=messages,
        mode=mode,
        sampling=SamplingParams(temperature=0.0),
        max_tokens=MAX_TOKENS,
    )
    print(f"[{mode.value}] ", end="")
    seconds = 0.0
    for event in session.generate(request):
        if isinstance(event, TextChunk):
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            seconds = event.stats.decode_s
            print(f"\n  {figures(event.stats, event.reason)}\n")
    return seconds
