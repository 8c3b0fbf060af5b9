"""Appended words are inserted before the end tags of their block, however many there are."""

import pytest

from ui.markdown.words import append_to_html


@pytest.mark.parametrize("num_lists", [0, 1, 3, 20])
@pytest.mark.parametrize("num_words", [1, 2_000])
def test_words_stand_before_all_the_end_tags(num_lists: int, num_words: int) -> None:
    before = "<ul>\n<li>" * num_lists + "<p>" + "some words, " * num_words + "one"
    after = "</p>" + "</li>\n</ul>\n" * num_lists
    assert append_to_html(before + after, " & more") == before + " &amp; more" + after


def test_spaces_at_the_end_are_no_words() -> None:
    assert append_to_html("<p>one</p>\n \n", " two") == "<p>one two</p>\n \n"
    assert append_to_html("one " + " " * 500, "two") == "onetwo " + " " * 500
    assert append_to_html("", "one") == "one"
