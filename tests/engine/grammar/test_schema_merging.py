"""What holds at once is one schema: whatever its grammar allows is valid by each part."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.errors import GrammarError
from engine.grammar.json_schema import grammar_of
from tests.engine.grammar.validator import Json, is_valid
from tests.engine.grammar.walks import accepts, random_text

KINDS = ("null", "boolean", "integer", "number", "string")
PLAIN = st.one_of(
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True).map(lambda names: {"type": names}),
    st.builds(lambda low, span: {"type": "integer", "minimum": low, "maximum": low + span}, st.integers(-20, 20),
              st.integers(2, 50)),
    st.builds(lambda low, span: {"type": "string", "minLength": low, "maxLength": low + span}, st.integers(0, 3),
              st.integers(0, 5)),
    st.lists(st.sampled_from(["a", "b", 1, 1.5, True, None]), min_size=1, max_size=4).map(lambda all_: {"enum": all_}),
)  # fmt: skip
NAMES = st.sampled_from(["a", "b", "c"])
OBJECTS = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(NAMES, PLAIN, max_size=2)},
    optional={
        "required": st.lists(NAMES, max_size=2, unique=True),
        "additionalProperties": st.booleans() | PLAIN,
        "unevaluatedProperties": st.just(True),
    },
)
ARRAYS = st.fixed_dictionaries(
    {"type": st.just("array")},
    optional={
        "items": PLAIN,
        "prefixItems": st.lists(PLAIN, min_size=1, max_size=2),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(2, 3),
    },
)


@settings(max_examples=80, deadline=None)
@given(
    parts=st.one_of(*(st.lists(kind, min_size=2, max_size=3) for kind in (PLAIN, OBJECTS, ARRAYS))),
    beside=st.booleans(),
    seed=st.integers(0, 99),
)
def test_what_is_allowed_is_valid_by_all_parts(parts: list[Json], beside: bool, seed: int) -> None:
    schema = {**parts[0], "allOf": parts[1:]} if beside else {"allOf": parts}
    try:
        grammar = grammar_of(schema)
    except GrammarError:
        assume(False)  # nothing is valid by all, say
    rng = np.random.default_rng(seed)
    for _ in range(3):
        text = random_text(grammar, rng)
        assert is_valid(json.loads(text), schema), (schema, text)


STRING, NUMBER = {"type": "string", "maxLength": 3}, {"type": "number"}


@pytest.mark.parametrize(
    ("parts", "good", "bad"),
    [
        ([{"type": ["integer", "string"]}, {"type": ["number", "null"]}], ["1"], ["1.5", '"a"', "null"]),
        ([{"type": ["number", "null"]}, {"type": ["integer", "null"]}], ["1", "null"], ["1.5"]),
        ([{"enum": [1, "a", True]}, {"enum": [True, "a", 2]}], ['"a"', "true"], ["1", "2"]),
        ([{"minimum": 3, "maximum": 9}, {"minimum": 5, "maximum": 12}], ["5", "9", "6.5"], ["4", "10"]),
        (
            [{"properties": {"a": STRING}}, {"properties": {"a": {"minLength": 2}}, "required": ["a"]}],
            ['{"a": "xy"}', '{"a": "xyz"}'], ["{}", '{"a": "x"}', '{"a": "wxyz"}'],
        ),
        (
            [{"properties": {"a": STRING, "b": True}}, {"properties": {"a": True}, "additionalProperties": False}],
            ["{}", '{"a": "x"}'], ['{"a": 1}', '{"b": 1}'],
        ),
        (
            [{"properties": {"a": True}, "unevaluatedProperties": False}, {"properties": {"b": NUMBER}}],
            ["{}", '{"a": 1}'], ['{"b": 1}', '{"a": 1, "b": 1}'],
        ),
        (
            [{"properties": {"a": {"minimum": 3}}, "required": ["a"]}, {"additionalProperties": {"type": "integer"}}],
            ['{"a": 4}'], ['{"a": 2}', '{"a": "x"}', '{"a": 4.5}'],
        ),
        ([{"additionalProperties": STRING}, {"additionalProperties": {"minLength": 2}}],
         ["{}", '{"k": "xy"}'], ['{"k": "x"}', '{"k": 1}']),
        ([{"type": "array", "items": {"minimum": 3}}, {"items": NUMBER, "minItems": 1, "maxItems": 2}],
         ["[3]", "[4, 5]"], ["[]", "[2]", "[4, 5, 6]", '["a"]']),
        ([{"allOf": [{"minimum": 1}]}, {"allOf": [{"maximum": 2}, {"type": "integer"}]}],
         ["1", "2"], ["0", "3", "1.5"]),
        ([{"anyOf": [{"const": "a"}, {"type": "null"}]}, {"type": ["null", "string"]}], ['"a"', "null"], ['"b"']),
    ],
)  # fmt: skip
def test_parts_that_hold_at_once(parts: list[Json], good: list[str], bad: list[str]) -> None:
    for order in (parts, parts[::-1]):
        grammar = grammar_of({"allOf": order})
        assert [text for text in good if not accepts(grammar, text)] == []
        assert [text for text in bad if accepts(grammar, text)] == []


@pytest.mark.parametrize(
    ("parts", "word"),
    [
        ([{"type": "string"}, {"type": ["null", "integer"]}], "different types"),
        ([{"enum": ["a"]}, {"enum": ["b"]}], "no value"),
        ([{"const": "a"}, {"const": "b"}], "const"),
        ([{"pattern": "a"}, {"pattern": "b"}], "pattern"),
        ([{"prefixItems": [STRING]}, {"prefixItems": [NUMBER]}], "prefixItems"),
        ([{"prefixItems": [STRING]}, {"items": NUMBER}], "items"),
        ([{"items": [STRING]}, {"items": NUMBER}], "false"),
        ([{"anyOf": [STRING]}, {"anyOf": [NUMBER]}], "anyOf"),
        ([{"required": ["b"]}, {"properties": {"a": STRING}, "additionalProperties": False}], "not allowed"),
        ([{"minLength": 2}, {"minLength": "3"}], "wrong type"),
    ],
)
def test_parts_that_no_grammar_can_hold_to_are_refused(parts: list[Json], word: str) -> None:
    for order in (parts, parts[::-1]):
        with pytest.raises(GrammarError) as caught:
            grammar_of({"allOf": order})
        assert word in caught.value.message


def test_a_reference_leads_into_lists_and_through_escapes() -> None:
    defs = {"a/b": {"~c": [{"type": "null"}, {"type": "integer"}]}}
    grammar = grammar_of({"$defs": defs, "$ref": "#/$defs/a~1b/~0c/1"})
    assert accepts(grammar, "12")
    assert not accepts(grammar, "null")
    for place in ("2", "-1", "x", "1/type/0"):
        with pytest.raises(GrammarError, match="has no"):
            grammar_of({"$defs": defs, "$ref": f"#/$defs/a~1b/~0c/{place}"})
