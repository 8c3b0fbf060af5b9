"""Computes the bytes of weights, by kind, that a pass of one token reads. They determine its cost."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from engine.gguf.head_files import head_method, next_token_tensors, num_next_token_layers
from engine.gguf.header import GgufHeader

# Time per byte relative to Q4_0, Q4_K or Q8_0, because of unpacking. Fitted to plain passes of five real models of
# mixed kinds on one core of Zen 5, with the kernels of the set-up.
RELATIVE_COST = {"Q4_1": 1.35, "Q5_1": 2.2, "Q5_0": 2.3, "Q6_K": 1.5, "Q5_K": 1.4, "Q2_K": 1.6, "Q3_K": 1.6}
OTHER_COST = 1.5  # for kinds with lookup tables (IQ...), which take longer to unpack
_CHEAP = frozenset({"Q4_0", "Q4_K", "Q8_0", "F16", "BF16", "F32", "IQ4_NL", "IQ4_XS", "MXFP4"})
_EXPERTS, _OUTPUT, _EMBEDDING = "_exps.", "output.weight", "token_embd.weight"
# Assumed number of layers if only the model's size is known: (largest bytes per token, layers).
_LAYERS = ((150e6, 24), (2e9, 28), (12e9, 36), (30e9, 56), (float("inf"), 80))
_EXPERTS_IN_NAME = re.compile(r"(\d+(?:\.\d+)?)B[-_]A(\d+(?:\.\d+)?)B", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TokenWeights:
    """Bytes that a pass of one token reads, by kind of weights, and the number of layers."""

    bytes_by_kind: Mapping[str, int]
    num_layers: int

    @property
    def num_bytes(self) -> int:
        return sum(self.bytes_by_kind.values())

    @property
    def cost_bytes(self) -> float:
        """Equivalent number of bytes of the cheapest kind."""
        costs = {**dict.fromkeys(_CHEAP, 1.0), **RELATIVE_COST}
        return sum(number * costs.get(kind, OTHER_COST) for kind, number in self.bytes_by_kind.items())


def token_weights(header: GgufHeader, all_bytes: int | None = None) -> TokenWeights:
    """Weights per token by a header. ``all_bytes``: size of all tensors if ``header`` is the first of several parts.

    A token reads only the experts it is routed to, and one row of an embedding that is not the output matrix.
    Next-token layers are not counted; see `head_weights`.
    """
    share = _expert_share(header)
    has_output = any(tensor.name == _OUTPUT for tensor in header.tensors)
    of_heads = frozenset() if head_method(header) else frozenset(one.name for one in next_token_tensors(header))
    read: Counter[str] = Counter()
    for tensor in header.tensors:
        if tensor.name not in of_heads and not (has_output and tensor.name == _EMBEDDING):
            read[tensor.type_name] += round(tensor.num_bytes * (share if _EXPERTS in tensor.name else 1.0))
    known = header.weights_bytes
    scale = all_bytes / known if all_bytes is not None and known else 1.0
    layers = header.arch_value("block_count")
    return TokenWeights(
        {kind: round(number * scale) for kind, number in read.items()}, layers if isinstance(layers, int) else 0
    )


def head_weights(target: GgufHeader, head: GgufHeader | None = None) -> TokenWeights | None:
    """Weights that a token drafted by a head file, or by next-token layers, reads: a layer and an output matrix.

    The output matrix is the head's, or else the target's. None if the headers lack a tensor.
    """
    header = target if head is None else head
    own = next_token_tensors(target) if head is None else header.tensors
    share, layers = _expert_share(header), max(num_next_token_layers(header), 1)
    read: Counter[str] = Counter()
    for tensor in own:
        is_table = tensor.name in (_EMBEDDING, "d2t") or tensor.name.endswith("nextn.embed_tokens.weight")
        if not is_table:
            used = (share if _EXPERTS in tensor.name else 1.0) / (layers if tensor.name.startswith("blk.") else 1)
            read[tensor.type_name] += round(tensor.num_bytes * used)
    is_output = any(one.name == _OUTPUT or one.name.endswith("nextn.shared_head_head.weight") for one in own)
    if own and not is_output:
        by_name = {tensor.name: tensor for tensor in target.tensors}
        borrowed = by_name.get(_OUTPUT) or by_name.get(_EMBEDDING)
        if borrowed is None or header.metadata.get("split.count", 1) not in (0, 1):
            return None
        read[borrowed.type_name] += borrowed.num_bytes
    return TokenWeights(dict(read), 1) if own else None


def _expert_share(header: GgufHeader) -> float:
    used, number = (header.arch_value(key) for key in ("expert_used_count", "expert_count"))
    return used / number if isinstance(used, int) and isinstance(number, int) and number else 1.0


def weights_by_size(size_bytes: int, quantization: str, name: str = "") -> TokenWeights:
    """Weights per token if only a size is known, as in a search; a name like ``30B-A3B`` tells the experts' share."""
    found = _EXPERTS_IN_NAME.search(name)
    share = float(found[2]) / float(found[1]) if found and float(found[1]) > float(found[2]) > 0 else 1.0
    read = size_bytes * share
    layers = next(layers for most, layers in _LAYERS if read <= most)
    kind = quantization.upper()
    # Quantizations named _M and _L have about a third of the weights in a finer kind, such as Q6_K with Q4_K.
    if kind.endswith(("_M", "_L")):
        return TokenWeights({kind[:-2]: round(read * 0.65), "Q6_K": round(read * 0.35)}, layers)
    return TokenWeights({kind.removesuffix("_S"): round(read)}, layers)
