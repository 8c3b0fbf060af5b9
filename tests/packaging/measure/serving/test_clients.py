"""The figures of several clients, from requests that were made up."""

from __future__ import annotations

import math

import pytest

from tests.scripts import load_script

clients = load_script("measure/serving/clients.py")


def slice_of(number: int, mode: str, seconds: float, round_: int, wait_s: float = 0.5) -> object:
    requests = tuple(clients.Request(100, wait_s, seconds, (10.0, 20.0, 30.0)) for _ in range(number))
    return clients.Slice(number, mode, round_, seconds, requests)


def test_tokens_of_all_clients_count_and_rounds_are_compared_with_their_own_first_mode() -> None:
    slices = [
        *(slice_of(2, "off", seconds, number) for number, seconds in enumerate((4.0, 8.0, 2.0))),
        *(slice_of(2, "auto", seconds, number, wait_s=0.1) for number, seconds in enumerate((2.0, 4.0, 1.0))),
    ]
    plain, auto = clients.rows_of(slices)
    assert (plain.clients, plain.mode, plain.ratio) == (2, "off", None)
    assert plain.tokens_per_second == pytest.approx(600 / 14)
    assert (plain.wait_s_p50, auto.wait_s_p50) == (0.5, 0.1)
    assert plain.inter_token_ms_p50 == 20.0
    assert auto.ratio == pytest.approx(2.0), "each round is twice as fast, however slow the machine was"
    assert auto.ratio_low == pytest.approx(2.0)


def test_an_interval_covers_rounds_that_differ_and_one_round_has_none() -> None:
    slices = [slice_of(1, "off", 1.0, 0), slice_of(1, "auto", 0.5, 0)]
    assert clients.rows_of(slices)[1].ratio_low is None
    more = [*slices, slice_of(1, "off", 1.0, 1), slice_of(1, "auto", 1.0, 1)]
    row = clients.rows_of(sorted(more, key=lambda one: one.mode, reverse=True))[1]
    assert row.ratio == pytest.approx(math.sqrt(2.0))
    assert row.ratio_low < 1.0
    assert row.ratio_high > 2.0
