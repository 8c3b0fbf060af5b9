"""Computes the memory of a loaded model from llama.cpp's report of its buffers."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from engine.records import DeviceUse, MemoryUse

# llama.cpp logs one line for each kind and device: "llama_kv_cache: CPU KV buffer size = 12.00 MiB".
_BUFFER = re.compile(r"(\S+) +(model|KV|RS|compute|output) buffer size = +([\d.]+) MiB")
_LAYER = re.compile(r"layer +\d+ assigned to device ([^,\s]+)")  # the last such line is about the output layer
_CPU = "CPU"
_MAPPED = "_Mapped"  # suffix of the name of a buffer that is a memory-mapped range of the file
_MIB = 2**20


def reported_memory(
    lines: Sequence[str],
    size_bytes: int,
    *,
    context_only: bool = False,
) -> MemoryUse | None:
    """Add up the buffers that llama.cpp logged for a model and its context; None if the lines lack weights.

    Weights that were repacked, or copied to a GPU, have a separate buffer and are also in the memory-mapped file, whose
    pages the system may drop at any time. So the memory-mapped file counts only for weights that have no other buffer.

    Args:
        lines: llama.cpp's log lines on buffers and layers.
        size_bytes: bytes of all the model's weights in the file.
        context_only: the lines are about an additional context of a loaded model, so weights are not counted.
    """
    layers = Counter(device for line in lines for device in _LAYER.findall(line))
    sizes: defaultdict[tuple[str, str], float] = defaultdict(float)  # MiB by device and kind
    mapped: defaultdict[str, float] = defaultdict(float)
    for line in lines:
        for buffer, kind, mib in _BUFFER.findall(line):
            # The device of a buffer; the CPU for buffers in main memory such as "CUDA_Host".
            own = [name for name in layers if name != _CPU and re.match(rf"{re.escape(name)}(?![0-9])", buffer)]
            device = own[0] if own else _CPU
            if kind == "model" and buffer.endswith(_MAPPED):
                mapped[device] += float(mib)
            else:
                sizes[device, kind] += float(mib)
    own_mib = sum(mib for (_, kind), mib in sizes.items() if kind == "model")
    if not own_mib and not mapped and not context_only:
        return None
    left_mib = max(0.0, size_bytes / _MIB - own_mib)
    all_mapped = sum(mapped.values())
    share = min(1.0, left_mib / all_mapped) if all_mapped else 0.0
    for device, mib in mapped.items():
        sizes[device, "model"] += mib * share
    names = sorted({device for device, _ in sizes} | set(layers), key=lambda name: (name == _CPU, name))
    devices = tuple(_use(name, layers[name], sizes) for name in names)
    return MemoryUse(
        weights_bytes=sum(one.weights_bytes for one in devices),
        cache_bytes=sum(one.cache_bytes for one in devices),
        compute_bytes=sum(one.compute_bytes for one in devices),
        devices=devices,
    )


def _use(name: str, num_layers: int, sizes: Mapping[tuple[str, str], float]) -> DeviceUse:
    def in_bytes(*kinds: str) -> int:
        return round(sum(sizes.get((name, kind), 0.0) for kind in kinds) * _MIB)

    return DeviceUse(name, num_layers, in_bytes("model"), in_bytes("KV", "RS"), in_bytes("compute", "output"))
