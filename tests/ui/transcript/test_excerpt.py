"""Tests copied text and HTML: code with its colours, reasoning only if it is shown."""

import re
from html import escape

import pytest
from PySide6.QtWidgets import QApplication

from app.core.domain.messages import MessageView
from ui.theme.theme import Theme
from ui.transcript.cards.answer_card import AnswerCard
from ui.transcript.cards.code_block import CodeBlock
from ui.transcript.cards.user_card import UserCard
from ui.transcript.excerpt import INK, ExcerptPart, code_html, excerpt_of, plain_to_portable, to_portable

ANSWER = "<think>Hm **so**</think>The *answer*\n\n```py\ndef f(): ...\n```\n"


def test_code_has_the_colours_of_a_light_page() -> None:
    html = code_html("def 𝒇(): # <x>\n\treturn 'é'", "python")
    assert re.search(r'<span style="color: #[0-9a-fA-F]+">def</span>', html)
    assert "# &lt;x&gt;</span>\n" in html
    assert re.sub("<[^>]*>", "", html).count("\n") == 1
    assert code_html("a < b", "nonsense") == "a &lt; b"


def test_reasoning_is_copied_where_it_is_open() -> None:
    assert excerpt_of([ExcerptPart("assistant", ANSWER)]).text.startswith("The answer\n\ndef")
    assert excerpt_of([ExcerptPart("assistant", ANSWER, with_reasoning=True)]).text.startswith(
        "Hm so\n\nThe answer\n\ndef"
    )
    assert (
        excerpt_of([ExcerptPart("user", "<b>"), ExcerptPart("assistant", "**b**")]).html
        == "<p>&lt;b&gt;</p>\n<p><strong>b</strong></p>\n"
    )


def test_the_buttons_give_both(theme: Theme) -> None:
    clipboard = QApplication.clipboard()
    answer = AnswerCard(theme, MessageView(1, "assistant", ANSWER))
    while answer.build_next():
        pass
    answer.copy_button.click()
    assert clipboard.text() == "The *answer*\n\n```py\ndef f(): ...\n```\n"
    assert "<em>answer</em>" in clipboard.mimeData().html()
    code = next(part for part in answer.body.segments if isinstance(part, CodeBlock))
    code.copy_button.click()
    assert clipboard.text() == "def f(): ...\n"
    assert clipboard.mimeData().html().startswith('<pre dir="ltr" ')
    UserCard(theme, MessageView(2, "user", "Ask *this*")).copy_text()
    assert (clipboard.text(), clipboard.mimeData().html()) == ("Ask *this*", "<p>Ask *this*</p>\n")
    clipboard.clear()


END = 10**9
LISTS = "3. one\n4. two\n   - nested **b**\n   - [x] done\n\n5. three\n"
TABLE = "| a | b |\n|---|--:|\n| 1 | `x\\|y` |\n| 3 | 4 |\n"


def text_of(markdown: str, begin: int = 0, end: int = END) -> str:
    return to_portable(markdown, begin, end, lambda code, _: escape(code)).text


def html_of(markdown: str, begin: int = 0, end: int = END) -> str:
    return to_portable(markdown, begin, end, lambda code, _: escape(code)).html


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("# Head *it*\n\nOne `a  b` **c** [d](https://e.org)\nnext\\* &amp;", "Head it\n\nOne a  b c d\nnext* &"),
        (LISTS, "3. one\n4. two\n   - nested b\n   ☑ done\n5. three"),
        (TABLE, "a\tb\n1\tx|y\n3\t4"),
        ("- a\n\n  ```\n  x\n    y\n  ```\n- b", "- a\n  x\n    y\n- b"),
        ("Sum $x^2$\n\n$$\na\n$$", "Sum $x^2$\n\n$$\na\n$$"),
        ("> q\n> r\n\nend", "q\nr\n\nend"),
        ("a\r\n\r\nb", "a\n\nb"),
    ],
)
def test_text_keeps_numbers_bullets_and_cells(markdown: str, text: str) -> None:
    assert text_of(markdown) == text


def part(source: str, begin: str, end: str) -> tuple[int, int]:
    return source.index(begin), source.index(end)


def test_a_part_has_what_stands_between_two_places() -> None:
    assert text_of(LISTS, *part(LISTS, "wo", "b**")) == "4. wo\n   - nested "
    assert text_of(TABLE, *part(TABLE, "y`", "4 |")) == "\ty\n3\t"
    assert html_of(LISTS, *part(LISTS, "two", "nested")).startswith('<ol start="4">')
    assert "<thead>" not in html_of(TABLE, *part(TABLE, "1 |", "4 |"))
    words = "Some **bold** words\r\nand more"
    assert html_of(words, *part(words, "ld", "rds")) == "<strong>ld</strong> wo"
    assert text_of(words, *part(words, "ords", "ore")) == "ords\nand m"
    assert text_of("a $x^2$ b", 2, 5) == "$x^2$"  # formulas are copied as a whole
    assert (text_of(words, 3, 3), html_of(words, 3, 3)) == ("", "")


def test_colours_are_those_of_paper_and_come_in_pairs() -> None:
    html = html_of("Words `c`\n\n```py\nx\n```\n\n" + TABLE)
    for style in re.findall(r'style="([^"]*)"', html):
        assert ("background-color" in style) == (f"color:{INK}" in style)
    assert html_of("Words") == "<p>Words</p>\n"  # no style unless needed


def test_what_is_read_from_the_right_says_so() -> None:
    assert html_of("مرحبا `x`").startswith('<p dir="rtl">')
    assert '<table dir="rtl"' in html_of("| أ | ب |\n|-|-|\n| 1 | 2 |").replace(' style="border-collapse:collapse"', "")


def test_html_of_strangers_is_shown_as_it_is_written() -> None:
    assert html_of("<b>x</b> [a](javascript:b)") == "<p>&lt;b&gt;x&lt;/b&gt; [a](javascript:b)</p>\n"
    assert "<script" not in html_of("```<script>\n<script>\n```\n")
    assert '"' not in html_of('a "b"').replace("&quot;", "")


def test_a_text_that_is_no_markdown_keeps_all_but_its_fences() -> None:
    text = "1 * 2 * 3 <b>\n\n    in\n```py\nx = 1\n```\nend"
    made = plain_to_portable(text, 0, len(text), lambda code, _: escape(code))
    assert made.text == text
    assert made.html.startswith("<p>1 * 2 * 3 &lt;b&gt;<br>\n<br>\n\u00a0 \u00a0 in</p>\n<pre ")
    assert made.html.endswith(">x = 1</pre>\n<p>end</p>\n")
