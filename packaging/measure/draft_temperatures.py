"""Measures by how much a draft drawn otherwise than by the target's chain would be accepted more, or less.

    python packaging/measure/draft_temperatures.py [--target T.gguf --draft D.gguf] [--temperatures 0.6 0.8 1.0]

The target writes by itself; at each of its tokens both models' rows are taken, and a drafted token is accepted with
probability sum(min(p, q)) [Leviathan et al. 2022, 2211.17192]: nothing of it is left to chance. p is what the chain
gives at temperature T, q what it gives at T times a factor, truncated as the target's, by top-p only, not at all, or to
the likeliest tokens that a GPU would hand out. `best` is the mean of the best factor at every single position, which
nothing can exceed that chooses factors. `--memory N` makes a poor draft of a good one: it sees N tokens only.

With `--depth D`, blocks of D tokens are drafted as well, at each `--stride`th token with the same random numbers for
every factor, and the tokens counted that block verification keeps on average, given what was drafted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from app.benchmark.prompts import read_prompts
from app.paths import builtin_draft, builtin_target
from engine.loading.loading import LoadedModel, LoadOptions, open_model
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import SamplingParams
from engine.sampling.distribution import Distribution, excess
from engine.sampling.sampler import History, Sampler
from engine.sequence import CachedSequence

WORKLOADS = Path(__file__).resolve().parents[2] / "assets" / "workloads"
FACTORS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4)
NO_HISTORY = np.zeros(1, dtype=np.int32)
NUM_LIKELIEST = 128
RAW_PROMPT_LETTERS = 120  # of a question, for a model without a chat template


@dataclass(frozen=True)
class Text:
    """What the target wrote after ``prompt``: ids [n], p at each, the draft's rows [n, n_vocab]."""

    prompt: History
    ids: list[int]
    p: list[Distribution]
    rows: NDArray[np.float32]


def truncated(params: SamplingParams, factor: float) -> dict[str, SamplingParams]:
    """The ways to truncate q, by name, at a temperature of ``factor`` times the target's."""
    warm = replace(params, temperature=params.temperature * factor)
    return {
        "target's chain": warm,
        "top-p only": replace(warm, top_k=0, min_p=0.0),
        "none": replace(warm, top_k=0, min_p=0.0, top_p=1.0),
        f"{NUM_LIKELIEST} likeliest": replace(warm, top_k=NUM_LIKELIEST, min_p=0.0, top_p=1.0),
    }


class Pair:
    """A target that writes, and a draft that reads along."""

    def __init__(self, target: str, draft: str, memory: int | None) -> None:
        options = LoadOptions(n_ctx=2048, gpu_layers=0)
        self.target, self.draft = open_model(target, options), open_model(draft, options)
        self._prompts = PromptBuilder(self.target.model.vocab, self.target.model.chat_template)
        self.memory = memory

    def prompts(self, count: int) -> Iterator[History]:
        """Ids of the workloads' questions, one of each kind in turn."""
        kinds = [list(read_prompts(path)) for path in sorted(WORKLOADS.glob("*.jsonl"))]
        questions = [kind[i] for i in range(max(map(len, kinds))) for kind in kinds if i < len(kind)]
        for question in questions[:count]:
            if self.target.model.chat_template:
                ids = self._prompts.build(question.messages)
            else:
                ids = self._prompts.raw(question.messages[-1].content[:RAW_PROMPT_LETTERS])
            yield np.asarray(ids, dtype=np.int32)

    def write(self, prompt: History, params: SamplingParams, wanted: int) -> Text:
        """Let the target write up to ``wanted`` tokens, and the draft read them."""
        sampler, ids, p = Sampler(params), list[int](), list[Distribution]()
        row = first_row(self.target, prompt)
        while len(ids) < min(wanted, self.target.sequence.n_ctx - len(prompt)):
            p.append(sampler.distribution(row, NO_HISTORY, []))
            ids.append(p[-1].draw(sampler.uniform()))
            if self.target.model.vocab.is_eog(ids[-1]):
                break
            row = self.target.sequence.forward((ids[-1],), 1)[0]
        return Text(prompt, ids, p, self._rows(prompt, ids))

    def _rows(self, prompt: History, ids: list[int]) -> NDArray[np.float32]:
        """The draft's row at each of ``ids``, of at most the vocabulary that the target has."""
        rows = []
        for number in range(len(ids)):
            if self.memory is not None or number == 0:
                row = first_row(self.draft, after(prompt, ids[:number])[-(self.memory or 0) :])
            else:
                row = self.draft.sequence.forward((ids[number - 1],), 1)[0]
            rows.append(row[: self.target.model.vocab.n_vocab].copy())
        return np.array(rows)


def first_row(loaded: LoadedModel, prompt: History) -> NDArray[np.float32]:
    """The row after ``prompt``, read from the beginning."""
    loaded.sequence.clear()
    for _ in loaded.sequence.prefill(prompt[:-1]):
        pass
    return loaded.sequence.forward(prompt[-1:], 1)[0]


def after(prompt: History, ids: list[int]) -> History:
    """The whole text so far."""
    return np.concatenate((prompt, np.asarray(ids, dtype=np.int32)))


def kept(pair: Pair, text: Text, ways: list[SamplingParams], options: argparse.Namespace) -> NDArray[np.float64]:
    """How many of a block's tokens are kept on average, [places, ways]: the sum of w_i, see `block_verifier`."""
    rng, found, target = np.random.default_rng(options.seed), [], Sampler(ways[options.factors.index(1.0)])
    for place in range(0, len(text.ids), options.stride):
        history = after(text.prompt, text.ids[:place])
        uniforms = rng.random(options.depth)
        pair.target.sequence.reuse(history)
        for _ in pair.target.sequence.prefill(history[pair.target.sequence.num_past : -1]):
            pass
        found.append([kept_of_block(pair, history, text.rows[place], way, target, uniforms) for way in ways])
    return np.array(found)


def kept_of_block(
    pair: Pair, history: History, row: NDArray[np.float32], way: SamplingParams, target: Sampler, uniforms: History
) -> float:
    """The same of one block, drafted after ``history`` with these random numbers."""
    sampler, ids, q_x = Sampler(way), list[int](), list[float]()
    draft = pair.draft.sequence
    for number, uniform in enumerate(uniforms):
        if number == 1:
            if pair.memory is not None:
                draft.clear()
            reread(draft, history[-(pair.memory or 0) :])
        if number:
            row = draft.forward((ids[-1],), 1)[0][: pair.target.model.vocab.n_vocab]
        q = sampler.distribution(row.copy(), NO_HISTORY, [])
        ids.append(q.draw(float(uniform)))
        q_x.append(q.prob(ids[-1]))
    rows = pair.target.sequence.forward([int(history[-1]), *ids[:-1]], len(ids))
    weight = total = 0.0
    for number, (token_id, q_of) in enumerate(zip(ids, q_x, strict=True)):
        p_of = target.distribution(rows[number], NO_HISTORY, []).prob(token_id)
        weight = min(1.0, (weight if number else 1.0) * p_of / q_of)
        total += weight
    pair.target.sequence.rollback(len(history) - 1)
    return total


def reread(sequence: CachedSequence, history: History) -> None:
    """Have the cache hold exactly ``history``."""
    sequence.reuse(history)
    sequence.forward(history[sequence.num_past :], 1)


def overlaps(texts: list[Text], params: SamplingParams) -> NDArray[np.float64]:
    """sum(min(p, q)) at every position, q by these parameters: the probability that a drafted token is kept."""
    sampler = Sampler(params)
    return np.array(
        [
            1.0 - float(excess(p, sampler.distribution(row.copy(), NO_HISTORY, [])).sum())
            for text in texts
            for p, row in zip(text.p, text.rows, strict=True)
        ]
    )


def report(pair: Pair, temperature: float, options: argparse.Namespace) -> None:
    """Print a table of factors and truncations for one temperature."""
    params = SamplingParams(temperature=temperature, seed=options.seed)
    texts = [
        pair.write(prompt, replace(params, seed=options.seed + number), options.max_tokens)
        for number, prompt in enumerate(pair.prompts(options.prompts))
    ]
    print(f"T = {temperature:g}, {sum(len(text.ids) for text in texts)} positions")
    print(f"{'q truncated by':16}", *(f"x{factor:<5g}" for factor in options.factors), "best")
    for name in truncated(params, 1.0):
        found = np.array([overlaps(texts, truncated(params, factor)[name]) for factor in options.factors])
        means = " ".join(f"{mean:.4f}" for mean in found.mean(axis=1))
        print(f"{name:16} {means} {found.max(axis=0).mean():.4f}", flush=True)
    if options.depth:
        ways = [truncated(params, factor)["target's chain"] for factor in options.factors]
        found = np.concatenate([kept(pair, text, ways, options) for text in texts])
        better = found - found[:, [options.factors.index(1.0)]]
        errors = better.std(axis=0) / len(better) ** 0.5
        print(f"{f'kept of {options.depth}':16}", *(f"{mean:.4f}" for mean in found.mean(axis=0)))
        print(f"{'against x1':16}", *(f"{mean:+.3f}" for mean in better.mean(axis=0)))
        print(f"{'standard error':16}", *(f" {error:.3f}" for error in errors), flush=True)


def main() -> int:
    """Open the pair and report each temperature."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default=str(builtin_target()))
    parser.add_argument("--draft", default=str(builtin_draft()))
    parser.add_argument("--memory", type=int, help="tokens that the draft sees; all without it")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0.6, 0.8, 1.0])
    parser.add_argument("--factors", type=float, nargs="+", default=list(FACTORS))
    parser.add_argument("--prompts", type=int, default=24)
    parser.add_argument("--max-tokens", type=int, default=96)
    parser.add_argument("--depth", type=int, default=0, help="tokens of a drafted block; 0: no blocks")
    parser.add_argument("--stride", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    pair = Pair(options.target, options.draft, options.memory)
    for temperature in options.temperatures:
        report(pair, temperature, options)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
