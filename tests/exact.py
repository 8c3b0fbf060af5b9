"""Answers that must be equal to the letter, where the loaded model computes exactly to the bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from engine.loading.exactness import why_inexact
from engine.records import ChatRequest
from engine.session.session import Session

NEAR_TIE = 0.05  # of logits


def require_exact(path: str) -> None:
    """Skip, with the reason, where passes of other shapes may give a model's rows other bits."""
    if reason := why_inexact(path):
        pytest.skip(reason)


def agree(session: Session, asked: ChatRequest, plain: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two greedy answers are the same: to the letter, or up to a near tie where the target is not exact."""
    parts = next((i for i, (one, two) in enumerate(zip(plain, other, strict=True)) if one != two), None)
    if parts is None or not session.ready().target.inexact:
        return parts is None
    target = session._target
    assert target is not None
    ids = np.asarray([*session.prompt_ids(asked), *plain[:parts]], dtype=np.int32)
    for _ in target.sequence.prefill(ids[target.sequence.reuse(ids) : -1]):
        pass
    row = target.sequence.forward(ids[-1:], 1)[0]
    return abs(float(row[plain[parts]] - row[other[parts]])) < NEAR_TIE
