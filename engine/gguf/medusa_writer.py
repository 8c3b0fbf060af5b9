"""Writes the GGUF of Medusa and Hydra heads that docs/heads.md describes, whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import quantize
from numpy.typing import NDArray

from engine.gguf.header import GgufHeader, read_header
from engine.gguf.medusa import TOKENS, tokenizer_sha256

TYPES = {
    kind.name: kind
    for kind in (
        GGMLQuantizationType.Q4_0,
        GGMLQuantizationType.Q8_0,
        GGMLQuantizationType.F16,
        GGMLQuantizationType.F32,
    )
}


def name_of(header: GgufHeader) -> str:
    """What a target calls itself."""
    found = header.metadata.get("general.basename") or header.metadata.get("general.name")
    return str(found or "its target")


@dataclass(frozen=True)
class HeadsFile:
    """What a file holds: ``tensors`` by their names in it, float32; ``kept`` are the ids of its vocabulary map."""

    kind: str
    num_heads: int
    num_blocks: int
    width: int
    tensors: dict[str, NDArray[np.float32]]
    kept: NDArray[np.int32] | None

    def write(self, path: Path, target: Path, matrix_type: str = "Q8_0") -> None:
        """Write it for the target in a GGUF file; matrices are of a type of `TYPES`, vectors float32.

        Raises:
            OSError: there is no room.
            ModelFileError: the target cannot be read.
        """
        part, header = path.with_suffix(".part"), read_header(target)
        name = name_of(header)
        writer = GGUFWriter(part, "medusa")
        writer.add_name(f"{self.kind.capitalize()} heads for {name}")
        writer.add_string("medusa.kind", self.kind)
        writer.add_string("medusa.target_name", name)
        writer.add_string("medusa.tokenizer_sha256", tokenizer_sha256(target, header))
        writer.add_uint32("medusa.head_count", self.num_heads)
        writer.add_uint32("medusa.block_count", self.num_blocks)
        writer.add_uint32("medusa.embedding_length", self.width)
        writer.add_uint32("medusa.vocab_size", header.arrays[TOKENS].length)
        for tensor, values in self.tensors.items():
            kind = TYPES[matrix_type if values.ndim > 1 else "F32"]
            writer.add_tensor(tensor, quantize(np.ascontiguousarray(values, np.float32), kind), raw_dtype=kind)
        if self.kept is not None:
            writer.add_tensor("vocab_map", self.kept.astype(np.int32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        part.replace(path)
