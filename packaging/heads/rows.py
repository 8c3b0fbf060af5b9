"""Reads the shards that `answer.py` writes, and groups conversations into batches of like length."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

HELD_OUT = 5  # conversations of each shard that are not trained on


@dataclass
class Talk:
    """One conversation: ``ids`` has one more token than there are rows."""

    ids: Tensor
    rows: Tensor
    answer_from: int


@dataclass
class Batch:
    """Conversations, padded behind.

    Attributes:
        ids: of the tokens behind each row (batch, time).
        rows: the layer inputs (batch, time, 3 * width), bfloat16.
        final: what the target predicts the token after those of ``ids`` with (batch, time, width), bfloat16.
        counted: where that token is one of an answer (batch, time).
    """

    ids: Tensor
    rows: Tensor
    final: Tensor
    counted: Tensor


def read_shard(path: Path) -> list[Talk]:
    """The conversations of a shard; their rows stay on the disk until they are used."""
    state = torch.load(path, weights_only=True, mmap=True)
    talks, row = [], 0
    for number, (length, answer) in enumerate(
        zip(state["lengths"].tolist(), state["answer_from"].tolist(), strict=True)
    ):
        first = row + number
        talks.append(Talk(state["ids"][first : first + length + 1], state["rows"][row : row + length], answer))
        row += length
    return talks


def split(shards: list[list[Talk]]) -> tuple[list[Talk], list[Talk]]:
    """Those to train on, and those held out."""
    return [one for talks in shards for one in talks[HELD_OUT:]], [one for talks in shards for one in talks[:HELD_OUT]]


def batches(talks: list[Talk], tokens: int, dice: random.Random) -> list[list[Talk]]:
    """All of them in groups of at most ``tokens`` with their padding, in random order."""
    order = sorted(talks, key=lambda talk: len(talk.rows) + dice.random() * 40)
    groups: list[list[Talk]] = [[]]
    for talk in order:
        longest = max(len(talk.rows), *(len(one.rows) for one in groups[-1]), 0)
        if groups[-1] and longest * (len(groups[-1]) + 1) > tokens:
            groups.append([])
        groups[-1].append(talk)
    dice.shuffle(groups)
    return groups


def collate(talks: list[Talk], width: int) -> Batch:
    """One batch. Position p has the row p and the token p + 1, and the prediction of token p + 2."""
    time = max(len(talk.rows) for talk in talks) - 1
    shape = (len(talks), time)
    layers = talks[0].rows.shape[1] - width
    batch = Batch(
        torch.zeros(shape, dtype=torch.long),
        torch.zeros(*shape, layers, dtype=torch.bfloat16),
        torch.zeros(*shape, width, dtype=torch.bfloat16),
        torch.zeros(shape, dtype=torch.bool),
    )
    for i, talk in enumerate(talks):
        last = len(talk.rows) - 1
        batch.ids[i, :last] = talk.ids[1 : last + 1]
        batch.rows[i, :last] = talk.rows[:-1, :layers]
        batch.final[i, :last] = talk.rows[1:, layers:]
        batch.counted[i, max(0, talk.answer_from - 2) : last] = True
    return batch
