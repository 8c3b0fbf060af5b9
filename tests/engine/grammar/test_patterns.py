"""Patterns as grammars allow what Python's re finds, in JSON's spelling."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from engine.errors import GrammarError
from engine.grammar.patterns import pattern_symbol
from tests.engine.grammar.walks import random_text

PATTERNS = (
    r"^[A-Z]{2}-\d{3}$", r"^(foo|bar)+$", r"^\w+@\w+\.(com|org)$", "a|b", "^a", "b$", r"^[^\"\\]{2,5}$", r'^"\\$',
    r"^\S{3}$", r"^[^\w]{2}$", r"^.{3}$", r"^(a*)*b$", r"^(?:x?){3}y{0}z+?$", r"^[\d\-a-c]+$", r"^é[à-ü]{2}$",
    r"^\u0041\x42$", r"^\t\n$", r"^$", "", r"^[\]a]$",
    r"^[\b]x$", r"^[^\d]{3}$", r"^a{2,}b{0,2}c{1}$", r"^.\.\/$",
)  # fmt: skip
REFUSED = (
    "(?=a)", "(?!a)", r"(a)\1", "^a|b$", "a{3", "a{2,1}", "a{5000}", "[z-a]", "(a", "a)", "*a", "a**", r"\bword", "[a",
    "\\", "[[]", r"[\w-z]", r"[a-\d]", "[]", r"^\ud800$", r"\x4", r"\xg0", r"\u+041", r"\x 1", "a{1_0}", "a{ 2 }",
    "a{+2}", "a{}", "a{,2}", "a{x}", "a{-1}", "[^\x00-\U0010ffff]",
)  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_allowed_is_found_by_re(pattern: str) -> None:
    grammar = f'root ::= "\\"" {pattern_symbol(pattern)} "\\""\n'
    rng = np.random.default_rng(1)
    for _ in range(8):
        text = json.loads(random_text(grammar, rng, patience=12))
        assert re.search(pattern, text), (pattern, text)


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_a_grammar_cannot_follow_is_refused(pattern: str) -> None:
    with pytest.raises(GrammarError):
        pattern_symbol(pattern)


def test_a_pattern_is_bounded() -> None:
    for pattern in ("a" * 2000, "(" * 100 + ")" * 100):
        with pytest.raises(GrammarError):
            pattern_symbol(pattern)
