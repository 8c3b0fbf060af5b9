"""Let the target answer, in batches, and keep what it computed of every token: what a head is trained with.

Each shard holds conversations behind one another: ids, rows (layer inputs and the final one, bfloat16), the number of
tokens of each and where its answer begins. A third of the prompts come from files, the rest the target asks itself
(Magpie, arXiv 2406.08464).
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import random
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
from target import FINAL, Target, load_target
from text import Language, answers, load_language, questions
from torch import Tensor

MOST_PROMPT, MOST_ANSWER, MOST_QUESTION = 320, 288, 64
GREEDY_SHARE = 0.4
TEMPERATURE = 0.8


@dataclass
class Talk:
    """A conversation as it grows."""

    ids: list[int]
    temperature: float
    answer_from: int = 0
    rows: list[Tensor] = field(default_factory=list)


def choose(logits: Tensor, temperatures: Tensor) -> Tensor:
    """One token a row; the likeliest where the temperature is 0."""
    scaled = torch.softmax(logits / temperatures.clamp(min=0.05)[:, None], -1).cumsum_(-1)
    drawn = torch.searchsorted(scaled, scaled[:, -1:] * torch.rand(len(scaled), 1)).squeeze(1)
    return torch.where(temperatures > 0, drawn.clamp(max=logits.shape[1] - 1), logits.argmax(-1))


@torch.inference_mode()
def go_on(target: Target, talks: list[Talk], most: int, end: int, taken: tuple[int, ...]) -> None:
    """Let every conversation go on until ``end`` or for ``most`` tokens; rows of all tokens but the last are kept."""
    lengths = torch.tensor([len(talk.ids) for talk in talks])
    longest = int(lengths.max())
    cache = target.new_cache(len(talks), longest + most)
    padded = torch.zeros(len(talks), longest, dtype=torch.long)
    for row, talk in zip(padded, talks, strict=True):
        row[: len(talk.ids)] = torch.tensor(talk.ids)
    rows = target.rows(padded, taken, cache)
    for row, talk in zip(rows, talks, strict=True):
        talk.rows = [row[: len(talk.ids)].clone()]
    last = rows[torch.arange(len(talks)), lengths - 1]
    del rows
    temperatures = torch.tensor([talk.temperature for talk in talks])
    alive = list(talks)
    for _ in range(most):
        chosen = choose(target.logits(last[:, -target.width :]), temperatures)
        for talk, one in zip(alive, chosen.tolist(), strict=True):
            talk.ids.append(one)
        going = (chosen != end).nonzero().squeeze(1)
        if not len(going):
            return
        if len(going) < len(alive):
            alive = [alive[i] for i in going.tolist()]
            cache.keep(going)
            chosen, lengths, temperatures = chosen[going], lengths[going], temperatures[going]
        last = target.rows(chosen[:, None], taken, cache, lengths)[:, 0]
        for talk, row in zip(alive, last, strict=True):
            talk.rows.append(row[None])
        lengths = lengths + 1


def own_questions(target: Target, language: Language, count: int) -> list[list[int]]:
    """Prompts that begin with a question which the target asks itself."""
    opening, rest = language.around_a_question()
    talks = [Talk(list(opening), 1.0) for _ in range(count)]
    go_on(target, talks, MOST_QUESTION, language.end, (FINAL,))
    asked = [talk.ids for talk in talks if talk.ids[-1] == language.end and len(talk.ids) > len(opening) + 4]
    return [[*ids[:-1], *rest] for ids in asked]


@torch.inference_mode()
def read_batch(target: Target, talks: list[Talk], taken: tuple[int, ...]) -> None:
    """Take the rows of conversations that are there already."""
    padded = torch.zeros(len(talks), max(len(talk.ids) for talk in talks), dtype=torch.long)
    for row, talk in zip(padded, talks, strict=True):
        row[: len(talk.ids)] = torch.tensor(talk.ids)
    rows = target.rows(padded, taken, target.new_cache(*padded.shape))
    for row, talk in zip(rows, talks, strict=True):
        talk.rows = [row[: len(talk.ids)].clone()]


def read_files(target: Target, language: Language, chosen: argparse.Namespace, taken: tuple[int, ...]) -> None:
    """One shard of conversations with the answers of the files, cut to `MOST_PROMPT` + `MOST_ANSWER` tokens."""
    talks = []
    for messages in answers(chosen.data, 2)[chosen.part :: chosen.parts]:
        asked, rest = language.answered(messages)
        talks.append(Talk((asked + rest)[: MOST_PROMPT + MOST_ANSWER], 0.0, len(asked)))
    total = list(itertools.accumulate(len(one.ids) for one in talks))
    talks = talks[: bisect.bisect(total, chosen.read)]
    talks = sorted((one for one in talks if len(one.ids) > one.answer_from + 8), key=lambda one: len(one.ids))
    groups = [talks[i : i + 16] for i in range(0, len(talks), 16)]
    random.Random(3).shuffle(groups)  # noqa: S311  (no secret)
    for group in groups:
        read_batch(target, group, taken)
    done = [talk for group in groups for talk in group]
    print(f"read {write(chosen.out / f'file-{chosen.part}.pt', done)} tokens", flush=True)


def write(path: Path, talks: list[Talk]) -> int:
    """Write a shard, whole or not at all; how many tokens of answers it holds."""
    part = path.with_suffix(".part")
    kept = [torch.cat(talk.rows) for talk in talks]
    lengths = [len(rows) for rows in kept]
    state = {
        "ids": torch.tensor([one for talk, n in zip(talks, lengths, strict=True) for one in [*talk.ids, 0][: n + 1]]),
        "rows": torch.cat(kept),
        "lengths": torch.tensor(lengths),
        "answer_from": torch.tensor([talk.answer_from for talk in talks]),
    }
    torch.save(state, part)
    part.replace(path)
    return sum(len(talk.ids) - talk.answer_from for talk in talks)


def main() -> None:
    """Write shards until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="folder of the packed conversations")
    parser.add_argument(
        "--layers", type=int, nargs="*", default=(8, 20, 29), help="whose inputs are kept; none for Medusa"
    )
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--part", type=int, default=0, help="which part of the prompts of files this process takes")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--read", type=int, default=0, help="of the files' own answers so many tokens are read first")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1000 + arguments.part)
    dice = random.Random(arguments.part)  # noqa: S311  (no secret)
    target, language = load_target(arguments.target), load_language(arguments.target)
    found = questions(arguments.data, 1)[arguments.part :: arguments.parts] if arguments.data else []
    waiting = [ids for ids in map(language.asked, found) if len(ids) <= MOST_PROMPT]
    arguments.out.mkdir(parents=True, exist_ok=True)
    taken = (*arguments.layers, FINAL)
    if arguments.read:
        read_files(target, language, arguments, taken)
    since, number, tokens = time.monotonic(), 0, 0
    while time.monotonic() - since < 60 * arguments.minutes:
        if number % 3 == 0 and waiting:
            prompts, waiting = waiting[: arguments.batch], waiting[arguments.batch :]
        else:
            prompts = own_questions(target, language, arguments.batch)
        if not prompts:
            sys.exit("The target asked itself no question that ends; give conversations with --data.")
        talks = [Talk(ids, 0.0 if dice.random() < GREEDY_SHARE else TEMPERATURE, len(ids)) for ids in prompts]
        go_on(target, talks, MOST_ANSWER, language.end, taken)
        tokens += write(arguments.out / f"shard-{arguments.part}-{number:03}.pt", talks)
        number += 1
        print(f"{number} shards, {tokens} tokens of answers, {time.monotonic() - since:.0f} s", flush=True)


if __name__ == "__main__":
    main()
