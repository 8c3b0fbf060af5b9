"""Train Hydra heads (arXiv 2402.05109) on shards of the target's answers, and write their GGUF.

The loss of each head is the cross entropy with the target's own distribution over the reduced vocabulary, on the tokens
of answers. All heads share the target's output matrix, cut to that vocabulary. It goes on from its checkpoint.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (its customary name)
from medusa_file import HeadsFile
from rows import Talk, read_shard, split
from target import Target, load_target
from torch import Tensor, nn
from train import MOST_HELD, SoftCrossEntropy, most_used
from training import Clock, report

WEIGHTS = (1.0, 0.7, 0.5, 0.35)  # of the heads' losses
ROWS = 1024  # of a step


class Heads(nn.Module):
    """``count`` heads of one residual block each; head k sees the k + 1 tokens behind the row."""

    spread: Tensor

    def __init__(self, width: int, count: int) -> None:
        super().__init__()
        self.width = width
        self.inner = nn.ModuleList(nn.Linear(width * (k + 2), width) for k in range(count))
        self.skip = nn.ModuleList(nn.Linear(width * (k + 2), width) for k in range(count))
        self.register_buffer("spread", torch.ones(2))  # sizes of rows and of embeddings, divided out in training

    @torch.no_grad()
    def begin(self, rows: Tensor, embedded: Tensor) -> None:
        """Start as the target's own next-token row: the skip is the identity on it, the inner part nothing."""
        self.spread.copy_(torch.stack([rows.float().std(), embedded.float().std()]))
        for inner, skip in zip(self.inner, self.skip, strict=True):
            nn.init.normal_(inner.weight, std=0.02)
            inner.bias.zero_()
            skip.weight.zero_()
            skip.weight[:, : self.width] = torch.eye(self.width)
            skip.bias.zero_()

    def forward(self, rows: Tensor, embedded: Tensor) -> list[Tensor]:
        """Rows (n, width) of the target and embeddings (n, heads, width) to one row for each head (n, width)."""
        row, tokens = rows.float() / self.spread[0], embedded.float() / self.spread[1]
        found = []
        for k, (inner, skip) in enumerate(zip(self.inner, self.skip, strict=True)):
            z = torch.cat((row, tokens[:, : k + 1].flatten(1)), -1).bfloat16()
            add = F.silu(F.linear(z, inner.weight.bfloat16(), inner.bias.bfloat16()))
            kept = F.linear(z, skip.weight.bfloat16(), skip.bias.bfloat16())
            found.append((kept + add) * self.spread[0].bfloat16())
        return found


class Data:
    """All rows of answers behind one another, with the tokens behind each and where its conversation ends."""

    def __init__(self, talks: list[Talk], count: int) -> None:
        rows, ids, last = list[Tensor](), list[Tensor](), list[Tensor]()
        for talk in talks:
            first, end = max(0, talk.answer_from - 1), len(talk.rows)
            num = end - count - first
            if num <= 0:
                continue
            rows.append(talk.rows[first:end].contiguous())
            ids.append(talk.ids[first:end])
            last.append(torch.arange(end - first) < num)
        self.rows, self.ids = torch.cat(rows), torch.cat(ids)
        self.places = torch.cat(last).nonzero().squeeze(1)
        self.count = count

    def batch(self, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Rows (n, width), the ids of the tokens behind (n, count), and the target's rows there (n, count, width)."""
        behind = places[:, None] + torch.arange(1, self.count + 1)
        return self.rows[places], self.ids[behind], self.rows[behind]


@torch.inference_mode()
def agreement(heads: Heads, target: Target, kept: Tensor, data: Data) -> dict[str, float]:
    """Over held-out answers: what share of each head is right where those before it were, greedily and at T = 0.8."""
    count = data.count
    same, shared, alive = [0.0] * count, [0.0] * count, [0.0] * count
    for places in data.places.split(2048):
        rows, ids, after = data.batch(places)
        right = torch.ones(len(places), dtype=torch.bool)
        for k, one in enumerate(heads(rows, target.embedding[ids])):
            full = target.logits(after[:, k])
            scores = F.linear(one, target.output[kept]).float()
            wanted = torch.softmax(full / 0.8, -1)[:, kept]
            alive[k] += float(right.sum())
            shared[k] += float(torch.minimum(wanted, torch.softmax(scores / 0.8, -1)).sum(-1)[right].sum())
            right &= kept[scores.argmax(-1)] == full.argmax(-1)
            same[k] += float(right.sum())
    found = {f"greedy{k + 1}": same[k] / max(1.0, alive[k]) for k in range(count)}
    return found | {f"sampled{k + 1}": shared[k] / max(1.0, alive[k]) for k in range(count)}


def write_gguf(path: Path, heads: Heads, kept: Tensor, target: Target, source: Path) -> None:
    """Write the heads whole or not at all; the sizes that were divided out are folded into the matrices."""
    tensors: dict[str, Tensor] = {}
    of_row, of_token = heads.spread.tolist()
    for k, (inner, skip) in enumerate(zip(heads.inner, heads.skip, strict=True)):
        sizes = torch.tensor([of_row] + [of_token] * (k + 1)).repeat_interleave(heads.width)
        tensors |= {f"head.{k}.block.0.weight": inner.weight / sizes, f"head.{k}.block.0.bias": inner.bias}
        tensors |= {f"head.{k}.skip.weight": skip.weight / sizes, f"head.{k}.skip.bias": skip.bias}
    tensors["output.weight"] = target.output[kept].float() * of_row
    plain = {name: one.detach().float().numpy() for name, one in tensors.items()}
    HeadsFile("hydra", len(heads.inner), 1, heads.width, plain, kept.to(torch.int32).numpy()).write(path, source)


def options() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", type=Path)
    parser.add_argument("shards", type=Path, help="of answer.py --layers")
    parser.add_argument("out", type=Path)
    parser.add_argument("--heads", type=int, default=3)
    parser.add_argument("--vocabulary", type=int, default=4096)
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--every", type=float, default=120.0, help="seconds between evaluations")
    return parser.parse_args()


class Training:
    """The heads, their clock and their curve."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen, self.target = chosen, load_target(chosen.target)
        talks, held = split([read_shard(path) for path in sorted(chosen.shards.glob("*.pt"))])
        self.data, self.held = Data(talks, chosen.heads), Data(held[:MOST_HELD], chosen.heads)
        self.kept = most_used(talks, self.target, chosen.vocabulary)
        self.heads, self.clock = Heads(self.target.width, chosen.heads), Clock(None, chosen.minutes)
        self.heads.begin(self.data.rows[:4096], self.target.embedding[self.data.ids[:4096]])
        self.optimizer = torch.optim.AdamW(self.heads.parameters(), chosen.lr, betas=(0.9, 0.95), weight_decay=0.01)
        self.state = chosen.out / "hydra.pt"
        if self.state.is_file():
            self.go_on(torch.load(self.state, weights_only=True))
        self.output = self.target.output[self.kept]
        self.losses = [0.0] * (chosen.heads + 1)  # rows, then the loss of each head

    def go_on(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.heads.load_state_dict(state["heads"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.kept, clock = state["kept"], self.clock
        clock.step, clock.tokens, clock.seconds = (state[key] for key in ("step", "tokens", "seconds"))

    def run(self) -> None:
        """Train until the time is over."""
        dice, waiting, looked = torch.Generator().manual_seed(self.clock.step), list[Tensor](), time.monotonic()
        self.clock.start()
        while self.clock.progress < 1:
            if not waiting:
                order = torch.randperm(len(self.data.places), generator=dice)
                waiting = list(self.data.places[order].split(ROWS))
            self.step(waiting.pop())
            if time.monotonic() - looked > self.chosen.every:
                self.look()
                looked = time.monotonic()
        self.look()

    def step(self, places: Tensor) -> None:
        """One update."""
        rows, ids, after = self.data.batch(places)
        whole = torch.zeros(())
        for k, one in enumerate(self.heads(rows, self.target.embedding[ids])):
            wanted = torch.softmax(F.linear(after[:, k], self.output).float(), -1)
            loss = SoftCrossEntropy.apply(F.linear(one, self.output), wanted)
            self.losses[k + 1] += float(loss.detach())
            whole = whole + WEIGHTS[min(k, len(WEIGHTS) - 1)] * loss
        self.losses[0] += len(rows)
        (whole / len(rows)).backward()
        self.optimizer.param_groups[0]["lr"] = self.chosen.lr * self.clock.rate
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.clock.tick(len(rows))

    def look(self) -> None:
        """One line of the curve, a checkpoint, and the heads as a file."""
        out, clock = self.chosen.out, self.clock
        means = {f"loss{k + 1}": one / max(1.0, self.losses[0]) for k, one in enumerate(self.losses[1:])}
        found = agreement(self.heads, self.target, self.kept, self.held)
        report(out / "log.jsonl", step=clock.step, tokens=clock.tokens, minutes=clock.seconds / 60, **means, **found)
        counts = {"step": clock.step, "tokens": clock.tokens, "seconds": clock.seconds}
        weights = {"heads": self.heads.state_dict(), "optimizer": self.optimizer.state_dict(), "kept": self.kept}
        torch.save(weights | counts, self.state)
        write_gguf(out / "heads.gguf", self.heads, self.kept, self.target, self.chosen.target)
        self.losses = [0.0] * len(self.losses)


def main() -> None:
    """The command line."""
    chosen = options()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    chosen.out.mkdir(parents=True, exist_ok=True)
    Training(chosen).run()


if __name__ == "__main__":
    main()
