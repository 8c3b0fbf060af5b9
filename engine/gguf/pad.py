"""Pads a small model's feed-forward layers with zero neurons: the same answers at the cost of a large model.

A neuron whose weights are zero adds exactly nothing to the sum, but is read and multiplied like any other. So the
padded file shows on this machine what speculation gains when a pass costs what it costs in a real model. It works on
the llama layout of feed-forward tensors.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import gguf
import numpy as np

from engine.errors import ToolError
from engine.sentences import said

TARGET_PARAMS = 400_000_000
NAME_SUFFIX = " (padded to real weight)"
_PAD_TO = 256  # neurons; a multiple of every block size and of the row groups of llama.cpp's repacked kernels
_CHUNK_BYTES = 1 << 20
_SPARE_BYTES = 64 << 20  # left free on the disk: the rest of the system needs some, too
_ROWS = ("ffn_gate.weight", "ffn_up.weight", "ffn_gate.bias", "ffn_up.bias")  # one row (or value) a neuron
_COLUMNS = ("ffn_down.weight",)  # one column a neuron
# All bytes zero is a block of zeros in each of these.
_PADDABLE = ("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0")


@dataclass(frozen=True, slots=True)
class _Tensor:
    """One tensor as it will be written: every source row, each with zeros behind it, then rows of zeros."""

    name: str
    shape: tuple[int, ...]  # slowest dimension first
    kind: Any  # gguf.GGMLQuantizationType
    rows: Any  # uint8 [num_rows, row_bytes] of the source
    row_padding_bytes: int
    tail_bytes: int

    @property
    def num_bytes(self) -> int:
        return int(self.rows.size) + len(self.rows) * self.row_padding_bytes + self.tail_bytes


def make_padded(
    source: Path,
    destination: Path,
    progress: Callable[[float], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    target_params: int = TARGET_PARAMS,
    quantize: bool = False,
) -> Path:
    """Write ``source`` to ``destination``, padded to about ``target_params`` parameters; return ``destination``.

    Feed-forward blocks are copied bit for bit; with ``quantize`` they are first converted to Q4_0 where they are
    not (then the words may differ). ``progress`` gets fractions from 0 to 1.

    Raises:
        ToolError: not a llama model that can be padded, no room, or cancelled. ``destination`` is as before.
    """
    try:
        reader = gguf.GGUFReader(source)
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise ToolError(
            said("{file} could not be read as a GGUF file: {error}.", file=source.name, error=error)
        ) from error
    n_ff, new_ff = _feed_forward_lengths(reader, source.name, target_params)
    tensors = [_plan(tensor, n_ff, new_ff, quantize) for tensor in reader.tensors]
    part = destination.with_name(destination.name + ".part")
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        _check_room(destination.parent, sum(tensor.num_bytes for tensor in tensors))
        _write(_header_writer(reader, tensors, new_ff), part, tensors, _reporter(tensors, progress, should_stop))
        part.replace(destination)
    except OSError as error:
        raise ToolError(
            said("{file} could not be written: {reason}.", file=destination.name, reason=error.strerror or error)
        ) from error
    finally:
        with contextlib.suppress(OSError):  # where nothing can be written there may be nothing to look for
            part.unlink(missing_ok=True)
    return destination


def _feed_forward_lengths(reader: Any, name: str, target_params: int) -> tuple[int, int]:  # noqa: ANN401
    """Neurons a layer, now and padded."""
    architecture = _value(reader, "general.architecture")
    if architecture != "llama":
        raise ToolError(
            said(
                "{name} has the architecture {architecture!r}; only llama models can be padded.",
                name=name,
                architecture=architecture,
            )
        )
    n_ff, n_embd = _value(reader, "llama.feed_forward_length"), _value(reader, "llama.embedding_length")
    n_layer = sum(tensor.name.endswith(_COLUMNS) for tensor in reader.tensors)
    if not isinstance(n_ff, int) or not isinstance(n_embd, int) or n_layer == 0:
        raise ToolError(said("{name} has no plain feed-forward layers of one size, so it cannot be padded.", name=name))
    missing = target_params - sum(int(tensor.n_elements) for tensor in reader.tensors)
    new_ff = (n_ff + missing // (3 * n_embd * n_layer)) // _PAD_TO * _PAD_TO
    if new_ff <= n_ff:
        raise ToolError(
            said(
                "{name} is not smaller than {target_params:,} parameters: there is nothing to pad.",
                name=name,
                target_params=target_params,
            )
        )
    return n_ff, new_ff


def _plan(tensor: Any, n_ff: int, new_ff: int, quantize: bool) -> _Tensor:  # noqa: ANN401
    shape, kind, data = tuple(int(n) for n in reversed(tensor.shape)), tensor.tensor_type, tensor.data
    widens, grows = tensor.name.endswith(_COLUMNS), tensor.name.endswith(_ROWS)
    if widens or grows:
        if kind.name not in _PADDABLE or shape[-1 if widens else 0] != n_ff:
            raise ToolError(
                said("{tensor} ({kind}, {shape}) cannot be padded.", tensor=tensor.name, kind=kind.name, shape=shape)
            )
        if quantize and len(shape) == 2 and kind.name != "Q4_0":
            kind = gguf.GGMLQuantizationType.Q4_0
            data = gguf.quantize(gguf.dequantize(data, tensor.tensor_type).reshape(shape), kind)
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    rows = data.view(np.uint8).reshape(-1, shape[-1] // block * block_bytes if len(shape) > 1 else data.nbytes)
    added_bytes = (new_ff - n_ff) // block * block_bytes
    if widens:
        return _Tensor(tensor.name, (*shape[:-1], new_ff), kind, rows, added_bytes, 0)
    if grows:
        tail_bytes = (new_ff - n_ff) * rows.shape[1] if len(shape) > 1 else added_bytes
        return _Tensor(tensor.name, (new_ff, *shape[1:]), kind, rows, 0, tail_bytes)
    return _Tensor(tensor.name, shape, kind, rows, 0, 0)


def _check_room(folder: Path, num_bytes: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < num_bytes + _SPARE_BYTES:
        raise ToolError(
            said(
                "The padded model needs {num_bytes:,.0f} MB, but only {free:,.0f} MB are free in {folder}.",
                num_bytes=num_bytes / 1000000.0,
                free=free / 1000000.0,
                folder=folder,
            ),
            "Free some space, or choose another folder.",
        )


def _header_writer(reader: Any, tensors: list[_Tensor], new_ff: int) -> Any:  # noqa: ANN401
    """A `gguf.GGUFWriter` that knows the metadata and the tensor table of the new file."""
    writer = gguf.GGUFWriter(None, "llama", endianess=reader.endianess)
    for field in reader.fields.values():
        key, value = field.name, field.contents()
        # The writer puts the first in itself; the reader invents the second kind; an empty list it cannot write.
        if key == "general.architecture" or key.startswith("GGUF.") or value == []:
            continue
        if key == "llama.feed_forward_length":
            value = new_ff
        elif key == "general.name":
            value += NAME_SUFFIX
        elif key == "general.alignment":
            writer.data_alignment = value
        writer.add_key_value(key, value, field.types[0], sub_type=field.types[-1])
    for tensor in tensors:
        float32 = np.dtype(np.float32)  # anything but bytes: the shape is given in elements
        writer.add_tensor_info(tensor.name, tensor.shape, float32, tensor.num_bytes, raw_dtype=tensor.kind)
    return writer


def _write(writer: Any, part: Path, tensors: list[_Tensor], report: Callable[[int], None]) -> None:  # noqa: ANN401
    try:
        writer.write_header_to_file(part)
        writer.write_kv_data_to_file()
        writer.write_ti_data_to_file()
        (file,) = writer.fout
        _align(file, writer.data_alignment)
        for tensor in tensors:
            for chunk in _chunks(tensor):
                file.write(chunk)
                report(len(chunk))
            _align(file, writer.data_alignment)
        file.flush()
        os.fsync(file.fileno())
    finally:
        for file in writer.fout or ():
            file.close()


def _chunks(tensor: _Tensor) -> Iterator[bytes]:
    """The tensor's bytes in pieces of about a megabyte."""
    if tensor.row_padding_bytes == 0:
        flat = tensor.rows.reshape(-1)
        yield from (flat[i : i + _CHUNK_BYTES].tobytes() for i in range(0, flat.size, _CHUNK_BYTES))
    else:
        zeros = bytes(tensor.row_padding_bytes)
        yield from (row.tobytes() + zeros for row in tensor.rows)
    zeros = bytes(_CHUNK_BYTES)
    for begin in range(0, tensor.tail_bytes, _CHUNK_BYTES):
        yield zeros[: tensor.tail_bytes - begin]


def _align(file: BinaryIO, alignment: int) -> None:
    file.write(bytes(-file.tell() % alignment))


def _reporter(
    tensors: list[_Tensor], progress: Callable[[float], None] | None, should_stop: Callable[[], bool] | None
) -> Callable[[int], None]:
    total, done = sum(tensor.num_bytes for tensor in tensors), 0

    def report(num_bytes: int) -> None:
        nonlocal done
        done += num_bytes
        if should_stop is not None and should_stop():
            raise ToolError("Making the padded model was cancelled.", "Start it again if you need it.")
        if progress is not None:
            progress(done / total)

    return report


def _value(reader: Any, key: str) -> Any:  # noqa: ANN401
    field = reader.get_field(key)
    return None if field is None else field.contents()


def main(arguments: list[str] | None = None) -> int:
    """Pad from the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m engine.gguf.pad", description="Pad a small llama GGUF with zeros.")
    parser.add_argument("source", type=Path)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--params", type=int, default=TARGET_PARAMS, help="parameters wanted (default %(default)s)")
    parser.add_argument("--quantize", action="store_true", help="convert the feed-forward layers to Q4_0")
    options = parser.parse_args(arguments)
    try:
        make_padded(options.source, options.destination, None, None, options.params, options.quantize)
    except ToolError as error:
        sys.stderr.write(f"{error.message} {error.advice}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
