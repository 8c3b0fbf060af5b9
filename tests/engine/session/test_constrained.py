"""Tests answers under a grammar by the built-in pair in every mode."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from app.core.paths import builtin_draft, builtin_target
from engine.grammar.json_schema import schema_grammar
from engine.records import (
    ChatRequest,
    Finished,
    FinishReason,
    LoadRequest,
    Message,
    Mode,
    SamplingParams,
    TextChunk,
)
from engine.session.session import Session
from tests.engine.answers import GREEDY, end_of, last_of, text_of
from tests.scripted_pair import chi_square_p

PERSON = {
    "type": "object",
    "properties": {
        "first_name": {"type": "string", "maxLength": 10},
        "age_in_years": {"type": "integer", "maximum": 99},
    },
    "required": ["first_name", "age_in_years"],
}
SMALL = 'root ::= ("a" | "b" | "ab" | "c") ("a" | "c") ("a" | "b" | "c")\n'
NUM_SAMPLES = 100


@pytest.fixture(scope="module")
def pair() -> Iterator[Session]:
    session = Session()
    session.load(LoadRequest(str(builtin_target()), str(builtin_draft())))
    yield session
    session.close()


def available(session: Session) -> list[Mode]:
    """The other modes answer plainly."""
    return [mode for mode in Mode if mode not in session.ready().unavailable]


def ask(session: Session, mode: Mode, grammar: str, **sampling: float | int | None) -> tuple[str, Finished]:
    request = ChatRequest(
        (Message("user", "Write some letters."),),
        mode,
        depth=3 if mode is not Mode.OFF else None,
        sampling=SamplingParams(**sampling),  # type: ignore[arg-type]
        max_tokens=120,
        grammar=grammar,
    )
    events = list(session.generate(request))
    return text_of(events), last_of(events)


def test_greedy_answers_are_the_same_in_every_mode(pair: Session) -> None:
    texts = {mode: ask(pair, mode, schema_grammar(PERSON).text, temperature=0.0) for mode in available(pair)}
    assert len({text for text, _ in texts.values()}) == 1
    text, finished = texts[Mode.AUTO]
    assert finished.reason is FinishReason.END
    assert set(json.loads(text)) == {"first_name", "age_in_years"}
    forced = {mode: finished.stats.forced_proposed for mode, (_, finished) in texts.items()}
    assert forced.pop(Mode.OFF) == 0
    assert min(forced.values()) > 10
    assert all(finished.stats.forced_accepted > 5 for mode, (_, finished) in texts.items() if mode is not Mode.OFF)


def small_texts() -> list[str]:
    return sorted({a + b + c for a in ("a", "b", "ab", "c") for b in "ac" for c in "abc"})


def exact_distribution(session: Session) -> dict[str, float]:
    """The probability of each text of the small grammar, from the target's rows, over all its tokenizations."""
    texts, vocab = small_texts(), session._loaded().model.vocab
    pieces = {
        token_id: vocab.piece(token_id).decode() for token_id in range(vocab.n_vocab) if vocab.piece(token_id).isalpha()
    }
    pieces = {token_id: piece for token_id, piece in pieces.items() if any(piece in text for text in texts)}
    prompt = session.prompt_ids(ChatRequest((Message("user", "Write some letters."),)))
    sequence, found = session._loaded().sequence, Counter[str]()
    open_ends = [("", list[int](), 1.0)]
    while open_ends:
        text, ids, share = open_ends.pop()
        history = np.array([*prompt, *ids], dtype=np.int32)
        for _ in sequence.prefill(history[sequence.reuse(history) : -1]):
            pass
        row = sequence.forward([int(history[-1])], 1)[0].astype(np.float64)
        following = {i: text + piece for i, piece in pieces.items() if any(t.startswith(text + piece) for t in texts)}
        ends = sorted(vocab.eog_ids) if text in texts else []
        weights = {i: math.exp(row[i] - row.max()) for i in [*following, *ends]}
        total = sum(weights.values())
        for i, weight in weights.items():
            if i in ends:
                found[text] += share * weight / total  # type: ignore[assignment]
            elif share * weight / total > 1e-7:
                open_ends.append((following[i], [*ids, i], share * weight / total))
    return {text: found[text] for text in texts}


@pytest.fixture(scope="module")
def wanted(pair: Session) -> dict[str, float]:
    return exact_distribution(pair)


@pytest.mark.parametrize("mode", list(Mode))
def test_sampled_answers_have_the_grammars_distribution(pair: Session, mode: Mode, wanted: dict[str, float]) -> None:
    if mode not in available(pair):
        pytest.skip("the built-in pair has no such drafter")
    assert sum(wanted.values()) == pytest.approx(1.0, abs=1e-4)
    counts = Counter(
        ask(pair, mode, SMALL, temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, seed=seed)[0]
        for seed in range(NUM_SAMPLES)
    )
    assert set(counts) <= set(wanted)
    observed = np.array([counts[text] for text in wanted])
    assert chi_square_p(observed, np.array(list(wanted.values()))) > 1e-4


def test_probabilities_are_those_of_the_bare_logits_in_every_mode(pair: Session) -> None:
    def told(mode: Mode) -> list[float]:
        request = ChatRequest(
            (Message("user", "Repeat: one two three one two three"),),
            mode,
            depth=3 if mode is not Mode.OFF else None,
            sampling=SamplingParams(temperature=0.0, repeat_penalty=1.1, logit_bias=((70, 1.0),)),
            max_tokens=20,
            top_logprobs=2,
        )
        chunks = [event for event in pair.generate(request) if isinstance(event, TextChunk)]
        for chunk in chunks:
            assert b"".join(one.piece for one in chunk.logprobs).decode() == chunk.text
            assert all(one.top[0][1] >= one.logprob - 1e-9 and len(one.top) == 2 for one in chunk.logprobs)
        return [one.logprob for chunk in chunks for one in chunk.logprobs]

    plain = told(Mode.OFF)
    assert len(plain) >= 9
    assert max(plain) < 0.0
    for mode in available(pair):
        assert told(mode) == pytest.approx(plain, abs=0.05)


def test_a_prediction_is_proposed_and_counted(pair: Session) -> None:
    question = (Message("user", "What is a paceline?"),)
    text = text_of(list(pair.generate(ChatRequest(question, Mode.OFF, sampling=GREEDY, max_tokens=60))))
    for mode in (Mode.NGRAM, Mode.SUFFIX, Mode.AUTO):
        events = list(pair.generate(ChatRequest(question, mode, 7, GREEDY, 60, predicted=text)))
        assert text_of(events) == text
        stats = last_of(events).stats
        assert stats.predicted_accepted > 20
        assert stats.tokens_per_pass is not None
        assert stats.tokens_per_pass > 2.0
    assert end_of(pair, ChatRequest(question, Mode.SUFFIX, 7, GREEDY, 60)).stats.predicted_proposed == 0


def test_a_character_that_was_cut_is_left_out(pair: Session) -> None:
    """The vocabulary has only byte tokens for it, and a part of them is not text."""
    request = ChatRequest((Message("user", "A crab?"),), Mode.OFF, grammar='root ::= "a🦀"')
    for max_tokens in range(1, 7):
        text = text_of(list(pair.generate(replace(request, max_tokens=max_tokens))))
        assert text == ("a" if max_tokens < 5 else "a🦀")
