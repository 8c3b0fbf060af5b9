"""Tests parsing of chat template variables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.domain.template_variables import MAX_VARIABLES, RESERVED, read_variables


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ("", ()),
        (" , ", ()),
        ("reasoning_effort=high", (("reasoning_effort", "high"),)),
        ("a=true, b = False ,c=12,d=-0.5,e=", (("a", True), ("b", False), ("c", 12), ("d", -0.5), ("e", ""))),
        ("a=1, a=2", (("a", 2),)),
        ("date=1.2.3", (("date", "1.2.3"),)),
        ("formula=a=b", (("formula", "a=b"),)),
    ],
)
def test_lines(text: str, variables: tuple[tuple[str, object], ...]) -> None:
    found = read_variables(text)
    assert found == variables
    assert [type(value) for _, value in found] == [type(value) for _, value in variables]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("high", "not of the form name=value"),
        ("two words=1", "not a valid variable name"),
        ("messages=x", "set by Paceline itself"),
        (", ".join(f"v{i}=1" for i in range(MAX_VARIABLES + 1)), "more than 32 variables"),
        ("a=" + "x" * 3000, "more than 2,000 characters"),
    ],
)
def test_what_cannot_be_taken_is_reported(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read_variables(text)


@given(st.text(max_size=200))
def test_any_text_gives_variables_or_a_sentence(text: str) -> None:
    sentence, found = "", tuple[tuple[str, object], ...]()
    try:
        found = read_variables(text)
    except ValueError as error:
        sentence = str(error)
    assert not sentence or sentence.endswith(".")
    assert not RESERVED & {name for name, _ in found}
