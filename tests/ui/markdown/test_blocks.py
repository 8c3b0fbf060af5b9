"""Streamed Markdown results in the same blocks as Markdown parsed at once."""

import re
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.long_form import rounds
from tests.ui.long_chats import KINDS, answer_of, history_of
from tests.ui.markdown.documents import cut_documents, documents, every_char
from ui.markdown import blocks as markdown_blocks
from ui.markdown.blocks import (
    LIST_ITEMS,
    MAX_RUN_BLOCKS,
    SLICE_CHARS,
    TABLE_ROWS,
    Block,
    BlockStream,
    Segment,
    SlicedParser,
    column_widths,
    is_table,
    plan_segments,
    rows_of,
    table_part,
)
from ui.markdown.html_writer import MAX_QUOTE_LEVEL, render_tokens
from ui.markdown.lists import DONE_BOX
from ui.markdown.parser import SafeParser


def stream(pieces: Iterable[str]) -> list[Block]:
    feed = BlockStream()
    final = [block for piece in pieces for block in feed.feed(piece)]
    return final + feed.finish()


def whole(text: str) -> str:
    """The document parsed at once by the plain parser; top-level code as its text."""
    parser = SafeParser()
    group, result = [], []
    for token in parser.parse(text.replace("\r", "").lstrip("\n")):
        group.append(token)
        if token.level == 0 and token.nesting <= 0:
            is_code = len(group) == 1 and token.type in ("fence", "code_block")
            if is_table(group):
                group = table_part(group, rows_of(group), column_widths(group))
            result.append(f"CODE {token.content}" if is_code else render_tokens(parser, group))
            group = []
    return WIDTH.sub("", "".join(result))


SEAM = re.compile(r'</tbody>\n?</table>\n?<table class="grid more[^>]*>\n?<tbody>\n?')  # the seam of two table parts
WIDTH = re.compile(r' width="\d+%"')


def joined(blocks: Iterable[Block]) -> str:
    html = "".join(f"CODE {block.code}" if block.is_code else block.html for block in blocks)
    return WIDTH.sub("", SEAM.sub("", html).replace('class="grid part"', 'class="grid"'))


@settings(max_examples=rounds(100, 2000), deadline=None)
@given(cut_documents())
@example(("```py\nx = '`'\n``\n```\nafter", list("```py\nx = '`'\n``\n```\nafter")))
@example(("1. a\n\n1. b\n\n1", ["1. a\n\n1", ". b\n\n1"]))
@example(("a\n\n``` x ` y\nz", list("a\n\n``` x ` y\nz")))
def test_pieces_equal_the_whole(case: tuple[str, list[str]]) -> None:
    text, pieces = case
    assert joined(stream(pieces)) == whole(text)
    assert plan_segments(stream(pieces)) == plan_segments(stream([text]))


@settings(max_examples=rounds(30, 600), deadline=None)
@example("Some **bold** text.\na | b\n--|--# Title\n")
@given(documents())
def test_single_characters_equal_the_whole(text: str) -> None:
    assert joined(stream(every_char(text))) == whole(text)


@settings(max_examples=rounds(30, 600), deadline=None)
@given(documents(), st.integers(1, 7))
def test_a_final_block_never_changes(text: str, step: int) -> None:
    feed = BlockStream()
    seen: list[Block] = []
    for start in range(0, len(text), step):
        seen += feed.feed(text[start : start + step])
    seen_then = list(seen)
    assert (seen + feed.finish())[: len(seen_then)] == seen_then


@settings(max_examples=rounds(30, 600), deadline=None)
@example(["one ", "two", " **three** ", "four", "\r", " five"])
@given(
    st.lists(st.one_of(documents(), st.sampled_from(["plain words ", "and more", ", 12.", "\r", "  "])), max_size=12)
)
def test_what_is_told_to_be_words_only_makes_the_last_block_longer(pieces: list[str]) -> None:
    feed = BlockStream()
    for piece in pieces:
        before, told = list(feed.tail), feed.accepts_words(piece)
        closed = feed.feed(piece)
        assert told is bool(feed.words)
        if told:
            assert closed == []
            assert list(feed.tail[:-1]) == before[:-1]
            assert feed.tail[-1].source_map.text == before[-1].source_map.text + feed.words


def test_a_long_fence_is_not_parsed_again_while_it_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = BlockStream()
    feed.feed("```py\nfirst\n")
    calls: list[str] = []
    parse = markdown_blocks._PARSER.parse
    monkeypatch.setattr(markdown_blocks._PARSER, "parse", lambda text, env: (calls.append(text), parse(text, env))[1])
    for number in range(200):
        feed.feed(f"line {number}\n")
    assert calls == []
    assert feed.tail[0].code.endswith("line 199\n")
    assert not feed.tail[0].closed
    feed.feed("```\n")
    assert feed.tail[0].closed


def test_half_a_fence_is_not_shown() -> None:
    feed = BlockStream()
    feed.feed("text\n\n``")
    assert [block.html for block in feed.tail] == ["<p>text</p>\n"]
    feed.feed("`sh\nls")
    assert [block.is_code for block in feed.tail] == [True]


def test_runs_of_prose_are_cut_and_code_stands_alone() -> None:
    text = "\n\n".join(["word"] * (MAX_RUN_BLOCKS + 1)) + "\n\n```\ncode\n```\n\nend"
    plan = plan_segments(stream([text]))
    assert [segment.is_code for segment in plan] == [False, False, True, False]
    assert [segment.num_blocks for segment in plan] == [MAX_RUN_BLOCKS, 1, 1, 1]


def test_raw_html_stays_text() -> None:
    html = joined(stream(["<script>alert(1)</script>\n\n<b>x</b>"]))
    assert "<script" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html


def test_unsafe_links_stay_text() -> None:
    html = joined(stream(["[a](javascript:alert(1)) [b](file:///etc/passwd) [c](https://example.org)"]))
    assert html.count("<a ") == 1
    assert 'href="https://example.org"' in html


def test_images_become_links() -> None:
    html = joined(stream(["![a cat](https://example.org/cat.png)"]))
    assert "<img" not in html
    assert '<a href="https://example.org/cat.png">a cat</a>' in html


def test_a_line_break_is_kept() -> None:
    assert joined(stream(["one\ntwo"])) == "<p>one<br/>two</p>\n"


PARTS_OF_ADDRESSES = ("https", "://a", "www", ".org", ".", "/b?c=1")


@settings(max_examples=rounds(100, 2000), deadline=None)
@given(
    st.lists(
        st.one_of(
            documents(), st.sampled_from(["plain words ", "and more", ", 12.", " - x", " $5 ", *PARTS_OF_ADDRESSES])
        ),
        max_size=8,
    )
)
@example(["costs $5", "0 and *a*", "b _c_", "d"])
@example(["see [x](http", "://a b", ")"])
@example(["see https", "://a", ".org", ". b"])
@example(["see www", ".a", ".org", ",", "b c"])
@example(["- [x", "] a", " b"])
@example(["- [", "] a", " b\n- [ ]", " c", " d"])
@example(["1", ". a", "b 2. c"])
@example(["# Title", " more ", "#", "x"])
def test_words_that_are_not_parsed_are_as_if_they_were(pieces: list[str]) -> None:
    feed = BlockStream()
    for number, piece in enumerate(pieces):
        feed.feed(piece)
        if feed.words:
            at_once = BlockStream()
            at_once.feed("".join(pieces[: number + 1]))
            common_length = min(len(feed.tail), len(at_once.tail))  # a chunk closes only blocks that were open before
            assert feed.tail[-common_length:] == at_once.tail[-common_length:]


def test_plain_words_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = BlockStream()
    feed.feed("- one\n- The **first**")
    feed.feed(" words")
    monkeypatch.setattr(markdown_blocks._PARSER, "parse", pytest.fail)
    for _ in range(20):
        feed.feed(" of 2, or more")
    assert feed.words == " of 2, or more"
    assert feed.tail[0].html.endswith(" words" + " of 2, or more" * 20 + "</li>\n</ul>\n")


ITEMS = [f"{number}. item **{number}**\n" for number in range(1, 41)]


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_long_list_is_closed_part_by_part(step: int) -> None:
    text = "Before.\n\n" + "".join(ITEMS) + "\nAfter."
    feed, longest = BlockStream(), 0
    blocks: list[Block] = []
    for start in range(0, len(text), step):
        blocks += feed.feed(text[start : start + step])
        longest = max(longest, sum(block.html.count("<li>") for block in feed.tail))
    blocks += feed.finish()
    assert longest <= LIST_ITEMS + 1
    assert [block.html.count("<li>") for block in blocks] == [0, 12, 12, 12, 4, 0]
    assert [block.has_more for block in blocks] == [False, True, True, True, False, False]
    assert [block.html.split("\n")[0] for block in blocks[1:4]] == [
        '<ol class="part">',
        '<ol start="13" class="part">',
        '<ol start="25" class="part">',
    ]
    assert "".join(text[place] for block in blocks for place in block.source_map.positions).startswith(
        "Before.item 1item 2"
    )
    assert blocks == stream([text])


@settings(max_examples=rounds(50, 1000), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["- a\n", "- *b*\n\n", "- [x] t\n", "  > q\n", "  more\n", "   - deep\n", "1. c\n", "\n", "text\n"]
        ),
        max_size=60,
    ),
    st.data(),
)
def test_long_lists_in_pieces_equal_those_at_once(lines: list[str], data: st.DataObject) -> None:
    text = "".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    assert stream(pieces) == stream([text])
    shown = "".join(text[place] for block in stream([text]) for place in block.source_map.positions).replace(
        "x t", f"{DONE_BOX} t"
    )
    assert shown.replace("\n", "") == "".join(block.source_map.text for block in stream([text])).replace("\n", "")


def table_of(num_rows: int) -> str:
    rows = "".join(f"| row {number} | **{number}** | \\| {'x' * number} |\n" for number in range(num_rows))
    return f"| name | number |  |\n|---|--:|---|\n{rows}"


@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_a_long_table_is_closed_part_by_part(step: int) -> None:
    text = "Before.\n\n" + table_of(14) + "\nAfter."
    feed, longest = BlockStream(), 0
    blocks: list[Block] = []
    for start in range(0, len(text), step):
        blocks += feed.feed(text[start : start + step])
        longest = max(longest, sum(block.num_rows for block in feed.tail))
    blocks += feed.finish()
    assert longest <= TABLE_ROWS + 1
    assert [block.num_rows for block in blocks] == [0, 4, 4, 4, 2, 0]
    assert [block.has_more for block in blocks] == [False, True, True, True, False, False]
    assert [block.html.split('"')[1] for block in blocks[1:5]] == ["grid part", *["grid more part"] * 2, "grid more"]
    assert [block.html.count("<thead>") for block in blocks] == [0, 1, 0, 0, 0, 0]
    widths = [[part.split('"')[0] for part in block.html.split('width="')[2:]] for block in blocks[1:5]]
    assert widths == [["33%", "33%", "33%"]] * 4
    shown = "".join(block.source_map.text for block in blocks)
    assert "".join(text[place] for block in blocks for place in block.source_map.positions) == shown
    assert shown.count("name") == 1
    assert blocks == stream([text])


@settings(max_examples=rounds(60, 1000), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "| a | b |\n",
                "|---|--:|\n",
                "| *c* | `d \\| e` |\n",
                "x | y | z\n",
                "f\n",
                "> g\n",
                "\n",
                "\r\n",
                "``",
                "\n- h\n",
            ]
        ),
        max_size=60,
    ),
    st.data(),
)
def test_long_tables_in_pieces_equal_those_at_once(lines: list[str], data: st.DataObject) -> None:
    text = "| a | b |\n|---|--:|\n" + "".join(lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    assert stream(pieces) == stream([text])
    shown = "".join(text[place] for block in stream([text]) for place in block.source_map.positions)
    assert shown.split() == "".join(block.source_map.text for block in stream([text])).split()


def test_the_end_of_a_fence_is_not_lost_where_a_list_is_cut() -> None:
    feed = BlockStream()
    blocks = feed.feed("".join(f"- {number}\n" for number in range(LIST_ITEMS + 1)) + "``")
    blocks += feed.feed("`sh\nls\n```\n") + feed.finish()
    assert [block.code for block in blocks if block.is_code] == ["ls\n"]


def test_quotes_in_quotes_stop_going_deeper() -> None:
    html = joined(stream([">" * 30 + " deep"]))
    assert html.count('<table class="quote') == html.count("</td></tr></table>") == MAX_QUOTE_LEVEL
    assert "deep" in html


def widths(*cells: str) -> tuple[int, ...]:
    row = " | ".join(cells)
    return column_widths(SafeParser().parse(f"| {row} |\n|{'---|' * len(cells)}\n"))[1:]


def test_columns_that_fit_have_the_share_that_they_want() -> None:
    assert widths("a", "a" * 48) == (11, 89)


def test_a_narrow_column_keeps_its_words_beside_many_wide_ones() -> None:
    long, short = "some words " * 10, "two words"
    before, after = widths(short, "b"), widths(short, long, long, long, "b")
    assert after[1] == after[2] == after[3] > after[0] > after[4]
    assert after[0] / after[4] == pytest.approx(before[0] / before[1], rel=0.1)
    assert after[0] >= 12


def test_many_wide_columns_are_equal() -> None:
    assert widths(*["some words " * 10] * 4) == (25, 25, 25, 25)


def test_a_short_word_is_not_broken_in_a_narrow_window() -> None:
    """At 500 px; "Count" in bold with its margins needs 61 of them."""
    shares = widths("a much longer name here", "Count", "Remark that is somewhat longer than the others")
    assert shares[1] >= 12


def at_once(text: str, base: int = 0) -> list[Segment]:
    stream = BlockStream(base)
    return plan_segments(stream.feed(text) + stream.finish())


def in_pieces(text: str, base: int = 0) -> tuple[list[Segment], int]:
    reading, num = SlicedParser(text, base), 1
    while (segments := reading.read_next()) is None:
        num += 1
    return segments, num


TEXTS = [answer_of(kind, 1_000) for kind in KINDS] + [view.text for view in history_of(3_000)]
TEXTS += ["", "One line", "```\nno end", "a\r\nb\r\n\r\nc\r\n" * 99, "\n" * 2_000, "- a\n\n" * 300, "x" * 5_000]


def plain(segments: list[Segment]) -> list[tuple[str, str, str, tuple[int, ...]]]:
    return [(one.html, one.code, one.language, tuple(one.source_map.positions)) for one in segments]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
@pytest.mark.parametrize("base", [0, 17])
def test_same_segments(text: str, base: int) -> None:
    assert plain(in_pieces(text, base)[0]) == plain(at_once(text, base))


def test_many_pieces() -> None:
    text = answer_of("mixed", 2_000)
    assert in_pieces(text)[1] >= len(text) // (2 * SLICE_CHARS) - 1


def test_what_never_closes_is_not_read_again_and_again() -> None:
    text = "> *a* quoted line\n" * 1_500
    begun = time.thread_time()
    at_once(text)
    once = time.thread_time() - begun
    begun = time.thread_time()
    in_pieces(text)
    assert time.thread_time() - begun < 6 * once


def test_a_table_that_is_read_from_the_right_has_its_first_column_there() -> None:
    text = "| اسم | قيمة |\n|---|---|\n| أ | 1 |\n| ب | $x$ |\n"
    (block,) = stream([text])
    assert 'align="right" cellspacing' in block.html
    assert block.html.index("قيمة") < block.html.index("اسم")
    shown = block.source_map
    assert shown.text == "قيمةاسم1أ$x$ب"
    assert "".join(text[place] for place in shown.positions) == shown.text
    assert [shown.text[begin:end] for begin, end in shown.formulas] == ["$x$"]
    assert block.html.count("</td>") == 4


def test_a_narrow_table_is_no_wider_than_it_needs() -> None:
    (narrow,) = stream(["| a | b |\n|---|---|\n| 1 | 2 |\n"])
    (wide,) = stream([f"| a | b |\n|---|---|\n| {'words ' * 9} | 2 |\n"])
    assert 'width="40%"' in narrow.html
    assert 'width="100%"' in wide.html


def test_code_beside_words_from_the_right_stands_apart() -> None:
    (mixed,) = stream(["مرحبا `a.b()` نعم"])
    assert '\u2066<span class="code">a.b()</span>\u2069' in mixed.html
    (plain,) = stream(["Words `a.b()`"])
    assert "\u2066" not in plain.html
