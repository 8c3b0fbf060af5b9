"""`paceline demo`: one question to the built-in pair in each mode, with the figures, for a terminal.

The built-in target is so small that drafting for it cannot pay, so by default it is padded to the cost of a real model
first: the same words at real weight. Knows no window and keeps nothing but the padded file.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from app.command_line.output import fail_with, figures
from app.command_line.run import open_session
from app.paths import builtin_draft, builtin_target, find_paths
from engine.errors import EngineError
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams, TextChunk
from engine.session import Session
from engine.tools.pad import make_padded

QUESTION = "Repeat this list: green river, old stone, quiet lamp, paper boat, winter apple, silver bell."
MAX_TOKENS = 128


def command(options: argparse.Namespace) -> int:
    """Ask the question in each mode; the exit code as `main` says."""
    session = open_session()
    try:
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


def _ask(session: Session, mode: Mode) -> float:
    """Print the answer in this mode and return its seconds of decoding."""
    request = ChatRequest(
        messages=(Message("user", QUESTION),),
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
