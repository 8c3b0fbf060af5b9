"""Measures exactness where everything is known: a vocabulary of 10, scripted distributions, a million answers a mode.

    python packaging/measure/scripted.py [--samples 1000000] [--modes both,draft,text]

Each answer has three tokens; at each position the counts are set against the exact probabilities of plain decoding
(chi-square). The pacer is driven through all its depths: its cost curve is replaced by another random one every few
thousand answers, and its clock is a scripted one. Block verification and padding are in it, as in the app.
"""

from __future__ import annotations

import argparse
import sys
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine import speculate
from engine.drafters import paced
from engine.pacer import MAX_DEPTH
from engine.records import Mode, SamplingParams
from engine.sampling import Sampler
from engine.stats import StatsRecorder
from tests.engine.drafters.test_paced import Answering, Clock
from tests.engine.test_speculate import N_VOCAB, likely_path, plain_distribution
from tests.engine.test_verifier import chi_square_p

LENGTH = 3
PER_CURVE = 2000
SEEDS_A_CURVE = 1_000_000  # apart, so that no two answers share a seed


class Deep(Answering):
    """Answers that want many tokens, so that passes may go deep; only their beginnings are looked at."""

    def beginning(self, mode: str, sampling: SamplingParams, prompt: list[int]) -> list[int]:
        """The first tokens of one answer."""
        ids = np.array(prompt, dtype=np.int32)
        self.target.reuse(ids)
        for _ in self.target.prefill(ids[self.target.num_past : -1]):
            pass
        stats = StatsRecorder(Mode.AUTO, 256)
        speculation = speculate.Speculation(self.target, self.drafters[mode], Sampler(sampling), stats, ids, self.pacer)
        given: list[int] = []
        while len(given) < LENGTH:
            before = stats.proposed
            given += self.next_ids(speculation, self.drafters[mode], MAX_DEPTH + 1)
            self.depths.add(stats.proposed - before)
        return given[:LENGTH]


def random_curve(rng: np.random.Generator) -> dict[int, float]:
    """Costs of passes that make any depth the best one: cheap, dear or stepped."""
    sizes = (1, 2, 3, 4, 6, 8, 16, 32)
    steps = rng.exponential(rng.choice([0.02, 0.2, 1.0]), len(sizes) - 1)
    return dict(zip(sizes, np.concatenate(([1.0], 1.0 + np.cumsum(steps))).tolist(), strict=True))


def count(job: tuple[str, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Answers of one curve: counts by position and token, and by the number of proposed tokens."""
    mode, number = job
    rng = np.random.default_rng(number)
    clock = Clock(number)
    for module in (speculate, paced):
        module.perf_counter = clock  # type: ignore[attr-defined]
    answering = Deep(random_curve(rng))
    prompt = likely_path(12)
    counts = np.zeros((LENGTH, N_VOCAB), dtype=np.int64)
    depths = np.zeros(MAX_DEPTH + 1, dtype=np.int64)
    for i in range(PER_CURVE):
        seed = number * SEEDS_A_CURVE + i
        sampling = SamplingParams(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)
        for position, token_id in enumerate(answering.beginning(mode, sampling, prompt)):
            counts[position, token_id] += 1
    for depth in answering.depths:
        depths[depth] += 1
    return counts, depths


def main() -> int:
    """Count in two processes and print the p of each position."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--modes", default="both,draft,text")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the number of the first curve: other seeds")
    options = parser.parse_args()
    last = likely_path(12)[-1]
    good = True
    for mode in options.modes.split(","):
        jobs = [(mode, number) for number in range(options.first, options.first - (-options.samples // PER_CURVE))]
        total = np.zeros((LENGTH, N_VOCAB), dtype=np.int64)
        depths = np.zeros(MAX_DEPTH + 1, dtype=np.int64)
        with Pool(options.processes) as pool:
            for counts, seen in pool.imap_unordered(count, jobs):
                total += counts
                depths += seen
        chances = [chi_square_p(total[i], plain_distribution(last, i)) for i in range(LENGTH)]
        good = good and min(chances) > 0.001
        words = ", ".join(f"{chance:.3f}" for chance in chances)
        reached = ", ".join(str(depth) for depth in np.flatnonzero(depths))
        print(f"{mode}: {total[0].sum():,} answers, p by position {words}; depths reached: {reached}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
