"""Answers under random JSON schemas: whether each is valid, and what forced tokens gain.

    python packaging/measure/server/schemas.py [--target T.gguf --draft D.gguf] [--count 200] [--max-tokens 300]
        [--variants plain,auto,auto-unforced] [--temperature 0.8] [--seed 0] [--minutes M]

Without models: the built-in pair. Every schema is answered in each variant in turn, the order turning round as well;
``auto-unforced`` is auto without the tokens that the grammar forces. Answers that their length cut are counted and not
checked. Each variant's tokens per second are compared with those of the variants before it, with a 95% interval of a
bootstrap over schemas. Needs `jsonschema`. The exit code is 1 where an answer is not valid.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from random_schemas import random_object_schema, random_schema

from app.core.paths import builtin_draft, builtin_target
from engine.errors import GrammarError
from engine.grammar.constraint import ForcedText
from engine.grammar.json_schema import grammar_of
from engine.records import (
    ChatRequest,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    RunStats,
    SamplingParams,
    TextChunk,
)
from engine.session.session import Session

RESAMPLES = 2_000
VARIANTS = {"plain": Mode.OFF, "auto": Mode.AUTO, "auto-unforced": Mode.AUTO}


@dataclass
class Tally:
    """What one variant gave."""

    num_valid: int = 0
    num_cut: int = 0
    invalid: list[str] = field(default_factory=list)
    answers: list[RunStats] = field(default_factory=list)

    def line(self, name: str) -> str:
        """The sums, in one line."""
        tokens, passes = (sum(getattr(one, what) for one in self.answers) for what in ("tokens", "passes"))
        seconds = sum(one.decode_s for one in self.answers)
        forced, kept = (
            sum(getattr(one, f"forced_{what}") for one in self.answers) for what in ("proposed", "accepted")
        )
        return (
            f"{name}: {self.num_valid} valid, {self.num_cut} cut by length, {len(self.invalid)} not valid; "
            f"{tokens} tokens in {passes} passes ({tokens / max(passes, 1):.2f} a pass), "
            f"{tokens / max(seconds, 1e-9):.1f} tok/s, {kept} of {forced} forced tokens kept"
        )


def ratio(own: Tally, first: Tally) -> tuple[float, float, float]:
    """The tokens per second over those of ``first``, by sums over schemas, and the interval."""
    table = np.array(
        [
            (one.tokens, one.decode_s, other.tokens, other.decode_s)
            for one, other in zip(own.answers, first.answers, strict=True)
        ]
    )
    rows = np.random.default_rng(0).integers(len(table), size=(RESAMPLES, len(table)))
    tokens, seconds, first_tokens, first_seconds = np.vstack([table.sum(axis=0), table[rows].sum(axis=1)]).T
    ratios = (tokens / seconds) / (first_tokens / first_seconds)
    return float(ratios[0]), *map(float, np.percentile(ratios[1:], (2.5, 97.5)))


@contextlib.contextmanager
def unforced(wanted: bool) -> Iterator[None]:
    """Propose nothing that the grammar forces, where that is wanted."""
    with mock.patch.object(ForcedText, "after", return_value=[]) if wanted else contextlib.nullcontext():
        yield


def answer(session: Session, request: ChatRequest) -> tuple[str, Finished]:
    """The text, and how it ended."""
    text = ""
    for event in session.generate(request):
        if isinstance(event, TextChunk):
            text += event.text
        elif isinstance(event, Finished):
            return text, event
    raise RuntimeError("the answer has no end")


def judge(text: str, schema: dict[str, Any], tally: Tally) -> None:
    """Count an answer that was not cut."""
    try:
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))
        tally.num_valid += 1
    except (ValueError, jsonschema.ValidationError) as error:
        tally.invalid.append(f"{json.dumps(schema)}\n    {text}\n    {str(error).splitlines()[0]}")


def main() -> int:
    """Answer all, and print the sums."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default=str(builtin_target()))
    parser.add_argument("--draft")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--max-tokens", type=int, default=300)
    parser.add_argument("--variants", default="plain,auto,auto-unforced")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=math.inf, help="end after so many, with fewer schemas")
    options = parser.parse_args()
    draft = options.draft or (str(builtin_draft()) if options.target == str(builtin_target()) else None)
    session, rng = Session(), np.random.default_rng(options.seed)
    session.load(LoadRequest(options.target, draft, n_ctx=2048))
    session.measure(2.0)
    names = options.variants.split(",")
    tallies, num_refused, number = {name: Tally() for name in names}, 0, 0
    ends = time.monotonic() + options.minutes * 60.0
    while number < options.count and time.monotonic() < ends:
        schema = random_object_schema(rng) if rng.random() < 0.6 else random_schema(rng)
        try:
            grammar = grammar_of(schema, strict=True).text
        except GrammarError:
            num_refused += 1
            continue
        question = f"Invent data that is valid by this JSON schema:\n{json.dumps(schema)}"
        sampling = SamplingParams(temperature=options.temperature, seed=number)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            request = ChatRequest(
                (Message("user", question),), VARIANTS[name], None, sampling, options.max_tokens, grammar=grammar
            )
            with unforced(name == "auto-unforced"):
                text, finished = answer(session, request)
            tallies[name].answers.append(finished.stats)
            if finished.reason is FinishReason.END:
                judge(text, schema, tallies[name])
            else:
                tallies[name].num_cut += 1
        number += 1
    print(f"{number} schemas, {num_refused} more refused")
    for place, (name, tally) in enumerate(tallies.items()):
        print(tally.line(name))
        for other in names[:place]:
            over, low, high = ratio(tally, tallies[other])
            print(f"  {over:.2f} ({low:.2f}-{high:.2f}) of {other}'s tokens per second")
        for reported in tally.invalid[:5]:
            print("  not valid:", reported)
    session.close()
    return 1 if any(tally.invalid for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
