"""Tests statistics and provenance, encoded as text and decoded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.seeds import SamplingRecord, record_sampling
from app.core.domain.settings.values import Settings
from app.core.storage.chats.codec import (
    MAX_REJECTED_CHARS,
    sampling_from_text,
    sampling_to_text,
    spans_from_text,
    spans_to_text,
    stats_from_text,
    stats_to_text,
)
from engine.records import GREEDY, PassProbabilities, RunStats, Source, TokenSpan
from engine.sentences import Sentence, i18n

PERCENT = st.integers(0, 100).map(lambda whole: whole / 100) | st.sampled_from([0.004, 0.996])
LENGTHS = st.lists(st.integers(0, 9), max_size=4).map(tuple)
ODDS = st.builds(
    PassProbabilities,
    st.lists(st.tuples(PERCENT, st.none() | PERCENT), max_size=5).map(tuple),
    PERCENT,
    st.just(False),
    LENGTHS,
) | LENGTHS.map(lambda lengths: PassProbabilities(greedy=True, rejected_chars=lengths))
SPANS = st.lists(
    st.builds(
        TokenSpan,
        st.integers(0, 40),
        st.sampled_from(Source),
        st.just("") | st.text(max_size=30),
        st.none() | st.just(GREEDY) | ODDS,
    ),
    max_size=30,
)


@given(SPANS)
def test_provenance_is_read_back_as_written(spans: list[TokenSpan]) -> None:
    assert list(spans_from_text(spans_to_text(spans))) == spans


@given(st.floats(0, 1), st.floats(0, 1))
def test_chances_are_kept_to_a_percent(p: float, q: float) -> None:
    (span,) = spans_from_text(
        spans_to_text([TokenSpan(3, Source.BONUS, probabilities=PassProbabilities(((p, q), (q, None)), last=p))])
    )
    assert span.probabilities is not None
    (first, second), last = span.probabilities.probs, span.probabilities.last
    assert first == pytest.approx((p, q), abs=0.0061)
    assert (second[1], last) == (None, first[0])
    for told, given_share in zip(first, (p, q), strict=True):  # never rounded to 0 or 1
        assert (told == 0, told == 1) == (given_share == 0, given_share == 1)


def test_the_odds_are_written_shortly() -> None:
    probabilities = PassProbabilities(((0.62, 0.71), (0.0831, None)), 0.3, rejected_chars=(3, 2))
    assert spans_to_text([TokenSpan(4, Source.DRAFT), TokenSpan(2, Source.RECOVERED, " cat.", probabilities)]) == (
        '["draft",4,"recovered",[2," cat.",[3,2],30,62,71,8,null]]'
    )


def test_what_was_rejected_is_kept_in_bounds() -> None:
    text = spans_to_text([TokenSpan(1, Source.RECOVERED, "x" * 10_000)])
    assert len(text) < MAX_REJECTED_CHARS + 50
    assert spans_from_text('["target",5,3,"draft",4]') == (
        TokenSpan(5, Source.TARGET),
        TokenSpan(3, Source.TARGET),
        TokenSpan(4, Source.DRAFT),
    )


@pytest.mark.parametrize(
    "text",
    [
        '["elsewhere",1]',
        "[[]]",
        "{}",
        '["draft",[1]]',
        "[null]",
        "nonsense",
        '["draft","1x"]',
        '["bonus",[1,"",0,30,62]]',
        '["bonus",[1,"",0,101]]',
        '["bonus",[1,"",0,NaN]]',
        '["bonus",[1,"",0,30,null,4]]',
        '["bonus",[1,"",[-1],30]]',
        '["bonus",[1,"",0,"30"]]',
        '["bonus",[1,"","great"]]',
        "[1e999]",
        '[[1e999,"x"]]',
        '[[4,"x",[1e999]]]',
        "[" * 5000,
        "9" * 5000,
    ],
)
def test_what_cannot_be_read_is_left_out(text: str) -> None:
    assert spans_from_text(text) == ()


def test_decisions_are_kept_with_their_templates_or_as_plain_text() -> None:
    decision = i18n("token {place}: {reason}", place=3, reason=i18n("n-gram on: the text repeats"))
    stats = RunStats(tokens=4, decisions=("plain text of an older version", decision))
    read = stats_from_text(stats_to_text(stats, keeps_templates=True))
    assert read == stats
    assert read is not None
    kept = read.decisions[1]
    assert isinstance(kept, Sentence)
    assert (kept.template, kept.fields) == (decision.template, decision.fields)
    plain = stats_from_text(stats_to_text(stats))
    assert plain is not None
    assert plain == stats
    assert not any(isinstance(one, Sentence) for one in plain.decisions)


def drawn() -> SamplingRecord:
    return record_sampling(Settings().changed({"seed": 7})[0])


def test_how_an_answer_was_drawn_is_read_back_as_written() -> None:
    assert sampling_from_text(sampling_to_text(drawn())) == drawn()
    assert sampling_from_text(sampling_to_text(None)) is None


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ('"seed":7', '"seed":-7'),
        ('"seed":7', '"seed":[7]'),
        ('"seed":7,', ""),
        ('"top_p":0.95', '"top_p":NaN'),
        ('{"values"', '[{"values"'),
    ],
)
def test_how_an_answer_was_drawn_is_not_known_where_it_makes_no_sense(good: str, bad: str) -> None:
    text = sampling_to_text(drawn())
    assert good in text
    assert sampling_from_text(text.replace(good, bad)) is None
