"""Tables of a unigram tokenizer are rejected if llama.cpp would crash for any letter."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import ModelHeaderError
from engine.gguf.hyperparameters import MAX_BYTES, MAX_DEPTH, check_charsmap, read_checked_header
from tests.shared_files import shared_file

ROOT, CHILD, VALUE = 256, 256 ^ ord("A"), 300
LEAF = 1 << 8


def table(nodes: dict[int, int], replacements: bytes = b"a\0", size: int = 512) -> bytes:
    """A table whose root leads to node `ROOT`; ``nodes`` contains the others."""
    all_nodes = np.zeros(size, dtype="<u4")
    all_nodes[0] = ROOT << 10
    for place, node in nodes.items():
        all_nodes[place] = node
    return struct.pack("<I", all_nodes.nbytes) + all_nodes.tobytes() + replacements


def leaf(here: int, letter: str, end: int) -> int:
    return (here ^ end) << 10 | LEAF | ord(letter)


GOOD = {CHILD: leaf(CHILD, "A", VALUE), VALUE: 0}


def normalised(data: bytes, text: bytes) -> bytes | None:
    """llama.cpp's replacement of the beginning of ``text``; IndexError if it throws."""
    num_bytes = struct.unpack("<I", data[:4])[0]
    nodes, replacements = np.frombuffer(data, "<u4", num_bytes // 4, 4).tolist(), data[4 + num_bytes :]

    def base(place: int) -> int:
        node: int = nodes[place]
        return (node >> 10) << ((node & (1 << 9)) >> 6)

    here, found = base(0), None
    for letter in text:
        here ^= letter
        if letter == 0 or nodes[here] & (1 << 31 | 0xFF) != letter:
            break
        is_leaf = nodes[here] >> 8 & 1
        here ^= base(here)
        if is_leaf:
            found = nodes[here] & 2**31 - 1
    return None if found is None else replacements[found : replacements.index(b"\0", found)]


def test_a_table_that_stays_inside_is_taken() -> None:
    check_charsmap(table(GOOD))
    assert normalised(table(GOOD), b"A") == b"a"
    check_charsmap(table({}))
    check_charsmap(struct.pack("<I", 0) + b"\0")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\1\0", "cut short"),
        (struct.pack("<I", 64) + bytes(64), "cut short"),
        (table({CHILD: (CHILD ^ 5000) << 10 | ord("A")}), "points outside of itself"),
        (table({CHILD: leaf(CHILD, "A", 5000)}), "points outside of itself"),
        (table({0: 5000 << 10}), "points outside of itself"),
        (table({0: 600 << 10}, size=700), "points outside of itself"),  # for some letters only
        (table(GOOD | {VALUE: 7}), "a replacement without an end"),
        (table(GOOD, b"a"), "a replacement without an end"),
        (bytes(MAX_BYTES + 1), "bytes"),
    ],
)
def test_what_leads_outside_for_any_letter_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ModelHeaderError, match=words):
        check_charsmap(data)


def test_an_endless_table_is_refused_but_not_one_with_a_loop() -> None:
    size = 256 * (MAX_DEPTH + 4)
    chain = {256 * i ^ 1: (256 * i ^ 1 ^ 256 * (i + 1)) << 10 | 1 for i in range(1, MAX_DEPTH + 2)}
    with pytest.raises(ModelHeaderError, match="has no end"):
        check_charsmap(table(chain, size=size))
    check_charsmap(table({ROOT ^ 1: 1 << 10 | 1}))


@settings(deadline=None)
@given(seed=st.integers(0, 10**9), num_edges=st.integers(0, 60), wild=st.booleans())
def test_whatever_is_taken_normalises_every_text(seed: int, num_edges: int, wild: bool) -> None:
    rng = np.random.default_rng(seed)
    nodes: dict[int, int] = {}
    places = [ROOT]
    for _ in range(num_edges):
        letter = int(rng.integers(1, 256))
        here = int(rng.choice(places)) ^ letter
        end = int(rng.integers(0, 700 if wild and rng.random() < 0.1 else 512))
        nodes[here % 512] = (here ^ end) << 10 | (LEAF if rng.random() < 0.3 else 0) | letter
        places.append(end % 512)
    data = table(nodes, b"ab\0c\0")
    try:
        check_charsmap(data)
    except ModelHeaderError:
        return
    for _ in range(200):
        letters = rng.choice([node & 0xFF for node in nodes.values()] or [65], rng.integers(1, 6)).astype(np.uint8)
        normalised(data, letters.tobytes())


def test_a_model_whose_table_is_broken_for_one_letter_is_refused() -> None:
    with pytest.raises(ModelHeaderError, match="table of characters points outside of itself"):
        read_checked_header(shared_file("cases/programs/charsmap-q.gguf"))
