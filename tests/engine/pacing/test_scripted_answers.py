"""Whole answers on a scripted clock: n-grams are used at once, a good draft is used, a bad one costs nothing.

Passes take a millisecond to a fifth of a second: decisions must be right whether many passes or less than one fit
between two chunks of text.
"""

import numpy as np
import pytest

from engine.pacing.constants import MAX_PASS
from engine.pacing.drafter import PacedDrafter
from engine.records import Source
from engine.sampling.sampler import History
from tests.engine.pacing.scripted import DraftScript, ScriptedAnswer

PLAIN_MS = [1.0, 7.0, 30.0, 200.0]
USELESS = DraftScript(0.56, 0.5)
GOOD = DraftScript(0.05, 0.9)
NUM_NEW, NUM_REPEATED = 64, 30
RECOGNISABLE = NUM_NEW + 2  # tokens of the answer, the last two of which repeat
SOON = 3  # tokens later


def repeating_path(num_prompt: int = 20) -> list[int]:
    """A prompt and an answer of different tokens, then a part of the answer again, then others."""
    new = list(range(num_prompt + NUM_NEW))
    start = num_prompt + 10
    return [*new, *new[start : start + NUM_REPEATED], *range(len(new), len(new) + 40)]


def different_path(count: int) -> list[int]:
    """Tokens that never repeat."""
    return [int(one) for one in np.random.default_rng(3).permutation(count)]


def is_followed(answering: ScriptedAnswer) -> bool:
    """Whether an n-gram is proposed soon after the text started to repeat, and is correct."""
    answering.generate(NUM_NEW + NUM_REPEATED + 20)
    return any(
        NUM_NEW < one.before <= RECOGNISABLE + SOON and one.source is Source.NGRAM and one.num_kept > 0
        for one in answering.proposals
    )


@pytest.mark.parametrize("draft", [None, USELESS], ids=["no draft", "useless draft"])
@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_text_that_repeats_is_followed_at_once(
    plain_ms: float, draft: DraftScript | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = ScriptedAnswer(monkeypatch, repeating_path(), 20, plain_ms, draft)
    assert is_followed(answering)
    of_text = [one for one in answering.proposals if one.source is Source.NGRAM]
    assert sum(one.num_kept for one in of_text) > NUM_REPEATED - 10
    assert answering.rests_after_waking
    assert set(answering.rests_after_waking) == {0}


@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_beside_a_good_draft_one_of_them_proposes_repeated_text(
    plain_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = ScriptedAnswer(monkeypatch, repeating_path(), 20, plain_ms, GOOD).generate(NUM_NEW + NUM_REPEATED)
    repeated = [one for one in answering.proposals if one.before > RECOGNISABLE + SOON]
    assert len(repeated) <= 10
    assert all(one.num_proposed > 0 for one in repeated[:-1])


@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_a_draft_that_does_not_pay_costs_nothing_and_reads_no_prompt(
    plain_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, num_prompt = different_path(1200), 800
    plain = ScriptedAnswer(monkeypatch, path, num_prompt, plain_ms).generate(300)
    drafted = ScriptedAnswer(monkeypatch, path, num_prompt, plain_ms, USELESS).generate(100)
    assert drafted.draft_model is not None
    assert drafted.draft_model.sizes == []
    drafted.generate(300)
    assert drafted.seconds <= 1.02 * plain.seconds


@pytest.mark.parametrize("plain_ms", PLAIN_MS)
@pytest.mark.parametrize("draft", [*(DraftScript(0.56, right) for right in (0.0, 0.3, 0.5)), DraftScript(0.1, 0.0)])
def test_what_trying_a_draft_that_does_not_pay_costs(
    draft: DraftScript, plain_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a short prompt: within an answer, and over many."""
    answering = ScriptedAnswer(monkeypatch, different_path(1600), 20, plain_ms, draft).generate(300)
    assert 300 * plain_ms / 1000.0 > 0.98 * answering.seconds
    answering.generate(1500)
    assert 1500 * plain_ms / 1000.0 > 0.99 * answering.seconds


@pytest.mark.parametrize("num_prompt", [20, 800])
@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_a_draft_that_pays_is_used_from_the_first_tokens_on(
    plain_ms: float, num_prompt: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering = ScriptedAnswer(monkeypatch, different_path(1200), num_prompt, plain_ms, GOOD).generate(10)
    first = answering.proposals[num_prompt > 100]  # reading a long prompt would delay the first token
    assert first.source is Source.DRAFT
    assert sum(one.num_kept for one in answering.proposals) >= 3
    answering.generate(300)
    reading_s = num_prompt * 0.25 * GOOD.step_share * plain_ms / 1000.0
    assert answering.seconds - reading_s < 0.6 * 300 * plain_ms / 1000.0
    assert sum(one.source is Source.DRAFT for one in answering.proposals) > 0.9 * len(answering.proposals)


@pytest.mark.parametrize("plain_ms", PLAIN_MS)
def test_every_token_of_a_rest_is_heard_of(plain_ms: float, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[int] = []
    wakes = PacedDrafter.ends_pause

    def note(self: PacedDrafter, history: History) -> bool:
        heard.append(len(history))
        return wakes(self, history)

    monkeypatch.setattr(PacedDrafter, "ends_pause", note)
    answering = ScriptedAnswer(monkeypatch, different_path(200), 20, plain_ms).generate(150)
    begun = heard[0]
    assert heard == list(range(begun, 20 + 150 + 1))
    assert begun <= 22
    assert answering.stats.proposed == 0


@pytest.mark.parametrize(
    ("shares", "most"),
    [
        ({1: 1.0, 2: 1.6, 3: 2.2, 4: 1.5, 8: 2.6, 12: 3.8, 16: 3.7, 17: 4.6, 24: 6.0, 32: 8.0, 33: 8.3}, {15}),
        ({1: 1.0, 2: 1.02, 4: 1.03, 8: 1.04, 16: 1.05, 24: 1.08, 32: 1.1, 33: 1.1}, {31, 32}),
    ],
    ids=["staircase", "flat"],
)
def test_nothing_is_proposed_beyond_the_pass_that_is_cheapest_a_token(
    shares: dict[int, float], most: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = np.arange(1, MAX_PASS + 1)
    shares = dict(zip(sizes.tolist(), np.interp(sizes, list(shares), list(shares.values())).tolist(), strict=True))
    draft = DraftScript(0.01, 1.0, confidence=0.99)
    answering = ScriptedAnswer(monkeypatch, different_path(2000), 20, 7.0, draft, shares).generate(1500)
    assert answering.pacer.prices.max_proposed in most
    assert max(one.num_proposed for one in answering.proposals) == answering.pacer.prices.max_proposed
    text = ScriptedAnswer(monkeypatch, [*range(100)] * 8, 100, 7.0, None, shares).generate(600)
    assert max(one.num_proposed for one in text.proposals) == text.pacer.prices.max_proposed
