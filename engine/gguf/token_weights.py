"""Computes the bytes of weights that a pass of one token reads. They determine its cost."""

from engine.gguf.head_files import head_method, next_token_tensors, num_next_token_layers
from engine.gguf.header import GgufHeader, TensorInfo

_EXPERTS, _OUTPUT, _EMBEDDING = "_exps.", "output.weight", "token_embd.weight"


def bytes_per_token(header: GgufHeader, all_bytes: int | None = None) -> int:
    """Bytes that a token reads. ``all_bytes``: size of all tensors if ``header`` is the first of several parts.

    A token reads only the experts it is routed to, and one row of an embedding that is not the output matrix.
    Next-token layers are not counted.
    """
    has_output = any(tensor.name == _OUTPUT for tensor in header.tensors)
    heads = () if head_method(header) else next_token_tensors(header)
    ignored = {tensor.name for tensor in heads} | ({_EMBEDDING} if has_output else set())
    read = sum(_read_bytes(header, tensor) for tensor in header.tensors if tensor.name not in ignored)
    known = header.weights_bytes
    return round(read * all_bytes / known) if all_bytes is not None and known else round(read)


def head_bytes_per_token(target: GgufHeader, head: GgufHeader) -> int | None:
    """Bytes that a token drafted by a head file reads: a layer and an output matrix, the head's or else the target's.

    None if the headers lack the output matrix.
    """
    layers, read = max(num_next_token_layers(head), 1), 0.0
    for tensor in head.tensors:
        if tensor.name not in (_EMBEDDING, "d2t") and not tensor.name.endswith("nextn.embed_tokens.weight"):
            read += _read_bytes(head, tensor) / (layers if tensor.name.startswith("blk.") else 1)
    if any(one.name == _OUTPUT or one.name.endswith("nextn.shared_head_head.weight") for one in head.tensors):
        return round(read)
    by_name = {tensor.name: tensor for tensor in target.tensors}
    borrowed = by_name.get(_OUTPUT) or by_name.get(_EMBEDDING)
    return round(read) + borrowed.num_bytes if borrowed is not None else None


def _read_bytes(header: GgufHeader, tensor: TensorInfo) -> float:
    used, number = (header.arch_value(key) for key in ("expert_used_count", "expert_count"))
    if _EXPERTS in tensor.name and isinstance(used, int) and isinstance(number, int) and number:
        return tensor.num_bytes * used / number
    return tensor.num_bytes
