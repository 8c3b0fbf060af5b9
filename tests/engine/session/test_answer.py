"""Repeating answers are ended: at the same token in every mode, and no others."""

import numpy as np
import pytest

from engine.drafters.base import Drafter, NoDrafter
from engine.drafters.suffix.drafter import SuffixDrafter
from engine.pacing.cost_curve import CostCurve
from engine.pacing.drafter import PacedDrafter
from engine.pacing.pacer import Pacer
from engine.prompt.chat_prompt import PromptBuilder
from engine.records import ChatRequest, Finished, FinishReason, Message, Mode, SamplingParams
from engine.sequence import CachedSequence
from engine.session.answer import (
    MIN_REPEATED_DATA_TOKENS,
    MIN_TOKENS,
    Answer,
    AnswerPlan,
    is_loop,
    next_check_at,
    repeated_tail,
)
from tests.engine.tiny_tokenizer import TinyTokenizer
from tests.fake_model import MarkovModel

WORDS = "What is the capital of Peru?"


@pytest.mark.parametrize("period", [1, 7, 66, 128])
def test_a_loop_is_found_when_it_has_gone_on_long_enough_and_not_before(period: int) -> None:
    needed = max(MIN_TOKENS, 6 * period)
    text = list(range(1000, 1300))
    looped = text + [*range(period)] * (needed // period + 2)
    assert repeated_tail(looped[: 300 + period + needed]) == (needed, period)
    assert repeated_tail(looped[: 300 + period + needed - 1]) == (0, 0)


def test_numbered_lines_and_ended_repetitions_are_no_loop() -> None:
    numbered = [token for line in range(300) for token in (7, 8, 9, 1000 + line, 10)]
    assert repeated_tail(numbered) == (0, 0)
    assert repeated_tail([*range(91)] * 3) == (0, 0), "a verse that is sung three times"


def test_data_may_repeat_for_longer_than_words() -> None:
    assert is_loop(MIN_TOKENS, "the sea is blue. ", WORDS)
    assert not is_loop(MIN_TOKENS, "| 0 | 0 | 0 |\n", WORDS)
    assert is_loop(MIN_REPEATED_DATA_TOKENS, "| 0 | 0 | 0 |\n", WORDS)


def test_what_the_question_asks_to_be_repeated_is_repeated() -> None:
    question = "Write 'I will not talk in class.' 200 times."
    assert not is_loop(1000, " talk in class.\nI will not", question)
    assert is_loop(1000, " talk in school.\nI will not", question)


def test_it_is_looked_for_at_fixed_places() -> None:
    assert [next_check_at(n) for n in (0, 400, 448)] == [400, 448, 512]


def finished(mode: Mode, depth: int | None = None, question: str = "\x00", **changes: object) -> Finished:
    """The end of an answer of a model that repeats tokens 60 to 79 forever."""
    logits = np.full((256, 256), -20.0, dtype=np.float32)
    for token in range(256):
        logits[token, 60 + (token + 1) % 20] = 20.0
    tokenizer, pacer = TinyTokenizer(), Pacer(CostCurve({1: 1.0, 8: 1.2, 32: 2.0}))
    drafter: Drafter = NoDrafter()
    if mode is not Mode.OFF:
        drafter = SuffixDrafter() if depth is not None else PacedDrafter(pacer, SuffixDrafter(), None)
    messages = (Message("user", question),)
    request = ChatRequest(
        messages,
        mode,
        depth,
        max_tokens=1500,
        sampling=SamplingParams(0.0),
        **changes,  # type: ignore[arg-type]
    )
    target = CachedSequence(MarkovModel(logits, n_ctx=4096))
    answer = Answer(target, tokenizer, PromptBuilder(tokenizer, None), AnswerPlan(request, drafter, pacer))
    *_, last = answer.events(lambda: False)
    assert isinstance(last, Finished)
    return last


def test_an_answer_in_a_loop_ends_at_the_same_token_however_it_was_drafted() -> None:
    plain, fixed, paced = finished(Mode.OFF), finished(Mode.NGRAM, 7), finished(Mode.NGRAM)
    assert plain.reason is fixed.reason is paced.reason is FinishReason.LOOP
    assert plain.token_ids == fixed.token_ids == paced.token_ids
    assert plain.stats.tokens == len(plain.token_ids) < 500
    assert plain.stats.looped == fixed.stats.looped >= MIN_TOKENS
    assert plain.stats.context_used == fixed.stats.context_used


@pytest.mark.parametrize("changes", [{"ignore_eos": True}, {"min_tokens": 1200}])
def test_it_goes_on_where_that_was_asked_for(changes: dict[str, object]) -> None:
    assert finished(Mode.OFF, **changes).reason is FinishReason.LENGTH
