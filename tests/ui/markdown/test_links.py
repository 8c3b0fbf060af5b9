"""Bare addresses become links where a reader recognises an address, and nowhere else."""

import re

import pytest

from ui.markdown.html_writer import render_tokens
from ui.markdown.links import MAX_CHARS
from ui.markdown.parser import SafeParser
from ui.text.links import is_safe

LINK = re.compile(r'<a href="([^"]*)">(.*?)</a>')


def links(text: str) -> list[tuple[str, str]]:
    parser = SafeParser()
    html = render_tokens(parser, parser.parse(text))
    return [(found[1].replace("&amp;", "&"), found[2].replace("&amp;", "&")) for found in LINK.finditer(html)]


def shown(text: str) -> list[str]:
    return [words for _, words in links(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see https://example.org/a_b_c?x=1&y=2.", ["https://example.org/a_b_c?x=1&y=2"]),
        ("(see https://en.example.org/Foo_(bar)), then", ["https://en.example.org/Foo_(bar)"]),
        ("((https://example.org/a(b)))", ["https://example.org/a(b)"]),
        ("is it http://example.org/?! Yes", ["http://example.org/"]),
        ("**https://example.org/a** *www.example.org* ~~https://b.org~~", 3),
        ("\"https://example.org/q\", 'https://example.org/r'", ["https://example.org/q", "https://example.org/r"]),
        ("https://example.org/a;b; https://example.org/?c&lt;", ["https://example.org/a;b", "https://example.org/?c"]),
        ("http://localhost:8080/v1 and http://127.0.0.1", ["http://localhost:8080/v1", "http://127.0.0.1"]),
        ("请见https://example.org/路径。然后", ["https://example.org/路径"]),
        (
            "https://example.org/{id}/x} https://example.org/a[0]]",
            ["https://example.org/{id}/x", "https://example.org/a[0]"],
        ),
        ('<a href="https://example.org">text</a>', ["https://example.org"]),
        ("| a |\n|---|\n| https://example.org |", ["https://example.org"]),
        ("# https://example.org #", ["https://example.org"]),
        ("two\nHTTPS://EXAMPLE.ORG\nlines", ["HTTPS://EXAMPLE.ORG"]),
        ("https://example.org/*a*_b_/~c", ["https://example.org/*a*_b_/~c"]),
    ],
)
def test_a_bare_address_is_a_link(text: str, expected: list[str] | int) -> None:
    found = shown(text)
    assert (len(found) if isinstance(expected, int) else found) == expected


def test_www_leads_to_http() -> None:
    assert links("www.example.org/a, b") == [("http://www.example.org/a", "www.example.org/a")]


def test_an_escaped_and_sign_is_one_in_the_address() -> None:
    assert links("https://example.org/?a=1&amp;b=2")[0][0] == "https://example.org/?a=1&b=2"


@pytest.mark.parametrize(
    "text",
    [
        "`https://example.org`",
        "```\nhttps://example.org\n```",
        "    https://example.org",
        "https:// http:/example.org https://. https://-",
        "www. www.. wwww.example.org xwww.example.org a.www.example.org",
        "ahttps://example.org ftp://example.org javascript://example.org file:///etc/passwd",
        "https://exam_ple.org https://example.o_g",
        "$x = https://example.org$",
    ],
)
def test_what_is_no_address_is_no_link(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "https://bank.example@elsewhere.example",
        "https://user:word@example.org/",
        "https://example.org/\N{RIGHT-TO-LEFT OVERRIDE}gpj.exe",
        "https://example.org/\N{ZERO WIDTH SPACE}a",
        "https://example.org/" + "a" * MAX_CHARS,
    ],
)
def test_an_address_that_deceives_is_no_link(text: str) -> None:
    assert links(text) == []


@pytest.mark.parametrize("text", ["https://example.org\\@elsewhere.example", "https://a.org/b\\_c", "www.a.org\\"])
def test_a_backslash_ends_an_address(text: str) -> None:
    assert shown(text) == [text.split("\\", maxsplit=1)[0]]
    assert all(is_safe(address) for address, _ in links(text))


def test_a_link_is_left_as_it_is() -> None:
    text = "[https://a.org](https://b.org) [see www.a.org or https://a.org now](https://c.org) <https://d.org>"
    assert [address for address, _ in links(text)] == ["https://b.org", "https://c.org", "https://d.org"]


def test_the_words_of_an_image_hold_no_link() -> None:
    assert links("![https://a.org](https://b.org/c.png)") == [("https://b.org/c.png", "https://a.org")]
