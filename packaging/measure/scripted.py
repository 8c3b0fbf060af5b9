"""Measures exactness where everything is known: a vocabulary of 10, scripted distributions, a million tokens a mode.

    python packaging/measure/scripted.py [--samples 1000000] [--modes auto,draft,suffix,ngram]

The target's next token depends on the last one only, so every token is a sample of a known distribution. Counted are
the tokens after each pair of tokens, and those at the first three positions of an answer; both are set against the
exact probabilities of plain decoding (chi-square). The pacer is driven through all its depths: its cost curve is
replaced by another random one every few thousand tokens, and its clock is a scripted one. Block verification and
padding are in it, as in the app.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from curves import InjectedCurve, random_curve
from scripted_pair import (
    N_VOCAB,
    P_LOGITS,
    Q_LOGITS,
    Clock,
    MarkovModel,
    chi_square_p,
    likely_path,
    plain_distribution,
    unseeded,
)

import engine.pacing.drafter
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters import draft_model
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.drafters.suffix.drafter import SuffixDrafter, SuffixRules
from engine.pacing.constants import MAX_DEPTH
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Pacer
from engine.records import Mode, SamplingParams
from engine.sequence import CachedSequence

POSITIONS = 3
LONGEST_RUN_S = 60.0  # of plain passes in one go
LENGTH = 100  # tokens of an answer that are counted
ANSWERS_A_CURVE = 40
SEEDS_A_CURVE = 1_000_000  # apart, so that no two answers share a seed
_OF_CURVES, _OF_CLOCKS = 1, 2  # beside a number in a seed: no stream is an answer's own
LEAST_EXPECTED = 10.0  # in a cell; rarer ones are pooled


@dataclass
class Counted:
    """Tokens by position [POSITIONS, n_vocab] and by the two before them [n_vocab, n_vocab, n_vocab]."""

    positions: NDArray[np.int64] = field(default_factory=lambda: np.zeros((POSITIONS, N_VOCAB), dtype=np.int64))
    after: NDArray[np.int64] = field(default_factory=lambda: np.zeros((N_VOCAB,) * 3, dtype=np.int64))
    depths: set[int] = field(default_factory=set)
    num_padded: int = 0

    def add(self, other: Counted) -> None:
        """Take in what another process has counted."""
        self.positions += other.positions
        self.after += other.after
        self.depths |= other.depths
        self.num_padded += other.num_padded


class Deep:
    """Answers that want many tokens to the end, so that passes may go deep; their first `LENGTH` tokens are counted."""

    def __init__(self, number: int) -> None:
        """``number`` of the curve."""
        costs_ms = random_curve(np.random.default_rng((_OF_CURVES, number)))
        self.curve = InjectedCurve(costs_ms)
        self.pacer = Pacer(self.curve, 0.05)
        self.target = CachedSequence(MarkovModel(P_LOGITS))
        self.text = PromptLookupDrafter(1, 3)
        self.suffix = SuffixDrafter(SuffixRules(min_match=1, tail_match=1))
        self.depths: set[int] = set()
        model = DraftModelDrafter(CachedSequence(MarkovModel(Q_LOGITS)), N_VOCAB, frozenset())
        self.drafters = {
            "auto": PacedDrafter(self.pacer, self.suffix, model),
            "draft": PacedDrafter(self.pacer, None, model, may_pause=False),
            "suffix": PacedDrafter(self.pacer, self.suffix, None, may_pause=False),
            "ngram": PacedDrafter(self.pacer, self.text, None, may_pause=False),
        }

    def beginning(self, mode: str, sampling: SamplingParams, prompt: list[int]) -> list[int]:
        """The first tokens of one answer."""
        ids = np.array(prompt, dtype=np.int32)
        self.target.reuse(ids)
        for _ in self.target.prefill(ids[self.target.num_past : -1]):
            pass
        stats_of = StatsRecorder(Mode.AUTO, 256)
        drafter = self.drafters[mode]
        config = LoopConfig(pacer=self.pacer)
        speculation = Speculation(self.target, drafter, unseeded(sampling), stats_of, ids, config)
        given: list[int] = []
        while len(given) < LENGTH:
            before = stats_of.proposed
            given += self._next_ids(speculation, drafter)
            self.depths.add(stats_of.proposed - before)
        return given[:LENGTH]

    def _next_ids(self, speculation: Speculation, drafter: PacedDrafter) -> list[int]:
        """A pass, or where the drafter rests a run of plain ones: as an answer goes on."""
        rest = min(drafter.pause_length(speculation.history), MAX_DEPTH + 1)
        if rest:
            return speculation.run_plain(rest, LONGEST_RUN_S, drafter.ends_pause).ids
        return speculation.step(32, MAX_DEPTH + 1).ids


def count(job: tuple[str, int]) -> Counted:
    """The answers of one curve."""
    mode, number = job
    clock = Clock((_OF_CLOCKS, number))
    for module in (loop, engine.pacing.drafter, draft_model):
        module.perf_counter = clock  # type: ignore[attr-defined]
    answering = Deep(number)
    prompt = likely_path(12)
    counted = Counted()
    for i in range(ANSWERS_A_CURVE):
        seed = number * SEEDS_A_CURVE + i
        sampling = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        ids = answering.beginning(mode, sampling, prompt)
        counted.positions[np.arange(POSITIONS), ids[:POSITIONS]] += 1
        whole = np.array([*prompt[-2:], *ids])
        np.add.at(counted.after, (whole[:-2], whole[1:-1], whole[2:]), 1)
    counted.depths, counted.num_padded = answering.depths, answering.curve.num_padded
    return counted


def after_p(after: NDArray[np.int64]) -> float:
    """P value of the tokens after every pair of tokens: the sum of a chi-square for each pair."""
    statistic, freedom = 0.0, 0
    for last in range(N_VOCAB):
        p = plain_distribution(last, 0)
        order = np.argsort(p)
        for seen in after[:, last]:
            expected = p * seen.sum()
            first = int(np.searchsorted(np.cumsum(expected[order]), LEAST_EXPECTED))  # these and the next make a cell
            if first >= N_VOCAB - 1:
                continue
            starts = [0, *range(first + 1, N_VOCAB)]
            cells, wanted = (np.add.reduceat(values[order], starts) for values in (seen, expected))
            statistic += float(((cells - wanted) ** 2 / wanted).sum())
            freedom += len(cells) - 1
    return float(stats.chi2.sf(statistic, freedom))


def main() -> int:
    """Count in two processes and print the p of each position and of what follows each pair of tokens."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000, help="tokens")
    parser.add_argument("--modes", default="auto,draft,suffix,ngram")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the number of the first curve: other seeds")
    options = parser.parse_args()
    last = likely_path(12)[-1]
    good = True
    num_curves = -(-options.samples // (ANSWERS_A_CURVE * LENGTH))
    for mode in options.modes.split(","):
        total = Counted()
        with Pool(options.processes) as pool:
            for counted in pool.imap_unordered(count, [(mode, options.first + i) for i in range(num_curves)]):
                total.add(counted)
        by_position = [chi_square_p(total.positions[i], plain_distribution(last, i)) for i in range(POSITIONS)]
        after = after_p(total.after)
        good = good and min(*by_position, after) > 0.001
        words = ", ".join(f"{chance:.3f}" for chance in by_position)
        print(
            f"{mode}: {total.after.sum():,} tokens, p after each pair of tokens {after:.3f}, by position {words}; "
            f"passes padded {total.num_padded:,}; depths {', '.join(map(str, sorted(total.depths)))}",
            flush=True,
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
