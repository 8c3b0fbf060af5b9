"""Offscreen work runs between paintings, and in time."""

import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from ui.widgets.offscreen_scheduler import (
    PAINT_S,
    SCROLLING_S,
    SCROLLING_SLICE_S,
    URGENT_SLICE_S,
    OffscreenScheduler,
)


class Clock:
    def __init__(self) -> None:
        self.now = 10.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> OffscreenScheduler:
    return OffscreenScheduler(clock)


def test_nothing_is_done_in_the_turn_of_a_step(turns: OffscreenScheduler, clock: Clock, qtbot: QtBot) -> None:
    timer, done = QTimer(singleShot=True), []
    turns.run(timer, lambda: done.append("before"))
    clock.now += 0.02
    turns.scrolled_to(1)
    turns.run(timer, lambda: done.append("in the same turn"))
    assert done == ["before"]
    assert timer.isActive(), "it comes again"
    clock.now += PAINT_S + 0.001
    turns.run(timer, lambda: done.append("in the turn that may have painted the step"))
    assert done == ["before"]
    assert timer.isActive(), "it comes again"
    assert timer.interval() == 0
    turns.run(timer, lambda: done.append("after"))
    assert done == ["before", "after"]
    turns.run(timer, lambda: done.append("right behind another"))
    assert done == ["before", "after"]


def test_it_goes_on_however_fast_the_steps_come(turns: OffscreenScheduler, clock: Clock, qtbot: QtBot) -> None:
    timer, done = QTimer(singleShot=True), []
    for _ in range(200):
        clock.now += 0.002
        turns.scrolled_to(clock.now)
        turns.run(timer, lambda: done.append(clock.now))
    assert len(done) > 100
    assert turns.slice_s(9) == URGENT_SLICE_S
    clock.now += 0.02
    turns.run(timer, lambda: done.append(clock.now))
    assert turns.slice_s(9) == SCROLLING_SLICE_S, "there are turns again"


def test_to_follow_what_grew_is_not_to_scroll(turns: OffscreenScheduler, clock: Clock) -> None:
    with turns.auto_scrolling():
        turns.scrolled_to(3)
    assert not turns.is_scrolling
    assert turns.wait_ms() == 0
    turns.scrolled_to(4)
    assert turns.is_scrolling
    clock.now += SCROLLING_S + 0.01
    assert not turns.is_scrolling
