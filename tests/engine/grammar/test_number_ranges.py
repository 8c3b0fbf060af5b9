"""Numbers between two bounds: all whole ones, no other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import GrammarError
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
    low=st.floats(-300, 300) | st.integers(-300, 300),
    width=st.floats(2, 500) | st.integers(2, 500),
    above=st.booleans(),
    below=st.booleans(),
    seed=st.integers(0, 99),
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


@pytest.mark.parametrize(
    ("low", "high", "good", "bad"),
    [
        (0, 1, ["0.5", "0.01", "0.99"], ["0", "0.0", "0.000", "1", "1.0"]),
        (-1, 0, ["-0.5", "-0.01"], ["0", "-0", "-0.0", "-1", "-1.0"]),
        (3, 5, ["3.5", "3.0001", "4", "4.0", "4.9"], ["3", "3.0", "5", "5.0"]),
        (-5, -3, ["-3.5", "-4", "-4.9"], ["-3", "-3.0", "-5", "-5.0"]),
    ],
)
def test_bounds_that_are_excluded(low: int, high: int, good: list[str], bad: list[str]) -> None:
    rules = RuleBook()
    grammar = rules.text(numbers(rules, low, high, above=True, below=True))
    assert [text for text in good if not accepts(grammar, text)] == []
    assert [text for text in bad if accepts(grammar, text)] == []


def test_a_range_without_a_whole_number_is_refused() -> None:
    with pytest.raises(GrammarError, match=r"no whole number from 0\.2 to 0\.8"):
        numbers(RuleBook(), 0.2, 0.8, above=False, below=False)
    with pytest.raises(GrammarError, match="no whole number"):
        numbers(RuleBook(), 2, 2, above=True, below=False)
