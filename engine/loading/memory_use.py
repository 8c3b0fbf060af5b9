"""What a loaded model really takes of memory: llama.cpp's own report of its buffers, else an estimate that says so."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from engine.errors import ModelFileError
from engine.fit.cache_size import CacheSetup
from engine.fit.estimate import estimate_memory
from engine.fit.fit import all_parts_bytes
from engine.gguf.header import read_header
from engine.records import FlashAttention, MemoryUse, ModelInfo

# llama.cpp logs one line for each kind and device: "llama_kv_cache: CPU KV buffer size = 12.00 MiB".
_BUFFER = re.compile(r"(\S+) +(model|KV|RS|compute|output) buffer size = +([\d.]+) MiB")
_MAPPED = "_Mapped"  # ends the name of a buffer that is the file itself, from its first weight there to the last
_MIB = 2**20


def reported_memory(lines: Sequence[str], size_bytes: int, *, context_only: bool = False) -> MemoryUse | None:
    """Add up what llama.cpp said while it loaded one model and made its context; None where it left weights out.

    Weights that were laid out anew for the processor, or copied to a GPU, are in a buffer of their own, and the mapped
    file is reported with them in it once more, of which the system may drop the pages at any time. So of the file
    counts what no other buffer holds.

    Args:
        lines: on buffers, of llama.cpp's log.
        size_bytes: of all the model's weights in the file.
        context_only: it made another context of a model that was loaded, whose weights are not counted again.
    """
    sizes = dict.fromkeys(("model", "KV", "RS", "compute", "output"), 0.0)
    mapped_mib = 0.0
    for line in lines:
        for device, kind, mib in _BUFFER.findall(line):
            if kind == "model" and device.endswith(_MAPPED):
                mapped_mib += float(mib)
            else:
                sizes[kind] += float(mib)
    if not sizes["model"] and not mapped_mib and not context_only:
        return None
    weights_mib = sizes["model"] + min(mapped_mib, max(0.0, size_bytes / _MIB - sizes["model"]))
    return MemoryUse(
        weights_bytes=round(weights_mib * _MIB),
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
    fused = info.flash_attention is not FlashAttention.OFF and info.key_type is None
    memory = estimate_memory(header, CacheSetup(info.n_ctx, kind, kind, fused), info.gpu_layers, whole)
    return MemoryUse(memory.weights.all_bytes, memory.cache.all_bytes, memory.compute.all_bytes, measured=False)
