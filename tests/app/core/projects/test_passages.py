"""Texts are split into passages of limited length, without loss, each with its heading and first line."""

from hypothesis import given
from hypothesis import strategies as st

from app.core.projects.passages import EMBEDDED_CHARS, PASSAGE_CHARS, embedded_parts, passages_of, text_sections
from engine.sandbox.document_child import Section

LINES = st.lists(st.text("ab .\u4e00。", max_size=60) | st.just("# head"), max_size=60)


@given(LINES, st.booleans())
def test_every_word_is_in_a_passage_that_begins_at_its_line(lines: list[str], has_headings: bool) -> None:
    text = "\n".join(lines)
    passages = list(passages_of(text_sections(text, has_headings=has_headings)))
    assert "".join("".join(one.text for one in passages).split()) == "".join(text.split())
    assert all(0 < len(one.text) <= PASSAGE_CHARS for one in passages)
    for one in passages:
        assert one.text.split("\n", maxsplit=1)[0].rstrip() in lines[one.line - 1]


def test_a_passage_ends_at_a_sentence_rather_than_in_a_word() -> None:
    sentences = " ".join(f"Sentence {number} is here." for number in range(100))
    passages = list(passages_of([Section(sentences, 4, "Head")]))
    assert len(passages) > 1
    assert all(one.text.endswith(".") and one.page == 4 and one.heading == "Head" for one in passages)


def test_short_paragraphs_below_one_heading_are_one_passage() -> None:
    text = "# One\n\nfirst\n\nsecond\n\n# Two\nthird"
    assert [(one.text, one.heading, one.line) for one in passages_of(text_sections(text, has_headings=True))] == [
        ("# One\n\nfirst\n\nsecond", "One", 1),
        ("# Two\nthird", "Two", 7),
    ]


def test_rows_of_a_table_know_the_names_of_their_columns() -> None:
    passages = list(passages_of(text_sections("month,sum\nMay,900\nJune,910\n", has_columns=True)))
    assert [(one.text, one.heading, one.line) for one in passages] == [("month,sum\nMay,900\nJune,910", "month,sum", 1)]


@given(LINES)
def test_the_pieces_of_a_passage_have_all_of_its_words(lines: list[str]) -> None:
    text = "\n".join(lines)
    pieces = embedded_parts(text)
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= EMBEDDED_CHARS for piece in pieces if not any(end in piece[:-1] for end in " .。"))


def test_short_sentences_share_a_piece_and_none_is_cut() -> None:
    assert embedded_parts("A head\nOne. Two.") == ["A head One. Two."]
    long = "x" * EMBEDDED_CHARS
    assert embedded_parts(f"One. {long}. Two.") == ["One.", f"{long}.", "Two."]
