"""The weights that a pass of one token reads, which decide what it costs: by kind, from a header or from a size."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from engine.gguf.header import GgufHeader

# Time of a byte beside one of Q4_0, Q4_K or Q8_0: what unpacking adds where it is no longer hidden behind the memory.
# Solved from plain passes of five real models of mixed kinds on one core of Zen 5, with the set-up's kernels.
RELATIVE_COST = {"Q4_1": 1.35, "Q5_1": 2.2, "Q5_0": 2.3, "Q6_K": 1.5, "Q5_K": 1.4, "Q2_K": 1.6, "Q3_K": 1.6}
OTHER_COST = 1.5  # of kinds with tables (IQ...), which unpack more
_CHEAP = frozenset({"Q4_0", "Q4_K", "Q8_0", "F16", "BF16", "F32", "IQ4_NL", "IQ4_XS", "MXFP4"})
_EXPERTS = "_exps."
# Layers of models by the bytes that a token reads, where only a size is known: (bytes up to which, layers).
_LAYERS = ((150e6, 24), (2e9, 28), (12e9, 36), (30e9, 56), (float("inf"), 80))
_EXPERTS_IN_NAME = re.compile(r"(\d+(?:\.\d+)?)B[-_]A(\d+(?:\.\d+)?)B", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """Bytes that a pass of one token reads, by kind of weights, and the layers that they are read in."""

    bytes_by_kind: Mapping[str, int]
    num_layers: int

    @property
    def num_bytes(self) -> int:
        """All of them."""
        return sum(self.bytes_by_kind.values())

    @property
    def cost_bytes(self) -> float:
        """As many bytes of the cheapest kind as would take the same time."""
        return sum(number * relative_cost(kind) for kind, number in self.bytes_by_kind.items())


def relative_cost(kind: str) -> float:
    """Time of a byte of this kind beside one of Q4_0."""
    return 1.0 if kind in _CHEAP else RELATIVE_COST.get(kind, OTHER_COST)


def token_weights(header: GgufHeader, all_bytes: int | None = None) -> TokenWeights:
    """Of a model's header; ``all_bytes`` is the size of all tensors where ``header`` is the first of several parts.

    Of experts only those in use are read, and of an embedding that is no output matrix as well, one row.
    """
    used, number = (header.own(key) for key in ("expert_used_count", "expert_count"))
    share = used / number if isinstance(used, int) and isinstance(number, int) and number else 1.0
    has_output = any(tensor.name == "output.weight" for tensor in header.tensors)
    read: Counter[str] = Counter()
    for tensor in header.tensors:
        if not (has_output and tensor.name == "token_embd.weight"):
            read[tensor.type_name] += round(tensor.num_bytes * (share if _EXPERTS in tensor.name else 1.0))
    known = header.weights_bytes
    scale = all_bytes / known if all_bytes is not None and known else 1.0
    layers = header.own("block_count")
    return TokenWeights(
        {kind: round(number * scale) for kind, number in read.items()}, layers if isinstance(layers, int) else 0
    )


def weights_by_size(size_bytes: int, quantization: str, name: str = "") -> TokenWeights:
    """The same where only a size is known, of a list or a search: experts by a name like ``30B-A3B``."""
    found = _EXPERTS_IN_NAME.search(name)
    share = float(found[2]) / float(found[1]) if found and float(found[1]) > float(found[2]) > 0 else 1.0
    read = size_bytes * share
    layers = next(layers for most, layers in _LAYERS if read <= most)
    kind = quantization.upper()
    # Mixtures named _M and _L keep about a third in a finer kind: Q6_K beside Q4_K.
    if kind.endswith(("_M", "_L")):
        return TokenWeights({kind[:-2]: round(read * 0.65), "Q6_K": round(read * 0.35)}, layers)
    return TokenWeights({kind.removesuffix("_S"): round(read)}, layers)
