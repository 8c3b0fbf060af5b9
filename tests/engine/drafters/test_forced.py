"""Tokens that a grammar forces are proposed at no cost; tokens that it rejects are removed from other proposals."""

import numpy as np
import pytest

from engine.drafters.base import Draft
from engine.drafters.forced import GrammarDrafter
from engine.grammar.constraint import GrammarConstraint
from engine.records import SamplingParams, Source
from engine.sampling.sampler import History, Sampler
from tests.engine.grammar.walks import byte_tokens, model

PROMPT = [1, 2, 3]
GRAMMAR = 'root ::= ("x" | "yy") "abcdef" ("1" | "2")'


class Scripted:
    """A drafter that repeats one text, and records its calls."""

    source = Source.DRAFT

    def __init__(self, text: str) -> None:
        self.ids = tokens(text)
        self.heard: list[object] = []

    def begin(self, history: History, sampler: Sampler) -> None:
        self.heard.append("begin")

    def propose(self, history: History, limit: int) -> Draft:
        self.heard.append(limit)
        return Draft(self.ids[:limit], self.source)

    def observe(self, num_accepted: int) -> None:
        self.heard.append(("kept", num_accepted))


def tokens(text: str) -> list[int]:
    return [byte_tokens()[byte] for byte in text.encode()]


def history(text: str) -> History:
    return np.array([*PROMPT, *tokens(text)], dtype=np.int32)


@pytest.fixture
def drafter() -> GrammarDrafter:
    constraint = GrammarConstraint(model().vocab, GRAMMAR)
    constraint.begin(len(PROMPT))
    made = GrammarDrafter(Scripted("yyabX"), constraint)
    made.begin(history(""), Sampler(SamplingParams()))
    return made


def heard(drafter: GrammarDrafter) -> list[object]:
    assert isinstance(drafter.inner, Scripted)
    found, drafter.inner.heard = drafter.inner.heard, []
    return found


def text_of(draft: Draft) -> bytes:
    return b"".join(model().vocab.piece(token_id) for token_id in draft.ids)


def test_with_a_choice_the_other_drafter_proposes_allowed_tokens(drafter: GrammarDrafter) -> None:
    draft = drafter.propose(history(""), 5)
    assert (text_of(draft), draft.source, draft.num_forced) == (b"yyab", Source.DRAFT, 0)
    assert not drafter._is_forced
    drafter.observe(2)
    assert heard(drafter) == ["begin", 5, ("kept", 2)]
    assert drafter.propose(history(""), 3).ids == tokens("yya")  # nothing is rejected


@pytest.mark.parametrize("limit", [1, 2, 20])
def test_what_must_follow_is_proposed_without_the_other_drafter(drafter: GrammarDrafter, limit: int) -> None:
    draft = drafter.propose(history("x"), limit)
    assert b"abcdef".startswith(text_of(draft))
    assert text_of(draft) == b"abcdef" or len(draft.ids) == limit
    assert draft.num_forced == len(draft.ids) > 0
    assert draft.q is None
    assert drafter._is_forced
    drafter.observe(1)
    assert heard(drafter) == ["begin"]


def test_what_is_left_of_it_is_proposed_next(drafter: GrammarDrafter) -> None:
    written = ""
    while len(written) < 6:
        draft = drafter.propose(history("yy" + written), 20)
        assert text_of(draft) == b"abcdef"[len(written) :]
        written += "abcdef"[len(written)]
    assert drafter.propose(history("yyabcdef"), 20).ids == []  # a choice again; the other's text does not fit


def test_without_a_known_state_the_other_drafter_proposes(drafter: GrammarDrafter) -> None:
    assert drafter.propose(history("x"), 0).ids == []
    assert drafter.propose(history("xq"), 4).ids == tokens("yyab")  # the grammar rejected the text so far
    assert not drafter._is_forced
    assert heard(drafter) == ["begin", 0, 4]
