"""An untrusted grammar is first parsed in a child process."""

from __future__ import annotations

import sys

import pytest

from engine.errors import GrammarError
from engine.grammar.lark import HEADER
from engine.sandbox import grammar_check
from engine.sandbox.grammar_check import MAX_GRAMMAR_CHARS, check_grammar
from tests.engine.warm_helpers import run_instead


def test_a_good_grammar_is_given_back() -> None:
    assert check_grammar('root ::= "a" | "b"') == 'root ::= "a" | "b"'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("root ::= other", "other"),
        ('root ::= root "a"', "begins with itself"),
        ("root ::= " + "(" * 30_000 + '"a"' + ")" * 30_000, "crashed"),
        (HEADER + 'start: "a"\n', "cannot be read"),  # only this program writes these
        ("", "must have rules"),
        ("x" * (MAX_GRAMMAR_CHARS + 1), "at most"),
    ],
)
def test_a_bad_one_is_an_error_here(text: str, word: str) -> None:
    with pytest.raises(GrammarError) as caught:
        check_grammar(text)
    assert word in caught.value.message


def test_a_grammar_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    monkeypatch.setattr("engine.sandbox.helper.child_command", lambda *_: sleeps)
    monkeypatch.setattr(grammar_check, "_LIMIT_S", 0.5)
    with pytest.raises(GrammarError, match="could not be read in time"):
        check_grammar('root ::= "never read before"')


def test_without_a_reason_the_likeliest_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    run_instead(monkeypatch, "print('bad')")
    with pytest.raises(GrammarError, match="it has no rule called root, or names a rule that is missing"):
        check_grammar('root ::= "never read either"')
