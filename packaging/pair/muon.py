"""Muon for matrices and AdamW for everything else, in one step.

Muon orthogonalises each matrix's momentum by Newton-Schulz iteration (Jordan et al. 2024,
https://kellerjordan.github.io/posts/muon/). Matrices of one shape are stacked: fewer, larger products.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(stack: Tensor, steps: int = 5) -> Tensor:
    """Nearly orthogonal matrices for a stack (count, rows, columns); rows may exceed columns."""
    a, b, c = COEFFICIENTS
    x = stack.bfloat16()
    tall = x.shape[1] > x.shape[2]
    if tall:
        x = x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = a * x + (b * gram + c * (gram @ gram)) @ x
    return (x.mT if tall else x).float()


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised, with decoupled weight decay, for 2-D parameters."""

    def __init__(self, params: list[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """One update of every parameter that has a gradient."""
        for group in self.param_groups:
            same: dict[tuple[int, ...], list[Tensor]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    same[tuple(parameter.shape)].append(parameter)
            for parameters in same.values():
                self._step_stack(parameters, group)

    def _step_stack(self, parameters: list[Tensor], group: dict[str, float]) -> None:
        moves = []
        for parameter in parameters:
            state = self.state[parameter]
            if "momentum" not in state:
                state["momentum"] = torch.zeros_like(parameter)
            state["momentum"].lerp_(parameter.grad, 1 - group["momentum"])
            moves.append(parameter.grad.lerp(state["momentum"], group["momentum"]))
        rows, columns = parameters[0].shape
        scale = group["lr"] * max(1.0, rows / columns) ** 0.5
        for parameter, move in zip(parameters, orthogonalise(torch.stack(moves)), strict=True):
            parameter.mul_(1 - group["lr"] * group["weight_decay"])
            parameter.add_(move, alpha=-scale)
