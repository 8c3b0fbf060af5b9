"""What a loaded model really takes of memory: llama.cpp's own report of its buffers, else an estimate that says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from engine.cache_size import CacheSetup
from engine.errors import ModelFileError
from engine.estimate import estimate_memory
from engine.fit import all_parts_bytes
from engine.gguf_header import read_header
from engine.records import MemoryUse, ModelInfo

# llama.cpp logs one line for each kind and device: "llama_kv_cache: CPU KV buffer size = 12.00 MiB".
_BUFFER = re.compile(r"\b(model|KV|RS|compute|output) buffer size = +([\d.]+) MiB")
_MIB = 2**20


def reported_memory(lines: Sequence[str]) -> MemoryUse | None:
    """Add up what llama.cpp said while it loaded one model and made its context; None where it left weights out."""
    sizes = dict.fromkeys(("model", "KV", "RS", "compute", "output"), 0.0)
    for line in lines:
        for kind, mib in _BUFFER.findall(line):
            sizes[kind] += float(mib)
    if not sizes["model"]:
        return None
    return MemoryUse(
        weights_bytes=round(sizes["model"] * _MIB),
        cache_bytes=round((sizes["KV"] + sizes["RS"]) * _MIB),
        compute_bytes=round((sizes["compute"] + sizes["output"]) * _MIB),
        measured=True,
    )


def estimated_memory(info: ModelInfo) -> MemoryUse | None:
    """Estimate a loaded model from its header; None where the file cannot be read any more."""
    path = Path(info.path)
    try:
        header = read_header(path)
        whole = all_parts_bytes(path, header)
    except (ModelFileError, OSError):
        return None
    kind = info.cache_type.value
    memory = estimate_memory(header, CacheSetup(info.n_ctx, kind, kind), info.gpu_layers, whole)
    return MemoryUse(memory.weights.all_bytes, memory.cache.all_bytes, memory.compute.all_bytes, measured=False)
