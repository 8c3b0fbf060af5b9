"""What answers taught: what indexing a text takes, without believing a disturbance."""

from __future__ import annotations

import pytest

from engine.lessons import Lessons


def test_what_indexing_takes_follows_the_texts() -> None:
    lessons = Lessons(1.0, 4)
    for _ in range(40):
        lessons.observe_indexing(1000, 20.0)
    assert lessons.index_ms == pytest.approx(0.02, rel=0.01)


def test_one_disturbed_text_and_short_ones_say_little() -> None:
    lessons = Lessons(1.0, 4)
    first = lessons.index_ms
    lessons.observe_indexing(1000, 1e6)
    assert lessons.index_ms < 2.0 * first
    before = lessons.index_ms
    lessons.observe_indexing(3, 50.0)
    assert lessons.index_ms == before
