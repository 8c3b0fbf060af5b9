"""Replays recorded answers through the real loop and pacing on a simulated clock, with equal results on every machine.

    python packaging/measure/recorded/replay.py ANSWERS.jsonl ... [--machine zen5 gpu ...] [--step 0.56]
        [--without PART ...] [--depth 7] [--set NAME=VALUE]

The answers are from real models at temperature 0 (answers.py), so acceptance is real; the costs of passes are given
(machines.py), without the time of Python code. ``--without`` disables a part of pacing (parts.py), ``--set`` changes a
constant of `engine.pacing.constants`, to measure its effect.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections import defaultdict
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from machines import MACHINES, N_CTX, N_VOCAB, RELAUNCHED, Clock, Scripted, curve_ms, script_of
from parts import PARTS

import engine.pacing.drafter
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation
from engine.decoding.stats import StatsRecorder
from engine.drafters import draft_model
from engine.drafters.base import Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.constants import MAX_DEPTH
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter, TextOrModelDrafter
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.pacer import Pacer
from engine.pacing.rollback_cost import RollbackCost
from engine.records import Mode, SamplingParams
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence

READ_SHARE = 0.22  # cost of each of many tokens that are read at once, relative to a drafted token
PLAIN_RUN_S = 0.03  # seconds, as in an answer


class Replay:
    """A mode on a machine, over several answers."""

    def __init__(self, machine: str, mode: str, plain_ms: float, step_share: float, depth: int | None) -> None:
        """``depth`` None paces; otherwise the depth is fixed."""
        self.clock = Clock()
        for module in (loop, engine.pacing.drafter, draft_model):
            module.perf_counter = self.clock  # type: ignore[attr-defined]
        self.machine, self.mode, self.plain_ms = MACHINES[machine], mode, plain_ms
        self.depth, self._step_ms = depth, step_share * plain_ms
        self._costs_ms = curve_ms(self.machine.costs, plain_ms)
        self._busy_ms = curve_ms(self.machine.busy, plain_ms) if self.machine.busy is not None else self._costs_ms
        self.target = Scripted(self.clock, self._costs_ms, is_draft=False)
        self.target.relaunch_ms = self.machine.relaunch * plain_ms
        rollback = None
        if self.machine.checkpoint is not None:
            self.target.num_snapshots, self.target.checkpoint_ms = 0, self.machine.checkpoint * plain_ms
            rollback = RollbackCost(0, self.target.checkpoint_ms, self.target.checkpoint_ms)
        graph_replay = None
        if self.machine.relaunch:
            graph_replay = GraphReplayCost()
            slow_ms = [plain_ms + self.target.relaunch_ms] * RELAUNCHED
            graph_replay.use_measured([*slow_ms, plain_ms, plain_ms, plain_ms])
        self.draft = Scripted(self.clock, self._draft_ms(1.0), is_draft=True)
        believed = self.machine.believed or self.machine.costs
        curve = CostCurve({n: share * plain_ms for n, share in believed.items()})
        if self.machine.is_doubted:
            curve.replace(curve.known_ms, doubted=True)
        self.pacer = Pacer(curve, rollback=rollback, graph_replay=graph_replay)
        self.pacer.use_draft_prices(self._step_ms)
        self.suffix, self.num_answers = SuffixDrafter(), 0
        if depth is None:
            self.suffix.min_match = 1

    def _draft_ms(self, slowed: float) -> dict[int, float]:
        return {n: slowed * self._step_ms * max(1.0, READ_SHARE * n) for n in range(1, N_CTX)}

    def answer(self, record: dict[str, Any]) -> tuple[float, float]:
        """Replay an answer; return the milliseconds of plain decoding and of this mode."""
        script, count = script_of(record), len(record["ids"])
        is_busy = self.machine.busy is not None and self.num_answers % 2 == 1
        self.num_answers += 1
        self.target.costs_ms = self._busy_ms if is_busy else self._costs_ms
        token_ms = self.target.costs_ms[1]
        self.draft.costs_ms = self._draft_ms(token_ms / self.plain_ms)
        self.target.script = self.draft.script = script
        self.target.clear()
        self.draft.clear()
        target, prompt = CachedSequence(self.target), np.array(script.path[: script.start], dtype=np.int32)
        for _ in target.prefill(prompt[:-1]):
            pass
        drafter = self._drafter()
        stats = StatsRecorder(Mode.AUTO, N_CTX)
        sampler = Sampler(SamplingParams(temperature=0.0))
        prices, planner = self.pacer.prices, self.pacer if self.depth is None else None
        config = LoopConfig(planner, (planner or prices,))
        speculation = Speculation(target, drafter, sampler, stats, prompt, config)
        began, given = self.clock.now, 0
        while given < count:
            paced = drafter if isinstance(drafter, PacedDrafter) else None
            rest = min(paced.pause_length(speculation.history), count - given) if paced is not None else 0
            if paced is not None and rest:
                given += len(speculation.run_plain(rest, PLAIN_RUN_S, paced.ends_pause).ids)
            else:
                given += len(speculation.step(self.depth or MAX_DEPTH, count - given).ids)
        if speculation.history[script.start :].tolist() != script.path[script.start :]:
            raise RuntimeError("the replayed answer is another one")
        return count * token_ms, (self.clock.now - began) * 1000.0

    def _drafter(self) -> Drafter:
        has_model = self.mode in ("auto", "draft")
        model = DraftModelDrafter(CachedSequence(self.draft), N_VOCAB, frozenset()) if has_model else None
        text = None if self.mode == "draft" else self.suffix
        if self.depth is None:
            return PacedDrafter(self.pacer, text, model, may_pause=self.mode != "draft")
        if text is not None and model is not None:
            return TextOrModelDrafter(text, model)
        drafter = text or model
        assert drafter is not None
        return drafter


def set_constants(assignments: list[str]) -> None:
    """Change constants in all modules that imported them."""
    for assignment in assignments:
        name, value = assignment.split("=")
        for module in [module for key, module in sys.modules.items() if key.startswith("engine.")]:
            if hasattr(module, name):
                setattr(module, name, ast.literal_eval(value))


def main() -> int:
    """Print a line per machine and mode with the gain over plain decoding by category."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", nargs="+", type=Path)
    parser.add_argument("--machine", nargs="+", default=list(MACHINES))
    parser.add_argument("--modes", nargs="+", default=["auto", "text", "draft"], help="text is auto without a draft")
    parser.add_argument("--plain-ms", type=float, default=24.0)
    parser.add_argument("--step", type=float, default=0.56, help="a drafted token, in plain passes")
    parser.add_argument("--depth", type=int, help="propose so many tokens for every pass, unpaced")
    parser.add_argument("--without", nargs="+", default=[], choices=sorted(PARTS))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    options = parser.parse_args()
    set_constants(options.set)
    for part in options.without:
        PARTS[part]()
    by_category: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in (json.loads(line) for file in options.answers for line in file.read_text("utf-8").splitlines()):
        if record["ids"]:
            by_category[record["category"]].append(record)
    records = [record for row in zip_longest(*by_category.values()) for record in row if record]
    for machine in options.machine:
        for mode in options.modes:
            replay = Replay(machine, mode, options.plain_ms, options.step, options.depth)
            sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
            for record in records:
                plain_ms, taken_ms = replay.answer(record)
                for name in (record["category"], "all"):
                    sums[name][0] += plain_ms
                    sums[name][1] += taken_ms
            gains = "  ".join(f"{name} {plain / taken:.3f}" for name, (plain, taken) in sorted(sums.items()))
            print(f"{machine:8s} {mode:6s} {gains}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
