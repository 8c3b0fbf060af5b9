"""Train the tokenizer and the target on the mixture. Run again to continue from the last checkpoint.

Rows grow from 256 to 2,048 tokens; the last part trains through Q4_0-rounded feed-forward weights.
"""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from random import Random

import bpe
import torch
import torch.nn.functional as F  # noqa: N812  (its customary name)
from corpus import Sources, exchange, make_batch, render
from network import TARGET_SHAPE, Network, Shape
from quantize import rounded
from torch import Tensor
from training import Clock, Optimizers, report, resume, save
from wiring import wire

VALIDATION_SEED = 1_000_000_000
TOY_SHAPE = Shape(num_layers=2, width=64, num_heads=2, ffn_width=96, vocab_size=512, context=256)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the packed JSONL files; without it only generated text")
    parser.add_argument("--out", type=Path, required=True, help="folder for tokenizer, checkpoints and log")
    parser.add_argument("--steps", type=int, help="end after so many steps")
    parser.add_argument("--minutes", type=float, help="end after so many minutes of training")
    parser.add_argument("--tokens-per-step", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--toy", action="store_true", help="a tiny network, for tests")
    parser.add_argument(
        "--compile", action="store_true", help="compile the network with torch.compile (needs a C++ compiler)"
    )
    return parser.parse_args()


def make_tokenizer(path: Path, sources: Sources, vocab_size: int, num_exchanges: int) -> bpe.Tokenizer:
    """Load the tokenizer or train it on a sample of the mixture and of the words."""
    if path.is_file():
        return bpe.Tokenizer.load(path)
    rng = Random(0)
    texts = [render(exchange(sources, rng)) for _ in range(num_exchanges)]
    plain = [content.replace(bpe.IM_START, "").replace(bpe.IM_END, "") for content in texts]
    words = [" " + word for word in sources.material.words]
    tokenizer = bpe.train(plain + words + list(sources.season.texts[::4]), vocab_size)
    tokenizer.save(path)
    return tokenizer


def row_length(progress: float, context: int, rng: Random) -> int:
    """How long the rows of a step are: short ones first, then a mixture up to the whole context."""
    if progress < 0.12:
        length = 256
    elif progress < 0.75:
        length = rng.choice((256, 256, 256, 512))
    else:
        length = rng.choice((256, 256, 256, 512, 2048))
    return min(length, context)


def loss_of(network: Network, hidden: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
    """Mean cross-entropy of the tokens that `mask` (rows, tokens) marks, each predicted from the one before."""
    learned = mask[:, 1:]
    scores = network.logits(hidden[:, :-1][learned])
    return F.cross_entropy(scores.float(), ids[:, 1:][learned])


def validate(network: Network, sources: Sources, tokenizer: bpe.Tokenizer, rows: tuple[int, int]) -> float:
    """Loss on conversations that training does not draw, mean over batches."""
    losses = []
    with torch.no_grad():
        for at in range(4):
            ids, mask = map(torch.from_numpy, make_batch(sources, tokenizer, rows, 0.0, VALIDATION_SEED + at))
            losses.append(loss_of(network, network.hidden(ids), ids, mask).item())
    return sum(losses) / len(losses)


def train(options: argparse.Namespace, shape: Shape) -> None:
    """The whole training."""
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    sources = Sources.load(options.data)
    tokenizer = make_tokenizer(
        options.out / "tokenizer.json", sources, shape.vocab_size, 300 if options.toy else 30_000
    )
    network = Network(replace(shape, vocab_size=tokenizer.size))
    wire(network, induction_layers=(1,) if shape.num_layers < 4 else (1, 3))
    optimizers = Optimizers(network, muon_lr=0.02, adam_lr=0.006)
    clock = Clock(options.steps, options.minutes)
    checkpoint, log = options.out / "target.pt", options.out / "target.jsonl"
    resume(checkpoint, network, optimizers, clock)
    hidden: Callable[[Tensor], Tensor] = (
        torch.compile(network.hidden, dynamic=False) if options.compile else network.hidden
    )
    saved = time.monotonic()
    clock.start()
    while clock.progress < 1.0:
        progress = clock.progress
        rng = Random(options.seed * 1_000_000 + clock.step)
        length = row_length(progress, shape.context, rng)
        size = (max(1, options.tokens_per_step // length), length)
        echo = max(0.0, 0.4 - progress * 5)
        ids, mask = map(torch.from_numpy, make_batch(sources, tokenizer, size, echo, rng.getrandbits(29)))
        with rounded(network.feed_forward()) if progress >= 0.8 else nullcontext():
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = loss_of(network, hidden(ids), ids, mask)
            loss.backward()
        optimizers.step(clock.rate)
        clock.tick(ids.numel())
        if clock.step % 10 == 0:
            report(
                log,
                step=clock.step,
                tokens=clock.tokens,
                seconds=clock.seconds,
                progress=progress,
                length=length,
                loss=loss.item(),
            )
        if time.monotonic() - saved > 120:
            save(checkpoint, network, optimizers, clock)
            report(log, step=clock.step, validation=validate(network, sources, tokenizer, (8, min(512, shape.context))))
            saved = time.monotonic()
            clock.start()
    save(checkpoint, network, optimizers, clock)
    with rounded(network.feed_forward()):
        rounded_loss = validate(network, sources, tokenizer, (8, min(512, shape.context)))
    final = validate(network, sources, tokenizer, (8, min(512, shape.context)))
    report(log, step=clock.step, tokens=clock.tokens, validation=final, validation_rounded=rounded_loss)


if __name__ == "__main__":
    arguments = parse()
    train(arguments, TOY_SHAPE if arguments.toy else TARGET_SHAPE)
