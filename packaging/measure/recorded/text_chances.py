"""Counts how often tokens of suffix decoding are right, by match length and index in the proposal.

    python packaging/measure/recorded/text_chances.py ANSWERS.jsonl ...      (recorded by answers.py)

It gave the tables of `engine.pacing.constants`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.acceptance import TEXT_PRIORS, text_kinds
from engine.records import SamplingParams
from engine.sampling.sampler import Sampler

DEPTH = 24
Counts = dict[int, list[int]]  # numbers of right and of all tokens, by class


def count(record: dict[str, list[int]], counts: Counts) -> None:
    """Count one answer, with suffix decoding as in pacing; a match of one token only costs one pass."""
    ids = np.array(record["prompt_ids"] + record["ids"], dtype=np.int32)
    drafter, place = SuffixDrafter(), len(record["prompt_ids"])
    drafter.min_match = 1
    drafter.begin(ids[:place], Sampler(SamplingParams(temperature=0.0)))
    while place < len(ids):
        draft = drafter.propose(ids[:place], DEPTH)
        right = 0
        for token_id, kind in zip(draft.ids, text_kinds(draft), strict=True):
            if place + right >= len(ids):
                break
            is_right = token_id == int(ids[place + right])
            counts[kind][0] += is_right
            counts[kind][1] += 1
            if not is_right:
                break
            right += 1
        place += 1 if draft.match_length < 2 else right + 1


def main() -> int:
    """Print a line per class: acceptance in these answers, number of observations, and the current prior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", nargs="+", type=Path)
    counts: Counts = defaultdict(lambda: [0, 0])
    for file in parser.parse_args().answers:
        for line in file.read_text("utf-8").splitlines():
            count(json.loads(line), counts)
    for kind, prior in enumerate(TEXT_PRIORS):
        right, seen = counts[kind]
        print(f"class {kind:2d}: {right / seen if seen else float('nan'):.2f} of {seen:6d}, believed {prior:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
