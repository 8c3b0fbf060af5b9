"""Output of a schema's grammar is valid; parts of a schema that no grammar can enforce are reported or rejected."""

import contextlib
import json
import math
import re
import sys
import time
from typing import Any

import numpy as np
import psutil
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from engine.errors import GrammarError
from engine.grammar.json_schema import schema_grammar
from engine.grammar.lark import is_lark
from tests.engine.grammar.random_schemas import random_schema
from tests.engine.grammar.walks import Walk, accepts, begin, byte_tokens, random_text

Json = Any
FORMATS = FormatChecker(())
for kind, form in {
    "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "date-time": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
    "uuid": r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "ipv4": r"\d{1,3}(\.\d{1,3}){3}",
}.items():
    FORMATS.checks(kind)(
        lambda one, form=form: not isinstance(one, str) or re.fullmatch(form, one, re.IGNORECASE) is not None
    )

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


def nearest(text: str) -> float:
    """JSON numbers are unlimited; a double is not."""
    return max(-sys.float_info.max, min(float(text), sys.float_info.max))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_whatever_the_grammar_allows_is_valid_by_the_schema(seed: int) -> None:
    rng = np.random.default_rng(seed)
    schema = random_schema(rng)
    try:
        grammar = schema_grammar(schema, strict=True)
    except GrammarError:
        assume(False)  # for example, a range of numbers is too narrow
    validator = Draft202012Validator(schema, format_checker=FORMATS)
    for _ in range(3):
        text = random_text(grammar, rng)
        validator.validate(json.loads(text, parse_float=nearest))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (
            PERSON,
            ['{"name": "A", "age": 120, "tags": ["a", 1]}', '{"name": "Ü\\n", "tags": []}'],
            [
                '{"name": "", "tags": []}', '{"name": "A", "age": 121, "tags": []}', '{"tags": [], "name": "A"}',
                '{"name": "A"}', '{"name": "A", "tags": [2]}', '{"name": "A", "tags": [1, 1, 1]}',
                '{"name":"A","tags":[]}', '{"name": "A", "tags": [], "more": 1}', '{"name": "A", "tags": []} ',
            ],
        ),
        ({"type": "object"}, ['{"a": {"b": [1, "two", null]}}'], ["[]"]),
        ({"type": ["string", "null"], "maxLength": 2}, ['"ab"', "null", '""'], ['"abc"', "1"]),
        ({"type": "number", "minimum": 0, "maximum": 1}, ["0", "1", "0.25"], ["1.5", "-0.5", "2", "01"]),
        ({"type": "string", "format": "date"}, ['"2024-02-28"'], ['"2024-02-30"', '"2024-13-01"']),
        ({"const": {"a": [1, None]}}, ['{"a": [1, null]}'], ['{"a":[1,null]}']),
        ({"prefixItems": [{"type": "string"}, {"type": "null"}], "items": False, "minItems": 1},
         ['["a"]', '["a", null]'], ["[]", '["a", null, 1]', "[null]"]),
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
        ({"type": "number", "minimum": 2, "exclusiveMinimum": 1, "maximum": 9, "exclusiveMaximum": 8},
         ["2", "2.5", "7", "7.5"], ["1.5", "8", "8.5", "9"]),
        ({"oneOf": [{"type": "integer"}, {"type": ["string", "null"], "maxLength": 1}, {"type": "boolean"}]},
         ["1", '"a"', "null", "true"], ['"ab"', "1.5"]),
        ({"anyOf": [{"const": 1}, True]}, ["1", '"x"', "[{}]"], []),
        ({"anyOf": [{"const": 1}, False]}, ["1"], ["2"]),
        ({"type": "null", "x-unknown": {"not": 5}, "description": "nothing"}, ["null"], ["1"]),
        ({"enum": [1, 1.5, 2.0, True, None, "a", {}, []], "type": "integer"}, ["1", "2"], ["1.5", "true", "null"]),
        ({"enum": ["a", "b", 1], "const": "b"}, ['"b"'], ['"a"', "1"]),
        ({"minLength": 2}, ['"ab"'], ['"a"']),
        ({"properties": {"a": False, "b": {"type": "null"}}}, ["{}", '{"b": null}'], ['{"a": 1}']),
        ({"type": "object", "unevaluatedProperties": False}, ["{}"], ['{"a": 1}']),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"], "unevaluatedProperties": {}},
         ['{"a": null}'], ['{"a": 1}', "{}"]),
        ({"allOf": [{"type": "array", "prefixItems": [{"type": "null"}], "minItems": 1}, {"items": {}}]},
         ["[null]"], ["[1]", "[]"]),
        ({"type": "object", "additionalProperties": {"type": "null"}, "unevaluatedProperties": False},
         ['{"a": null}'], ['{"a": 1}']),
        ({"type": "string", "format": "uuid", "pattern": "^0"}, ['"0f16df47-6a16-4a0f-8a3a-0123456789ab"'],
         ['"1f16df47-6a16-4a0f-8a3a-0123456789ab"', '"0f"']),
        ({"type": "string", "format": "date", "pattern": "^2"}, ['"2024-02-28"'], ['"1024-02-28"', '"2x"']),
        ({"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {"type": "number"}},
         ['{"a": 1}'], ['{"a": "1"}']),
        ({"patternProperties": {"^n": {"type": "null"}}, "additionalProperties": False},
         ['{"no": null}'], ['{"a": null}']),
        ({"type": "number", "multipleOf": 0.5}, ["0.5", "3", "-1.5"], ["0.25"]),
        ({"type": "object", "minProperties": 2, "maxProperties": 3}, ['{"a": 1, "b": 2}'],
         ['{"a": 1}', '{"a": 1, "b": 1, "c": 1, "d": 1}']),
        ({"type": "array", "items": {"type": "null"}, "minItems": 2000, "maxItems": 2002},
         [f"[{', '.join(['null'] * count)}]" for count in (2000, 2002)],
         [f"[{', '.join(['null'] * count)}]" for count in (1999, 2003)]),
        ({"type": "string", "minLength": 1500, "maxLength": 3000}, [f'"{"é" * 1500}"', f'"{"x" * 3000}"'],
         [f'"{"x" * 1499}"', f'"{"x" * 3001}"']),
        ({"type": "integer"}, ["0", "-17", "9" * 15], ["9" * 16, "01", "1.5"]),
        ({"type": "integer", "maximum": 2**63 - 1}, ["9223372036854774784"], [str(2**63)]),
        ({"$defs": {"a b/c%": {"type": "null"}}, "items": {"$ref": "#/$defs/a%20b~1c%25"}}, ["[null]"], ["[1]"]),
        ({"$defs": {"a b": {"type": "null"}}, "items": {"$ref": "#/$defs/a b"}}, ["[null]"], ["[1]"]),
        ({"$defs": {"a": {"$anchor": "it", "type": "null"}}, "items": {"$ref": "#it"}}, ["[null]"], ["[1]"]),
        ({"oneOf": [{"const": number} for number in range(300)]}, ["299"], ["300"]),
        ({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"],
          "anyOf": [{"properties": {"b": {"type": "null"}}, "required": ["b"]}, {"required": ["c"]}]},
         ['{"a": null, "b": null}', '{"a": null, "c": 1}'], ['{"a": null}', '"a"']),
    ],
)  # fmt: skip
def test_texts_are_allowed_or_not(schema: Json, good: list[str], bad: list[str]) -> None:
    grammar = schema_grammar(schema)
    assert [text for text in good if not accepts(grammar, text)] == []
    assert [text for text in bad if accepts(grammar, text)] == []


def nested(depth: int) -> Json:
    """Nested alternatives."""
    return {"anyOf": [nested(depth - 1)]} if depth else True


CAT = {"type": "object", "properties": {"kind": {"const": "cat"}, "of": {"$ref": "#/$defs/any"}}, "required": ["kind"]}
DOG = {"type": "object", "properties": {"kind": {"const": "dog"}, "of": {"$ref": "#/$defs/any"}}, "required": ["kind"]}
PETS = {"$defs": {"cat": CAT, "dog": DOG, "any": {"oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]}}}
BASE = {"$defs": {"base": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}}}


def test_alternatives_with_different_names_exclude_each_other() -> None:
    grammar = schema_grammar({**PETS, "$ref": "#/$defs/any"}, strict=True)
    assert accepts(grammar, '{"kind": "cat", "of": {"kind": "dog"}}')
    assert not accepts(grammar, '{"kind": "eel"}')


def test_what_stands_together_is_valid_by_all_its_parts_and_may_have_other_names() -> None:
    more = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
    grammar = schema_grammar({**BASE, "allOf": [{"$ref": "#/$defs/base"}, more]}, strict=True)
    assert accepts(grammar, '{"id": 1, "name": "A", "other": 1}')
    assert not accepts(grammar, '{"id": 1}')
    titled = schema_grammar({**BASE, "allOf": [{"$ref": "#/$defs/base"}], "title": "an item"}, strict=True)
    assert accepts(titled, '{"id": 1}')
    assert not accepts(titled, '{"id": 1, "other": 1}')
    more_allowed = schema_grammar({**BASE, "allOf": [{"$ref": "#/$defs/base"}], "additionalProperties": True})
    assert accepts(more_allowed, '{"id": 1, "other": 1}')


@pytest.mark.parametrize(
    ("schema", "word", "text"),
    [
        ({"not": {}}, "not", "1"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems", "[1, 1]"),
        ({"type": "object", "if": {}, "then": {"required": ["a"]}}, "if", "{}"),
        ({"dependentRequired": {"a": ["b"]}}, "dependentRequired", '{"a": 1}'),
        ({"type": "array", "contains": {"const": 1}}, "contains", "[2]"),
        ({"$ref": "https://example.org/schema"}, "$ref", "1"),
        ({"type": "string", "pattern": "(?=a)b"}, "pattern", '"x"'),
        ({"type": "string", "pattern": "(a"}, "pattern", '"x"'),
        ({"type": "number", "multipleOf": 1e-15}, "multipleOf", "1.5"),
        ({"patternProperties": {"^a": True, "^ab": True}, "additionalProperties": False},
         "patternProperties", '{"x": 1}'),
        ({"properties": {"a": True, "b": True}, "required": ["a"], "maxProperties": 1}, "maxProperties", '{"a": 1}'),
        ({"allOf": [{"required": ["a"]}], "unevaluatedProperties": False}, "unevaluatedProperties", '{"a": 1, "b": 1}'),
        ({"propertyNames": {"maxLength": 3}}, "propertyNames", '{"long name": 1}'),
        ({"type": "array", "prefixItems": [True], "unevaluatedItems": False}, "unevaluatedItems", "[1, 2]"),
        ({"$defs": {"n": {"properties": {"c": {"$ref": "#/$defs/n", "type": "object"}}}}, "$ref": "#/$defs/n"},
         "more than the type", "{}"),
    ],
)  # fmt: skip
def test_what_no_grammar_can_promise_is_left_out_and_named_or_refused(schema: Json, word: str, text: str) -> None:
    grammar = schema_grammar(schema)
    assert len(grammar.warnings) == 1
    assert word in grammar.warnings[0]
    assert accepts(grammar, text)
    with pytest.raises(GrammarError) as caught:
        schema_grammar(schema, strict=True)
    assert word in caught.value.message


def test_a_warning_names_the_place_and_each_word_once() -> None:
    unique = {"type": "array", "uniqueItems": True}
    warnings = schema_grammar({"type": "object", "properties": {"tags": unique, "more": unique}}).warnings
    assert warnings == (
        "No grammar can hold `uniqueItems` of the schema (at #/properties/tags): the answer may break it.",
    )


def test_a_format_that_is_not_known_demands_nothing() -> None:
    grammar = schema_grammar({"type": "string", "format": "colour"}, strict=True)
    assert grammar.warnings == ("The format colour of the schema is not known here: it was passed over.",)
    assert accepts(grammar, '"red"')
    assert schema_grammar({"type": "integer", "format": "int32"}).warnings == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"uniqueItems": False}, {"not": False}, {"propertyNames": True}, {"unevaluatedProperties": True},
        {"type": "array", "uniqueItems": True, "maxItems": 1}, {"if": {"type": "null"}},
        {"contains": {}, "minContains": 0}, {"dependentRequired": {}}, {"unevaluatedItems": {}},
    ],
)  # fmt: skip
def test_words_that_demand_nothing_are_passed_over(schema: Json) -> None:
    assert schema_grammar(schema, strict=True).warnings == ()


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({"type": "widget"}, "none of JSON's"),
        ({"$ref": "#/$defs/missing"}, "#/$defs/missing"),
        ({"$ref": 7}, "$ref"),
        ({"type": "integer", "minimum": 0.2, "maximum": 0.8}, "no integer"),
        ({"type": "string", "minLength": 5, "maxLength": 4}, "maxLength"),
        ({"enum": ["a"], "type": "integer"}, "incompatible types"),
        ({"required": ["a"], "properties": {}, "additionalProperties": False}, "required"),
        ({"type": "object", "required": ["a"], "unevaluatedProperties": False}, "required"),
        ({"type": "object", "additionalProperties": False, "minProperties": 1}, "minProperties"),
        ({"anyOf": []}, "empty"),
        ({"anyOf": [False]}, "false"),
        ({"allOf": [True, False]}, "false"),
        (nested(80), "nested too deep"),
        (nested(400), "nested too deep"),
        ({"enum": [1, 2], "const": 3}, "minimum"),
        ({"type": "number", "minimum": "3"}, "minimum"),
        ({"type": "number", "maximum": math.inf}, "wrong type"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "maxItems"),
        ({"type": "array", "items": False, "minItems": 1}, "unsatisfiable"),
        ({"type": []}, "empty"),
        (False, "false"),
        (7, "object"),
        ({"properties": 3}, "properties"),
        ({"properties": {"a": 3}}, "object"),
        ({"allOf": [{"$ref": "#/allOf/9"}]}, "#/allOf/9"),
    ],
)
def test_what_is_no_schema_or_allows_nothing_is_refused(schema: Json, word: str) -> None:
    with pytest.raises(GrammarError) as caught:
        schema_grammar(schema)
    assert word in caught.value.message
    assert "\n" not in caught.value.message


def test_what_has_no_end_is_refused_before_the_first_token() -> None:
    with pytest.raises(GrammarError, match="Nothing can be written"):
        begin(schema_grammar({"allOf": [{"$ref": "#"}]}))


def chain(kind: str) -> Json:
    """Forty schemas; each refers to the next one twice."""
    ends: dict[str, Json] = {"d40": {"type": "object", "properties": {"a": {"type": "string"}}}}
    links = {f"d{i}": {"minProperties": 0, kind: [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
    return {"$defs": {**links, **ends}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize(
    "schema",
    [
        chain("anyOf"),
        chain("allOf"),
        chain("oneOf"),
        {"oneOf": [{"type": "string", "minLength": number} for number in range(500)]},
        {"oneOf": [{"const": number} for number in range(30_000)]},
        {"type": "object", "properties": {f"p{i}": {"type": "null"} for i in range(30_000)}},
        {"enum": ["x" * 50_000] * 90},
        {"type": "string", "pattern": "(" * 5000 + "a" + ")" * 5000},
        {"type": "string", "pattern": "^((a{1,1000}){1,1000}){1,1000}$"},
        {"type": "string", "pattern": "^[ab]*a[ab]{900}c$", "maxLength": 65_536},
        {"type": "string", "pattern": "a?" * 20_000},
        {"type": "array", "items": {"type": "string"}, "maxItems": 10**9},
        {"type": "string", "minLength": 10**6, "maxLength": 10**9},
    ],
)
def test_few_words_cannot_make_work_without_a_bound(schema: Json) -> None:
    began = time.process_time()
    with contextlib.suppress(GrammarError):
        state: Walk | None = begin(schema_grammar(schema))
        for byte in b'["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa':
            assert state is not None
            state.all_allowed()
            state = state.advanced(byte_tokens()[byte]) or state
    assert time.process_time() - began < 5.0  # otherwise it would take minutes or hours
    assert memory_peak_bytes() < 2**31


def memory_peak_bytes() -> int:
    """The peak memory of this process so far."""
    info = psutil.Process().memory_info()
    return int(getattr(info, "peak_wset", info.rss))


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
        assert is_lark(schema_grammar(schema).text)
