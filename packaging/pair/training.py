"""What both trainings share: the clock that sets the learning rate, optimizers, checkpoints."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from muon import Muon
from network import Network, Shape


@dataclass
class Clock:
    """Progress through a training limited by steps or by minutes; survives a restart."""

    max_steps: int | None
    max_minutes: float | None
    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    _since: float = 0.0

    def start(self) -> None:
        """Begin to count time."""
        self._since = time.monotonic()

    def tick(self, tokens: int) -> None:
        """Count one step."""
        now = time.monotonic()
        self.seconds += now - self._since
        self._since = now
        self.step += 1
        self.tokens += tokens

    @property
    def progress(self) -> float:
        """Share of the whole training done, 0 to 1."""
        by_steps = self.step / self.max_steps if self.max_steps else 0.0
        by_time = self.seconds / (60 * self.max_minutes) if self.max_minutes else 0.0
        return min(1.0, max(by_steps, by_time))

    @property
    def rate(self) -> float:
        """Learning-rate factor: warm-up, constant, linear decay to zero."""
        warm = min(1.0, (self.step + 1) / 40)
        return warm * min(1.0, (1.0 - self.progress) / 0.45)


class Optimizers:
    """Muon for the matrices in the layers, AdamW for the embedding and (slower) for the norms."""

    def __init__(self, network: Network, muon_lr: float, adam_lr: float) -> None:
        matrices = [parameter for parameter in network.blocks.parameters() if parameter.ndim == 2]
        gains = [parameter for parameter in network.parameters() if parameter.ndim == 1]
        slow = [network.output_norm.weight]
        fast = [gain for gain in gains if gain is not network.output_norm.weight]
        self.lrs = (muon_lr, adam_lr, adam_lr / 2, adam_lr / 10)
        self.all: tuple[torch.optim.Optimizer, ...] = (
            Muon(matrices, muon_lr, weight_decay=0.01),
            *(
                torch.optim.AdamW(group, adam_lr, betas=(0.9, 0.95), weight_decay=0.0)
                for group in ([network.token_embd.weight], fast, slow)
            ),
        )

    def step(self, rate: float) -> None:
        """One update at `rate` times the base learning rates; gradients are cleared."""
        for optimizer, lr in zip(self.all, self.lrs, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = lr * rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)

    def state(self) -> list[Any]:
        """For a checkpoint."""
        return [optimizer.state_dict() for optimizer in self.all]

    def restore(self, states: list[Any]) -> None:
        """From a checkpoint."""
        for optimizer, state in zip(self.all, states, strict=True):
            optimizer.load_state_dict(state)


def save(path: Path, network: Network, optimizers: Optimizers, clock: Clock) -> None:
    """Write a resumable checkpoint, whole or not at all."""
    part = path.with_suffix(".part")
    counts = {"step": clock.step, "tokens": clock.tokens, "seconds": clock.seconds}
    state = {"shape": network.shape.as_dict(), "weights": network.state_dict(), "optimizers": optimizers.state()}
    torch.save({**state, "clock": counts}, part)
    part.replace(path)


def load_network(path: Path) -> tuple[Network, dict[str, Any]]:
    """The network of a checkpoint and the checkpoint itself."""
    state = torch.load(path, weights_only=True)
    network = Network(Shape(**state["shape"]))
    network.load_state_dict(state["weights"])
    return network, state


def resume(path: Path, network: Network, optimizers: Optimizers, clock: Clock) -> None:
    """Continue from a checkpoint if there is one."""
    if not path.is_file():
        return
    state = torch.load(path, weights_only=True)
    network.load_state_dict(state["weights"])
    optimizers.restore(state["optimizers"])
    clock.step, clock.tokens, clock.seconds = (state["clock"][key] for key in ("step", "tokens", "seconds"))


def report(log: Path, **values: float | int | str) -> None:
    """Append one JSON line to the log and print it."""
    line = json.dumps({key: round(value, 4) if isinstance(value, float) else value for key, value in values.items()})
    with log.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    print(line, flush=True)
