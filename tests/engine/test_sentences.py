"""A sentence is an ordinary string that keeps its template and fields."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DecodeError, ModelLoadError, PacelineError
from engine.sentences import Field, Sentence, drop_double_stop, from_json, i18n, joined, phrase, replace_field, to_json

plain_fields: st.SearchStrategy[Field] = st.text() | st.integers() | st.floats(allow_nan=False)
fields = st.recursive(plain_fields, lambda inner: st.builds(lambda value: i18n("of {it}", it=value), inner))


def test_it_reads_as_text_and_knows_its_parts() -> None:
    sentence = i18n("{name} has {number:,} bytes.", name="a.gguf", number=1234)
    assert sentence == "a.gguf has 1,234 bytes."
    assert (sentence.template, sentence.fields) == (
        "{name} has {number:,} bytes.",
        {"name": "a.gguf", "number": 1234},
    )


def test_braces_are_harmless_in_fields_and_where_there_are_none() -> None:
    assert i18n("{error}.", error="{no field}") == "{no field}."
    assert i18n("{as it is}") == "{as it is}"


def test_what_is_no_text_and_no_number_is_kept_as_its_text() -> None:
    assert i18n("{error}", error=ValueError("why")).fields == {"error": "why"}


def test_sentences_one_after_another_leave_out_the_empty_ones() -> None:
    assert joined(["One.", "", i18n("Two {n}.", n=2)]) == "One. Two 2."
    assert joined([]) == ""


def test_a_field_can_be_another() -> None:
    sentence = i18n("{file} lies beside {other}.", file="a", other="b")
    assert replace_field(sentence, "a", "c") == "c lies beside b."
    assert replace_field("a plain text", "a", "c") == "a plain text"


@given(fields, fields)
def test_nothing_is_lost_on_the_way_through_json(first: Field, second: Field) -> None:
    sentence = i18n("{first} and {second}", first=first, second=second)
    back = from_json(json.loads(json.dumps(to_json(sentence))))
    assert back == sentence
    assert isinstance(back, Sentence)
    assert back.fields == sentence.fields
    assert [type(value) for value in back.fields.values()] == [type(value) for value in sentence.fields.values()]


@pytest.mark.parametrize(
    "template",
    ["{x:>999999999}", "{x:{y}}", "{x.__class__}", "{x[0]}", "{0}", "{x!r:>9}", "{x", "x}"],
)
def test_a_stored_template_that_asks_for_more_than_its_fields_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match=r"fields|[Ss]ingle|expected"):
        from_json({"template": template, "context": "Problems", "fields": {"x": "a", "y": "9999999"}})


def test_stored_templates_with_figures_and_doubled_braces_are_read() -> None:
    for sentence in (
        i18n("{n:,.1f} ms of {m:.0f} %, {k:,} {name!r} {{as it is}}", n=1234.5, m=3.2, k=7000, name="x"),
        i18n("{not a field"),
    ):
        assert from_json(to_json(sentence)) == sentence


def test_a_phrase_keeps_where_it_is_known() -> None:
    back = from_json(json.loads(json.dumps(to_json(i18n("{label}!", label=phrase("Settings", "Language"))))))
    assert back.fields["label"].context == "Settings"


def test_an_error_in_one_line_keeps_its_parts() -> None:
    error: PacelineError = ModelLoadError(i18n("{name} broke.", name="x"), "Try another.")
    assert error.one_line == "The model could not be loaded: x broke. Try another."
    message = error.one_line.fields["message"]
    assert isinstance(message, Sentence)
    assert message.fields == {"name": "x"}
    assert str(error) == "x broke."
    assert DecodeError("It broke.").advice == PacelineError.default_advice


def test_a_field_with_a_full_stop_of_its_own_is_not_followed_by_another() -> None:
    assert i18n("Deleted “{title}”.", title="A tale of two…") == "Deleted “A tale of two…”"
    assert i18n("Deleted “{title}”.", title="Done.") == "Deleted “Done.”"
    assert i18n("Deleted “{title}”.", title="Done") == "Deleted “Done”."
    assert i18n("Deleted “{title}”.", title="Why?") == "Deleted “Why?”."
    assert i18n("{path} failed ({kind}). {kept}", path="a..", kind="x.", kept="All is kept.") == (
        "a.. failed (x.). All is kept."
    )
    assert i18n("{reason}.", reason=i18n("No such {what}.", what="file")) == "No such file."
    assert i18n("{size:.1f}.", size=2.0) == "2.0."
    assert drop_double_stop("„{title}“.", {"title": "Ende …"}) == "„{title}“"
    assert i18n("Version {found}.5 of {name}.", found="1.", name="x") == "Version 1..5 of x."
