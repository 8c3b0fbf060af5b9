"""Train a head on shards of the target's answers; start it once per core, with --rank and --ranks.

The loss is the cross entropy with the target's own distribution over the reduced vocabulary, on the tokens of answers,
for the first step and for those that go on from the head's own rows.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from head import Head, HeadShape
from muon import Muon
from rows import Batch, Talk, batches, collate, read_shard, split
from target import Target, load_target
from torch import Tensor
from training import Clock, report

DEPTH_WEIGHTS = (1.0, 0.7, 0.5, 0.35)
USUAL_SHARE = 0.6  # of a batch's positions that are counted
MOST_HELD = 60  # conversations of an evaluation


class SoftCrossEntropy(torch.autograd.Function):
    """Sum over rows of the cross entropy between a distribution and the softmax of scores; keeps one gradient only."""

    @staticmethod
    def forward(context: Any, scores: Tensor, wanted: Tensor) -> Tensor:  # noqa: ANN401  (PyTorch's type)
        """``scores`` (rows, vocabulary) and probabilities of that shape."""
        logs = torch.log_softmax(scores.float(), -1)
        loss = -(wanted * logs).sum()
        context.save_for_backward(logs.exp_().sub_(wanted).to(torch.bfloat16))
        return loss

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]  # noqa: ANN401
        """With respect to the scores."""
        (kept,) = context.saved_tensors
        return kept * grad.to(kept.dtype), None


def most_used(talks: list[Talk], target: Target, count: int) -> Tensor:
    """The ids of the tokens that answers use most; after these the lowest, the commonest of the vocabulary."""
    used = torch.zeros(len(target.output))
    for talk in talks:
        used += torch.bincount(talk.ids[talk.answer_from :], minlength=len(used))
    used += torch.linspace(0.5, 0.0, len(used))
    return used.topk(count).indices.sort().values


def losses(head: Head, target: Target, kept: Tensor, batch: Batch, depth: int) -> list[Tensor]:
    """The sum of the loss over the counted positions, for each step."""
    steps = head.unrolled(target.embedding[batch.ids].float(), head.encode(batch.rows.float()), depth)
    wanted = torch.softmax((batch.final[batch.counted] @ target.output[kept].T).float(), -1)
    return [SoftCrossEntropy.apply(head.scores(one[batch.counted]), wanted) for one in steps]


@torch.inference_mode()
def agreement(head: Head, target: Target, kept: Tensor, talks: list[Talk], depth: int) -> dict[str, float]:
    """Over held-out answers: share accepted at each step, greedily, and at a temperature of 0.8."""
    same, shared, count = [0] * depth, [0.0] * depth, 0
    for group in batches(talks, 6000, random.Random(0)):  # noqa: S311
        batch = collate(group, target.width)
        steps = head.unrolled(target.embedding[batch.ids].float(), head.encode(batch.rows.float()), depth)
        full = target.logits(batch.final[batch.counted])
        best, wanted = full.argmax(-1), torch.softmax(full / 0.8, -1)[:, kept]
        count += len(best)
        for i, one in enumerate(steps):
            scores = head.scores(one[batch.counted]).float()
            same[i] += int((kept[scores.argmax(-1)] == best).sum())
            shared[i] += float(torch.minimum(wanted, torch.softmax(scores / 0.8, -1)).sum())
    greedy = {f"greedy{i + 1}": one / count for i, one in enumerate(same)}
    return greedy | {f"sampled{i + 1}": one / count for i, one in enumerate(shared)} | {"count": float(count)}


class Optimizers:
    """Muon for the matrices of the layer, AdamW for the output matrix and for gains."""

    def __init__(self, head: Head, muon_lr: float, adam_lr: float) -> None:
        matrices = [one for name, one in head.named_parameters() if one.ndim == 2 and not name.startswith("output")]
        gains = [one for one in head.parameters() if one.ndim == 1]
        self.all = (
            Muon(matrices, muon_lr, weight_decay=0.0),
            torch.optim.AdamW([head.output.weight], adam_lr, betas=(0.9, 0.95), weight_decay=0.0),
            torch.optim.AdamW(gains, adam_lr * 2, betas=(0.9, 0.95), weight_decay=0.0),
        )
        self.lrs = [group["lr"] for one in self.all for group in one.param_groups]

    def step(self, rate: float) -> None:
        """One update at ``rate`` times the base learning rates; gradients are cleared."""
        for optimizer, lr in zip(self.all, self.lrs, strict=True):
            optimizer.param_groups[0]["lr"] = lr * rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


def save(path: Path, head: Head, kept: Tensor, optimizers: Optimizers, clock: Clock) -> None:
    """Write a resumable checkpoint, whole or not at all."""
    part = path.with_suffix(".part")
    state = {"shape": head.shape.as_dict(), "weights": head.state_dict(), "kept": kept}
    counts = {"step": clock.step, "tokens": clock.tokens, "seconds": clock.seconds}
    torch.save({**state, "clock": counts, "optimizers": [one.state_dict() for one in optimizers.all]}, part)
    part.replace(path)


def load_head(path: Path) -> tuple[Head, dict[str, Any]]:
    """The head of a checkpoint and the checkpoint itself."""
    state = torch.load(path, weights_only=True)
    head = Head(HeadShape(**state["shape"]))
    head.load_state_dict(state["weights"])
    return head, state


def share(head: Head, ranks: int) -> None:
    """Add up the gradients of all processes."""
    if ranks == 1:
        return
    flat = torch.cat([one.grad.flatten() for one in head.parameters() if one.grad is not None])
    dist.all_reduce(flat)
    first = 0
    for one in head.parameters():
        if one.grad is not None:
            one.grad.copy_(flat[first : first + one.numel()].view_as(one))
            first += one.numel()


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("shards", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, help="end after so many; or give --steps")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--tokens", type=int, default=1536, help="of a batch, with its padding")
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--ffn-width", type=int, default=2048)
    parser.add_argument("--depth", type=int, default=3)
    parser.add_argument("--muon-lr", type=float, default=0.01)
    parser.add_argument("--adam-lr", type=float, default=0.0005)
    parser.add_argument("--every", type=float, default=150.0, help="seconds between evaluations")
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args()
    if chosen.minutes is None and chosen.steps is None:
        parser.error("give --minutes or --steps")
    return chosen


def begin(target: Target, talks: list[Talk], chosen: argparse.Namespace) -> tuple[Head, Tensor, Optimizers, Clock]:
    """The head of the checkpoint, or a fresh one."""
    clock, path = Clock(chosen.steps, chosen.minutes), chosen.out / "head.pt"
    if path.is_file():
        head, state = load_head(path)
        optimizers = Optimizers(head, chosen.muon_lr, chosen.adam_lr)
        for one, kept_state in zip(optimizers.all, state["optimizers"], strict=True):
            one.load_state_dict(kept_state)
        clock.step, clock.tokens, clock.seconds = (state["clock"][key] for key in ("step", "tokens", "seconds"))
        return head, state["kept"], optimizers, clock
    torch.manual_seed(1)
    kept = most_used(talks, target, chosen.vocabulary)
    shape = HeadShape(
        width=target.width,
        num_heads=target.num_heads,
        ffn_width=chosen.ffn_width,
        vocab_size=chosen.vocabulary,
        rope_base=target.rope_base,
        norm_eps=target.norm_eps,
    )
    head = Head(shape)
    some = torch.cat([talk.rows[4:, : -target.width] for talk in talks[:100]])
    head.begin_as(target, kept, some)
    return head, kept, Optimizers(head, chosen.muon_lr, chosen.adam_lr), clock


class Training:
    """One process of a training: its head, its clock and its curve."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen, self.target = chosen, load_target(chosen.target)
        self.talks, self.held = split([read_shard(path) for path in sorted(chosen.shards.glob("*.pt"))])
        self.head, self.kept, self.optimizers, self.clock = begin(self.target, self.talks, chosen)
        self.dice = random.Random(self.clock.step)  # noqa: S311  (no secret)
        self.waiting: list[list[Talk]] = []
        self.tally = [0.0] * (chosen.depth + 1)  # counted positions, then the loss of each step

    def run(self) -> None:
        """Train until the time is over."""
        looked = time.monotonic()
        self.clock.start()
        while (rate := rate_of(self.clock, self.chosen.ranks)) is not None:
            self.step(rate)
            if time.monotonic() - looked > self.chosen.every and self.chosen.rank == 0:
                self.look()
                looked = time.monotonic()
        if self.chosen.rank == 0:
            self.look()

    def step(self, rate: float) -> None:
        """One update, together with the other processes."""
        chosen = self.chosen
        if len(self.waiting) < chosen.ranks:
            self.waiting = batches(self.talks, chosen.tokens, self.dice)
        batch = collate(self.waiting[chosen.rank], self.target.width)
        del self.waiting[: chosen.ranks]
        parts = losses(self.head, self.target, self.kept, batch, chosen.depth)
        count = int(batch.counted.sum())
        whole = torch.stack([part * weight for part, weight in zip(parts, DEPTH_WEIGHTS, strict=False)]).sum()
        (whole / (chosen.tokens * USUAL_SHARE * chosen.ranks)).backward()
        share(self.head, chosen.ranks)
        self.optimizers.step(rate)
        self.clock.tick(count * chosen.ranks)
        new = (count, *(float(part.detach()) for part in parts))
        self.tally = [one + more for one, more in zip(self.tally, new, strict=True)]

    def look(self) -> None:
        """One line of the curve, and a checkpoint."""
        count, clock = max(1.0, self.tally[0]), self.clock
        means = {f"loss{i}": one / count for i, one in enumerate(self.tally) if i}
        found = agreement(self.head, self.target, self.kept, self.held[:MOST_HELD], self.chosen.depth)
        log = self.chosen.out / "log.jsonl"
        report(log, step=clock.step, tokens=clock.tokens, minutes=clock.seconds / 60, **means, **found)
        save(self.chosen.out / "head.pt", self.head, self.kept, self.optimizers, clock)
        self.tally = [0.0] * len(self.tally)


def rate_of(clock: Clock, ranks: int) -> float | None:
    """The learning-rate factor by the first process's clock; None where its time is over."""
    reported = torch.tensor([clock.rate, clock.progress])
    if ranks > 1:
        dist.broadcast(reported, 0)
    return float(reported[0]) if reported[1] < 1 else None


def main() -> None:
    """The command line."""
    chosen = options()
    torch.set_num_threads(chosen.threads)
    chosen.out.mkdir(parents=True, exist_ok=True)
    if chosen.ranks > 1:
        meeting = f"file://{(chosen.out / 'meeting').resolve()}"
        dist.init_process_group("gloo", init_method=meeting, rank=chosen.rank, world_size=chosen.ranks)
    Training(chosen).run()


if __name__ == "__main__":
    main()
