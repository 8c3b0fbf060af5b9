"""Writes a stub of a model: its header without any tensor, from which llama.cpp makes the vocabulary and nothing else.

So the tokenizer of a remote file can be compared by llama.cpp's own rules.
"""

from __future__ import annotations

import struct
from pathlib import Path

from engine.gguf.header import GgufHeader
from engine.gguf.source import ReadAt

_SPLIT = "split."  # llama.cpp would look for the other parts beside the stub


def write_stub(header: GgufHeader, read_at: ReadAt, path: Path) -> Path:
    """Write the metadata of ``header``, as it was parsed from ``read_at``, as a GGUF of no tensors; return ``path``."""
    kept = [span for key, span in header.entries.items() if not key.startswith(_SPLIT)]
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", header.version, 0, len(kept)))
        for begin, end in kept:
            file.write(read_at(begin, end - begin))
    return path
