"""Cached inline tokens equal freshly parsed ones."""

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it.token import Token

from tests.long_form import rounds
from ui.markdown import inline as markdown_inline
from ui.markdown.inline import CACHE_SIZE, LONG_CHARS, OFFSET, PositionedInline
from ui.markdown.parser import SafeParser

FILL = "Words of a long paragraph that goes on and on without a sign, so that its beginning is worth being kept. " * 2
PIECES = st.sampled_from(
    [
        "plain words ",
        "*em* ",
        "**strong *in* it** ",
        "`code * _ [` ",
        "[link](https://example.org/a_b) ",
        "![image](https://example.org/x.png) ",
        "<https://example.org> ",
        "https://example.org/a_b$c~ ",
        "(www.example.org/*a*). ",
        "https",
        "://a.b",
        "www.",
        "&amp; \\* ",
        "snake_case ",
        "a * b ",
        "~~gone~~ ",
        "$x_1$ ",
        "costs $5 ",
        "\\( y ",
        "\\) ",
        "\\[ z \\] ",
        "[open ",
        "](https://example.org) ",
        "*",
        "**",
        "_",
        "`",
        "``",
        "~~",
        "$",
        "word",
        " ",
        "  \n",
        "\n",
        "\\\n",
        "é中😀 ",
        "!",
        "<",
        FILL,
    ]
)


def seen(tokens: Sequence[Token]) -> list[tuple[object, ...]]:
    """The drawn content of tokens and its positions; adjacent text tokens may be split anywhere."""
    found: list[tuple[object, ...]] = []
    for token in tokens:
        place = int((token.meta or {}).get(OFFSET, -1))
        if token.type == "text":
            found += [("text", char, place + number) for number, char in enumerate(token.content)]
        else:
            found.append((token.type, token.content, place, token.markup, token.info, str(token.attrs)))
    return found


@settings(max_examples=rounds(120, 4000), deadline=None)
@given(st.lists(PIECES, max_size=14))
@example([FILL, "snake_case ", "*a ", "b*", " c"])
@example([FILL, "word", " ", "\n", "next"])
@example([FILL, "costs $5 ", "and ", "x$"])
@example([FILL, "https://example.org/a_b$c~ ", "word", FILL, "*em* "])
def test_a_paragraph_that_grows_is_parsed_as_one_that_is_new(pieces: list[str]) -> None:
    kept, text = PositionedInline(), ""
    for piece in pieces:
        text += piece
        new = SafeParser()
        kept.ruler, kept.ruler2 = new.inline.ruler, new.inline.ruler2
        assert seen(kept.parse(text, new, {}, [])) == seen(new.inline.parse(text, new, {}, []))


def test_the_beginning_of_a_long_paragraph_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    tokenize = PositionedInline.tokenize

    def spy(inline: PositionedInline, state: markdown_inline._PositionedState) -> None:
        parsed.append(state.src)
        tokenize(inline, state)

    monkeypatch.setattr(PositionedInline, "tokenize", spy)
    parser, text = SafeParser(), ""
    for number in range(100):
        text += f"Some *words* and `code` number {number}, and more of them. "
        parser.parse(text)
    assert max(map(len, parsed)) < 2 * LONG_CHARS
    parser.parse("\n\n".join(f"other {number}" for number in range(2 * CACHE_SIZE)))
    inline = parser.inline
    assert isinstance(inline, PositionedInline)
    assert len(inline._cached_prefixes) == CACHE_SIZE
