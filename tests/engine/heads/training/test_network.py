"""The heads in NumPy: gradients against differences, the linear fit, and AdamW on a small problem."""

from __future__ import annotations

import numpy as np

from engine.heads.training.network import AdamW, LinearFit, computed, fresh_head, gradients, inputs_of

WIDTH = 5


def test_gradients_are_those_of_the_loss() -> None:
    dice = np.random.default_rng(3)
    head = fresh_head(1, WIDTH, dice)
    for one in head.parameters:
        one[:] = dice.normal(0.0, 0.4, one.shape)
    row = dice.normal(size=(4, WIDTH)).astype(np.float32)
    tokens = dice.normal(size=(4, 2, WIDTH)).astype(np.float32)
    weights = dice.normal(size=(4, WIDTH)).astype(np.float32)

    def loss() -> float:
        return float((computed(head, row, tokens, 1).given * weights).sum())

    for values, found in zip(head.parameters, gradients(computed(head, row, tokens, 1), weights), strict=True):
        for place in [tuple(dice.integers(0, size) for size in values.shape) for _ in range(4)]:
            kept = float(values[place])
            values[place] = kept + 1e-2
            above = loss()
            values[place] = kept - 1e-2
            below = loss()
            values[place] = kept
            assert abs((above - below) / 2e-2 - float(found[place])) < 2e-2


def test_the_linear_fit_finds_what_is_linear() -> None:
    dice = np.random.default_rng(4)
    head = fresh_head(0, WIDTH, dice)
    wanted, shift = dice.normal(size=(WIDTH, 2 * WIDTH)), dice.normal(size=WIDTH)
    fit = LinearFit(2 * WIDTH, WIDTH)
    for _ in range(3):
        row = dice.normal(size=(400, WIDTH)).astype(np.float32)
        tokens = dice.normal(size=(400, 1, WIDTH)).astype(np.float32)
        inputs = inputs_of(row, tokens, 0)
        fit.add(inputs, (inputs @ wanted.T + shift).astype(np.float32))
    fit.put_into(head)
    assert np.abs(head.skip - wanted).max() < 0.05
    assert np.abs(head.skip_bias - shift).max() < 0.05


def test_adamw_goes_down() -> None:
    values = np.ones((3, 3), dtype=np.float32)
    optimizer = AdamW([values])
    for _ in range(200):
        optimizer.update([2.0 * values], 0.02)
    assert np.abs(values).max() < 0.1
    assert optimizer.step == 200
