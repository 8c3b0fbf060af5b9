"""Calls of tools: what drafting gains in them, and what it gains where they are held in their form.

    python packaging/measure/calls.py --target T.gguf [--draft D.gguf] [--temperature 0] [--minutes 3] [--state FILE]
        [--variants plain,auto,held] [--after-a-call] [--rounds 1] [--show]

Each question of `calls.json` is asked with its ten tools, in each variant in turn, the order turning round as well:
``plain`` decodes plainly and holds nothing, ``auto`` drafts, ``held`` drafts and holds calls in their form,
``plain-held`` holds them without drafting, ``unforced`` is ``held`` without the tokens that the form forces, and
``no-outlines`` is ``auto`` without text of what calls look like. ``--after-a-call`` puts a question before each,
whose call the template shows in the model's own form: models that wrote others before then mostly keep to it. Every
answer is written to ``--state``, and the same command goes on there, so several short runs make one measurement. Only
answers that are calls count, and only questions that every variant answered with one; how many were left out is said.
Brackets are 95% intervals of a bootstrap over questions.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.core.tools.interface import ToolDefinition
from app.core.tools.turn import functions_of, read_answer
from engine.grammar.constraint import ForcedText
from engine.records import (
    ChatRequest,
    Finished,
    LoadRequest,
    Message,
    Mode,
    SamplingParams,
    TextChunk,
    ToolCall,
    ToolFormat,
)
from engine.session.drafter_choice import DraftersByMode
from engine.session.session import Session

RESAMPLES = 2_000
MOST_TOKENS = 160
VARIANTS = {  # the mode, and whether calls are held
    "plain": (Mode.OFF, False),
    "auto": (Mode.AUTO, False),
    "held": (Mode.AUTO, True),
    "plain-held": (Mode.OFF, True),
    "unforced": (Mode.AUTO, True),
    "no-outlines": (Mode.AUTO, False),
}
SYSTEM = "You are a helpful assistant. Call a tool where it helps; then answer the user in words with its result."
TASKS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
TOOLS = tuple(
    ToolDefinition(tool["name"], tool["description"], tool["parameters"], "measured") for tool in TASKS["tools"]
)
QUESTIONS = tuple(TASKS["questions"])


@dataclass(frozen=True)
class Answered:
    """One answer: its figures, and whether it is a call of one of the tools."""

    question: int
    round: int
    variant: str
    is_call: bool
    tokens: int
    passes: int
    seconds: float
    proposed: int
    accepted: int
    forced_proposed: int
    forced_accepted: int
    text: str


EARLIER = (
    Message("user", "How much is 6 * 7?"),
    Message("assistant", "", tool_calls=(ToolCall("a1b2c3d4e", "calculate", '{"expression": "6 * 7"}'),)),
    Message("tool", "42", tool_call_id="a1b2c3d4e", name="calculate"),
    Message("assistant", "It is 42."),
)


@contextlib.contextmanager
def without(variant: str) -> Iterator[None]:
    """Leave out what the variant is without."""
    if variant == "unforced":
        left_out = mock.patch.object(ForcedText, "after", return_value=[])
    elif variant == "no-outlines":
        left_out = mock.patch.object(DraftersByMode, "outlines", return_value=None)
    else:
        yield
        return
    with left_out:
        yield


def ask(session: Session, tool_format: ToolFormat, place: tuple[int, int], variant: str, base: ChatRequest) -> Answered:
    """Ask one question, of a round, in one variant: behind the messages of ``base``, and drawn as it says."""
    number, turn = place
    mode, holds = VARIANTS[variant]
    messages = (*base.messages, Message("user", QUESTIONS[number]))
    request = replace(base, messages=messages, mode=mode, holds_calls=holds)
    written, end = "", None
    with without(variant):
        for event in session.generate(request):
            if isinstance(event, TextChunk):
                written += event.text
            elif isinstance(event, Finished):
                end = event.stats
    if end is None:
        raise RuntimeError("the answer has no end")
    is_call = bool(read_answer(written, TOOLS, tool_format).calls)
    return Answered(
        number,
        turn,
        variant,
        is_call,
        end.tokens,
        end.passes,
        end.decode_s,
        end.proposed,
        end.accepted,
        end.forced_proposed,
        end.forced_accepted,
        written,
    )


def kept_answers(state: Path | None) -> list[Answered]:
    """What was answered in earlier runs."""
    if state is None or not state.exists():
        return []
    return [Answered(**json.loads(line)) for line in state.read_text().splitlines()]


def ratio(own: Sequence[Answered], other: Sequence[Answered]) -> tuple[float, float, float]:
    """Tokens per second of ``own`` over those of ``other``, by sums over questions; the interval."""
    questions = sorted({one.question for one in own})
    table = np.array(
        [
            [
                sum(getattr(one, what) for one in side if one.question == question)
                for side in (own, other)
                for what in ("tokens", "seconds")
            ]
            for question in questions
        ]
    )
    rows = np.random.default_rng(0).integers(len(table), size=(RESAMPLES, len(table)))
    tokens, seconds, other_tokens, other_seconds = np.vstack([table.sum(axis=0), table[rows].sum(axis=1)]).T
    ratios = (tokens / seconds) / (other_tokens / other_seconds)
    return float(ratios[0]), *map(float, np.percentile(ratios[1:], (2.5, 97.5)))


def report(answers: Sequence[Answered], variants: Sequence[str]) -> None:
    """Print a line for each variant."""
    by_place: dict[tuple[int, int], dict[str, Answered]] = {}
    for one in answers:
        by_place.setdefault((one.question, one.round), {})[one.variant] = one
    asked = [found for found in by_place.values() if found.keys() >= set(variants)]
    whole = [found for found in asked if all(found[variant].is_call for variant in variants)]
    print(f"{len(whole)} of {len(asked)} questions were answered with a call in every variant")
    if not whole:
        return
    first: Mapping[str, list[Answered]] = {variant: [found[variant] for found in whole] for variant in variants}
    for variant in variants:
        own = first[variant]
        tokens, passes, proposed, accepted, forced, forced_kept = (
            sum(getattr(one, what) for one in own)
            for what in ("tokens", "passes", "proposed", "accepted", "forced_proposed", "forced_accepted")
        )
        over, low, high = ratio(own, first[variants[0]])
        per_second = tokens / sum(one.seconds for one in own)
        calls = sum(found[variant].is_call for found in asked)
        print(
            f"{variant:>10}: {calls} calls; {tokens / len(own):.0f} tokens a call, {tokens / passes:.2f} a pass, "
            f"{per_second:.1f} tok/s, {over:.2f} ({low:.2f}-{high:.2f}) of {variants[0]}; "
            f"{accepted} of {proposed} proposed kept, {forced_kept} of {forced} forced"
        )


def main() -> int:
    """Ask until all is answered or the time is over; print what is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--variants", default="plain,auto,held")
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--state", type=Path)
    parser.add_argument(
        "--after-a-call", action="store_true", help="ask after a question that was answered with a call"
    )
    parser.add_argument("--show", action="store_true", help="print the answers, too")
    options = parser.parse_args()
    ends, variants = time.monotonic() + options.minutes * 60.0, options.variants.split(",")
    answers = kept_answers(options.state)
    done = {(one.question, one.round, one.variant) for one in answers}
    places = [(number, turn) for turn in range(options.rounds) for number in range(len(QUESTIONS))]
    places = [one for one in places if not all((*one, variant) in done for variant in variants)]
    if places:
        session = Session()
        ready = session.load(LoadRequest(options.target, options.draft, n_ctx=4096))
        session.measure(2.0)
        messages = (Message("system", SYSTEM), *(EARLIER if options.after_a_call else ()))
        sampling = SamplingParams(temperature=options.temperature)
        base = ChatRequest(messages, sampling=sampling, max_tokens=MOST_TOKENS, tools=functions_of(TOOLS))
        for place, (number, turn) in enumerate(places):
            if time.monotonic() > ends:
                break
            for variant in variants[place % len(variants) :] + variants[: place % len(variants)]:
                one = ask(session, ready.target.tool_format, (number, turn), variant, base)
                answers.append(one)
                if options.state is not None:
                    with options.state.open("a") as file:
                        file.write(json.dumps(asdict(one)) + "\n")
                if options.show:
                    print(f"{number} {variant}: {one.tokens} in {one.passes}, {one.seconds:.2f} s: {one.text!r}")
        session.close()
    report(answers, variants)
    return 0


if __name__ == "__main__":
    sys.exit(main())
