"""Simulated machines for replay, and a scripted model whose passes take given times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from engine.interfaces import Rows, TokenIds
from engine.pacing.cost_curve import CostCurve

N_VOCAB, N_CTX = 8_000, 4096
FIRST_ID = 2  # lower ids are for wrong tokens of a draft
STRAY_ID, STRAY_CHANCE = 1, 0.5
RELAUNCHED = 2  # plain passes after a larger pass that a GPU does not replay

Costs = dict[int, float]


@dataclass(frozen=True)
class Machine:
    """Costs of passes by number of tokens, relative to a plain pass of the quiet machine.

    Attributes:
        costs: costs on the quiet machine.
        busy: costs in every second answer, in which another program runs; None: no such program.
        believed: costs that were measured before the first answer; None: the true costs.
        is_doubted: whether that measurement detected another program.
        relaunch: extra cost of each of the `RELAUNCHED` plain passes after a larger pass.
        checkpoint: cost of saving a state of a recurrent memory, and also of restoring it.
    """

    costs: Costs
    busy: Costs | None = None
    believed: Costs | None = None
    is_doubted: bool = False
    relaunch: float = 0.0
    checkpoint: float | None = None


ZEN5 = {1: 1.0, 2: 1.47, 4: 1.11, 8: 1.47, 16: 2.75, 24: 4.1, 32: 5.5, 33: 5.9}
ZEN4 = {1: 1.0, 2: 1.48, 4: 1.65, 8: 2.35, 16: 4.27, 32: 9.4, 33: 9.9}
GPU = {1: 1.0, 2: 1.02, 4: 1.03, 8: 1.06, 16: 1.1, 32: 1.3, 33: 1.31}
# With another program on the same cores, a plain pass takes slightly longer, and larger passes twice as long.
ZEN5_BUSY = {n: 1.2 if n == 1 else 2.0 * share for n, share in ZEN5.items()}

# Qwen2.5-Coder 1.5B Q4_K_M with our kernels on two processors, and on one with llama.cpp's own; a GPU; Intel's AMX.
# Then with complications: another program, during the measurement or afterwards; throttling, which slows down
# everything permanently; graphs that a GPU replays (as SmolLM2's on an H100); a recurrent memory.
MACHINES = {
    "zen5": Machine(ZEN5),
    "zen4": Machine(ZEN4),
    "generic": Machine({1: 1.0, 2: 1.9, 3: 2.6, 4: 1.75, 8: 2.9, 12: 4.3, 16: 5.3, 24: 8.0, 32: 10.4, 33: 11.0}),
    "gpu": Machine(GPU),
    "amx": Machine({1: 1.0, 2: 1.8, 4: 2.0, 8: 2.5, 16: 3.7, 17: 5.4, 24: 6.5, 32: 7.6, 33: 11.0}),
    "busy": Machine(ZEN5, busy=ZEN5_BUSY),
    "misjudged": Machine(ZEN5, believed=ZEN5_BUSY, is_doubted=True),
    "heat": Machine({n: 1.0 if n == 1 else 1.7 * share for n, share in ZEN5.items()}, believed=ZEN5),
    "graphs": Machine(GPU, relaunch=1.2),
    "recurrent": Machine(ZEN4, checkpoint=0.3),
}


class Clock:
    """A simulated clock in seconds, which the script advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time now."""
        return self.now


@dataclass
class Script:
    """A recorded answer in a small vocabulary: all ids in order, and the draft's prediction of each answered id."""

    path: list[int] = field(default_factory=list)
    start: int = 0
    draft_ids: list[int] = field(default_factory=list)
    draft_chances: list[float] = field(default_factory=list)


def script_of(record: dict[str, Any]) -> Script:
    """Renumber the ids of a record, so that rows are short."""
    ids, drafted = record["prompt_ids"] + record["ids"], record.get("draft_ids", [])
    numbers = {token_id: number for number, token_id in enumerate(dict.fromkeys(ids + drafted), FIRST_ID)}
    numbered = [numbers[one] for one in ids], [numbers[one] for one in drafted]
    return Script(numbered[0], len(record["prompt_ids"]), numbered[1], record.get("draft_chances", []))


class Scripted:
    """A `LanguageModel` that follows a script, with simulated times."""

    num_candidates, state_bytes = 0, 0
    n_vocab, n_ctx, n_ubatch = N_VOCAB, N_CTX, 64

    def __init__(self, clock: Clock, costs_ms: Mapping[int, float], *, is_draft: bool) -> None:
        self._clock, self.costs_ms, self._is_draft = clock, costs_ms, is_draft
        self._largest = max(costs_ms)
        self._ids: list[int] = []
        self._kept: list[int] = []
        self.relaunch_ms = self.checkpoint_ms = 0.0
        self._num_behind = RELAUNCHED  # plain passes since the last larger pass
        self.num_snapshots: int | None = None
        self.script = Script()

    @property
    def num_past(self) -> int:
        """See `LanguageModel.num_past`."""
        return len(self._ids)

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """See `LanguageModel.forward`."""
        taken_ms = self.costs_ms[min(len(ids), self._largest)]
        if len(ids) == 1 and self._num_behind < RELAUNCHED:
            taken_ms += self.relaunch_ms
        self._num_behind = self._num_behind + 1 if len(ids) == 1 else 0
        self._clock.now += taken_ms / 1000.0
        self._ids += [int(token_id) for token_id in ids]
        end = len(self._ids)
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
        if self.num_snapshots is not None and num_past < len(self._ids):
            return False
        del self._ids[num_past:]
        return True

    def clear(self) -> None:
        """See `LanguageModel.clear`."""
        self._ids.clear()

    def save(self) -> bool:
        """See `LanguageModel.save`."""
        self._kept = list(self._ids)
        self._clock.now += self.checkpoint_ms / 1000.0
        return self.num_snapshots is not None

    def restore(self) -> bool:
        """See `LanguageModel.restore`."""
        self._ids = list(self._kept)
        self._clock.now += self.checkpoint_ms / 1000.0
        return True


def curve_ms(costs: Costs, plain_ms: float) -> dict[int, float]:
    """Interpolate the milliseconds of passes of 1, 2, ... tokens from some relative costs."""
    return CostCurve({n: share * plain_ms for n, share in costs.items()}).points_ms
