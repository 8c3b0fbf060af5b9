"""The window is updated as often as its share of the cores allows, but not more often than is noticeable."""

from __future__ import annotations

import pytest

from app.controllers.engine_bridge import (
    MAX_INTERVAL_MS,
    MAX_RUSH_INTERVAL_MS,
    MAX_UNREAD_INTERVAL_MS,
    MIN_INTERVAL_MS,
    EventThrottle,
)


def settled(cost_ms: float, num_cores: int, elapsed_ms: float = 40.0, num_tokens: int = 1) -> float:
    """The pause after many deliveries that each cost the window this many milliseconds."""
    own_s = [0.0]
    pace = EventThrottle(num_cores, lambda: own_s[0])
    for _ in range(40):
        own_s[0] += cost_ms / 1000.0
        pace.delivered(elapsed_ms, num_tokens)
    return pace.interval_ms


@pytest.mark.parametrize(
    ("cost_ms", "num_cores", "interval_ms"),
    [(0.5, 2, MIN_INTERVAL_MS), (1.0, 2, 40.0), (9.0, 2, MAX_INTERVAL_MS), (2.0, 8, MIN_INTERVAL_MS), (3.0, 8, 30.0)],
)
def test_the_pause_is_what_a_delivery_takes_over_the_share(cost_ms: float, num_cores: int, interval_ms: float) -> None:
    assert settled(cost_ms, num_cores) == pytest.approx(interval_ms, rel=0.01)


def test_text_that_nobody_can_follow_comes_in_larger_pieces() -> None:
    assert settled(2.0, 2, num_tokens=2) == MAX_INTERVAL_MS  # 50 tokens/s
    assert settled(2.0, 2, num_tokens=4) == pytest.approx(80.0, rel=0.01)
    assert settled(9.0, 2, elapsed_ms=50.0, num_tokens=6) == pytest.approx(
        MAX_UNREAD_INTERVAL_MS, rel=0.01
    )  # 120 tokens/s
    assert settled(9.0, 2, elapsed_ms=50.0, num_tokens=9) == pytest.approx(150.0, rel=0.01)
    assert settled(9.0, 2, num_tokens=20) == MAX_RUSH_INTERVAL_MS
    assert (
        settled(9.0, 2, elapsed_ms=MAX_RUSH_INTERVAL_MS + 10.0, num_tokens=100) == MAX_RUSH_INTERVAL_MS
    )  # still streaming
    assert settled(0.5, 2, num_tokens=20) == MIN_INTERVAL_MS


def test_what_was_done_while_the_engine_was_quiet_says_nothing() -> None:
    assert settled(12.0, 2, elapsed_ms=2.0 * MAX_RUSH_INTERVAL_MS + 100.0) == MIN_INTERVAL_MS


def test_one_dialog_that_opens_does_not_make_text_slow() -> None:
    own_s = [0.0]
    pace = EventThrottle(2, lambda: own_s[0])
    for cost_ms in (0.5, 0.5, 0.5, 400.0):
        own_s[0] += cost_ms / 1000.0
        pace.delivered(30.0, 1)
    assert pace.interval_ms == MAX_INTERVAL_MS
    for _ in range(12):
        own_s[0] += 0.0005
        pace.delivered(30.0, 1)
    assert pace.interval_ms < 30.0
