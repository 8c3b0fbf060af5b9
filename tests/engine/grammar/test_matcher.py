"""Tests the tokens that llguidance allows at every position, queried in any order."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance import LLParserLimits

from engine.errors import GrammarError
from engine.grammar import matcher
from engine.grammar.json_schema import schema_grammar
from engine.grammar.lark import HEADER
from engine.grammar.matcher import MatcherState, initial_state
from engine.llama.model import LlamaModel
from tests.engine.grammar.walks import byte_tokens, model
from tests.shared_files import shared_file

VOCAB = model().vocab
STRING = HEADER + 'start: STRING | "no"\nSTRING: "\\"" /[^"]*/ "\\""\n'
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"type": "integer"}}},
    "required": ["name", "tags"],
}


def after(grammar: str, data: bytes) -> MatcherState | None:
    state: MatcherState | None = initial_state(VOCAB, grammar)
    for byte in data:
        state = None if state is None else state.advanced(byte_tokens()[byte])
    return state


@pytest.mark.parametrize("data", [b"", b'"', b'"caf', b'"caf\xc3', b'"\xf0\x9f', b"n", b"no", b'"x"'])
def test_all_allowed_tokens_are_those_allowed_singly_and_can_follow(data: bytes) -> None:
    state, other = after(STRING, data), after(STRING, data)
    assert state is not None
    assert other is not None
    everything = np.arange(VOCAB.n_vocab)
    at_once = state.all_allowed().tolist()
    assert at_once == everything[state.allows(everything)].tolist()
    assert at_once == [one for one in range(VOCAB.n_vocab) if state.allows([one])[0]]
    other.mask = None
    followed = [one for one in range(VOCAB.n_vocab) if other.advanced(one) is not None]  # without a mask
    assert other.mask is None
    assert followed == [one for one in at_once if not VOCAB.is_eog(one)]
    assert followed == [one for one in range(VOCAB.n_vocab) if state.advanced(one) is not None]


def test_every_spelling_of_what_must_follow_is_allowed() -> None:
    state = initial_state(VOCAB, HEADER + 'start: "name"')
    pieces = {VOCAB.piece(one) for one in state.all_allowed().tolist()}
    known = {VOCAB.piece(one) for one in range(VOCAB.n_vocab)}
    assert pieces == {b"name"[:count] for count in range(1, 5)} & known
    assert len(pieces) > 1


def test_the_end_may_follow_where_the_grammar_is_complete() -> None:
    ends = sorted(VOCAB.eog_ids)
    complete, begun = after(STRING, b"no"), after(STRING, b"n")
    assert complete is not None
    assert begun is not None
    assert complete.all_allowed().tolist() == ends
    assert not begun.allows(ends).any()
    assert complete.advanced(ends[0]) is None
    several = after(HEADER + "start: /[0-9]+/", b"1")
    assert several is not None
    assert several.allows(ends).all()
    assert several.advanced(byte_tokens()[ord("2")]) is not None


def test_control_tokens_and_tokens_of_other_vocabularies_are_no_text() -> None:
    inside = after(STRING, b'"')
    assert inside is not None
    textless = [one for one in range(VOCAB.n_vocab) if not VOCAB.piece(one) and not VOCAB.is_eog(one)]
    assert textless
    assert not inside.allows(textless).any()
    beyond = [VOCAB.n_vocab, VOCAB.n_vocab + 40, 2**40]
    assert not inside.allows(beyond).any()
    assert [inside.advanced(one) for one in (*beyond, -1)] == [None] * 4


def test_nothing_but_utf8_is_written() -> None:
    begun = after(STRING, b'"\xf0\x9f')
    assert begun is not None
    assert begun.advanced(byte_tokens()[ord('"')]) is None
    assert begun.advanced(byte_tokens()[0x98]) is not None
    assert after(STRING, b'"\x98') is None
    assert after(STRING, b'"\xf0\x28') is None


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_place_is_the_same_whatever_places_were_asked_about_before(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grammar = schema_grammar(PERSON).text
    places, paths = [initial_state(VOCAB, grammar)], [list[int]()]
    for _ in range(60):
        chosen = int(rng.integers(len(places))) if rng.random() < 0.3 else len(places) - 1
        allowed = [one for one in places[chosen].all_allowed().tolist() if not VOCAB.is_eog(one)]
        if not allowed:
            continue
        token_id = int(rng.choice(allowed))
        following = places[chosen].advanced(token_id)
        assert following is not None
        places.append(following)
        paths.append([*paths[chosen], token_id])
    for number in rng.permutation(len(places))[:20].tolist():
        fresh: MatcherState | None = initial_state(VOCAB, grammar)
        for token_id in paths[number]:
            assert fresh is not None
            fresh = fresh.advanced(token_id)
        assert fresh is not None
        places[number].mask = None
        assert places[number].all_allowed().tolist() == fresh.all_allowed().tolist()


def test_a_long_answer_keeps_few_masks() -> None:
    state: MatcherState | None = initial_state(VOCAB, HEADER + "start: /a*/")
    for _ in range(3000):
        assert state is not None
        state.all_allowed()
        state = state.advanced(byte_tokens()[ord("a")])
    num_masks, place = 0, state
    while place is not None:
        num_masks += place.mask is not None
        place = place.before
    assert num_masks <= matcher._MAX_MASKS
    del state, place


@pytest.mark.parametrize("text", [HEADER, HEADER + 'start: "a', HEADER + "start: x", HEADER + "start: /(/"])
def test_what_is_no_grammar_is_an_error(text: str) -> None:
    with pytest.raises(GrammarError):
        initial_state(VOCAB, text)


def test_too_much_work_is_an_error_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matcher, "LIMITS", LLParserLimits(step_max_items=20, verbose_errors=False))
    many = {"type": "object", "properties": {f"p{number}": {"type": "null"} for number in range(50)}}
    with pytest.raises(GrammarError, match=r"The grammar cannot be followed: [^\n]+\.$"):
        initial_state(VOCAB, schema_grammar(many).text)


def test_the_vocabulary_is_read_once_and_let_go_with_its_model() -> None:
    gc.collect()
    with LlamaModel(shared_file("vocabs/ggml-vocab-llama-spm.gguf"), vocab_only=True) as large:
        vocab, known = large.vocab, len(matcher._known)
        first = initial_state(vocab, STRING)
        read = matcher._known[vocab]
        assert first.all_allowed().tolist() == initial_state(vocab, STRING).all_allowed().tolist()
        assert matcher._known[vocab] is read
        assert {vocab.piece(one)[:1] for one in first.all_allowed().tolist()} == {b'"', b"n"}
        del vocab, first
    del large
    gc.collect()
    assert len(matcher._known) == known
