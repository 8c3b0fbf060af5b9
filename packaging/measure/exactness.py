"""Measures exactness on real models: greedy identity of all modes, and the distribution of sampled tokens.

    python packaging/measure/exactness.py greedy --target T.gguf --draft D.gguf --prompts 500 --tie-safe
    python packaging/measure/exactness.py sampling --target T.gguf --draft D.gguf --samples 20000
    python packaging/measure/exactness.py mutants --target T.gguf --draft D.gguf

`greedy` compares every mode with plain decoding and lists each difference with the margin of the logits where it
begins; with `--tie-safe` there must be none. `sampling` compares the first token with
the exact p, and each of the first three positions with plain decoding, by chi-square over cells pooled to at least ten
expected. `mutants` breaks the verification on purpose and shows that the same test notices.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.drafters.base import Draft, Drafter
from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.none import NoDrafter
from engine.drafters.prompt_lookup import PromptLookupDrafter
from engine.loading import LoadedModel, LoadOptions, open_model
from engine.prompt import PromptBuilder
from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, SamplingParams
from engine.sampling import History, Sampler
from engine.session import Session
from engine.sharpness import Sharpness
from engine.speculate import Speculation
from engine.stats import StatsRecorder

NUM_POSITIONS = 3
SEEDS_APART = 10**7
PLAIN_SEEDS = 10**6  # plain decoding, to compare with, draws from seeds of its own
WORDS = ("river", "stone", "lamp", "boat", "apple", "bell", "cloud", "garden", "needle", "pocket", "ribbon", "wagon")


@dataclass(frozen=True)
class Pair:
    """Target, draft and the prompts' maker."""

    target: LoadedModel
    draft: LoadedModel
    prompts: PromptBuilder

    def drafter(self, mode: Mode) -> Drafter:
        """Make the drafter of a mode."""
        vocab = self.target.model.vocab
        if mode is Mode.DRAFT:
            drafter = DraftModelDrafter(self.draft.sequence, vocab.n_vocab, vocab.eog_ids)
            drafter.sharpness = Sharpness()  # learnt from answer to answer, as in the app
            return drafter
        return PromptLookupDrafter() if mode is Mode.NGRAM else NoDrafter()

    def ids(self, text: str, begun: str = "") -> History:
        """Ids of a chat prompt whose answer has ``begun``; raw where the model has no chat template."""
        if self.target.model.chat_template:
            ids = self.prompts.build((Message("user", text),))
            ids += self.target.model.vocab.tokenize(begun, special=False)
        else:
            ids = self.prompts.raw(f"{text} {begun}")
        return np.asarray(ids, dtype=np.int32)


def open_pair(options: argparse.Namespace) -> Pair:
    """Load both models of the command line."""
    target = open_model(options.target, LoadOptions(n_ctx=2048))
    draft = open_model(options.draft, LoadOptions(n_ctx=2048))
    return Pair(target, draft, PromptBuilder(target.model.vocab, target.model.chat_template))


@dataclass
class Totals:
    """What was proposed, accepted and rejected over many runs."""

    proposed: int = 0
    accepted: int = 0
    rejected: int = 0


def decode(
    pair: Pair, drafter: Drafter, prompt: History, sampling: SamplingParams, count: int, totals: Totals | None = None
) -> list[int]:
    """Decode ``count`` tokens after ``prompt``, at depth 3; ends of generation are tokens like any other."""
    target = pair.target.sequence
    cached = target.reuse(prompt)
    for _ in target.prefill(prompt[cached:-1]):
        pass
    recorder = StatsRecorder(Mode.OFF, target.n_ctx)
    speculation = Speculation(target, drafter, Sampler(sampling), recorder, prompt)
    if isinstance(drafter, DraftModelDrafter) and drafter.sharpness is not None:
        speculation.on_first_look = drafter.sharpness.observe
    ids: list[int] = []
    while len(ids) < count and speculation.room > 0:
        ids += speculation.step(3, count - len(ids)).ids
    if totals is not None:
        totals.proposed += recorder.proposed
        totals.accepted += recorder.accepted
        totals.rejected += recorder.rolled_back
    return ids


# ---- greedy ---------------------------------------------------------------------------------------------------------


def greedy_prompts(count: int) -> Iterator[str]:
    """Copying, editing, questions, stories and sums in turn, no two alike."""
    rng = np.random.default_rng(6)
    for number in range(count):
        words = ", ".join(rng.choice(WORDS, 10))
        one, other = (int(rng.integers(10, 99)) for _ in range(2))
        yield (
            f"Repeat this list: {words}.",
            f"Sort these words: {words}.",
            f"Write a short story about a {WORDS[number // 5 % len(WORDS)]} and number {number}.",
            f"What is {one} + {other}?",
            f"What is speculative decoding? Mention a {WORDS[number // 5 % len(WORDS)]} and {words}.",
        )[number % 5]


@dataclass
class Found:
    """What comparing the modes with plain decoding gave."""

    num_answers: int = 0
    num_different: int = 0
    worst_margin: float = 0.0
    tie_checks: int = 0
    tie_tokens: int = 0
    tie_s: float = 0.0
    decode_s: float = 0.0


def greedy(options: argparse.Namespace) -> int:
    """Compare the greedy tokens of all modes with plain decoding's.

    Return 1 where one differs by more than 0.05 of margin, and with ``--tie-safe`` where any differs.
    """
    session, pair = Session(), open_pair(options)
    session.load(LoadRequest(options.target, options.draft, n_ctx=2048))
    modes = [Mode(name) for name in options.modes] if options.modes else list(Mode)
    runs = [(mode, depth) for mode in modes if mode is not Mode.OFF for depth in options.depths]
    found = {run: Found() for run in runs}
    is_chat = pair.target.model.chat_template is not None
    for text in greedy_prompts(options.prompts):
        prompt = pair.ids(text)
        request = ChatRequest(
            messages=(Message("user", text),) if is_chat else (),
            raw_prompt=None if is_chat else f"{text} ",
            sampling=SamplingParams(temperature=0.0),
            max_tokens=min(options.tokens, session.ready().target.n_ctx - len(prompt)),
            ignore_eos=True,
            tie_safe=options.tie_safe,
        )
        plain = list(answer(session, request).token_ids)
        for (mode, depth), one in found.items():
            end = answer(session, replace(request, mode=mode, depth=depth))
            one.num_answers += 1
            one.tie_checks += end.stats.tie_checks
            one.tie_tokens += end.stats.tie_tokens
            one.tie_s += end.stats.tie_s
            one.decode_s += end.stats.decode_s
            if list(end.token_ids) != plain:
                margin = margin_at_difference(pair, prompt, plain, list(end.token_ids))
                one.num_different += 1
                one.worst_margin = max(one.worst_margin, margin)
                print(f"{mode.value} {depth}: differs, margin {margin:.5f}: {text}", flush=True)
    for (mode, depth), one in found.items():
        print(
            f"{mode.value} at depth {'paced' if depth is None else depth}: {one.num_different} of {one.num_answers} "
            f"answers of {options.tokens} tokens differ, worst margin {one.worst_margin:.5f}; near ties decided again "
            f"{one.tie_checks}, tokens for that {one.tie_tokens}, {one.tie_s:.2f} s of {one.decode_s:.2f} s"
        )
    num_different = sum(one.num_different for one in found.values())
    worst = max(one.worst_margin for one in found.values())
    return 1 if worst > 0.05 or (options.tie_safe and num_different) else 0


def answer(session: Session, request: ChatRequest) -> Finished:
    """Run one request to its end."""
    (end,) = [event for event in session.generate(request) if isinstance(event, Finished)]
    return end


def margin_at_difference(pair: Pair, prompt: History, plain: list[int], other: list[int]) -> float:
    """How far apart the logits of the two tokens are where the answers part, decoded one token at a time."""
    at = next(i for i, (a, b) in enumerate(zip(plain, other, strict=True)) if a != b)
    target = pair.target.sequence
    target.clear()
    for _ in target.prefill(prompt[:-1], canonical=True):
        pass
    row = target.forward(prompt[-1:], 1)[0]
    for token_id in plain[:at]:
        row = target.forward((token_id,), 1)[0]
    return abs(float(row[plain[at]] - row[other[at]]))


# ---- sampling -------------------------------------------------------------------------------------------------------


def sampling_prompts(pair: Pair) -> list[History]:
    """Prompts in the middle of an answer, where matches exist and the target is neither sure nor clueless."""
    story = "Once upon a time there was a little fox named Tom. One morning Tom found a red key under a bridge."
    return [
        pair.ids(f"Tell me another story like this: {story}", "Once upon a time there was a"),
        pair.ids(f"Tell me another story like this: {story}", "Once upon a time there was a kind owl. One morning"),
        pair.ids("Write a short story about a dog and a dog.", "There was once a dog. There was once a"),
        pair.ids("Write a story about friends.", "The friends found a lamp. The friends found a"),
    ]


def sample(
    pair: Pair, drafter: Drafter, prompt: History, temperature: float, seeds: range, totals: Totals
) -> NDArray[np.int64]:
    """Counts [NUM_POSITIONS, n_vocab] of the tokens at the first positions."""
    counts = np.zeros((NUM_POSITIONS, pair.target.sequence.n_vocab), dtype=np.int64)
    for seed in seeds:
        sampling = SamplingParams(temperature=temperature, top_k=40, top_p=1.0, min_p=0.0, seed=seed)
        ids = decode(pair, drafter, prompt, sampling, NUM_POSITIONS, totals)
        counts[np.arange(NUM_POSITIONS), ids] += 1
    return counts


def seeds(number: int, count: int, first: int = 0) -> range:
    """Seeds of a prompt's own: with the same ones for all prompts their statistics would not be independent."""
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

    The second row is scaled to expected counts where it holds probabilities (sum 1). Cells are pooled, rarest first,
    until ten are expected in each.
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


def sampling_report(options: argparse.Namespace, modes: tuple[Mode, ...], wrap: Callable[[Drafter], Drafter]) -> float:
    """Print a line for each temperature and mode; return the smallest p value."""
    pair = open_pair(options)
    prompts = sampling_prompts(pair)
    each = -(-options.samples // len(prompts))
    smallest = 1.0
    plain = {
        (temperature, number): sample(
            pair, NoDrafter(), prompt, temperature, seeds(number, each, PLAIN_SEEDS), Totals()
        )
        for temperature, (number, prompt) in itertools.product(options.temperatures, enumerate(prompts))
    }
    for temperature, mode in itertools.product(options.temperatures, modes):
        totals = Totals()
        first: list[tuple[float, int]] = []
        against_plain: list[list[tuple[float, int]]] = [[] for _ in range(NUM_POSITIONS)]
        drafter = wrap(pair.drafter(mode))
        for number, prompt in enumerate(prompts):
            counts = sample(pair, drafter, prompt, temperature, seeds(number, each), totals)
            first.append(chi_square(np.stack([counts[0], exact_first(pair, prompt, temperature)])))
            for position in range(NUM_POSITIONS):
                against_plain[position].append(
                    chi_square(np.stack([counts[position], plain[temperature, number][position]]).astype(float))
                )
        values = [verdict(first), *(verdict(parts) for parts in against_plain)]
        smallest = min(smallest, *values)
        print(
            f"T {temperature} {mode.value}: {each * len(prompts)} samples; proposed {totals.proposed}, "
            f"accepted {totals.accepted}, rejected {totals.rejected}; p against exact {values[0]:.4f}, "
            f"against plain by position {', '.join(f'{value:.4f}' for value in values[1:])}",
            flush=True,
        )
    return smallest


def sampling(options: argparse.Namespace) -> int:
    """Test the distributions; 1 where one is off."""
    modes = tuple(Mode(name) for name in options.modes or ("off", "ngram", "draft"))
    return 0 if sampling_report(options, modes, lambda drafter: drafter) > 0.001 else 1


class DropsUnsureTail:
    """The mistake: a drawn token is dropped, with what follows, because its own probability was low."""

    def __init__(self, drafter: Drafter) -> None:
        self._drafter = drafter
        self.source, self.begin, self.observe = drafter.source, drafter.begin, drafter.observe
        if isinstance(drafter, DraftModelDrafter):
            drafter.sharpness = None  # what is drawn more sharply is dropped less often: the mistake would hardly show

    def propose(self, history: History, limit: int) -> Draft:
        """Propose what the drafter was sure of only."""
        draft = self._drafter.propose(history, limit)
        if draft.q is None:
            return draft
        sure = [q.prob(x) > 0.4 for x, q in zip(draft.ids, draft.q, strict=True)]
        kept = sure.index(False) if False in sure else len(sure)
        return Draft(draft.ids[:kept], draft.source, draft.q[:kept])


def mutants(options: argparse.Namespace) -> int:
    """Break it on purpose; 1 where the test does not notice."""
    print("residual replaced by p:")
    broken = mock.Mock(side_effect=lambda p, *_others: p)
    with mock.patch("engine.verifier.residual", broken), mock.patch("engine.block_verifier.residual", broken):
        first = sampling_report(options, (Mode.NGRAM, Mode.DRAFT), lambda drafter: drafter)
    print("drawn tail dropped for its low confidence:")
    second = sampling_report(options, (Mode.DRAFT,), DropsUnsureTail)
    return 0 if max(first, second) < 0.001 else 1


def _depth(text: str) -> int | None:
    return None if text == "auto" else int(text)


def main() -> int:
    """Run one of the three measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["greedy", "sampling", "mutants"])
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft", required=True)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--prompts", type=int, default=60, help="of the greedy measurement")
    parser.add_argument("--tie-safe", action="store_true", help="with near ties decided as plain decoding does")
    parser.add_argument(
        "--depths", nargs="+", type=_depth, default=[None], help="of the greedy measurement; auto: paced"
    )
    parser.add_argument("--modes", nargs="+", help="default: all; of samples: off, ngram, draft")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.8, 1.0])
    options = parser.parse_args()
    return {"greedy": greedy, "sampling": sampling, "mutants": mutants}[options.what](options)


if __name__ == "__main__":
    sys.exit(main())
