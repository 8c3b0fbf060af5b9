"""A stranger's grammar is read by a child process first."""

from __future__ import annotations

import pytest

from engine.errors import GrammarError
from engine.sandbox.grammar_check import MAX_GRAMMAR_CHARS, check_grammar


def test_a_good_grammar_is_given_back() -> None:
    assert check_grammar('root ::= "a" | "b"') == 'root ::= "a" | "b"'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("root ::= other", "other"),
        ('root ::= root "a"', "begins with itself"),
        ("root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000, "crashed"),
        ("", "must have rules"),
        ("x" * (MAX_GRAMMAR_CHARS + 1), "at most"),
    ],
)
def test_a_bad_one_is_an_error_here(text: str, word: str) -> None:
    with pytest.raises(GrammarError) as caught:
        check_grammar(text)
    assert word in caught.value.message
