"""Which size is tried again: one at a time, believed at once, and seldom where it was in vain."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.second_looks import TRIES, SecondLooks


def tried(looks: SecondLooks, size: int) -> int:
    """Passes of ``size`` until its try is over."""
    for count in range(1, 100):
        looks.weight(size, 0.1)
        if looks.ended(size):
            return count
    raise AssertionError("the try never ends")


def test_one_size_is_tried_until_a_few_passes_of_it_were_seen() -> None:
    looks = SecondLooks()
    assert looks.next_of([16, 32]) == 16
    assert looks.next_of([16, 32]) == 0
    looks.weight(8, 0.1)
    assert not looks.ended(8)
    assert tried(looks, 16) == TRIES
    assert not looks.ended(16)
    assert looks.next_of([16, 32]) == 32  # the other one waits


def test_a_size_that_is_never_chosen_holds_up_no_other() -> None:
    looks = SecondLooks()
    assert looks.next_of([16, 32]) == 16
    assert [(looks.next_of([32]), looks.given_up) for _ in range(8)] == [(0, 0)] * 7 + [(32, 16)]
    tried(looks, 32)
    assert (looks.next_of([]), looks.given_up) == (0, 0)


def test_what_is_tried_is_believed_as_a_mean_and_all_else_as_usual() -> None:
    looks = SecondLooks()
    looks.next_of([16])
    assert looks.weight(8, 0.1) == 0.1
    assert [looks.weight(16, 0.3) for _ in range(TRIES)] == pytest.approx([1.0, 1 / 2, 1 / 3, 0.3])
    assert looks.ended(16)
    assert looks.weight(16, 0.3) == 0.3


def test_tries_in_vain_become_rare() -> None:
    looks, asked = SecondLooks(), []
    for number in range(1000):
        if looks.next_of([16]):
            asked.append(number)
            tried(looks, 16)
    gaps = [after - before for before, after in pairwise(asked)]
    assert gaps == sorted(gaps)
    assert gaps[:4] == [2, 3, 5, 9]
    assert max(gaps) == 65
    assert len(asked) < 25
