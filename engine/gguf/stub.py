"""Writes a stub of a model, its header without tensors: llama.cpp loads its vocabulary only.

The tokenizer of a remote file can thus be compared by llama.cpp's own rules.
"""

from __future__ import annotations

import struct
from pathlib import Path

from engine.gguf.header import GgufHeader
from engine.gguf.source import ReadAt

_SPLIT = "split."  # with these entries llama.cpp would look for other parts


def write_stub(header: GgufHeader, read_at: ReadAt, path: Path) -> Path:
    """Write the metadata of ``header``, which was parsed from ``read_at``, as a GGUF file; return ``path``."""
    kept = [span for key, span in header.entries.items() if not key.startswith(_SPLIT)]
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", header.version, 0, len(kept)))
        for begin, end in kept:
            file.write(read_at(begin, end - begin))
    return path
