"""Tests emphasis in scripts without spaces, and ``<br>``, the only supported tag."""

import pytest

from ui.markdown.html_writer import render_tokens
from ui.markdown.parser import SafeParser


def html(text: str) -> str:
    return render_tokens(SafeParser(), SafeParser().parse(text))


@pytest.mark.parametrize(
    ("text", "strong"),
    [
        ("这是**“重点”**内容", "“重点”"),
        ("**该词。**后面", "该词。"),
        ("これは**「強調」**です", "「強調」"),
        ("한국어**(강조)**입니다", "(강조)"),
        ("前**a**后", "a"),
        ("中文 **x!** 中文", "x!"),
    ],
)
def test_bold_words_between_letters_without_spaces(text: str, strong: str) -> None:
    assert f"<strong>{strong}</strong>" in html(text)
    assert "*" not in html(text)


@pytest.mark.parametrize("text", ["a*“b”*c", "2*“3”*4", "中文 * 不是 * 强调", "a**“b”**c"])
def test_elsewhere_it_is_as_in_commonmark(text: str) -> None:
    assert "<em>" not in html(text)
    assert "<strong>" not in html(text)


@pytest.mark.parametrize("tag", ["<br>", "<br/>", "<br />", "<BR>"])
def test_a_line_break_in_a_cell(tag: str) -> None:
    shown = html(f"| a |\n|---|\n| one{tag}two |")
    assert "one<br" in shown
    assert "&lt;" not in shown


@pytest.mark.parametrize("text", ["`<br>`", "<brx>", "<br onclick=1>", "```\n<br>\n```"])
def test_what_is_no_line_break_stays_as_it_is_written(text: str) -> None:
    assert "&lt;br" in html(text)
