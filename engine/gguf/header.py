"""Reads the header of an untrusted GGUF file: every count, length, type and offset is checked before use.

The source is a local file or the first part of a remote one. Long arrays (token texts, merges) are skipped to save
memory. Only the format is checked; `engine.gguf.hyperparameters` checks the values.
"""

from __future__ import annotations

import math
import re
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import NewerModelError
from engine.gguf.source import MAX_STRING_BYTES, SUBJECT, Cursor, ReadAt, check, open_for_reading
from engine.gguf.value_types import BLOCK_SIZES, FORMATS, ValueType
from engine.sentences import i18n, size_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = re.compile(r"blk\.(\d+)\.")  # prefix of the names of a layer's tensors
MAX_ENTRIES = 65_536  # real files have 20 to 200
MAX_TENSORS = 262_144  # the largest mixtures of experts, before experts were merged, had about 60,000
MAX_KEY_BYTES = 65_535  # the format's own limit
MAX_NAME_BYTES = 63  # ggml stores a tensor's name in 64 bytes, including a final zero
MAX_ARRAY_ITEMS = 2**24  # the largest vocabularies have about 300,000 tokens and 600,000 merges
MAX_DIMS = 4  # ggml's own limit
MAX_TYPES = 128  # types of weights; about 40 existed in 2026
MIN_FILE_AGE_S = 5.0  # a later change of a file of this age alters its time stamp; file systems resolve 2 s or less
MAX_NUM_VALUES = 2**53  # values of a tensor; keeps every product below 64 bits for any type
MAX_ALIGNMENT = 65_536  # real files use 32
SMALL_ARRAY_ITEMS = 4096  # arrays of numbers up to this size are read, for example one number per layer
MAX_KEPT_ITEMS = 2**18  # numbers in all arrays that are read; real files have a few hundred
_MAGIC = b"GGUF"
_SPLIT = "split."  # prefix of entries that make llama.cpp search for other parts

Value = int | float | bool | str | tuple[int | float, ...]


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """An array that was skipped; its items begin at ``offset``."""

    item_type: ValueType
    length: int
    offset: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """A tensor. ``dims``: fastest dimension first; ``offset``: from the beginning of the data."""

    name: str
    dims: tuple[int, ...]
    type_name: str
    offset: int
    num_bytes: int

    @property
    def num_values(self) -> int:
        return math.prod(self.dims)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The checked header of a GGUF file.

    ``arrays`` has the location of every array; ``metadata`` also has the values of short arrays of numbers. ``entries``
    has the begin and end of each metadata entry.
    """

    version: int
    metadata: Mapping[str, Value]
    arrays: Mapping[str, ArrayRef]
    tensors: tuple[TensorInfo, ...]
    data_offset: int
    file_size: int
    entries: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        """``general.architecture``; empty if missing."""
        value = self.metadata.get("general.architecture")
        return value if isinstance(value, str) else ""

    @property
    def num_params(self) -> int:
        return sum(tensor.num_values for tensor in self.tensors)

    @property
    def weights_bytes(self) -> int:
        return sum(tensor.num_bytes for tensor in self.tensors)

    def arch_value(self, key: str) -> Value | None:
        """The value of an entry of the architecture, such as ``llama.block_count`` for ``block_count``."""
        return self.metadata.get(f"{self.architecture}.{key}")


def read_header(path: Path) -> GgufHeader:
    """Read the header of a local file. It is cached while the file is unchanged, since a load needs it seven times.

    Raises:
        ModelNotFoundError: no such file, or not readable.
        ModelHeaderError: not a GGUF file, damaged, or of an unsupported kind.
    """
    try:
        facts = path.stat()
    except (OSError, ValueError):  # opening the file reports the error
        return _parse_file.__wrapped__(path, ())
    identity = (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
    # A change of a file that is so recent might not alter its times.
    is_settled = time.time() - max(facts.st_mtime, facts.st_ctime) >= MIN_FILE_AGE_S
    return _parse_file(path, identity) if is_settled else _parse_file.__wrapped__(path, identity)


@lru_cache(maxsize=8)
def _parse_file(path: Path, _identity: tuple[int, ...]) -> GgufHeader:
    with open_for_reading(path) as (read_at, file_size):
        return parse_header(read_at, file_size)


def parse_header(read_at: ReadAt, file_size: int) -> GgufHeader:
    """Parse and check the header of a file of ``file_size`` bytes.

    Raises:
        ModelHeaderError: not a GGUF file, or a check failed.
    """
    cursor = Cursor(read_at, file_size)
    version = _read_version(cursor)
    num_tensors, num_entries = cursor.number("Q"), cursor.number("Q")
    check(num_tensors <= MAX_TENSORS, "it claims {num_tensors:,} tensors", num_tensors=num_tensors)
    check(num_entries <= MAX_ENTRIES, "it claims {num_entries:,} metadata entries", num_entries=num_entries)
    metadata: dict[str, Value] = {}
    arrays: dict[str, ArrayRef] = {}
    entries: dict[str, tuple[int, int]] = {}
    num_kept = 0
    for _ in range(num_entries):
        begin = cursor.position
        key = cursor.text(MAX_KEY_BYTES, i18n("a metadata key"))
        check(key not in entries, "the entry {key!r} appears twice", key=key[:80])
        value = _read_value(cursor, key)
        if not isinstance(value, ArrayRef):
            metadata[key] = value
        else:
            arrays[key] = value
            if (numbers := _small_array(cursor, value, MAX_KEPT_ITEMS - num_kept)) is not None:
                metadata[key] = numbers
                num_kept += len(numbers)
        entries[key] = (begin, cursor.position)
    alignment = _alignment(metadata)
    tensors = tuple(_read_tensor(cursor, alignment) for _ in range(num_tensors))
    data_offset = cursor.position + -cursor.position % alignment
    # Check that no tensor is duplicated, exceeds the file, or overlaps another.
    num_data_bytes = file_size - data_offset
    check(len({tensor.name for tensor in tensors}) == len(tensors), "two of its tensors have the same name")
    end = 0
    for tensor in sorted(tensors, key=lambda tensor: tensor.offset):
        check(tensor.offset >= end, "the tensor {tensor!r} overlaps another", tensor=tensor.name)
        end = tensor.offset + tensor.num_bytes
    missing = end - max(0, num_data_bytes)  # a file without tensors may end before the alignment
    check(missing <= 0, "{size} of its weights are missing (an incomplete download?)", size=size_of(missing))
    return GgufHeader(version, metadata, arrays, tensors, data_offset, file_size, entries)


def read_numbers(read_at: ReadAt, array: ArrayRef) -> NDArray[Any]:
    import numpy as np  # noqa: PLC0415  (the window's first page reads no array, and must not wait for NumPy)

    data = Cursor(read_at, array.offset + array.num_bytes, array.offset).take(array.num_bytes)
    return np.frombuffer(data, dtype="<" + np.dtype(FORMATS[array.item_type]).str[1:])


def read_strings(read_at: ReadAt, array: ArrayRef) -> list[bytes]:
    """Read a long array of strings, undecoded."""
    data = Cursor(read_at, array.offset + array.num_bytes, array.offset).take(array.num_bytes)
    strings, position = [], 0
    for _ in range(array.length):
        begin = position + 8
        position = begin + int.from_bytes(data[position:begin], "little")
        strings.append(data[begin:position])
    return strings


def write_stub(header: GgufHeader, read_at: ReadAt, path: Path) -> Path:
    """Write a stub without tensors, from which llama.cpp can load the vocabulary, to compare remote tokenizers.

    ``header`` must have been parsed from ``read_at``. Returns ``path``.
    """
    kept = [span for key, span in header.entries.items() if not key.startswith(_SPLIT)]
    with path.open("wb") as file:
        file.write(_MAGIC + struct.pack("<IQQ", header.version, 0, len(kept)))
        for begin, end in kept:
            file.write(read_at(begin, end - begin))
    return path


def _read_version(cursor: Cursor) -> int:
    magic = cursor.take(4)
    check(magic == _MAGIC, "it does not begin with the letters GGUF")
    version: int = cursor.number("I")
    check(version not in (2 << 24, 3 << 24), "it was written for big-endian machines")
    check(version in (2, 3), "it has the GGUF version {version}, and only 2 and 3 are known", version=version)
    return version


def _read_value(cursor: Cursor, key: str) -> Value | ArrayRef:
    kind = _value_type(cursor.number("I"), key)
    if kind is ValueType.STRING:
        return cursor.text(MAX_STRING_BYTES, i18n("the entry {key!r}", key=key[:80]))
    if kind is ValueType.ARRAY:
        return _read_array(cursor, key)
    value: int | float = cursor.number(FORMATS[kind])
    if kind is not ValueType.BOOL:
        return value
    check(value in (0, 1), "the entry {key!r} is neither true nor false", key=key[:80])
    return bool(value)


def _read_array(cursor: Cursor, key: str) -> ArrayRef:
    kind, length = _value_type(cursor.number("I"), key), cursor.number("Q")
    check(kind is not ValueType.ARRAY, "the entry {key!r} is a list of lists, which no model needs", key=key[:80])
    check(length <= MAX_ARRAY_ITEMS, "the entry {key!r} claims {length:,} items", key=key[:80], length=length)
    begin = cursor.position
    if kind is ValueType.STRING:
        cursor.skip_strings(length)
        return ArrayRef(kind, length, begin, cursor.position - begin)
    return ArrayRef(kind, length, begin, length * struct.calcsize("<" + FORMATS[kind]))


def _small_array(cursor: Cursor, array: ArrayRef, max_items: int) -> tuple[int | float, ...] | None:
    """Read an array of numbers if it is short, else skip it. An array of strings was already skipped."""
    if array.item_type is ValueType.STRING:
        return None
    if array.length > min(SMALL_ARRAY_ITEMS, max_items):
        cursor.skip(array.num_bytes)
        return None
    return struct.unpack(f"<{array.length}{FORMATS[array.item_type]}", cursor.take(array.num_bytes))


def _value_type(number: int, key: str) -> ValueType:
    check(number <= max(ValueType), "the entry {key!r} has the unknown type {number}", key=key[:80], number=number)
    return ValueType(number)


def _alignment(metadata: Mapping[str, Value]) -> int:
    value = metadata.get("general.alignment", 32)
    good = isinstance(value, int) and 8 <= value <= MAX_ALIGNMENT and value & (value - 1) == 0
    check(good, "its alignment is not a power of two from 8 on")
    return int(value) if isinstance(value, int) else 0


def _read_tensor(cursor: Cursor, alignment: int) -> TensorInfo:
    name = cursor.text(MAX_NAME_BYTES, i18n("a tensor's name"))
    num_dims = cursor.number("I")
    check(1 <= num_dims <= MAX_DIMS, "the tensor {name!r} has {num_dims:,} dimensions", name=name, num_dims=num_dims)
    dims = struct.unpack(f"<{num_dims}Q", cursor.take(8 * num_dims))
    kind, offset = cursor.number("I"), cursor.number("Q")
    if max(BLOCK_SIZES) < kind < MAX_TYPES:
        raise NewerModelError(
            i18n("{subject} has weights of a type that is not known here ({kind}).", subject=SUBJECT, kind=kind)
        )
    check(kind in BLOCK_SIZES, "the tensor {name!r} has the unknown type {kind}", name=name, kind=kind)
    block = BLOCK_SIZES[kind]
    check(min(dims) > 0, "the tensor {name!r} has a dimension of 0", name=name)
    check(
        math.prod(dims) <= MAX_NUM_VALUES,
        "the tensor {name!r} claims {number:,} values",
        name=name,
        number=math.prod(dims),
    )
    check(
        dims[0] % block.num_values == 0,
        "the rows of {name!r} are not whole blocks of {block}",
        name=name,
        block=block.name,
    )
    check(offset % alignment == 0, "the tensor {name!r} is not aligned", name=name)
    return TensorInfo(name, dims, block.name, offset, math.prod(dims) // block.num_values * block.num_bytes)
