"""Tests by chi-square whether a real pair samples with plain decoding's distribution, and whether a bias is detected.

Each of the first positions is compared with plain decoding, the first also with the exact p. The depth is fixed, or a
pacer varies it by invented cost curves.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from engine.decoding.loop import LoopConfig, Speculation, StepOutput
from engine.decoding.stats import StatsRecorder
from engine.drafters.base import Draft, Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.pacing.constants import MAX_DEPTH
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Pacer
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import Message, Mode, SamplingParams
from engine.sampling.sampler import History, Sampler
from engine.session.drafter_choice import DraftersByMode

NUM_POSITIONS = 3
SEEDS_APART = 10**7
PLAIN_SEEDS = 10**6  # first seed of plain decoding
AGAIN_SEEDS = 5 * 10**6  # first seed of a repeated test
AGAIN = 4  # multiple of samples in a repeated test
SUSPICIOUS = 0.001  # p value that leads to a repeated test; one in a thousand exact distributions has it
RUN_SEEDS = 5 * 10**4  # distance of the seeds of modes and depths: with equal seeds their tokens could be equal
DEPTH = 3
PER_CURVE = 250  # answers per cost curve
MODES = ("off", "ngram", "suffix", "draft", "auto")
_SIZES = (1, 2, 3, 4, 6, 8, 16, 32)
_COSTLY = (2, 3, 6)  # tokens; on some machines passes of these sizes cost more than slightly larger ones
_STEP = 1.6


def random_curve(rng: np.random.Generator) -> dict[int, float]:
    """Random costs of passes, so that any depth may be the best; half of the curves are staircases, which pad."""
    steps = rng.exponential(rng.choice([0.02, 0.2, 1.0]), len(_SIZES) - 1)
    costs = dict(zip(_SIZES, np.concatenate(([1.0], 1.0 + np.cumsum(steps))).tolist(), strict=True))
    stepped = bool(rng.integers(2))
    return {size: cost * (_STEP if stepped and size in _COSTLY else 1.0) for size, cost in costs.items()}


class InjectedCurve(CostCurve):
    """A curve that ignores measured times."""

    def observe(self, num_tokens: int, milliseconds: float) -> None:
        """Learn nothing."""


@dataclass(frozen=True)
class Pair:
    """Target, draft and the builder of prompts."""

    target: LoadedModel
    draft: LoadedModel
    prompts: PromptBuilder

    def drafter(self, mode: Mode, pacer: Pacer | None = None) -> Drafter:
        """Make the drafter of a mode."""
        vocab = self.target.model.vocab
        model = DraftModelDrafter(self.draft.sequence, vocab.n_vocab, vocab.eog_ids)
        return DraftersByMode().drafter(mode, model, pacer)

    def ids(self, text: str, begun: str = "") -> History:
        """Ids of a chat prompt with the begin of the answer; a raw prompt if the model has no chat template."""
        if self.target.model.chat_template:
            ids = self.prompts.build((Message("user", text),))
            ids += self.target.model.vocab.tokenize(begun, special=False)
        else:
            ids = self.prompts.ids_of_raw_text(f"{text} {begun}")
        return np.asarray(ids, dtype=np.int32)


def open_pair(options: argparse.Namespace) -> Pair:
    """Load both models."""
    target = open_model(options.target, LoadOptions(n_ctx=2048))
    draft = open_model(options.draft, LoadOptions(n_ctx=2048))
    return Pair(target, draft, PromptBuilder(target.model.vocab, target.model.chat_template))


@dataclass
class Totals:
    """Numbers of proposed, accepted and rejected tokens over many runs."""

    proposed: int = 0
    accepted: int = 0
    rejected: int = 0
    depths: set[int] = field(default_factory=set)


class Answers:
    """Generates the beginnings of answers in one mode, at a fixed depth or paced."""

    def __init__(self, pair: Pair, mode: Mode, depth: int | None, wrap: Callable[[Drafter], Drafter]) -> None:
        """``depth`` None paces with a curve of `random_curve`, changed every few answers."""
        self._pair = pair
        self._depth = depth
        self._rng = np.random.default_rng(1)
        self._num_answers = 0
        self._curve = InjectedCurve(random_curve(self._rng))
        self._pacer = Pacer(self._curve, 0.05) if depth is None and mode is not Mode.OFF else None
        self._drafter = wrap(pair.drafter(mode, self._pacer))
        self.totals = Totals()

    def beginning(self, prompt: History, sampling: SamplingParams) -> list[int]:
        """The first `NUM_POSITIONS` tokens, including end-of-generation tokens."""
        if self._pacer is not None and self._num_answers % PER_CURVE == 0:
            self._curve = InjectedCurve(random_curve(self._rng))
            self._pacer.use_curve(self._curve)
        self._num_answers += 1
        target = self._pair.target.sequence
        cached = target.reuse(prompt)
        for _ in target.prefill(prompt[cached:-1]):
            pass
        recorder = StatsRecorder(Mode.OFF, target.n_ctx)
        pacer = self._pacer
        config = LoopConfig(pacer, (pacer,)) if pacer is not None else LoopConfig()
        # A sampler without a seed, but with reproducible numbers.
        sampler = Sampler(replace(sampling, seed=None), random=np.random.default_rng(sampling.seed))
        speculation = Speculation(target, self._drafter, sampler, recorder, prompt, config)
        ids: list[int] = []
        while len(ids) < NUM_POSITIONS and speculation.free_tokens > 0:
            before = recorder.proposed
            ids += self._next(speculation, NUM_POSITIONS - len(ids)).ids
            self.totals.depths.add(recorder.proposed - before)
        self.totals.proposed += recorder.proposed
        self.totals.accepted += recorder.accepted
        self.totals.rejected += recorder.rolled_back
        return ids[:NUM_POSITIONS]

    def _next(self, speculation: Speculation, wanted: int) -> StepOutput:
        """Continue as an answer does; with a pacer, request many tokens, which allows deep passes."""
        if self._depth is not None:
            return speculation.step(self._depth, wanted)
        drafter = self._drafter
        if isinstance(drafter, PacedDrafter) and (rest := min(drafter.pause_length(speculation.history), wanted)):
            return speculation.run_plain(rest, 60.0, drafter.ends_pause)
        return speculation.step(MAX_DEPTH, MAX_DEPTH + 1)


def sampling_prompts(pair: Pair) -> list[History]:
    """Prompts that end within an answer, where matches exist and the target's entropy is medium."""
    story = "Once upon a time there was a little fox named Tom. One morning Tom found a red key under a bridge."
    return [
        pair.ids(f"Tell me another story like this: {story}", "Once upon a time there was a"),
        pair.ids(f"Tell me another story like this: {story}", "Once upon a time there was a kind owl. One morning"),
        pair.ids("Write a short story about a dog and a dog.", "There was once a dog. There was once a"),
        pair.ids("Write a story about friends.", "The friends found a lamp. The friends found a"),
    ]


def sample(answers: Answers, prompt: History, n_vocab: int, temperature: float, seeds: range) -> NDArray[np.int64]:
    """Counts [NUM_POSITIONS, n_vocab] of the tokens at the first positions."""
    counts = np.zeros((NUM_POSITIONS, n_vocab), dtype=np.int64)
    for seed in seeds:
        sampling = SamplingParams(temperature=temperature, top_k=40, top_p=1.0, min_p=0.0, seed=seed)
        counts[np.arange(NUM_POSITIONS), answers.beginning(prompt, sampling)] += 1
    return counts


def seeds(number: int, count: int, first: int = 0) -> range:
    """Seeds of a prompt. Prompts need different seeds to make their statistics independent."""
    return range(first + number * SEEDS_APART, first + number * SEEDS_APART + count)


def exact_first(pair: Pair, prompt: History, temperature: float) -> NDArray[np.float64]:
    """The target's own distribution of the first token [n_vocab], after the whole chain."""
    target = pair.target.sequence
    target.reuse(prompt)
    for _ in target.prefill(prompt[target.num_past : -1]):
        pass
    row = target.forward(prompt[-1:], 1)[0]
    params = SamplingParams(temperature=temperature, top_k=40, top_p=1.0, min_p=0.0)
    p = Sampler(params).distribution(row, prompt, [])
    result = np.zeros(target.n_vocab)
    result[slice(None) if p.ids is None else p.ids] = p.probs
    return result


def chi_square(table: NDArray[np.float64]) -> tuple[float, int]:
    """Statistic and degrees of freedom of observed against expected counts [2, cells], or of two samples.

    A second row of probabilities (sum 1) is scaled to expected counts. Cells are pooled, rarest first, until ten are
    expected in each.
    """
    seen, other = table
    exact = bool(other.sum() < 2)
    expected = other * seen.sum() if exact else (seen + other) / 2
    groups: list[list[int]] = [[]]
    weight = 0.0
    for cell in np.argsort(expected, kind="stable"):
        if expected[cell] == 0 and seen[cell] == 0:
            continue
        groups[-1].append(int(cell))
        weight += expected[cell]
        if weight >= 10:
            groups.append([])
            weight = 0.0
    if not groups[-1] or weight < 10:
        rest = groups.pop()
        if groups:
            groups[-1] += rest
    pooled = np.array([[row[group].sum() for group in groups] for row in (seen, other)], dtype=np.float64)
    if len(groups) < 2:
        return 0.0, 0
    if exact:
        wanted = pooled[1] / pooled[1].sum() * pooled[0].sum()
        return float(((pooled[0] - wanted) ** 2 / wanted).sum()), len(groups) - 1
    result = stats.chi2_contingency(pooled, correction=False)
    return float(result.statistic), int(result.dof)


def verdict(parts: list[tuple[float, int]]) -> float:
    """P value of the summed statistics of independent prompts."""
    return float(stats.chi2.sf(sum(part[0] for part in parts), max(1, sum(part[1] for part in parts))))


def sampling_report(
    options: argparse.Namespace,
    runs: list[tuple[Mode, int | None]],
    wrap: Callable[[Drafter], Drafter] = lambda drafter: drafter,
    first_seed: int = 0,
) -> dict[tuple[Mode, int | None], float]:
    """Print a line per temperature, mode and depth; return each run's smallest p value, times the number of its values.

    Of a hundred exact distributions one has a p value below 0.01 (Bonferroni's correction).
    """
    pair = open_pair(options)
    prompts, n_vocab = sampling_prompts(pair), pair.target.sequence.n_vocab
    each = -(-options.samples // len(prompts))
    found: dict[tuple[Mode, int | None], float] = dict.fromkeys(runs, 1.0)
    for temperature in options.temperatures:
        plainly = Answers(pair, Mode.OFF, 0, lambda drafter: drafter)
        plain = [
            sample(plainly, prompt, n_vocab, temperature, seeds(number, each, first_seed + PLAIN_SEEDS))
            for number, prompt in enumerate(prompts)
        ]
        for run, (mode, depth) in enumerate(runs):
            answers = Answers(pair, mode, depth, wrap)
            first: list[tuple[float, int]] = []
            against_plain: list[list[tuple[float, int]]] = [[] for _ in range(NUM_POSITIONS)]
            for number, prompt in enumerate(prompts):
                own_seeds = seeds(number, each, first_seed + run * RUN_SEEDS)
                counts = sample(answers, prompt, n_vocab, temperature, own_seeds)
                first.append(chi_square(np.stack([counts[0], exact_first(pair, prompt, temperature)])))
                for position in range(NUM_POSITIONS):
                    both = np.stack([counts[position], plain[number][position]]).astype(float)
                    against_plain[position].append(chi_square(both))
            values = [verdict(first), *(verdict(parts) for parts in against_plain)]
            found[mode, depth] = min(found[mode, depth], *values)
            name = f"T {temperature} {mode.value} {'paced' if depth is None else f'at depth {depth}'}"
            print(f"{name}: {each * len(prompts)} samples; {_words(answers.totals, values)}", flush=True)
    num_values = len(runs) * len(options.temperatures) * (NUM_POSITIONS + 1)
    return {run: min(1.0, p * num_values) for run, p in found.items()}


def _words(totals: Totals, values: list[float]) -> str:
    return (
        f"proposed {totals.proposed}, accepted {totals.accepted}, rejected {totals.rejected}, "
        f"depths {', '.join(map(str, sorted(totals.depths)))}; "
        f"p against exact {values[0]:.4f}, against plain by position {', '.join(f'{p:.4f}' for p in values[1:])}"
    )


def sampling(options: argparse.Namespace) -> int:
    """Test the distributions; return 1 if one differs.

    Suspicious results are tested again with other seeds and more samples, which separates a bias from chance.
    """
    modes = tuple(Mode(name) for name in options.modes or MODES)
    depths = options.depths or [DEPTH, None]
    runs = [
        (mode, depth)
        for mode, depth in itertools.product(modes, depths)  # plain decoding has no depth, and auto chooses its own
        if not (mode is Mode.OFF and depth != depths[0]) and not (mode is Mode.AUTO and depth is not None)
    ]
    suspicious = [run for run, p in sampling_report(options, runs).items() if p < SUSPICIOUS]
    if not suspicious:
        return 0
    print(f"suspicious, once more with {AGAIN} times as many samples:", flush=True)
    again = argparse.Namespace(**{**vars(options), "samples": AGAIN * options.samples})
    return 1 if min(sampling_report(again, suspicious, first_seed=AGAIN_SEEDS).values()) < SUSPICIOUS else 0


class DropsUnsureTail:
    """An intentional mistake: drops a sampled token and later ones because the token's own probability was low."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter
        self.source, self.begin, self.observe = drafter.source, drafter.begin, drafter.observe

    def propose(self, history: History, limit: int) -> Draft:
        """Propose only the tokens before the first unlikely one."""
        draft = self._drafter.propose(history, limit)
        if draft.q is None:
            return draft
        sure = [q.prob(x) > 0.4 for x, q in zip(draft.ids, draft.q, strict=True)]
        kept = sure.index(False) if False in sure else len(sure)
        return Draft(draft.ids[:kept], draft.source, draft.q[:kept])


def mutants(options: argparse.Namespace) -> int:
    """Test with the intentional mistake; return 1 if it is not detected."""
    print("residual replaced by p:")
    broken = mock.Mock(side_effect=lambda p, *_others: p)
    with (
        mock.patch("engine.decoding.verifier.residual", broken),
        mock.patch("engine.decoding.verifier.residual", broken),
    ):
        first = sampling_report(options, [(Mode.NGRAM, DEPTH), (Mode.DRAFT, DEPTH)])
    print("drawn tail dropped for its low confidence:")
    second = sampling_report(options, [(Mode.DRAFT, DEPTH)], DropsUnsureTail)
    return 0 if max(min(first.values()), min(second.values())) < SUSPICIOUS else 1
