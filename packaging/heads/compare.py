"""Compare a head's GGUF, as llama.cpp runs it beside its target, with its checkpoint in PyTorch.

For several places of one answer: the scores after the target's row, and after one and two steps on the head's own.
Needs Paceline's own packages beside those of the training.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from answer import Talk, go_on
from target import FINAL, load_target
from text import load_language
from train import load_head

sys.path.insert(0, str(Path(__file__).parents[2]))
from engine.heads.loading import open_head_file
from engine.loading.loading import LoadOptions, open_model

STEPS = 3
QUESTION = "How do plants make food?"


@dataclass
class Expected:
    """What PyTorch says: the ids of a conversation, and of each step the scores at each position."""

    ids: list[int]
    scores: list[np.ndarray]
    kept: np.ndarray


@torch.inference_mode()
def by_pytorch(checkpoint: Path, target_path: Path, layers: tuple[int, ...]) -> Expected:
    """The target answers a question; the head reads the answer."""
    target, language = load_target(target_path), load_language(target_path)
    head, state = load_head(checkpoint)
    talk = Talk(language.asked([{"role": "user", "content": QUESTION}]), 0.0)
    go_on(target, [talk], 40, -1, (*layers, FINAL))
    rows = torch.cat(talk.rows)[:-1, : -target.width]
    embedded = target.embedding[torch.tensor(talk.ids[1 : len(rows) + 1])][None].float()
    steps = head.unrolled(embedded, head.encode(rows[None].float()), STEPS)
    return Expected(talk.ids, [head.scores(one)[0].float().numpy() for one in steps], state["kept"].numpy())


def by_llama(expected: Expected, target_path: Path, head_path: Path) -> list[list[float]]:
    """Correlation of the scores with PyTorch's, of each step at each place."""
    target = open_model(str(target_path), LoadOptions(n_ctx=512, threads=1, heads=False))
    head = open_head_file(str(head_path), target, LoadOptions(threads=1))
    head.follow(on=True)
    ids, found = expected.ids, []
    for place in range(len(ids) - 36, len(ids) - STEPS - 2, 8):
        target.sequence.forward(ids[target.sequence.num_past : place + 1], 1)
        start, correlations = head.sequence.num_past, []
        for step in range(STEPS):
            row = head.sequence.forward(ids[start : place + 2 + step], 1)[0][expected.kept]
            correlations.append(float(np.corrcoef(row, expected.scores[step][place + step])[0, 1]))
            start = place + 2 + step
        found.append(correlations)
        head.sequence.rollback(place + 2)
    head.close()
    target.close()
    return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--layers", type=int, nargs=3, default=(8, 20, 29))
    chosen = parser.parse_args()
    expected = by_pytorch(chosen.checkpoint, chosen.target, tuple(chosen.layers))
    found = np.array(by_llama(expected, chosen.target, chosen.head))
    for step, lowest in enumerate(found.min(0)):
        print(f"step {step + 1}: lowest correlation of {len(found)} places {lowest:.4f}")


if __name__ == "__main__":
    main()
