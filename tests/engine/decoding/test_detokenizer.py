"""Tests text that is safe to show: split characters, stop strings, provenance."""

import sys
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.decoding.detokenizer import Detokenizer, Piece
from engine.records import Source
from tests.engine.tiny_tokenizer import TinyTokenizer

ALPHABET = "abSTOP<>é€😀 \n"
SOURCES = tuple(Source)


def run(pieces: Sequence[bytes], stop: tuple[str, ...], blocks: Sequence[int] = ()) -> tuple[list[Piece], int]:
    """Feed the pieces in blocks of these sizes, then one by one; also returns the number of tokens that count."""
    detokenizer = Detokenizer(TinyTokenizer(words=list(pieces)), stop)
    ids = [256 + index for index in range(len(pieces))]
    given_out, position, sizes = [], 0, list(blocks)
    while position < len(ids):
        size = sizes.pop(0) if sizes else 1
        block = ids[position : position + size]
        given_out.append(detokenizer.feed(block, [SOURCES[i % len(SOURCES)] for i in block]))
        position += size
    given_out.append(detokenizer.flush())
    return given_out, sum(piece.num_tokens for piece in given_out)


def joined(given_out: Sequence[Piece]) -> str:
    for piece in given_out:
        assert sum(span.num_chars for span in piece.spans) == len(piece.text)
    return "".join(piece.text for piece in given_out)


def until_stop(text: str, stop: tuple[str, ...]) -> str:
    """The reference: add characters until the text ends with a stop string."""
    for end in range(1, len(text) + 1):
        hits = [len(one) for one in stop if one and text[:end].endswith(one)]
        if hits:
            return text[: end - max(hits)]
    return text


@given(st.lists(st.binary(max_size=5), max_size=20), st.lists(st.integers(1, 5)))
def test_any_segmentation_decodes_as_the_whole(pieces: list[bytes], blocks: list[int]) -> None:
    given_out, num_tokens = run(pieces, (), blocks)
    assert joined(given_out) == b"".join(pieces).decode("utf-8", "replace")
    assert num_tokens == len(pieces)


@given(
    st.text(ALPHABET, max_size=40).map(str.encode),
    st.lists(st.integers(0, 40), max_size=20).map(sorted),
    st.lists(st.text(ALPHABET, max_size=4), max_size=3).map(tuple),
    st.lists(st.integers(1, 5)),
)
def test_stop_strings_never_leak(data: bytes, cuts: list[int], stop: tuple[str, ...], blocks: list[int]) -> None:
    edges = [0, *cuts, len(data)]
    pieces = [data[begin:end] for begin, end in pairwise(edges)]
    given_out, _ = run(pieces, stop, blocks)
    assert joined(given_out) == until_stop(data.decode(), stop)
    text = joined(given_out)
    assert not any(one in text for one in stop if one)


@given(st.lists(st.binary(max_size=3), max_size=20))
def test_one_span_a_token_with_its_source(pieces: list[bytes]) -> None:
    detokenizer = Detokenizer(TinyTokenizer(words=pieces))
    ids = [256 + index for index in range(len(pieces))]
    sources = [SOURCES[index % len(SOURCES)] for index in ids]
    piece = detokenizer.feed(ids, sources)
    assert [span.source for span in piece.spans] == sources


def test_a_split_character_is_held_until_it_is_complete() -> None:
    given_out, _ = run(["😀".encode()[:2], "😀".encode()[2:], b"!"], ())
    assert [piece.text for piece in given_out] == ["", "😀", "!", ""]
    assert given_out[0].spans[0].num_chars == 0


def test_bytes_left_over_become_the_replacement_character() -> None:
    given_out, _ = run([b"a", b"\xe2\x82"], ())
    assert [piece.text for piece in given_out] == ["a", "", "\ufffd"]


def test_half_a_character_is_left_out_where_the_answer_was_cut() -> None:
    detokenizer = Detokenizer(TinyTokenizer(words=[b"a ST", b"\xe2\x82"]), ("STOP",))
    pieces = [detokenizer.feed([256, 257], SOURCES[:2]), detokenizer.flush(is_cut=True)]
    assert joined(pieces) == "a ST"
    assert [len(piece.spans) for piece in pieces] == [0, 2]


def test_the_possible_beginning_of_a_stop_string_is_held_back() -> None:
    given_out, _ = run([b"one ", b"ST", b"ART"], ("STOP",))
    assert [piece.text for piece in given_out] == ["one ", "", "START", ""]
    assert [len(piece.spans) for piece in given_out] == [1, 0, 2, 0]


@pytest.mark.parametrize(
    ("text", "stop"), [("one, two.", ","), ("one. two,", ". "), ("one... two", "..."), ("one", "")]
)
def test_it_says_which_stop_string_was_completed(text: str, stop: str) -> None:
    detokenizer = Detokenizer(TinyTokenizer(), (",", ". ", "..."))
    for token_id in text.encode():  # a token per byte
        detokenizer.feed([token_id], [Source.TARGET])
    assert detokenizer.stop == stop


def test_a_block_is_cut_at_the_token_that_completes_the_stop_string() -> None:
    given_out, num_tokens = run([b"keep", b" S", b"TO", b"P and", b" more"], ("STOP",), [5])
    assert given_out[0].text == "keep "
    assert given_out[0].stopped
    assert num_tokens == 4
    assert [span.num_chars for span in given_out[0].spans] == [4, 1, 0, 0]
    assert given_out[1] == Piece("", (), stopped=True, num_tokens=0)


def test_an_unfinished_stop_string_is_shown_at_the_end() -> None:
    given_out, _ = run([b"a ST"], ("STOP",))
    assert joined(given_out) == "a ST"
    assert not given_out[-1].stopped


def test_sources_must_match_the_ids() -> None:
    with pytest.raises(ValueError, match="zip"):
        Detokenizer(TinyTokenizer()).feed([65, 66], [Source.TARGET])


def test_a_token_costs_microseconds() -> None:
    detokenizer = Detokenizer(TinyTokenizer(), ("STOP", "\nUser:"))
    sources = [Source.TARGET] * 8
    num_calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal num_calls
        num_calls += event in ("call", "c_call")

    sys.setprofile(count)
    for _ in range(500):
        detokenizer.feed(b"abcd efg", sources)
    sys.setprofile(None)
    assert num_calls / 4000 < 30, "a call of a function is a tenth of a microsecond"


def test_what_was_rejected_is_reported_with_the_token_in_its_place() -> None:
    detokenizer = Detokenizer(TinyTokenizer(words=[b"The", b" cat", b" sat", b"\xe2\x82"]))
    piece = detokenizer.feed([256, 257], [Source.DRAFT, Source.RECOVERED], [258, 259])
    assert [span.rejected for span in piece.spans] == ["", " sat\N{REPLACEMENT CHARACTER}"]
    assert detokenizer.feed([258], [Source.TARGET]).spans[0].rejected == ""


def until_said(answer: str, stop: tuple[str, ...], reasoning_start_tag: str, sizes: Sequence[int]) -> str:
    edges = [0]
    while edges[-1] < len(answer):
        edges.append(edges[-1] + (sizes[len(edges) % len(sizes)] if sizes else 1))
    pieces = [answer[begin:end].encode() for begin, end in pairwise(edges)]
    detokenizer = Detokenizer(TinyTokenizer(words=pieces), stop)
    detokenizer.watch_reasoning(reasoning_start_tag)
    given_out = [detokenizer.feed([256 + i], [Source.TARGET]) for i in range(len(pieces))]
    return joined([*given_out, detokenizer.flush()])


@given(sizes=st.lists(st.integers(1, 7), max_size=5))
@pytest.mark.parametrize(
    ("answer", "stop", "reasoning_start_tag", "wanted"),
    [
        ("First.\n\nThen.</think>\n\nFour.\n\nFive.", ".\n\nF", "<think>\n", "First.\n\nThen.</think>\n\nFour"),
        ("<think>a STOP b</think>c STOP d", "STOP", "", "<think>a STOP b</think>c "),
        (
            "\n<think>aSTOP</think>\n<think>STOP</think>cSTOP",
            "STOP",
            "",
            "\n<think>aSTOP</think>\n<think>STOP</think>c",
        ),
        ("a STOP <think>", "STOP", "", "a "),
        ("never ended STOP", "STOP", "<think>", "never ended STOP"),
        ("a</think>b", "</think>", "<think>", "a"),
        ("aST</think>OPb", "T</think>O", "<think>", "aS"),
        ("aST</think>OPSTOP", "STOP", "<think>", "aST</think>OP"),
        ("<thinSTOP", "STOP", "", "<thin"),
    ],
)
def test_no_stop_string_ends_an_answer_within_its_reasoning(
    sizes: list[int], answer: str, stop: str, reasoning_start_tag: str, wanted: str
) -> None:
    assert until_said(answer, (stop,), reasoning_start_tag, sizes) == wanted
