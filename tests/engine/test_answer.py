"""What an answer says of itself beside its text."""

from __future__ import annotations

import pytest

from engine.answer import comparable_ms


@pytest.mark.parametrize(("first_ms", "last_ms"), [(60.0, 60.0), (60.0, 70.0), (60.0, 50.0)])
def test_a_steady_cost_of_plain_passes_is_told(first_ms: float, last_ms: float) -> None:
    assert comparable_ms(first_ms, last_ms) == last_ms


@pytest.mark.parametrize(("first_ms", "last_ms"), [(56.0, 122.0), (122.0, 56.0)])
def test_nothing_is_compared_where_the_machine_became_slower_or_faster_meanwhile(
    first_ms: float, last_ms: float
) -> None:
    assert comparable_ms(first_ms, last_ms) is None
