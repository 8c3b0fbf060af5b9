"""A pass reports the probabilities that its decisions used, and none if there are none."""

import math

import numpy as np
import pytest

from engine.decoding.detokenizer import Detokenizer
from engine.decoding.loop import StepOutput
from engine.drafters.base import NoDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.records import GREEDY, PassProbabilities, SamplingParams, Source
from engine.session.answer import Answer
from tests.engine.decoding.test_loop import OPEN, P_LOGITS, Q_LOGITS, Run, draft_model
from tests.engine.tiny_tokenizer import TinyTokenizer

COLD = SamplingParams(temperature=0.0)


def share(logits: np.ndarray, before: int, token_id: int) -> float:
    weights = np.exp(logits[before] - logits[before].max())
    return float(weights[token_id] / weights.sum())


def blocks(run: Run, depth: int, count: int = 60) -> list[tuple[int, StepOutput]]:
    """Passes, each with the token before it."""
    found = []
    for _ in range(count):
        before = int(run.speculation.history[-1])
        found.append((before, run.speculation.step(depth, 100)))
    return found


@pytest.mark.parametrize("depth", [1, 3])
def test_a_drawn_draft_tells_p_and_q(depth: int) -> None:
    run = Run(draft_model(Q_LOGITS), OPEN, [3, 1, 4, 1], n_ctx=512)
    num_refused = 0
    for before, block in blocks(run, depth):
        probabilities = block.probabilities
        assert probabilities is not None
        proposed = [*block.ids[:-1], *block.rejected]
        for place, (p, q) in enumerate(probabilities.probs):
            last = before if place == 0 else proposed[place - 1]
            assert p == pytest.approx(share(P_LOGITS, last, proposed[place]), rel=1e-5)
            assert q == pytest.approx(share(Q_LOGITS, last, proposed[place]), rel=1e-5)
        after = block.ids[-2] if len(block.ids) > 1 else before
        assert probabilities.last == pytest.approx(share(P_LOGITS, after, block.ids[-1]), rel=1e-5)
        assert not probabilities.greedy
        num_refused += bool(block.rejected)
    assert 0 < num_refused < 60


def test_text_has_no_chance_of_its_own() -> None:
    run = Run(SuffixDrafter(), OPEN, [1, 2, 3, 1, 2, 3, 1, 2], n_ctx=512)
    seen = [block.probabilities for _, block in blocks(run, 3)]
    told = [probabilities for probabilities in seen if probabilities is not None]
    assert told
    assert all(q is None and 0.0 <= p <= 1.0 for probabilities in told for p, q in probabilities.probs)


def test_the_last_token_that_is_shown_carries_the_odds() -> None:
    detokenizer = Detokenizer(TinyTokenizer(words=[b"The", b" cat", b" sat", b"\xe2\x82", b"\xac"]))
    probabilities = PassProbabilities(((0.5, 0.25),), 0.125)
    piece = detokenizer.feed([256, 257], [Source.DRAFT, Source.RECOVERED], [258, 259, 260], probabilities)
    assert [span.probabilities for span in piece.spans] == [None, probabilities._replace(rejected_chars=(4, 0, 1))]
    assert piece.spans[1].rejected == " sat\N{EURO SIGN}"
    (span,) = detokenizer.feed([256], [Source.BONUS], (), probabilities).spans
    assert span.probabilities == probabilities
    (cut,) = detokenizer.feed([256], [Source.DRAFT], (), GREEDY).spans
    assert cut.probabilities is GREEDY


def test_an_answer_hands_them_on() -> None:
    fed: list[object] = []
    answer = Answer.__new__(Answer)
    answer._tokenizer = TinyTokenizer()
    answer._detokenizer = Detokenizer(TinyTokenizer())
    answer._ids, answer._logprobs, answer._next_check = [], [], math.inf
    answer.stats = Run(NoDrafter(), OPEN, [1, 2]).stats
    answer.stats.count_pass(1, 1, 0.1)
    probabilities = PassProbabilities(((0.5, None),), 0.125)
    answer._accept_block(StepOutput([65, 66], [Source.NGRAM, Source.BONUS], [], 1, probabilities))
    fed += [span.probabilities for span in answer._piece.spans]
    assert fed == [None, probabilities]
