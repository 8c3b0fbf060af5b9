"""Numbers between two bounds: all whole ones, no other."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.grammar.gbnf import RuleBook
from engine.grammar.number_ranges import integers, numbers
from tests.engine.grammar.walks import accepts, random_text

SMALL = st.integers(-1200, 1200)


@settings(max_examples=30, deadline=None)
@given(one=SMALL, other=SMALL)
def test_exactly_the_whole_numbers_of_a_range_are_allowed(one: int, other: int) -> None:
    low, high = min(one, other), max(one, other)
    rules = RuleBook()
    grammar = rules.text(integers(rules, low, high))
    inside = {low, high, (low + high) // 2, *range(low, min(low + 12, high)), *range(max(high - 12, low), high)}
    outside = {low - 1, high + 1, low - 10, high + 10, 10 * high + 10, 10 * low - 10}
    assert [number for number in inside if not accepts(grammar, str(number))] == []
    assert [number for number in outside - set(range(low, high + 1)) if accepts(grammar, str(number))] == []


@settings(max_examples=30, deadline=None)
@given(
    low=st.floats(-300, 300), width=st.floats(2, 500), above=st.booleans(), below=st.booleans(), seed=st.integers(0, 99)
)
def test_only_numbers_of_a_range_are_allowed(low: float, width: float, above: bool, below: bool, seed: int) -> None:
    rules, rng = RuleBook(), np.random.default_rng(seed)
    high = low + width
    grammar = rules.text(numbers(rules, low, high, above=above, below=below))
    for _ in range(5):
        number = float(random_text(grammar, rng, patience=8))
        assert low <= number <= high
        assert not (above and number == low)
        assert not (below and number == high)
