"""Answers of a target and a draft whose passes take scripted times, on a clock that only passes advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

import engine.pacing.drafter
from engine.decoding import loop
from engine.decoding.loop import LoopConfig, Speculation, StepOutput
from engine.decoding.stats import StatsRecorder
from engine.drafters import draft_model
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.interfaces import Rows, TokenIds
from engine.pacing.constants import MAX_DEPTH
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.graph_replay import GraphReplayCost
from engine.pacing.pacer import Pacer
from engine.records import Mode, SamplingParams, Source
from engine.sampling.sampler import Sampler
from engine.sequence import CachedSequence
from engine.session.answer import TEXT_INTERVAL_S
from engine.session.drafter_choice import PACED_MIN_MATCH
from tests.fake_model import MarkovModel

GREEDY = SamplingParams(temperature=0.0)
# Cost of a pass of n tokens relative to a plain pass: a model with 1.5 billion parameters on two cores.
TWO_CORES = {1: 1.0, 2: 1.47, 3: 1.6, 4: 1.11, 5: 1.9, 6: 1.9, 7: 1.9, 8: 1.47, 16: 2.75, 33: 5.7}
READ_SHARE = 0.25  # time of the draft to read a token, as a fraction of the time to draft one


class Clock:
    """Only passes advance it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        for module in (loop, engine.pacing.drafter, draft_model):
            monkeypatch.setattr(module, "perf_counter", self)

    def __call__(self) -> float:
        return self.now


class TimedModel(MarkovModel):
    """Its passes take scripted milliseconds, by their number of tokens."""

    def __init__(
        self, logits: NDArray[np.float32], clock: Clock, cost_ms: Callable[[int], float], n_ctx: int = 2048
    ) -> None:
        super().__init__(logits, n_ctx)
        self._clock, self._cost_ms = clock, cost_ms
        self.sizes: list[int] = []

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        self._clock.now += self._cost_ms(len(ids)) / 1000.0
        self.sizes.append(len(ids))
        return super().forward(ids, n_rows)


class ScriptedModel(TimedModel):
    """Continues with the next token of ``path``, whatever tokens it has read."""

    def __init__(self, path: Sequence[int], confidence: float, clock: Clock, cost_ms: Callable[[int], float]) -> None:
        """``confidence`` is the probability of the likeliest token."""
        n_vocab = max(path) + 2
        super().__init__(np.zeros((1, n_vocab), dtype=np.float32), clock, cost_ms, len(path) + 64)
        self._path = np.asarray(path, dtype=np.int32)
        self._height = float(np.log(confidence / (1.0 - confidence) * (n_vocab - 1)))

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        self._logits = np.zeros((self.n_vocab, 1), dtype=np.float32)
        super().forward(ids, 0)
        end = self.num_past
        rows = np.zeros((n_rows, self.n_vocab), dtype=np.float32)
        following = np.arange(end - n_rows + 1, end + 1) % len(self._path)
        rows[np.arange(n_rows), self._path[following]] = self._height
        return rows


@dataclass(frozen=True)
class DraftScript:
    """A draft: cost of a step relative to a plain pass, how often its token is right, and the token's probability."""

    step_share: float
    accuracy: float
    confidence: float = 0.75


@dataclass
class Proposal:
    """One pass: the number of tokens before it, its source, and how many tokens it proposed and accepted."""

    before: int
    source: Source | None
    num_proposed: int
    num_kept: int


@dataclass
class ScriptedAnswer:
    """Generates an answer as `Answer` does: the prompt is the first ``num_prompt`` tokens of ``path``."""

    monkeypatch: pytest.MonkeyPatch
    path: Sequence[int]
    num_prompt: int
    plain_ms: float
    draft: DraftScript | None = None
    shares: dict[int, float] = field(default_factory=lambda: TWO_CORES)
    may_pause: bool = True
    cost_ms: Callable[[int], float] | None = None  # milliseconds of a pass by number of tokens; None: by ``shares``
    graph_replay: GraphReplayCost | None = None

    def __post_init__(self) -> None:
        self.clock = Clock(self.monkeypatch)
        curve = CostCurve({n: share * self.plain_ms for n, share in self.shares.items()})
        true_ms = curve.points_ms
        cost_ms = self.cost_ms or (lambda n: true_ms.get(n, 0.1 * self.plain_ms * n))
        self.model = ScriptedModel(self.path, 0.99, self.clock, cost_ms)
        self.target = CachedSequence(self.model)
        self.pacer = Pacer(curve, graph_replay=self.graph_replay)
        self.draft_model: ScriptedModel | None = None
        model = self._drafter_model() if self.draft is not None else None
        text = SuffixDrafter()
        text.min_match = PACED_MIN_MATCH
        self.drafter = PacedDrafter(self.pacer, text, model, may_pause=self.may_pause)
        self.prompt = np.asarray(self.path[: self.num_prompt], dtype=np.int32)
        self.target.forward(self.prompt[:-1], 0)
        self.stats = StatsRecorder(Mode.AUTO, self.model.n_ctx)
        config = LoopConfig(self.pacer, (self.pacer,))
        self.speculation = Speculation(self.target, self.drafter, Sampler(GREEDY), self.stats, self.prompt, config)
        self.began = self.clock.now
        self.proposals: list[Proposal] = []
        self.rests_after_waking: list[int] = []

    def _drafter_model(self) -> DraftModelDrafter:
        script = self.draft
        assert script is not None
        rng, step_ms = np.random.default_rng(17), script.step_share * self.plain_ms
        wrong = max(self.path) + 1
        drafted = [one if rng.random() < script.accuracy else wrong for one in self.path]
        self.draft_model = ScriptedModel(
            [*drafted, wrong], script.confidence, self.clock, lambda n: step_ms * (1.0 + READ_SHARE * (n - 1))
        )
        self.pacer.use_draft_prices(step_ms, READ_SHARE * step_ms)
        return DraftModelDrafter(CachedSequence(self.draft_model), self.model.n_vocab, frozenset())

    @property
    def num_tokens(self) -> int:
        """Tokens of the answer so far."""
        return len(self.speculation.history) - self.num_prompt

    @property
    def seconds(self) -> float:
        """Time since the answer began."""
        return self.clock.now - self.began

    def generate(self, num_tokens: int) -> ScriptedAnswer:
        """Generate until the answer has ``num_tokens`` tokens, and check that they follow the path."""
        while self.num_tokens < num_tokens:
            before, proposed, kept = self.num_tokens, self.stats.proposed, self.stats.accepted
            self._block(num_tokens - self.num_tokens)
            num_proposed = self.stats.proposed - proposed
            source = self.drafter._draft.source if num_proposed else None
            self.proposals.append(Proposal(before, source, num_proposed, self.stats.accepted - kept))
        assert self.speculation.history.tolist() == list(self.path[: self.num_prompt + self.num_tokens])
        return self

    def _block(self, wanted: int) -> StepOutput:
        """Like `Answer._next_block`."""
        if rest := min(self.drafter.pause_length(self.speculation.history), wanted):
            return self.speculation.run_plain(rest, TEXT_INTERVAL_S, self._ends_pause)
        return self.speculation.step(MAX_DEPTH, wanted)

    def _ends_pause(self, history: NDArray[np.int32]) -> bool:
        wakes = self.drafter.ends_pause(history)
        if wakes:
            self.rests_after_waking.append(self.drafter.pause_length(history))
        return wakes
