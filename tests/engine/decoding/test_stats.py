"""Tests counters and the rates computed from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.stats import StatsRecorder, _percentiles_ms
from engine.records import Mode, RunStats, Source


def recorded() -> RunStats:
    stats = StatsRecorder(Mode.DRAFT, 100)
    stats.prompt_tokens, stats.prompt_cached_tokens = 10, 4
    stats.prefill_ended()
    stats.count_pass(3, 3, 0.04)
    stats.count_tokens([Source.DRAFT] * 3 + [Source.BONUS])
    stats.count_pass(3, 1, 0.03)
    stats.count_tokens([Source.DRAFT, Source.RECOVERED])
    stats.count_pass(0, 0, 0.02)
    stats.count_tokens([Source.TARGET])
    return stats.snapshot()


def test_counters_add_up() -> None:
    stats = recorded()
    assert (stats.tokens, stats.passes, stats.proposed, stats.accepted, stats.rolled_back) == (7, 3, 6, 4, 2)
    assert stats.proposed_by_depth == (2, 2, 2)
    assert stats.accepted_by_depth == (2, 1, 1)
    assert stats.provenance == {Source.DRAFT: 4, Source.BONUS: 1, Source.RECOVERED: 1, Source.TARGET: 1}
    assert stats.context_used == 17


def test_rates_are_derived() -> None:
    stats = recorded()
    assert stats.tokens_per_pass == pytest.approx(7 / 3)
    assert stats.acceptance_rate == pytest.approx(4 / 6)
    assert [stats.acceptance_from(*depths) for depths in ((1, 1), (2, 3), (9, 16))] == [1.0, 0.5, None]


def test_the_drafts_reading_of_the_prompt_is_no_generation() -> None:
    assert RunStats(tokens=10, decode_s=3.0, draft_prompt_s=1.0).tokens_per_second == pytest.approx(5.0)


def test_a_passs_time_is_spread_over_its_tokens() -> None:
    stats = recorded()
    # four tokens of 10 ms, two of 15 ms, one of 20 ms
    assert stats.inter_token_ms_p50 == pytest.approx(10.0)
    assert stats.inter_token_ms_p95 == pytest.approx(18.5)
    assert stats.pass_ms_p50 == pytest.approx(30.0)


def test_what_is_not_known_is_none_not_zero() -> None:
    stats = StatsRecorder(Mode.OFF, 100).snapshot()
    assert stats.tokens_per_second is None
    assert stats.tokens_per_pass is None
    assert stats.acceptance_rate is None
    assert stats.time_to_first_token_s is None
    assert stats.inter_token_ms_p50 is None


def test_tokens_of_a_cut_block_do_not_count() -> None:
    stats = StatsRecorder(Mode.DRAFT, 100)
    stats.prefill_ended()
    stats.count_pass(3, 3, 0.01)
    stats.count_tokens([Source.DRAFT])
    assert stats.snapshot().tokens == 1


@given(st.lists(st.floats(1e-6, 10.0), min_size=1, max_size=50))
def test_percentiles_are_those_of_numpy(seconds: list[float]) -> None:
    values = np.array(seconds)
    expected = np.percentile(values, [50, 95, 99]) * 1000.0
    assert _percentiles_ms(values, 50, 95, 99) == pytest.approx(expected.tolist())


def test_a_stopped_prompt_uses_only_the_context_that_was_read() -> None:
    recorder = StatsRecorder(Mode.AUTO, 8192)
    recorder.prompt_tokens, recorder.read_tokens = 2595, 768
    assert recorder.snapshot().context_used == 768
