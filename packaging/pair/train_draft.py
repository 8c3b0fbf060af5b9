"""Train the draft on text, then distil it from a trained target: on the mixture and on the target's own samples.

Run again to continue. The teacher's feed-forward weights are Q4_0-rounded, as they ship. With `--pair` a draft that
ships learns on, from the target that ships, and is told as well what acceptance depends on: how far the two overlap.
"""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812  (its customary name)
from bpe import Tokenizer
from corpus import Sources, make_batch
from network import DRAFT_SHAPE, Network, Shape
from quantize import rounded
from read_back import read_network, read_tokenizer
from torch import Tensor
from training import Clock, Optimizers, load_network, report, resume, save
from wiring import wire

TOY_SHAPE = Shape(num_layers=2, width=32, num_heads=1, ffn_width=32, context=256)
CE_SHARE = 0.1
OVERLAP_SHARE = 2.0  # reached at the end; the divergence alone finds the way better at the start
OVERLAP_TEMPERATURE = 0.8
ROW = 384  # one length of rows: one compilation
ALONE = 0.3  # the first share of the training learns from text only: many times cheaper than asking the teacher


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder with tokenizer.json and target.pt")
    parser.add_argument("--samples", type=Path, nargs="*", default=[], help="files of sample.py")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--tokens-per-step", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--toy", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--checkpoint", default="draft.pt", help="name of the draft's checkpoint in the folder")
    parser.add_argument("--pair", type=Path, nargs=2, metavar=("TARGET", "DRAFT"), help="GGUFs to go on from")
    parser.add_argument("--muon-lr", type=float, default=0.02)
    parser.add_argument("--adam-lr", type=float, default=0.006)
    return parser.parse_args()


@dataclass(frozen=True)
class Samples:
    """The target's own conversations as ids, and where each answer begins."""

    ids: tuple[np.ndarray, ...]
    prompts: tuple[int, ...]

    @classmethod
    @cache
    def load(cls, paths: tuple[Path, ...]) -> Samples:
        """Read files of sample.py; called when they are first needed, so that they may be written meanwhile."""
        records = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
        return cls(tuple(np.array(record["ids"]) for record in records), tuple(record["prompt"] for record in records))

    def rows(self, size: tuple[int, int], rng: Random) -> tuple[np.ndarray, np.ndarray]:
        """Rows of conversations one after the other, each from its BOS on, and the mask of the answers."""
        ids, mask = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=bool)
        for row in range(size[0]):
            at = 0
            while at < size[1]:
                which = rng.randrange(len(self.ids))
                part = self.ids[which][: size[1] - at]
                ids[row, at : at + len(part)] = part
                mask[row, at + self.prompts[which] : at + len(part)] = True
                at += len(part)
        return ids, mask


def distillation_loss(student: Tensor, teacher: Tensor, labels: Tensor) -> Tensor:
    """KL divergence from the teacher's distribution (arXiv 1503.02531) and a little cross-entropy, in float32."""
    scores = student.float().log_softmax(dim=-1)
    divergence = F.kl_div(scores, teacher.float().log_softmax(dim=-1), log_target=True, reduction="batchmean")
    return divergence + CE_SHARE * F.nll_loss(scores, labels)


def overlap_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Mean total variation distance: the share of drafted tokens that rejection sampling refuses (arXiv 2310.08461)."""
    q = (student.float() / OVERLAP_TEMPERATURE).softmax(dim=-1)
    p = (teacher.float() / OVERLAP_TEMPERATURE).softmax(dim=-1)
    return 0.5 * (p - q).abs().sum(dim=-1).mean()


def compare(target: Network, draft: Network, ids: Tensor, mask: Tensor) -> tuple[float, float]:
    """Share of answer positions with the same first choice, and mean overlap (1 - total variation)."""
    with torch.no_grad():
        learned = mask[:, 1:]
        p = target.logits(target.hidden(ids)[:, :-1][learned]).softmax(dim=-1)
        q = draft.logits(draft.hidden(ids)[:, :-1][learned]).softmax(dim=-1)
    return (p.argmax(-1) == q.argmax(-1)).float().mean().item(), torch.minimum(p, q).sum(-1).mean().item()


def draw(options: argparse.Namespace, sources: Sources, tokenizer: Tokenizer, clock: Clock) -> tuple[Tensor, Tensor]:
    """One batch: once the teacher is asked, every other step of its own samples, otherwise of the mixture."""
    rng = Random(options.seed * 1_000_000 + clock.step)
    length = 256 if options.toy else ROW
    size = (max(1, options.tokens_per_step // length), length)
    own = clock.step % 3 > 0 if options.pair else clock.progress >= ALONE and clock.step % 2 > 0
    if options.samples and own:
        ids, mask = Samples.load(tuple(options.samples)).rows(size, rng)
    else:
        echo = 0.2 if clock.progress < 0.05 and not options.pair else 0.0
        ids, mask = make_batch(sources, tokenizer, size, echo, rng.getrandbits(29))
    return torch.from_numpy(ids), torch.from_numpy(mask)


def begin(options: argparse.Namespace) -> tuple[Tokenizer, Network, Network]:
    """Vocabulary, target and draft: fresh from the folder's checkpoints, or as a pair ships."""
    if options.pair:
        target, draft = (read_network(path) for path in options.pair)
        return read_tokenizer(options.pair[0]), target, draft
    tokenizer = Tokenizer.load(options.out / "tokenizer.json")
    target, _ = load_network(options.out / "target.pt")
    shape = TOY_SHAPE if options.toy else DRAFT_SHAPE
    draft = Network(replace(shape, vocab_size=tokenizer.size))
    wire(draft, induction_layers=(1,), match=3.0)
    return tokenizer, target, draft


def train(options: argparse.Namespace) -> None:
    """The whole distillation."""
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    sources = Sources.load(options.data)
    tokenizer, target, draft = begin(options)
    tokenizer.save(options.out / "tokenizer.json")
    optimizers = Optimizers(draft, options.muon_lr, options.adam_lr)
    clock = Clock(options.steps, options.minutes)
    checkpoint, log = options.out / options.checkpoint, options.out / "draft.jsonl"
    resume(checkpoint, draft, optimizers, clock)
    # What was read from a GGUF is rounded already.
    with nullcontext() if options.pair else rounded(target.feed_forward()):
        distil(options, (target, draft), (optimizers, clock), lambda: draw(options, sources, tokenizer, clock))
    save(checkpoint, draft, optimizers, clock)
    report(log, step=clock.step, tokens=clock.tokens, seconds=clock.seconds)


def distil(
    options: argparse.Namespace,
    networks: tuple[Network, Network],
    state: tuple[Optimizers, Clock],
    batch: Callable[[], tuple[Tensor, Tensor]],
) -> None:
    """Steps until the clock ends; a log line every 20, a checkpoint every two minutes."""
    (target, draft), (optimizers, clock) = networks, state
    teach: Callable[[Tensor], Tensor] = (
        torch.compile(target.hidden, dynamic=False) if options.compile else target.hidden
    )
    learn: Callable[[Tensor], Tensor] = torch.compile(draft.hidden, dynamic=False) if options.compile else draft.hidden
    cast = torch.autocast("cpu", dtype=torch.bfloat16) if not options.toy else nullcontext()
    saved = time.monotonic()
    clock.start()
    while clock.progress < 1.0:
        ids, mask = batch()
        learned = mask[:, 1:]
        labels = ids[:, 1:][learned]
        with cast:
            scores = draft.logits(learn(ids)[:, :-1][learned])
            if clock.progress < ALONE and not options.pair:
                loss = F.cross_entropy(scores.float(), labels)
            else:
                with torch.no_grad():
                    wanted = target.logits(teach(ids)[:, :-1][learned])
                loss = distillation_loss(scores, wanted, labels)
                if options.pair:
                    loss = loss + OVERLAP_SHARE * clock.progress * overlap_loss(scores, wanted)
        loss.backward()
        optimizers.step(clock.rate)
        clock.tick(ids.numel())
        if clock.step % 20 == 0:
            same, overlap = compare(target, draft, ids[:2], mask[:2])
            report(options.out / "draft.jsonl", step=clock.step, tokens=clock.tokens, seconds=clock.seconds,
                   loss=loss.item(), agreement=same, overlap=overlap)  # fmt: skip
        if time.monotonic() - saved > 120:
            save(options.out / options.checkpoint, draft, optimizers, clock)
            saved = time.monotonic()


if __name__ == "__main__":
    train(parse())
