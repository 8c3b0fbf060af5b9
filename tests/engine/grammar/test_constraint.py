"""A constraint follows an answer forwards and backwards; forced text is converted to tokens."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.grammar.constraint import ConstraintState, GrammarConstraint, forced_ids
from tests.engine.grammar.scripted_state import NO_THIRD, ScriptedState
from tests.engine.grammar.walks import begin, byte_tokens, model

PROMPT = [2, 2, 2]


def reference(ids: list[int]) -> ConstraintState | None:
    state: ScriptedState | None = ScriptedState(NO_THIRD)
    for one in ids:
        state = None if state is None else state.advanced(one)
    return state


@given(
    steps=st.lists(
        st.tuples(st.lists(st.integers(0, 2), max_size=4), st.lists(st.integers(0, 2), max_size=5), st.booleans()),
        max_size=40,
    )
)
def test_the_state_is_that_of_the_tokens_whatever_was_asked_before(
    steps: list[tuple[list[int], list[int], bool]],
) -> None:
    constraint = GrammarConstraint(ScriptedState(NO_THIRD))
    constraint.begin(len(PROMPT))
    answer: list[int] = []
    for tokens, proposed, is_in_history in steps:
        answer += tokens
        history = np.array([*PROMPT, *answer, *(proposed if is_in_history else [])], dtype=np.int32)
        pending = [] if is_in_history else proposed
        assert constraint.state(history, pending) == reference([*answer, *proposed])
        for count in range(len(pending)):
            assert constraint.state(history, pending[:count]) == reference([*answer, *proposed[:count]])


def test_a_long_answer_keeps_few_states() -> None:
    constraint = GrammarConstraint(ScriptedState({0: {0: 0}}))
    constraint.begin(0)
    for length in range(0, 2000, 3):
        state = constraint.state(np.zeros(length, dtype=np.int32), [0, 0])
        assert isinstance(state, ScriptedState)
    assert len(constraint._states) < 300


def forced(grammar: str, written: str = "") -> str:
    vocab = model().vocab
    state = begin(grammar)
    for one in vocab.tokenize(written, special=False):
        following = state.advanced(one)
        assert following is not None
        state = following
    return b"".join(vocab.piece(one) for one in forced_ids(state, vocab)).decode()


def test_what_a_grammar_leaves_no_choice_about_is_forced() -> None:
    grammar = 'root ::= "{\\"name\\": \\"" [a-z]+ "\\", \\"age\\": " [0-9]+ "}"'
    assert forced(grammar) == '{"name": "'
    assert forced(grammar, '{"name": "') == ""
    assert forced(grammar, '{"name": "ab"') == ', "age": '
    assert forced(grammar, '{"name": "ab", "age": 7}') == ""  # only the end may follow, which the pass returns


def test_an_end_that_may_follow_is_a_choice() -> None:
    assert forced('root ::= "a" "b"?', "a") == ""
    assert forced('root ::= "ab" | "ac"') == "a"
    assert forced('root ::= "über" [0-9]') == "über"
    inside = begin('root ::= "über"').advanced(byte_tokens()[0xC3])
    assert inside is not None
    assert forced_ids(inside, model().vocab) == []  # the rest of a character has no tokens of its own
