"""Measures what ways of drafting give on the workloads, on a scripted clock: the same figures on every machine.

    python packaging/measure/drafting.py [--temperatures 0 0.8] [--max-tokens 128] [--ways either chained ...]

Tokens and distributions are those of the built-in pair; what a pass costs is told: the staircase of a CPU, or a curve
as flat as a GPU's. `gain` is tokens per millisecond over plain decoding, with the cost of drafting in it.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.benchmark.prompts import Prompt, read_prompts
from app.paths import builtin_draft, builtin_target
from engine import speculate
from engine.cost_curve import CostCurve
from engine.drafters import paced
from engine.drafters.base import Draft, Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.paced import PacedDrafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.drafters.suffix import SuffixDrafter
from engine.interfaces import Rows, TokenIds
from engine.loading import LoadedModel, LoadOptions, open_model
from engine.pacer import MAX_DEPTH, Pacer
from engine.prompt import PromptBuilder
from engine.records import Mode, SamplingParams
from engine.sampling import History, Sampler
from engine.sequence import CachedSequence
from engine.sharpness import Sharpness
from engine.speculate import Speculation
from engine.stats import StatsRecorder

WORKLOADS = Path(__file__).resolve().parents[2] / "assets" / "workloads"
STAIRCASE = {1: 1.0, 2: 1.64, 3: 2.24, 4: 1.57, 5: 2.24, 6: 2.85, 8: 2.71, 10: 3.96, 12: 3.82, 16: 3.73, 24: 6.39}
STAIRCASE[32] = 7.95
FLAT = {1: 1.0, 16: 1.05, 32: 1.1}
# A pass of 2 to 15 tokens is hardly cheaper than its tokens one by one; only from 16 on does a wider kernel take over.
STEEP = {1: 1.0, 2: 1.73, 3: 2.51, 4: 3.4, 7: 5.77, 8: 5.61, 11: 7.89, 12: 7.67, 15: 9.87, 16: 7.45, 19: 9.66}
STEEP |= {20: 9.61, 23: 11.77, 24: 11.66, 27: 13.98, 28: 13.88, 31: 16.18, 32: 14.15, 33: 14.79}
# With AMX: tiles of 16 and 32 rows, and another kernel for a single one.
TILES = {1: 1.0, 2: 1.8, 4: 2.0, 8: 2.5, 16: 3.7, 17: 5.4, 24: 6.5, 32: 7.6}
# Zen 4 with the set-up's own kernels, which take four and eight tokens at a time.
EIGHTS = {1: 1.0, 2: 1.53, 3: 2.05, 4: 1.35, 5: 1.95, 6: 2.43, 7: 3.04, 8: 2.19, 9: 2.97, 10: 3.51, 11: 3.92, 12: 3.68}
EIGHTS |= {13: 4.26, 14: 4.86, 15: 5.27, 16: 4.5, 17: 5.2, 20: 5.88, 24: 6.82, 28: 7.84, 32: 8.92, 33: 9.46}
CURVES = {"cpu": STAIRCASE, "steep": STEEP, "flat": FLAT, "tiles": TILES, "eights": EIGHTS}
PLAIN_MS = 20.0
# Of the draft model; more tokens in one batch cost a quarter more each.
STEP_MS = {"cpu": 0.9, "steep": 0.9, "flat": 1.5, "tiles": 0.55, "eights": 0.5}


class Clock:
    """Time that passes only where somebody says so, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time now."""
        return self.now


class TimedSequence(CachedSequence):
    """A model whose passes take as long on the clock as ``cost_ms`` of their number of tokens says."""

    def __init__(self, loaded: LoadedModel, clock: Clock, cost_ms: Callable[[int], float]) -> None:
        super().__init__(loaded.context)
        self._clock = clock
        self._cost_ms = cost_ms

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`."""
        self._clock.now += self._cost_ms(len(ids)) / 1000.0
        return super().forward(ids, n_rows, num_padding)


@dataclass
class Total:
    """What a way of drafting gave."""

    tokens: int = 0
    passes: int = 0
    proposed: int = 0
    accepted: int = 0
    seconds: float = 0.0

    def add(self, other: Total) -> None:
        """Count another one in."""
        self.tokens += other.tokens
        self.passes += other.passes
        self.proposed += other.proposed
        self.accepted += other.accepted
        self.seconds += other.seconds


class OnlyAlone(SuffixDrafter):
    """Text that follows a history only, never tokens that a draft model has drawn."""

    def propose_after(self, ids: Iterable[int], limit: int) -> Draft:  # noqa: ARG002  (the overridden signature)
        """Nothing."""
        return super().propose_after(ids, 0)


class Bench:
    """The built-in pair with the costs of another machine."""

    def __init__(self, curve: str, *, sharpens: bool = True) -> None:
        self.sharpness = Sharpness() if sharpens else None
        options = LoadOptions(n_ctx=2048, threads=1)
        self.clock = Clock()
        self.curve = {n: ms * PLAIN_MS for n, ms in CURVES[curve].items()}
        costs = CostCurve(self.curve)
        self.step_ms = STEP_MS[curve]
        self.target = open_model(builtin_target(), options)
        self.draft = open_model(builtin_draft(), options)
        own = [costs.points_ms[min(n, 33)] for n in range(1, 34)]
        self.target_sequence = TimedSequence(self.target, self.clock, lambda n: own[min(n, 33) - 1])
        self.draft_sequence = TimedSequence(self.draft, self.clock, lambda n: self.step_ms * (0.75 + 0.25 * n))
        self.prompts = PromptBuilder(self.target.model.vocab, self.target.model.chat_template)
        for module in (speculate, paced):
            setattr(module, "perf_counter", self.clock)  # noqa: B010  (a plain assignment is not type-checked)

    def model(self) -> DraftModelDrafter:
        """A drafter over the draft model."""
        vocab = self.target.model.vocab
        drafter = DraftModelDrafter(self.draft_sequence, vocab.n_vocab, vocab.eog_ids)
        drafter.sharpness = self.sharpness
        return drafter

    def answer(
        self, prompt: Prompt, drafter: Drafter, pacer: Pacer, sampling: SamplingParams, wanted: int, depth: int
    ) -> Total:
        """One answer with at most ``depth`` tokens proposed a pass, to the end that the model or ``wanted`` sets."""
        ids: History = np.asarray(self.prompts.build(prompt.messages), dtype=np.int32)
        self.target_sequence.clear()
        for _ in self.target_sequence.prefill(ids[:-1]):
            pass
        stats = StatsRecorder(Mode.AUTO, self.target_sequence.n_ctx)
        speculation = Speculation(self.target_sequence, drafter, Sampler(sampling), stats, ids, pacer)
        speculation.on_first_look = self.sharpness.observe if self.sharpness is not None else None
        started, given = self.clock.now, 0
        while given < wanted:
            block = speculation.step(depth, wanted - given)
            ends = [i for i, token_id in enumerate(block.ids) if token_id in self.target.model.vocab.eog_ids]
            given += ends[0] + 1 if ends else len(block.ids)
            if ends:
                break
        return Total(given, stats.passes, stats.proposed, stats.accepted, self.clock.now - started)


WAYS: dict[str, Callable[[Bench, Pacer], Drafter]] = {
    "ngram": lambda _bench, pacer: PacedDrafter(pacer, PromptLookupDrafter(), None),
    "suffix": lambda _bench, pacer: PacedDrafter(pacer, SuffixDrafter(), None),
    "draft": lambda bench, pacer: PacedDrafter(pacer, None, bench.model()),
    "either": lambda bench, pacer: PacedDrafter(pacer, OnlyAlone(), bench.model()),
    "chained": lambda bench, pacer: PacedDrafter(pacer, SuffixDrafter(), bench.model()),
    "draft-7": lambda bench, _pacer: bench.model(),
    "draft-15": lambda bench, _pacer: bench.model(),
}
FIXED = {"draft-7": 7, "draft-15": 15}  # at one depth; all others are paced


def main() -> int:
    """Run every way over every prompt and print a table for each temperature and curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.0, 0.8])
    parser.add_argument("--curves", nargs="+", default=list(CURVES), choices=list(CURVES))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS))
    parser.add_argument("--max-tokens", type=int, default=128)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--as-it-is", action="store_true", help="draw drafts as their chain gives them, never sharper")
    options = parser.parse_args()
    prompts = [p for path in sorted(WORKLOADS.glob("*.jsonl")) for p in read_prompts(path)]
    for curve in options.curves:
        for temperature in options.temperatures:
            for way in options.ways:
                totals = run(Bench(curve, sharpens=not options.as_it_is), way, prompts, temperature, options)
                cells = [f"{name} {PLAIN_MS * t.tokens / t.seconds / 1000:.3f}" for name, t in totals.items()]
                whole = totals["all"]
                print(
                    f"{curve} T={temperature:g} {way:8} {' '.join(cells)}; {whole.tokens / whole.passes:.3f} a pass, "
                    f"{whole.accepted / max(1, whole.proposed):.3f} accepted",
                    flush=True,
                )
    return 0


def run(
    bench: Bench, way: str, prompts: list[Prompt], temperature: float, options: argparse.Namespace
) -> dict[str, Total]:
    """Totals by category and of all, every prompt with the same seeds, one pacer through all of them."""
    pacer = Pacer(CostCurve(bench.curve), bench.step_ms)
    drafter = WAYS[way](bench, pacer)
    totals: dict[str, Total] = defaultdict(Total)
    for seed in range(options.seeds):
        sampling = SamplingParams(temperature=temperature)
        for number, prompt in enumerate(prompts):
            mine = replace(sampling, seed=1000 * seed + number)
            total = bench.answer(prompt, drafter, pacer, mine, options.max_tokens, FIXED.get(way, MAX_DEPTH))
            totals[prompt.category].add(total)
            totals["all"].add(total)
    return totals


if __name__ == "__main__":
    raise SystemExit(main())
