"""Compares answers that must be identical if the loaded model computes bit-exactly."""

from collections.abc import Sequence

import numpy as np
import pytest

from engine.loading.exactness import why_inexact
from engine.records import ChatRequest
from engine.session.session import Session

NEAR_TIE = 0.05  # maximum difference of two logits


def require_exact(path: str) -> None:
    """Skip with the reason if the batch shape may change the bits of this model's rows."""
    if reason := why_inexact(path):
        pytest.skip(reason)


def agree(session: Session, asked: ChatRequest, plain: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two greedy answers are identical; for an inexact target, up to a near tie."""
    parts = next((i for i, (one, two) in enumerate(zip(plain, other, strict=True)) if one != two), None)
    if parts is None or not session.ready().target.inexact_reason:
        return parts is None
    target = session._target
    assert target is not None
    ids = np.asarray([*session.prompt_ids(asked), *plain[:parts]], dtype=np.int32)
    for _ in target.sequence.prefill(ids[target.sequence.reuse(ids) : -1]):
        pass
    row = target.sequence.forward(ids[-1:], 1)[0]
    return abs(float(row[plain[parts]] - row[other[parts]])) < NEAR_TIE
