"""The header parser trusts nothing: limits, types, sizes, offsets, and any damage."""

import io
import os
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import gguf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine.gguf.header
import engine.gguf.source
from engine.errors import ModelHeaderError, ModelNotFoundError, NewerModelError
from engine.gguf.header import GgufHeader, parse_header, read_header, read_numbers, read_strings
from engine.gguf.source import ReadAt
from engine.gguf.value_types import BLOCK_SIZES
from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor, entry, prefix_reader, string, tiny_llama

TINY = tiny_llama(n_ff=32)
SHARED = Path(__file__).resolve().parents[4] / "shared"
# the gguf library needs half a minute for large vocabularies
REAL = sorted([*(SHARED / "models").glob("*.gguf"), *(SHARED / "vocabs").glob("*spm.gguf")])
ONE = Tensor("one", (4, 2), F32, bytes(32))


def parse(data: bytes) -> GgufHeader:
    return parse_header(prefix_reader(data), len(data))


def refusal(file: GgufFile) -> str:
    with pytest.raises(ModelHeaderError) as caught:
        parse(file.to_bytes())
    return caught.value.message


def test_a_good_file(tmp_path: Path) -> None:
    header = read_header(TINY.write(tmp_path / "tiny.gguf"))
    assert (header.version, header.architecture, header.arch_value("block_count")) == (3, "llama", 2)
    assert header.num_params == sum(t.dims[0] * (t.dims[1] if len(t.dims) > 1 else 1) for t in TINY.tensors)
    assert header.weights_bytes == sum(len(t.data) for t in TINY.tensors)
    assert header.data_offset % 32 == 0
    assert [(t.name, t.dims) for t in header.tensors] == [(t.name, t.dims) for t in TINY.tensors]


@pytest.mark.skipif(not REAL, reason="the shared models are not on this machine")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_files_read_as_the_gguf_library_reads_them(path: Path) -> None:
    ours, theirs = read_header(path), gguf.GGUFReader(path)
    assert ours.data_offset == theirs.data_offset or not theirs.tensors
    for tensor, other in zip(ours.tensors, theirs.tensors, strict=True):
        assert (tensor.name, tensor.type_name) == (other.name, other.tensor_type.name)
        assert (*tensor.dims,) == (*map(int, other.shape),)
        assert (ours.data_offset + tensor.offset, tensor.num_bytes) == (other.data_offset, other.n_bytes)
    for key in ours.metadata.keys() - ours.arrays.keys():
        assert ours.metadata[key] == theirs.fields[key].contents()
    data = path.read_bytes()
    assert len(ours.metadata.keys() | ours.arrays.keys()) == theirs.fields["GGUF.kv_count"].contents()
    for key, array in ours.arrays.items():
        is_text = array.item_type == Kind.STRING
        items = (read_strings if is_text else read_numbers)(prefix_reader(data), array)
        expected = theirs.fields[key].contents(slice(0, 500))
        assert [item.decode() if is_text else item for item in list(items)[:500]] == expected


def test_block_sizes_are_ggmls() -> None:
    theirs = {int(kind): (kind.name, *size) for kind, size in gguf.GGML_QUANT_SIZES.items()}
    assert {number: tuple(size) for number, size in BLOCK_SIZES.items()} == theirs


BIG = 2**63
BAD_FILES = {
    "magic": (GgufFile(magic=b"GGML"), "does not begin with the letters GGUF"),
    "version 1": (GgufFile(version=1), "version 1"),
    "big endian": (GgufFile(version=3 << 24), "big-endian"),
    "many tensors": (GgufFile(num_tensors=BIG), "tensors"),
    "many entries": (GgufFile(num_entries=BIG), "metadata entries"),
    "missing entries": (GgufFile(num_entries=1), "middle of its header"),
    "long key": (GgufFile(extra_entries=struct.pack("<Q", BIG), num_entries=1), "a metadata key claims"),
    "long text": (
        GgufFile(extra_entries=string("k") + struct.pack("<IQ", Kind.STRING, BIG), num_entries=1),
        "'k' claims",
    ),
    "long list": (
        GgufFile(extra_entries=string("k") + struct.pack("<IIQ", Kind.ARRAY, Kind.UINT8, BIG), num_entries=1),
        "'k' claims",
    ),
    "list beyond the end": (
        GgufFile(extra_entries=string("k") + struct.pack("<IIQ", Kind.ARRAY, Kind.UINT64, 10**6), num_entries=1),
        "middle of its header",
    ),
    "long text in a list": (
        GgufFile(extra_entries=string("k") + struct.pack("<IIQQ", Kind.ARRAY, Kind.STRING, 1, BIG), num_entries=1),
        "a text in it claims",
    ),
    "text in a list beyond the end": (
        GgufFile(extra_entries=string("k") + struct.pack("<IIQQ", Kind.ARRAY, Kind.STRING, 1, 999), num_entries=1),
        "middle of its header",
    ),
    "nested list": (
        GgufFile(extra_entries=string("k") + struct.pack("<IIQ", Kind.ARRAY, Kind.ARRAY, 1), num_entries=1),
        "list of lists",
    ),
    "unknown type": (GgufFile(extra_entries=string("k") + struct.pack("<I", 13), num_entries=1), "unknown type 13"),
    "entry twice": (
        GgufFile({"k": (Kind.UINT8, 1)}, extra_entries=string("k") + entry(Kind.UINT8, 1), num_entries=2),
        "appears twice",
    ),
    "boolean of 2": (
        GgufFile(extra_entries=string("k") + struct.pack("<IB", Kind.BOOL, 2), num_entries=1),
        "neither true nor false",
    ),
    "alignment 0": (GgufFile({"general.alignment": (Kind.UINT32, 0)}), "alignment"),
    "alignment 48": (GgufFile({"general.alignment": (Kind.UINT32, 48)}), "alignment"),
    "alignment text": (GgufFile({"general.alignment": (Kind.STRING, "32")}), "alignment"),
    "long name": (GgufFile(tensors=(Tensor("n" * 64, (4,), F32, bytes(16)),)), "tensor's name claims 64"),
    "no dimensions": (GgufFile(tensors=(Tensor("one", (), F32, bytes(16)),)), "has 0 dimensions"),
    "5 dimensions": (GgufFile(tensors=(Tensor("one", (1,) * 5, F32, bytes(16)),)), "has 5 dimensions"),
    "dimension of 0": (GgufFile(tensors=(Tensor("one", (4, 0), F32, b""),)), "dimension of 0"),
    "dimensions that overflow": (
        GgufFile(tensors=(Tensor("one", (2**33, 2**33), F32, bytes(16)),)),
        "claims 73,786,976,294,838,206,464 values",
    ),
    "negative dimension": (GgufFile(tensors=(Tensor("one", (2**64 - 1,), F32, bytes(16)),)), "values"),
    "unknown tensor type": (GgufFile(tensors=(Tensor("one", (4,), 4, bytes(16)),)), "unknown type 4"),
    "half a block": (GgufFile(tensors=(Tensor("one", (16,), 2, bytes(18)),)), "not whole blocks of Q4_0"),
    "unaligned": (GgufFile(tensors=(Tensor("one", (4,), F32, bytes(64), offset=16),)), "not aligned"),
    "two of the same name": (GgufFile(tensors=(ONE, ONE)), "the same name"),
    "overlap": (GgufFile(tensors=(ONE, Tensor("two", (4,), F32, bytes(16), offset=0))), "overlaps"),
    "beyond the end": (GgufFile(tensors=(Tensor("one", (4,), F32, bytes(16), offset=2**40),)), "missing"),
    "too big": (GgufFile(tensors=(Tensor("one", (2**50,), F32, bytes(16)),)), "missing"),
}


@pytest.mark.parametrize(("file", "reason"), BAD_FILES.values(), ids=BAD_FILES)
def test_what_is_wrong_is_reported_in_a_sentence(file: GgufFile, reason: str) -> None:
    message = refusal(file)
    assert reason in message
    assert message.endswith(".")
    assert "\n" not in message


def test_a_header_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.gguf.source, "MAX_HEADER_BYTES", 1000)
    assert "header is longer" in refusal(TINY)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, len(TINY.to_bytes())))
def test_every_truncation_is_reported(length: int) -> None:
    data = TINY.to_bytes()[:length]
    if length < len(TINY.to_bytes()) - 32:
        with pytest.raises(ModelHeaderError):
            parse(data)


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, len(TINY.header()) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_damage_gives_a_header_or_a_sentence(changes: list[tuple[int, int]]) -> None:
    data = bytearray(TINY.to_bytes())
    for position, value in changes:
        data[position] = value
    with suppress(ModelHeaderError):  # any other error is a bug of the parser
        assert parse(bytes(data)).file_size == len(data)


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300))
def test_any_bytes_behind_a_plausible_beginning(rest: bytes) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, 2) + rest
    with pytest.raises(ModelHeaderError):
        parse(data)


def test_a_file_is_read_once_while_it_stays_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, parsed = tiny_llama().write(tmp_path / "model.gguf"), list[int]()

    def counted(read_at: ReadAt, file_size: int) -> GgufHeader:
        parsed.append(file_size)
        return parse_header(read_at, file_size)

    monkeypatch.setattr(engine.gguf.header, "parse_header", counted)
    for _ in range(2):
        read_header(path)
    assert len(parsed) == 2, "it was written just now, and may be again"
    monkeypatch.setattr(engine.gguf.header, "MIN_FILE_AGE_S", 0.0)
    assert read_header(path) == read_header(path)
    assert len(parsed) == 3
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    tiny_llama().with_metadata(general__name=(Kind.STRING, "another" * 99)).write(path)
    os.utime(path, ns=times)
    assert read_header(path).metadata["general.name"] == "another" * 99
    path.unlink()
    with pytest.raises(ModelNotFoundError):
        read_header(path)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "none.gguf", tmp_path):
        with pytest.raises(ModelNotFoundError, match="cannot be read"):
            read_header(path)


def test_the_sentence_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "novel.gguf"
    path.write_bytes(b"Call me Ishmael.")
    with pytest.raises(
        ModelHeaderError, match=r"^novel\.gguf is damaged or not a model: it does not begin with the letters GGUF"
    ):
        read_header(path)


def test_what_a_cut_download_lacks_is_told_in_megabytes(tmp_path: Path) -> None:
    whole = GgufFile(tensors=(Tensor("t", (1024, 1024), F32, bytes(4 << 20)),))
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole.to_bytes()[:-2_000_000])
    with pytest.raises(ModelHeaderError, match=r"2 MB of its weights are missing"):
        read_header(path)


def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = TINY.write(tmp_path / "tiny.gguf")
    size = path.stat().st_size

    class Shrinking(io.BytesIO):
        def seek(self, offset: int, whence: int = 0) -> int:
            return size if whence == 2 else super().seek(offset, whence)

    monkeypatch.setattr(Path, "open", lambda *_: Shrinking(TINY.to_bytes()[:500]))
    with pytest.raises(ModelHeaderError, match="ends in the middle of its header"):
        read_header(path)


def test_long_arrays_stay_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.gguf.header, "SMALL_ARRAY_ITEMS", 10)
    header = parse(TINY.to_bytes())
    assert "tokenizer.ggml.scores" not in header.metadata
    scores = read_numbers(prefix_reader(TINY.to_bytes()), header.arrays["tokenizer.ggml.scores"])
    assert scores.tolist()[-2:] == [-2.0, -3.0]


def test_a_type_of_weights_that_is_not_known_yet_is_no_damage(tmp_path: Path) -> None:
    path = GgufFile(tensors=(Tensor("one", (4,), 90, bytes(16)),)).write(tmp_path / "new.gguf")
    with pytest.raises(
        NewerModelError, match=r"new\.gguf has weights of a type that is not known here \(90\)"
    ) as caught:
        read_header(path)
    assert "to download the file again would not help" in caught.value.advice


def test_lists_that_are_kept_are_bounded_together() -> None:
    many = {f"x.{i}": (Kind.ARRAY, (Kind.UINT8, [1] * 4096)) for i in range(100)}
    data = replace(tiny_llama(), metadata=tiny_llama().metadata | many).to_bytes()
    header = parse(data)
    kept = [key for key in many if key in header.metadata]
    assert len(header.arrays.keys() & many.keys()) == 100
    assert len(kept) == 63  # 2**18 items minus those of the model's own lists
    assert isinstance(header.metadata["x.0"], tuple)
