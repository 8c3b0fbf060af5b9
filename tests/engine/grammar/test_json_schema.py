"""What a schema's grammar allows is valid by the schema; what a grammar cannot promise is refused by name."""

from __future__ import annotations

import contextlib
import json
import math
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.errors import GrammarError
from engine.grammar.json_schema import any_object_grammar, grammar_of
from tests.engine.grammar.validator import Json, is_valid
from tests.engine.grammar.walks import accepts, random_text
from tests.scripts import load_script

random_schema = load_script("measure/server/random_schemas.py").random_schema
PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1},
        "age": {"type": "integer", "minimum": 0, "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["a", 1, None, True]}, "maxItems": 2},
    },
    "required": ["name", "tags"],
    "additionalProperties": False,
}


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_the_grammar_allows_is_valid_by_the_schema(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = random_schema(rng)
    try:
        grammar = grammar_of(schema)
    except GrammarError:
        assume(False)  # a range of numbers that is too narrow, say
    for _ in range(3):
        text = random_text(grammar, rng)
        assert is_valid(json.loads(text), schema), (schema, text)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (
            PERSON,
            ['{"name": "A", "age": 120, "tags": ["a", 1]}', '{"name": "Ü\\n\\u00e9", "tags": []}'],
            [
                '{"name": "", "tags": []}', '{"name": "A", "age": 121, "tags": []}', '{"tags": [], "name": "A"}',
                '{"name": "A"}', '{"name": "A", "tags": [2]}', '{"name": "A", "tags": [1, 1, 1]}',
                '{"name":"A","tags":[]}', '{"name": "A", "tags": [], "more": 1}', '{"name": "A", "tags": []} ',
            ],
        ),
        ({"type": ["string", "null"], "maxLength": 2}, ['"ab"', "null", '""'], ['"abc"', "1"]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0", "1", "0.25"], ["1.5", "-0.5", "2", "1.0"]),
        ({"type": "number", "exclusiveMinimum": 0}, ["0.5", "3.25", "1"], ["0", "0.0", "-1"]),
        ({"type": "integer", "exclusiveMaximum": -9}, ["-10", "-99"], ["-9", "0", "-09"]),
        ({"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"}, ['"AB-123"'], ['"AB-12"', '"xAB-123"']),
        ({"type": "string", "format": "date"}, ['"2024-02-28"'], ['"2024-02-30"', '"2024-13-01"']),
        ({"const": {"a": [1, None]}}, ['{"a": [1, null]}'], ['{"a":[1,null]}']),
        ({"prefixItems": [{"type": "string"}, {"type": "null"}], "items": False, "minItems": 1},
         ['["a"]', '["a", null]'], ["[]", '["a", null, 1]', "[null]"]),
        ({"prefixItems": [{"type": "null"}], "items": {"type": "integer"}, "minItems": 3, "maxItems": 4},
         ["[null, 1, 2]", "[null, 1, 2, 3]"], ["[null, 1]", "[null, 1, 2, 3, 4]"]),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, ['{"x": 1, "y": 2}', "{}"], ['{"x": "1"}']),
        ({"type": "object", "properties": {}, "additionalProperties": False}, ["{}"], ['{"a": 1}']),
        (True, ["[1, {}]", "null", "-1.5e3"], ["{1}", ""]),
        ({"$defs": {"n": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/n"}}]}},
          "$ref": "#/$defs/n"}, ["[[null], []]", "null"], ["[1]"]),
        ({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                    {"properties": {"a": {"minimum": 5}, "b": {"type": "null"}}}]},
         ['{"a": 5}', '{"a": 17, "b": null}'], ['{"a": 4}', '{"b": null}']),
        ({"type": "array", "items": [{"type": "null"}, {"type": "integer"}], "additionalItems": False},
         ["[]", "[null]", "[null, 7]"], ["[7]", "[null, 7, 8]"]),
        ({"type": "array", "items": [{"type": "null"}], "additionalItems": {"type": "integer"}},
         ["[null, 7, 8]"], ["[null, null]"]),
        ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
        ({"prefixItems": [True, {"type": "null"}], "maxItems": 1}, ["[]", "[3]"], ["[3, null]"]),
        ({"type": "number", "multipleOf": 1, "minimum": 3}, ["3", "44"], ["2", "3.5"]),
        ({"type": "number", "minimum": 2, "exclusiveMinimum": 1, "maximum": 9, "exclusiveMaximum": 8},
         ["2", "2.5", "7", "7.5"], ["1.5", "8", "8.5", "9"]),
        ({"type": "integer", "minimum": 2, "exclusiveMinimum": 2, "maximum": 5, "exclusiveMaximum": 7},
         ["3", "5"], ["2", "6"]),
        ({"oneOf": [{"type": "integer"}, {"type": ["string", "null"], "maxLength": 1}, {"type": "boolean"}]},
         ["1", '"a"', "null", "true"], ['"ab"', "1.5"]),
        ({"anyOf": [{"const": 1}, True]}, ["1", '"x"', "[{}]"], []),
        ({"anyOf": [{"const": 1}, False]}, ["1"], ["2"]),
        ({"type": "null", "x-unknown": {"not": 5}, "description": "nothing"}, ["null"], ["1"]),
        ({"enum": [1, 1.5, 2.0, True, None, "a", {}, []], "type": "integer"}, ["1", "2.0"], ["1.5", "true", "null"]),
        ({"enum": [1, True, None, "a", {}, []], "type": ["boolean", "null"]}, ["true", "null"], ["1", '"a"', "{}"]),
        ({"enum": [1, True, "a", {}, []], "type": ["string", "object", "array", "number"]},
         ["1", '"a"', "{}", "[]"], ["true"]),
        ({"enum": ["a", "b", 1], "const": "b"}, ['"b"'], ['"a"', "1"]),
        ({"minLength": 2}, ['"ab"'], ['"a"']),
        ({"properties": {"a": False, "b": {"type": "null"}}}, ["{}", '{"b": null}'], ['{"a": 1}']),
        ({"type": "object", "minProperties": 1}, ['{"a": 1}'], ["{}"]),
        ({"type": "object", "unevaluatedProperties": False}, ["{}"], ['{"a": 1}']),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "unevaluatedProperties": {}},
         ['{"a": null}'], ['{"a": 1}', "{}"]),
        ({"allOf": [{"type": "array", "prefixItems": [{"type": "null"}], "minItems": 1}, {"items": {}}]},
         ["[null]"], ["[1]", "[]"]),
        ({"type": "object", "additionalProperties": {"type": "null"}, "unevaluatedProperties": False},
         ['{"a": null}'], ['{"a": 1}']),
    ],
)  # fmt: skip
def test_texts_are_allowed_or_not(schema: Json, good: list[str], bad: list[str]) -> None:
    grammar = grammar_of(schema)
    assert [text for text in good if not accepts(grammar, text)] == []
    assert [text for text in bad if accepts(grammar, text)] == []


def test_any_object_is_an_object() -> None:
    assert accepts(any_object_grammar(), '{"a": {"b": [1, "two", null]}}')
    assert not accepts(any_object_grammar(), "[]")


def nested(depth: int) -> Json:
    """One alternative in another."""
    return {"anyOf": [nested(depth - 1)]} if depth else True


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"not": {}}, "not"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "number", "multipleOf": 0.5}, "multipleOf"),
        ({"patternProperties": {"a": True}}, "patternProperties"),
        ({"type": "widget"}, "type"),
        ({"$ref": "https://example.org/schema"}, "$ref"),
        ({"$ref": "#/$defs/missing"}, "#/$defs/missing"),
        ({"allOf": [{"$ref": "#"}]}, "without an end"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "oneOf"),
        ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, "whole number"),
        ({"type": "string", "pattern": "(?=a)b"}, "question mark"),
        ({"type": "string", "minLength": 5, "maxLength": 4}, "longer"),
        ({"enum": ["a"], "type": "integer"}, "enum"),
        ({"required": ["a"], "properties": {}, "additionalProperties": False}, "required"),
        ({"type": "object", "required": ["a"], "unevaluatedProperties": False}, "not allowed"),
        ({"type": "object", "unevaluatedProperties": {"type": "null"}}, "unevaluatedProperties"),
        ({"type": "object", "additionalProperties": False, "minProperties": 1}, "counts properties"),
        ({"type": "object", "minProperties": 2}, "counts properties"),
        ({"type": "object", "maxProperties": 2}, "counts properties"),
        ({"properties": {"a": True, "b": True}, "required": ["a"], "maxProperties": 1}, "optional properties"),
        ({"properties": {"a": True, "b": True}, "required": ["a"], "minProperties": 2}, "optional properties"),
        ({"anyOf": [True], "oneOf": [True]}, "anyOf and oneOf"),
        ({"anyOf": []}, "without alternatives"),
        ({"anyOf": [False]}, "without alternatives"),
        ({"allOf": [True, False]}, "false"),
        (nested(80), "without an end"),
        ({"enum": [1, 2], "minimum": 2}, "minimum"),
        ({"enum": [1, 2], "const": 3}, "no value"),
        ({"type": "number", "minimum": "3"}, "minimum"),
        ({"type": "number", "exclusiveMaximum": True}, "exclusiveMaximum"),
        ({"type": "number", "maximum": math.inf}, "maximum"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "more items"),
        ({"type": "array", "minItems": 1001}, "1,001 items"),
        ({"type": "array", "items": False, "minItems": 1}, "none is allowed"),
        ({"prefixItems": [True], "items": False, "minItems": 2}, "more items"),
        ({"type": "string", "minLength": 1001}, "1,001 characters"),
        ({"type": "string", "pattern": "a", "maxLength": 3}, "pattern beside a length"),
        ({"type": "string", "format": "date", "minLength": 3}, "format beside a length"),
        ({"type": []}, "type"),
        (False, "false"),
        (7, "object"),
        ({"properties": 3}, "wrong type"),
    ],
)
def test_what_cannot_be_promised_is_refused_by_name(schema: Json, word: str) -> None:
    with pytest.raises(GrammarError) as caught:
        grammar_of(schema)
    assert word in caught.value.message


def test_a_schema_cannot_grow_without_a_bound() -> None:
    wide = {"type": "object", "properties": {f"p{i}": {"const": "x" * 200 + str(i)} for i in range(5000)}}
    with pytest.raises(GrammarError):
        grammar_of(wide)


def test_a_schema_of_many_rules_is_refused_by_their_number() -> None:
    many = {"type": "object", "properties": {f"p{i}": {"const": i} for i in range(3000)}}
    with pytest.raises(GrammarError, match="more than 4,000 rules"):
        grammar_of(many)


def chain(kind: str) -> Json:
    """Forty schemas, each of which names the next one twice."""
    ends: dict[str, Json] = {"d40": {"type": "object", "properties": {"a": {"type": "string"}}}}
    links = {f"d{i}": {"minProperties": 0, kind: [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    return {"$defs": {**links, **ends}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    "schema",
    [
        chain("anyOf"),
        {"oneOf": [{"const": number} for number in range(5_000)]},
        {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(30_000)}},
    ],
)
def test_few_words_cannot_make_work_without_a_bound(schema: Json) -> None:
    began = time.process_time()
    with pytest.raises(GrammarError, match="too many parts"):
        grammar_of(schema)
    assert time.process_time() - began < 5.0  # it would be hours, or minutes


@settings(max_examples=60, deadline=None)
@given(
    schema=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("string"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "properties", "items", "anyOf", "allOf", "$ref", "enum", "required", "pattern"]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_nonsense_gives_a_grammar_or_a_refusal(schema: Json) -> None:
    with contextlib.suppress(GrammarError):
        assert grammar_of(schema).startswith("root ::= ")
