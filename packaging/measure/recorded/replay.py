"""Replays recorded answers through the real loop and pacing on a scripted clock: the same figures on every machine.

    python packaging/measure/recorded/replay.py ANSWERS.jsonl ... [--machine zen5 gpu ...] [--step 0.56]
        [--set NAME=VALUE]

The answers are those of real models at temperature 0 (answers.py), so text and draft are right where they were right;
what a pass costs is told. Times what Python does are left out. ``--set`` tries another value of a constant of
`engine.pacing.constants`, to see whether it matters.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import engine.pacing.drafter
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters import draft_model
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.interfaces import Rows, TokenIds
from engine.pacing.constants import MAX_DEPTH
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Pacer
from engine.records import Mode, SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence

# Passes by their tokens, in plain ones: Qwen2.5-Coder 1.5B Q4_K_M with our kernels on two processors; one with
# llama.cpp's own; a graphics processor; Intel's AMX.
MACHINES = {
    "zen5": {1: 1.0, 2: 1.47, 4: 1.11, 8: 1.47, 16: 2.75, 24: 4.1, 32: 5.5, 33: 5.9},
    "zen4": {1: 1.0, 2: 1.48, 4: 1.65, 8: 2.35, 16: 4.27, 32: 9.4, 33: 9.9},
    "generic": {1: 1.0, 2: 1.9, 3: 2.6, 4: 1.75, 8: 2.9, 12: 4.3, 16: 5.3, 24: 8.0, 32: 10.4, 33: 11.0},
    "gpu": {1: 1.0, 2: 1.02, 4: 1.03, 8: 1.06, 16: 1.1, 32: 1.3, 33: 1.31},
    "amx": {1: 1.0, 2: 1.8, 4: 2.0, 8: 2.5, 16: 3.7, 17: 5.4, 24: 6.5, 32: 7.6, 33: 11.0},
}
N_VOCAB, N_CTX = 8_000, 4096
FIRST_ID = 2  # below it: what a draft says where it went astray
STRAY_ID, STRAY_CHANCE = 1, 0.5
READ_SHARE = 0.22  # of a drafted token, that each of many tokens read at once takes
PLAIN_RUN_S = 0.03  # as in an answer


class Clock:
    """Time that passes only where somebody says so, in seconds."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time now."""
        return self.now


@dataclass
class Script:
    """One recorded answer in a small vocabulary: the path of all ids, and what the draft says of each answered one."""

    path: list[int]
    start: int
    draft_ids: list[int]
    draft_chances: list[float]


def script_of(record: dict[str, Any]) -> Script:
    """Number the ids of a record anew, so that rows are short."""
    ids, drafted = record["prompt_ids"] + record["ids"], record.get("draft_ids", [])
    numbers = {token_id: number for number, token_id in enumerate(dict.fromkeys(ids + drafted), FIRST_ID)}
    numbered = [numbers[one] for one in ids], [numbers[one] for one in drafted]
    return Script(numbered[0], len(record["prompt_ids"]), numbered[1], record.get("draft_chances", []))


class Scripted:
    """A `LanguageModel` that says what a script says, and takes as long as it is told."""

    num_snapshots, num_candidates, state_bytes = None, 0, 0
    n_vocab, n_ctx, n_ubatch = N_VOCAB, N_CTX, 64

    def __init__(self, clock: Clock, cost_ms: Callable[[int], float], *, is_draft: bool) -> None:
        self._clock, self._cost_ms, self._is_draft = clock, cost_ms, is_draft
        self._ids: list[int] = []
        self.script = Script([], 0, [], [])

    @property
    def num_past(self) -> int:
        """See `LanguageModel.num_past`."""
        return len(self._ids)

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """See `LanguageModel.forward`."""
        self._clock.now += self._cost_ms(len(ids)) / 1000.0
        self._ids += [int(token_id) for token_id in ids]
        end = len(self._ids) - num_padding
        rows = np.zeros((n_rows, N_VOCAB), dtype=np.float32)
        for i in range(n_rows):
            token_id, chance = self._next(end - n_rows + i + 1)
            rows[i, token_id] = math.log(chance * (N_VOCAB - 1) / (1.0 - chance))
        return rows

    def _next(self, place: int) -> tuple[int, float]:
        script = self.script
        if not self._is_draft:
            return (script.path[place] if place < len(script.path) else STRAY_ID), 0.999999
        answered = place - script.start
        if 0 <= answered < len(script.draft_ids) and self._ids[:place] == script.path[:place]:
            return script.draft_ids[answered], min(max(script.draft_chances[answered], 0.01), 0.9999)
        return STRAY_ID, STRAY_CHANCE

    def rollback(self, num_past: int) -> bool:
        """See `LanguageModel.rollback`."""
        del self._ids[num_past:]
        return True

    def clear(self) -> None:
        """See `LanguageModel.clear`."""
        self._ids.clear()

    def save(self) -> bool:
        """See `LanguageModel.save`."""
        return False


class Replay:
    """One mode on one machine, from answer to answer."""

    def __init__(self, machine: str, mode: str, plain_ms: float, step_share: float) -> None:
        self.clock = Clock()
        for module in (loop, engine.pacing.drafter, draft_model):
            module.perf_counter = self.clock  # type: ignore[attr-defined]
        curve = CostCurve({n: share * plain_ms for n, share in MACHINES[machine].items()})
        step_ms, self.plain_ms = step_share * plain_ms, plain_ms
        costs_ms = curve.points_ms
        self.target = Scripted(self.clock, lambda n: costs_ms[min(n, max(costs_ms))], is_draft=False)
        self.draft = Scripted(self.clock, lambda n: step_ms * max(1.0, READ_SHARE * n), is_draft=True)
        self.pacer = Pacer(curve)
        self.pacer.expect_drafting(step_ms)
        self.mode, self.suffix = mode, SuffixDrafter()
        self.suffix.min_match = 1

    def answer(self, record: dict[str, Any]) -> tuple[float, float, StatsRecorder]:
        """Milliseconds of plain decoding and of this mode, and the counters."""
        script, count = script_of(record), len(record["ids"])
        self.target.script = self.draft.script = script
        self.target.clear()
        self.draft.clear()
        target, prompt = CachedSequence(self.target), np.array(script.path[: script.start], dtype=np.int32)
        for _ in target.prefill(prompt[:-1]):
            pass
        drafter = self._drafter()
        stats = StatsRecorder(Mode.AUTO, N_CTX)
        sampler = Sampler(SamplingParams(temperature=0.0))
        speculation = Speculation(target, drafter, sampler, stats, prompt, LoopConfig(pacer=self.pacer))
        began, given = self.clock.now, 0
        while given < count:
            rest = min(drafter.pause_length(speculation.history), count - given)
            if rest:
                given += len(speculation.run_plain(rest, PLAIN_RUN_S, drafter.ends_pause).ids)
            else:
                given += len(speculation.step(MAX_DEPTH, count - given).ids)
        if speculation.history[script.start :].tolist() != script.path[script.start :]:
            raise RuntimeError("the replayed answer is another one")
        return count * self.plain_ms, (self.clock.now - began) * 1000.0, stats

    def _drafter(self) -> PacedDrafter:
        has_model = self.mode in ("auto", "draft")
        model = DraftModelDrafter(CachedSequence(self.draft), N_VOCAB, frozenset()) if has_model else None
        text = None if self.mode == "draft" else self.suffix
        return PacedDrafter(self.pacer, text, model, may_pause=self.mode != "draft")


def set_constants(assignments: list[str]) -> None:
    """Give constants other values, wherever they were imported."""
    for assignment in assignments:
        name, value = assignment.split("=")
        for module in [module for key, module in sys.modules.items() if key.startswith("engine.")]:
            if hasattr(module, name):
                setattr(module, name, ast.literal_eval(value))


def main() -> int:
    """A line for each machine and mode: the gain over plain decoding, by category."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", nargs="+", type=Path)
    parser.add_argument("--machine", nargs="+", default=list(MACHINES))
    parser.add_argument("--modes", nargs="+", default=["auto", "text", "draft"], help="text is auto without a draft")
    parser.add_argument("--plain-ms", type=float, default=24.0)
    parser.add_argument("--step", type=float, default=0.56, help="a drafted token, in plain passes")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    set_constants(options.set)
    by_category: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in (json.loads(line) for file in options.answers for line in file.read_text("utf-8").splitlines()):
        if record["ids"]:
            by_category[record["category"]].append(record)
    records = [record for row in zip_longest(*by_category.values()) for record in row if record]
    for machine in options.machine:
        for mode in options.modes:
            replay = Replay(machine, mode, options.plain_ms, options.step)
            sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for record in records:
                plain_ms, taken_ms, _stats = replay.answer(record)
                for name in (record["category"], "all"):
                    sums[name][0] += plain_ms
                    sums[name][1] += taken_ms
            gains = "  ".join(f"{name} {plain / taken:.3f}" for name, (plain, taken) in sorted(sums.items()))
            print(f"{machine:8s} {mode:6s} {gains}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
