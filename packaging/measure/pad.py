"""Pads a small Llama model's feed-forward layers with zero neurons: equal answers at the cost of a large model.

A neuron with zero weights adds exactly 0 to the sum, but is read and multiplied like others. So the built-in pair with
a padded target shows the gain of speculation with the pass costs of a large model.

    python packaging/measure/pad.py assets/models/paceline-tiny-target.gguf padded.gguf [--params 400000000]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import gguf
import numpy as np

PAD_TO = 256  # neurons; a multiple of every block size and of the row groups of llama.cpp's repacked kernels
ROWS = ("ffn_gate.weight", "ffn_up.weight", "ffn_gate.bias", "ffn_up.bias")  # one row (or value) per neuron
COLUMNS = ("ffn_down.weight",)  # one column per neuron
PADDABLE = ("F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0")  # types whose zeros are zero bytes


def make_padded(source: Path, destination: Path, num_params: int) -> None:
    """Write ``source`` to ``destination``, padded to about ``num_params`` parameters; blocks are copied bit for bit.

    Raises:
        SystemExit: the file is not a Llama model that can be padded, or is already as large.
    """
    reader = gguf.GGUFReader(source)
    if _value(reader, "general.architecture") != "llama":
        raise SystemExit(f"{source.name} is no llama model.")
    n_ff, n_embd = (_value(reader, f"llama.{name}_length") for name in ("feed_forward", "embedding"))
    n_layer = sum(tensor.name.endswith(COLUMNS) for tensor in reader.tensors)
    if not isinstance(n_ff, int) or not isinstance(n_embd, int) or n_layer == 0:
        raise SystemExit(f"{source.name} has no feed-forward layers of one size.")
    missing = num_params - sum(int(tensor.n_elements) for tensor in reader.tensors)
    added = missing // (3 * n_embd * n_layer) // PAD_TO * PAD_TO
    if added <= 0:
        raise SystemExit(f"{source.name} has {num_params:,} parameters or more: there is nothing to pad.")
    writer = gguf.GGUFWriter(destination, "llama", endianess=reader.endianess)
    for field in reader.fields.values():
        # The writer adds the first entry itself, the reader invents the second kind, and empty lists cannot be written.
        if field.name == "general.architecture" or field.name.startswith("GGUF.") or field.contents() == []:
            continue
        changed = {"llama.feed_forward_length": n_ff + added}
        writer.add_key_value(
            field.name, changed.get(field.name, field.contents()), field.types[0], sub_type=field.types[-1]
        )
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, _padded(tensor, n_ff, added), raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _padded(tensor: Any, n_ff: int, added: int) -> Any:  # noqa: ANN401 (gguf has no types)
    """The bytes of a tensor, uint8 [rows, bytes of a row] or [bytes], with ``added`` neurons if it has neurons."""
    shape, kind = [int(n) for n in reversed(tensor.shape)], tensor.tensor_type
    widens, grows = tensor.name.endswith(COLUMNS), tensor.name.endswith(ROWS)
    rows = np.ascontiguousarray(tensor.data).view(np.uint8)
    if not widens and not grows:
        return rows
    if kind.name not in PADDABLE or shape[-1 if widens else 0] != n_ff:
        raise SystemExit(f"{tensor.name} ({kind.name}, {shape}) cannot be padded.")
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    num_bytes = added // block * block_bytes
    if len(shape) == 1:
        return np.pad(rows, (0, num_bytes))
    return np.pad(rows, ((0, 0), (0, num_bytes)) if widens else ((0, added), (0, 0)))


def _value(reader: Any, key: str) -> Any:  # noqa: ANN401 (gguf has no types)
    field = reader.get_field(key)
    return None if field is None else field.contents()


def main() -> int:
    """Pad the model of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("destination", type=Path)
    parser.add_argument("--params", type=int, default=400_000_000, help="parameters wanted; default %(default)s")
    options = parser.parse_args()
    make_padded(options.source, options.destination, options.params)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
