"""Tests texts of servers, cleaned for users and prompts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.tools.mcp.words import (
    SCHEMA_BYTES,
    description,
    one_line,
    plain_text,
    schema,
    tool_name,
    tool_names,
    unique_name,
)

TEXTS = st.text(st.characters() | st.sampled_from("\x1b[]\x07\x9b\u202e\u200b\r\n\\;m"), max_size=60)
UNWANTED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@given(TEXTS)
def test_no_text_steers_a_terminal(text: str) -> None:
    assert not UNWANTED.search(plain_text(text))
    line = one_line(text)
    assert not UNWANTED.search(line)
    assert "\n" not in line
    assert len(line) <= 80
    assert re.fullmatch(r"[a-zA-Z0-9_-]{0,64}", tool_name(text))


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t")))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert plain_text(text) == text


def test_right_to_left_text_stays_in_results_but_marks_leave_names() -> None:
    assert plain_text("שלום \u200fعالم") == "שלום \u200fعالم"
    assert one_line("exe.\u202efdp") == "exe.fdp"


def test_names_are_made_unique_with_their_server() -> None:
    assert unique_name("read", "files", {"write"}) == "read"
    assert unique_name("read", "My files", {"read"}) == "My_files_read"
    assert unique_name("read", "日本", {"read", "server_read"}) == "server_read_2"
    long = unique_name("r" * 64, "f" * 64, {"r" * 64})
    assert (len(long), long[:26]) == (64, "f" * 24 + "_r")
    assert len(unique_name("r" * 64, "f", {"r" * 64, unique_name("r" * 64, "f", {"r" * 64})})) <= 64


@given(st.lists(TEXTS, max_size=8))
def test_each_tool_has_a_usable_name_of_its_own_whatever_the_order(names: list[str]) -> None:
    found = tool_names(names)
    assert set(found) == set(names)
    assert len(set(found.values())) == len(found)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in found.values())
    assert tool_names(reversed(names)) == found


def test_names_say_as_much_of_the_tools_own_as_they_can() -> None:
    long = "x" * 90
    given = ("calendar.read", "calendar_read", "naïve", "获取天气", "прогноз", f"{long}1", f"{long}2", "git/commit")
    found = tool_names(given)
    assert [found[name] for name in ("calendar_read", "naïve", "git/commit")] == [
        "calendar_read",
        "naive",
        "git_commit",
    ]
    assert found["calendar.read"].startswith("calendar_read_")
    assert all(found[name].startswith("tool_") for name in ("获取天气", "прогноз"))
    assert all(found[f"{long}{number}"].startswith("x" * 55) for number in (1, 2))


def test_values_and_names_of_a_schema_stay_to_the_letter() -> None:
    """Changed names would be rejected by the server, and a grammar could not produce them."""
    values = ["\t", ",", " ", "\n", "می\u200cخواهم", "👨\u200d👩\u200d👧", "\x1b[31m", "\u202e"]
    told = {"type": "string", "title": "a\u202eb", "description": " \x1b[31mred ", "enum": values, "default": "\t"}
    given = {"type": "object", "properties": {" spaced ": told, "\u200d": {"const": " "}}, "required": [" spaced "]}
    made = schema(given)
    assert made == {
        **given,
        "properties": {**given["properties"], " spaced ": {**told, "title": "ab", "description": "red"}},
    }  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (None, {}),
        (True, {}),
        ({"properties": {"a": {}}}, {"properties": {"a": {}}}),
        ({"type": ["object", "null"]}, {}),
        ({"type": ["null", "object"], "nullable": True}, {"nullable": True}),
        ({"anyOf": [{"type": "object"}]}, {"anyOf": [{"type": "object"}]}),
        ({"properties": None, "required": None}, {}),
        ({"properties": [], "required": "a"}, {}),
        (False, None),
        ("object", None),
        ({"type": "string"}, None),
        ({"type": None}, None),
        ({"type": ["array"]}, None),
    ],
)
def test_a_schema_is_an_objects_as_far_as_it_says(given: object, made: dict[str, object] | None) -> None:
    assert schema(given) == (None if made is None else {"type": "object", **made})


def test_schemas_are_bounded_and_their_texts_cleaned() -> None:
    good = {"type": "object", "properties": {"a": {"type": "string", "description": "\x1b[31mred\u202e"}}}
    assert schema(good) == {"type": "object", "properties": {"a": {"type": "string", "description": "red"}}}
    assert schema({}) == {"type": "object"}
    assert schema({"type": "array"}) is None
    assert schema([]) is None
    assert schema({"properties": {"a": {"enum": ["x" * 3_000] * 20}}}) is None
    deep: dict[str, object] = {}
    for _ in range(10_000):
        deep = {"properties": deep}
    assert schema(deep) is None
    assert SCHEMA_BYTES == 32 * 1024


@pytest.mark.parametrize("size", [10, 4_000, 10_000_000])
def test_descriptions_are_bounded(size: int) -> None:
    assert len(description("x" * size)) == min(size, 4_000)
