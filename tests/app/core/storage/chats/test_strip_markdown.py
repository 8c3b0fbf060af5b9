"""Tests excerpts of answers without Markdown: cut anywhere, matches kept, code unchanged."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.storage.chats.strip_markdown import BEGIN, ELLIPSIS, END, strip_markdown

PIECES = ("**", "*", "_", "__", "`", "```", "\n", "\n\n", "# ", "- ", "> ", "| ", " | ", "[", "](x)", "\\", " ", "~~")
WORDS = ("sea", "boat", "a_b", "2", "é", "…")


def excerpt(text: str, typed: str, num_words: int = 14) -> str:
    """The excerpt that the search cuts from a text."""
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')")
    db.execute("INSERT INTO t VALUES (?)", (text,))
    sql = "SELECT snippet(t, 0, ?, ?, ?, ?) FROM t WHERE t MATCH ?"
    ((found,),) = db.execute(sql, (BEGIN, END, ELLIPSIS, num_words, f'"{typed}"')).fetchall()
    db.close()
    return str(found)


def shown(text: str, typed: str, num_words: int = 14) -> str:
    """The shown excerpt, matches in braces."""
    return strip_markdown(text, excerpt(text, typed, num_words)).replace(BEGIN, "{").replace(END, "}")


@pytest.mark.parametrize(
    ("text", "typed", "expected"),
    [
        ("A **quokka** is `small` and *nice*.", "small", "A quokka is {small} and nice."),
        ("A **quokka** is small.", "quokka", "A {quokka} is small."),
        ("a ***both*** and \\*not\\* and _under_ ~~gone~~", "both", "a {both} and *not* and under gone"),
        ("## The head\n\n- one **item**\n- [x] two", "item", "The head • one {item} • two"),
        ("> said *he*\n> - and she", "he", "said {he} • and she"),
        ("| Name | Age |\n|---|--:|\n| Ann | 3 |\n\nEnd", "ann", "Name · Age · {Ann} · 3 · End"),
        ("one\n\n---\n\ntwo\n===\n\nthree", "two", "one {two} three"),
        ("see [the text](https://example.org/a_(b)) here", "text", "see the {text} here"),
        ("see [the text](https://example.org/a) here", "example", "see the text (https://{example}.org/a) here"),
        ("at <https://example.org>", "at", "{at} https://example.org"),
        (
            "```python\ndef f(**kwargs):\n    return a_b\n```\n\nA **word**",
            "return",
            "def f(**kwargs): {return} a_b A word",
        ),
        ("```python\nx\n```", "python", "{python} x"),
        ("Use `**kwargs` and `a_b` here", "kwargs", "Use **{kwargs} and a_b here"),
        ("2 * 3 * 4 is snake_case_name", "snake", "2 * 3 * 4 is {snake}_case_name"),
        ("<think>\nNo quoll.\n</think>\n\nA *cat*.", "quoll", "No {quoll}. A cat."),
        ("10 - 3 > 5 # not a head", "not", "10 - 3 > 5 # {not} a head"),
        ("an unpaired ** and ` stay", "unpaired", "an {unpaired} ** and ` stay"),
    ],
)
def test_markup_goes_and_words_stay(text: str, typed: str, expected: str) -> None:
    assert shown(text, typed) == expected


def test_what_is_cut_in_the_middle_is_reported_by_its_line() -> None:
    text = "Before it. **Many bold words that go on and on, far beyond what an excerpt holds, sea, and on** and after."
    assert shown(text, "sea", 4) == "…holds, {sea}, and on…"
    code = "```c\n" + "int *a_b = **c;\n" * 30 + "sea(**d);\n" + "int *a_b = **c;\n" * 30 + "```\n"
    assert shown(code, "sea", 6) == "…b = **c; {sea}(**d); int *a…"
    item = "- first\n- " + "second point " * 20 + "**sea** end\n- third"
    assert shown(item, "sea", 3) == "…point {sea} end…"
    assert shown(f"word {'x' * 900} **sea**", "sea", 2).endswith("{sea}")


def test_dots_of_the_text_are_no_cut() -> None:
    assert shown("… and the **sea** …", "sea") == "… and the {sea} …"


def test_an_excerpt_of_another_text_is_cleaned_by_itself() -> None:
    assert strip_markdown("nothing of it", f"a **{BEGIN}b{END}**") == f"a {BEGIN}b{END}"


@given(st.lists(st.sampled_from((*PIECES, *WORDS)), max_size=40), st.integers(1, 12))
def test_every_match_stays_wherever_the_search_cuts(pieces: list[str], num_words: int) -> None:
    text = "".join(pieces) + "\nsea"
    cut = excerpt(text, "sea", num_words)
    found = strip_markdown(text, cut)
    between = f"{BEGIN}(.*?){END}"
    assert re.findall(between, found, re.DOTALL) == re.findall(between, cut, re.DOTALL)
    assert "\x00" not in found
    letters = [char for char in found if char.isalnum()]
    rest = iter(char for char in cut if char.isalnum())
    assert all(char in rest for char in letters)  # nothing is added, and the order is kept
