"""Tests reading a header remotely: what is fetched, how much, and when it stops."""

from __future__ import annotations

import functools
import random
import struct
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.core.hub.remote_header import (
    FIRST_BLOCK_BYTES,
    LARGEST_BLOCK_BYTES,
    MAX_FETCHED_BYTES,
    CancelledReadError,
    RangeSource,
)
from engine.errors import ModelHeaderError
from engine.gguf.header import GgufHeader, parse_header, write_stub
from engine.gguf.hyperparameters import check_header, check_tokens
from engine.sandbox.probe import judge_pairs
from tests.engine.damaged_files import random_damage
from tests.engine.geometries import GEOMETRIES
from tests.engine.gguf_factory import GgufFile, Kind, entry, string, tiny_llama
from tests.shared_files import shared_file

GB = 10**9
NUM_FUZZED = 500


@dataclass
class Far:
    """A remote file; beyond ``data`` it is zeros up to ``size``."""

    data: bytes
    size: int
    asked: list[tuple[int, int]] = field(default_factory=list)

    def fetch(self, start: int, end: int) -> bytes:
        assert 0 <= start < end <= self.size
        self.asked.append((start, end))
        return self.data[start:end].ljust(end - start, b"\0")

    @property
    def num_bytes(self) -> int:
        return sum(end - start for start, end in self.asked)


def read(far: Far, max_bytes: int = MAX_FETCHED_BYTES) -> tuple[GgufHeader, RangeSource]:
    source = RangeSource(far.fetch, far.size, max_bytes)
    return parse_header(source.read_at, far.size), source


def test_only_the_header_is_fetched_and_each_byte_once(tmp_path: Path) -> None:
    path = GEOMETRIES["Llama 3.1 70B"].write(tmp_path / "m.gguf")
    size = path.stat().st_size
    with path.open("rb") as file:
        far = Far(file.read(8 * 2**20), size)
    header, source = read(far)
    assert header.weights_bytes > 30 * GB
    assert header.data_offset <= source.num_fetched <= header.data_offset + LARGEST_BLOCK_BYTES
    assert far.num_bytes == source.num_fetched <= max(2 * header.data_offset, FIRST_BLOCK_BYTES)
    assert [end for _, end in far.asked][:-1] == [start for start, _ in far.asked][1:]


@pytest.mark.parametrize("name", ["qwen2", "llama-bpe"])
def test_a_real_vocabulary_costs_less_than_twice_its_size(name: str) -> None:
    data = shared_file(f"vocabs/ggml-vocab-{name}.gguf").read_bytes()
    far = Far(data, 30 * GB)  # the first part of a large model
    header, source = read(far)
    check_tokens(header, source.read_at)
    assert len(data) - 64 <= header.data_offset <= source.num_fetched <= 12 * 2**20


def test_short_answers_are_asked_on(tmp_path: Path) -> None:
    far = Far(tiny_llama().to_bytes(), 10**6)
    source = RangeSource(lambda start, end: far.fetch(start, end)[:1000], far.size)
    assert parse_header(source.read_at, far.size).architecture == "llama"


def test_the_far_side_may_have_less_than_it_said() -> None:
    data = tiny_llama().to_bytes()[:1000]
    source = RangeSource(lambda start, end: data[start:end], 10**6)
    with pytest.raises(ModelHeaderError, match="it ends after 1,000 of 1,000,000 bytes"):
        parse_header(source.read_at, 10**6)


def test_a_header_without_end_is_given_up() -> None:
    endless = replace(
        tiny_llama(), tensors=(), extra_entries=string("x") + struct.pack("<IIQ", Kind.ARRAY, Kind.STRING, 2**24)
    )
    file = replace(endless, num_entries=len(endless.metadata) + 1)
    far = Far(file.header(), 30 * GB)
    with pytest.raises(ModelHeaderError, match="longer than 32 MB"):
        read(far)
    assert far.num_bytes == 32 * 2**20


def test_it_can_be_cancelled() -> None:
    far = Far(tiny_llama().to_bytes(), 30 * GB)
    source = RangeSource(far.fetch, far.size, should_stop=lambda: bool(far.asked))
    source.read_at(0, 10)
    with pytest.raises(CancelledReadError):
        source.read_at(FIRST_BLOCK_BYTES, 10)


def test_a_stub_of_a_part_says_nothing_of_parts(tmp_path: Path) -> None:
    part = tiny_llama().with_metadata(split__count=(Kind.UINT16, 7), split__no=(Kind.UINT16, 0))
    path = part.write(tmp_path / "m-00001-of-00007.gguf")
    data = path.read_bytes()
    header, source = read(Far(data, len(data)))
    stub = write_stub(header, source.read_at, tmp_path / "stub.gguf")
    with stub.open("rb") as file:
        again = parse_header(lambda offset, n: (file.seek(offset), file.read(n))[1], stub.stat().st_size)
    assert not again.tensors
    assert again.metadata == {key: value for key, value in header.metadata.items() if not key.startswith("split.")}
    assert judge_pairs(stub, [stub])[0].matches


# ---- 500 strange headers -----------------------------------------------------------------------------------------


@functools.cache
def places_of_lengths(good: bytes) -> list[int]:
    """The offsets of small 8-byte numbers."""
    return [i for i in range(4, len(good) - 8) if good[i + 2 : i + 8] == bytes(6) and good[i : i + 2] != bytes(2)]


def strange_lengths(dice: random.Random, good: bytes) -> bytes:
    """Replace one of the header's 8-byte lengths or counts."""
    data = bytearray(good)
    number = dice.choice((0, 1, 2**16, 2**24, 2**31, 2**32, 2**63, 2**64 - 1, dice.randrange(2**40)))
    struct.pack_into("<Q", data, dice.choice(places_of_lengths(good)), number)
    return bytes(data)


def strange_counts(dice: random.Random, good: bytes) -> bytes:
    """Replace the number of tensors or of entries."""
    data = bytearray(good)
    number = dice.choice((0, 1, 5, 65536, 2**24, 2**40, 2**64 - 1, dice.randrange(100)))
    struct.pack_into("<Q", data, dice.choice((8, 16)), number)
    return bytes(data)


def strange_entries(dice: random.Random, good: bytes) -> bytes:
    """Add an entry: nested lists, endless texts, unknown types, invalid text."""
    extra = dice.choice(
        (
            struct.pack("<IIQ", Kind.ARRAY, Kind.ARRAY, dice.choice((1, 2**20))) * dice.choice((1, 2, 500)),
            struct.pack("<IIQ", Kind.ARRAY, dice.randrange(20), dice.randrange(2**24)),
            struct.pack("<IQ", Kind.STRING, dice.choice((2**24, 2**32, 100))),
            entry(Kind.STRING, bytes(dice.randrange(256) for _ in range(300))),
            struct.pack("<I", dice.randrange(13, 2**32)),
            entry(Kind.ARRAY, (Kind.UINT8, [7] * 4096)),
        )
    )
    key = dice.choice((b"x", b"\xff\xfe", b"llama.block_count", b"general.alignment", b"split.count", b"k" * 70_000))
    data = bytearray(good[:24] + string(key) + extra + good[24:])
    struct.pack_into("<Q", data, 16, struct.unpack_from("<Q", good, 16)[0] + 1)
    return bytes(data)


def strange_bytes(dice: random.Random, good: bytes) -> bytes:
    """Change bytes anywhere, or truncate the file."""
    ((_, data),) = random_damage(good, 1, dice.randrange(2**32))
    header_end = parse_header(RangeSource(lambda a, b: good[a:b], len(good)).read_at, len(good)).data_offset
    changed = bytearray(data if dice.random() < 0.5 else good)
    for _ in range(dice.choice((1, 4, 16))):
        changed[dice.randrange(min(header_end, len(changed)))] = dice.randrange(256)
    return bytes(changed)


STRANGE: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    strange_lengths,
    strange_counts,
    strange_entries,
    strange_bytes,
)


def test_500_strange_headers_are_sentences_or_models(tmp_path: Path) -> None:
    dice = random.Random(20261120)  # noqa: S311  (reproducible, not secret)
    good = tiny_llama(seed=3).to_bytes()
    stubs, refused = [], []
    tracemalloc.start()
    for number in range(NUM_FUZZED):
        data = STRANGE[number % len(STRANGE)](dice, good)
        far = Far(data, dice.choice((len(data), 30 * GB)))
        try:
            header, source = read(far, max_bytes=2**21)
            check_header(header)
            check_tokens(header, source.read_at)
            stubs.append(write_stub(header, source.read_at, tmp_path / f"{number}.gguf"))
        except ModelHeaderError as error:
            refused.append(error.message)
        assert far.num_bytes <= 2**21
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * 2**20
    assert len(refused) > 300
    assert all(message.endswith(".") and len(message) < 400 for message in refused)
    assert len(stubs) > 20
    sound = GgufFile(tiny_llama().metadata).write(tmp_path / "sound.gguf")
    for verdict in judge_pairs(sound, stubs[:20]):  # accepted files are tried in the child: sentences there, too
        assert verdict.matches != bool(verdict.reason)


def test_lists_that_are_kept_are_bounded_together() -> None:
    many = {f"x.{i}": (Kind.ARRAY, (Kind.UINT8, [1] * 4096)) for i in range(100)}
    data = replace(tiny_llama(), metadata=tiny_llama().metadata | many).to_bytes()
    header, _ = read(Far(data, len(data)))
    kept = [key for key in many if key in header.metadata]
    assert len(header.arrays.keys() & many.keys()) == 100
    assert len(kept) == 63  # 2**18 items minus those of the model's own lists
    assert isinstance(header.metadata["x.0"], tuple)
