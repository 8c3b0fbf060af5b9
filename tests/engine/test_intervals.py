"""Percentiles from added counts are within the stated error, whatever the times and the order of adding."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.sums import summed
from app.core.storage.chats.codec import stats_from_text, stats_to_text
from engine.decoding.stats import _interval_counts
from engine.intervals import LAST_BUCKET, MAX_BUCKET_ERROR, bucket_of, checked_counts, percentile_ms
from engine.records import RunStats

MICROSECONDS = st.floats(1.0, 1e10)
TIMES = st.lists(MICROSECONDS, min_size=1, max_size=200)
PERCENTS = st.sampled_from([50, 95, 99]) | st.floats(0.1, 100)


def exact(times: list[float], percent: float) -> float:
    """The percentiles of a single answer."""
    return float(np.percentile(np.array(times), percent))


@given(TIMES, PERCENTS)
def test_a_percentile_is_off_by_no_more_than_reported(times: list[float], percent: float) -> None:
    found = percentile_ms(Counter(map(bucket_of, times)), percent)
    assert found is not None
    assert abs(found * 1000.0 / exact(times, percent) - 1.0) <= MAX_BUCKET_ERROR + 1e-9


@given(TIMES, TIMES, PERCENTS)
def test_added_counts_tell_the_percentile_of_all(first: list[float], second: list[float], percent: float) -> None:
    counts = Counter(map(bucket_of, first)) + Counter(map(bucket_of, second))
    found = percentile_ms(counts, percent)
    assert found is not None
    assert abs(found * 1000.0 / exact(first + second, percent) - 1.0) <= MAX_BUCKET_ERROR + 1e-9


@given(st.lists(st.floats(0.0, 1e5), max_size=100))
def test_the_engine_counts_into_the_same_buckets(seconds: list[float]) -> None:
    found = _interval_counts(np.array(seconds))
    assert sum(found.values()) == len(seconds)
    expected = Counter(bucket_of(value * 1e6) for value in seconds)
    # At the border of two buckets the two logarithms may be rounded differently.
    assert percentile_ms(found, 50) == pytest.approx(percentile_ms(expected, 50) or 0, rel=0.041) or not seconds


def test_what_was_not_counted_is_not_known() -> None:
    assert percentile_ms({}, 50) is None
    assert RunStats().interval_ms(99) is None
    assert bucket_of(0.0) == 0
    assert bucket_of(1e300) == LAST_BUCKET


@pytest.mark.parametrize("data", [{"-1": 1}, {"701": 1}, {"3": -1}, {"many": 1}])
def test_counts_that_cannot_be_are_refused(data: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"."):
        checked_counts(data)


@given(st.dictionaries(st.integers(0, LAST_BUCKET), st.integers(1, 10**9), max_size=20))
def test_counts_are_read_back_as_stored(counts: dict[int, int]) -> None:
    read = stats_from_text(stats_to_text(RunStats(interval_counts=counts)))
    assert read is not None
    assert read.interval_counts == counts


def test_an_answer_that_goes_on_has_the_percentiles_of_both_parts() -> None:
    first = RunStats(tokens=90, inter_token_ms_p50=10.0, inter_token_ms_p95=10.0, interval_counts={236: 90})
    second = RunStats(tokens=10, inter_token_ms_p50=126.0, inter_token_ms_p95=126.0, interval_counts={300: 10})
    both = summed(first, second)
    assert both is not None
    assert both.interval_counts == {236: 90, 300: 10}
    assert both.inter_token_ms_p50 == pytest.approx(10.0, rel=0.03)
    assert both.inter_token_ms_p95 == pytest.approx(126.0, rel=0.03)
    unknown = summed(replace(first, interval_counts={}), second)
    assert unknown is not None
    assert unknown.inter_token_ms_p50 == 126.0
