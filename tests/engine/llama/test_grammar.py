"""Tests the tokens that llama.cpp's grammar allows; rejected tokens are never accepted, and output is UTF-8."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import GrammarError
from engine.llama.grammar import GrammarState, LlamaGrammar
from engine.llama.model import LlamaModel
from tests.engine.grammar.walks import byte_tokens, model
from tests.shared_files import shared_file

VOCAB = model().vocab
STRING = 'root ::= "\\"" [^"]* "\\"" | "no"'


def after(grammar: str, data: bytes) -> GrammarState | None:
    state: GrammarState | None = LlamaGrammar(VOCAB, grammar).start
    for byte in data:
        state = None if state is None else state.advanced(byte_tokens()[byte])
    return state


@pytest.mark.parametrize("data", [b"", b'"', b'"caf', b'"caf\xc3', b'"\xf0\x9f', b"n", b"no", b'"x"'])
def test_all_allowed_are_those_that_are_allowed_one_by_one(data: bytes) -> None:
    state = after(STRING, data)
    assert state is not None
    everything = np.arange(VOCAB.n_vocab)
    at_once = [int(one) for one in state.all_allowed()]
    assert at_once == everything[state.allows(everything)].tolist()
    assert at_once == [one for one in range(VOCAB.n_vocab) if state.allows([one])[0]]


def test_the_end_may_follow_where_the_grammar_is_complete() -> None:
    ends = sorted(VOCAB.eog_ids)
    complete, begun = after(STRING, b"no"), after(STRING, b"n")
    assert complete is not None
    assert begun is not None
    assert complete.all_allowed().tolist() == ends
    assert not begun.allows(ends).any()
    assert complete.advanced(ends[0]) is None


def test_a_refused_token_is_not_accepted() -> None:
    start = LlamaGrammar(VOCAB, STRING).start
    assert start.advanced(byte_tokens()[ord("x")]) is None  # llama.cpp would end the process
    assert start.allows([byte_tokens()[ord("n")]])[0]  # and the state is unchanged


def test_control_tokens_are_no_text() -> None:
    inside = after(STRING, b'"')
    assert inside is not None
    assert VOCAB.textless_ids
    assert not inside.allows(sorted(VOCAB.textless_ids)).any()


def test_a_character_ends_as_utf8_has_it() -> None:
    begun = after(STRING, b'"\xf0\x9f')
    assert begun is not None
    assert begun.advanced(byte_tokens()[ord('"')]) is None  # llama.cpp takes it for a part of the character
    assert begun.advanced(byte_tokens()[0x98]) is not None
    assert after(STRING, b'"\x98') is None
    assert after(STRING, b'"\xf0\x28') is None


@pytest.mark.parametrize("text", ["", "  ", 'root ::= "a', "root ::= x", 'foo ::= "a"', 'root ::= "a"\0'])
def test_what_is_no_grammar_is_an_error(text: str) -> None:
    with pytest.raises(GrammarError):
        LlamaGrammar(VOCAB, text)


@pytest.mark.parametrize("data", [b'"', b'"\xf0', b'"\xf0\x9f', b'"\xc3', b"n"])
def test_of_a_large_vocabulary_the_same_tokens_may_follow(data: bytes) -> None:
    """For a large vocabulary, invalid UTF-8 is excluded in advance; single queries check each token."""
    with LlamaModel(shared_file("vocabs/ggml-vocab-llama-spm.gguf"), vocab_only=True) as large:
        vocab = large.vocab
        single = {byte: token_id for token_id, byte in vocab.token_prefixes.one_byte_tokens.items()}
        state: GrammarState | None = LlamaGrammar(vocab, STRING).start
        for byte in data:
            state = None if state is None else state.advanced(single[byte])
        assert state is not None
        everything = np.arange(vocab.n_vocab)
        at_once = state.allows(everything)
        parts = [state.allows(everything[begin : begin + 1000]) for begin in range(0, vocab.n_vocab, 1000)]
        assert at_once.any()
        assert np.concatenate(parts).tolist() == at_once.tolist()
        assert state.all_allowed().tolist() == everything[at_once].tolist()
        del state
