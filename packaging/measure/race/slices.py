"""Measures what taking turns costs the lanes of a race.

    python packaging/measure/race/slices.py --target T.gguf --draft D.gguf [--lanes off,suffix,auto] [--repeat 12]

The lanes on one loaded model, as a race opens them, answer the same question in slices and, by turns, one after the
other as a whole. Reported is each lane's tokens per second in slices over those alone, with a 95% interval: 1.000 is a
race that costs nothing. It wants a machine with nothing else to do. Answers go on past their end, so that all have the
same length.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import numpy as np

from app.benchmark.lanes import read_lanes
from app.benchmark.opened_lanes import open_beside
from app.benchmark.race import Lane, Race, RacePlan
from app.benchmark.runs import Variant
from engine.records import ChatRequest, LoadRequest, Message, SamplingParams
from engine.session.session import Session

QUESTION = "Write a Python class for a bank account with deposit, withdraw and a history, then explain each method."
WHOLE_S = 1e9  # a slice in which every answer ends: the lane runs alone
Speeds = dict[Variant, float]


def speeds_of(lanes: Sequence[Lane], request: ChatRequest, slice_s: float) -> Speeds:
    """Tokens per second of each lane in one round with slices of this length."""
    race = Race(lanes, request, RacePlan(rounds=1, slice_s=slice_s))
    for _ in race.events():
        pass
    return {run.variant: run.stats.tokens_per_second or 0.0 for run in race.runs}


def compared(
    lanes: Sequence[Lane], request: ChatRequest, slice_s: float, repeat: int
) -> Iterator[dict[Variant, float]]:
    """In slices over alone, each first every other time; without the first pair, which warms up."""
    for number in range(repeat + 1):
        order = (slice_s, WHOLE_S) if number % 2 else (WHOLE_S, slice_s)
        found = {length: speeds_of(lanes, request, length) for length in order}
        in_slices, alone = found[slice_s], found[WHOLE_S]
        reported = ", ".join(f"{one.label} {in_slices[one]:.1f} / {alone[one]:.1f} tok/s" for one in in_slices)
        print(f"in slices / alone: {reported}", flush=True)
        if number:
            yield {variant: in_slices[variant] / alone[variant] for variant in in_slices}


def measure(options: argparse.Namespace, variants: Sequence[Variant]) -> None:
    """Print the ratio of each lane."""
    request = ChatRequest(
        (Message("user", QUESTION),),
        sampling=SamplingParams(temperature=0.0, seed=0),
        max_tokens=options.tokens,
        ignore_eos=True,
    )
    session = Session()
    session.load(LoadRequest(options.target, options.draft, n_ctx=options.ctx))
    with ExitStack() as stack:
        lanes = [Lane(lane.variant, lane.session) for lane in open_beside(variants, session, request, stack)]
        pairs = list(compared(lanes, request, options.slice, options.repeat))
    session.close()
    random = np.random.default_rng(0)
    for variant in variants:
        ratios = [pair[variant] for pair in pairs]
        medians = np.median(random.choice(ratios, (2000, len(ratios))), axis=1)
        low, high = np.percentile(medians, [2.5, 97.5])
        print(f"{variant.label}: in slices over alone {np.median(ratios):.3f} ({low:.3f} to {high:.3f})")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--lanes", default="off,auto")
    parser.add_argument("--tokens", type=int, default=200)
    parser.add_argument("--ctx", type=int, default=2048)
    parser.add_argument("--slice", type=float, default=RacePlan().slice_s, help="seconds")
    parser.add_argument("--repeat", type=int, default=12)
    options = parser.parse_args()
    measure(options, read_lanes(options.lanes))


if __name__ == "__main__":
    main()
