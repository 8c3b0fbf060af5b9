"""A tiny mixture-of-experts model that llama.cpp can run: random weights, a byte vocabulary."""

from dataclasses import replace

import gguf
import numpy as np

from tests.engine.gguf_factory import F16, F32, Q4_0, GgufFile, Kind, Tensor, tiny_llama

N_LAYER, N_EMBD, N_FF, N_EXPERT, N_USED = 6, 256, 512, 4, 2


def tiny_moe(n_layer: int = N_LAYER, n_expert: int = N_EXPERT, seed: int = 3) -> GgufFile:
    """A llama with ``n_layer`` layers of 0.2 MB per expert; nearly all weights belong to experts."""
    dice = np.random.default_rng(seed)
    n_kv = N_EMBD // 2
    plain = tiny_llama()
    tokens = next(tensor for tensor in plain.tensors if tensor.name == "output.weight").dims[1]

    def weights(name: str, *shape: int, kind: int = F16) -> Tensor:
        values = dice.normal(0.0, 0.08, shape).astype(np.float32)
        if kind == F16:
            data = values.astype(np.float16).tobytes()
        elif kind == F32:
            data = values.tobytes()
        else:
            data = gguf.quantize(values, gguf.GGMLQuantizationType(kind)).tobytes()
        return Tensor(name, tuple(reversed(shape)), kind, data)

    def ones(name: str) -> Tensor:
        return Tensor(name, (N_EMBD,), F32, np.ones(N_EMBD, np.float32).tobytes())

    tensors = [weights("token_embd.weight", tokens, N_EMBD), ones("output_norm.weight")]
    tensors.append(weights("output.weight", tokens, N_EMBD))
    for i in range(n_layer):
        block = f"blk.{i}."
        tensors += [
            ones(f"{block}attn_norm.weight"),
            weights(f"{block}attn_q.weight", N_EMBD, N_EMBD),
            weights(f"{block}attn_k.weight", n_kv, N_EMBD),
            weights(f"{block}attn_v.weight", n_kv, N_EMBD),
            weights(f"{block}attn_output.weight", N_EMBD, N_EMBD),
            ones(f"{block}ffn_norm.weight"),
            weights(f"{block}ffn_gate_inp.weight", n_expert, N_EMBD, kind=F32),
            weights(f"{block}ffn_gate_exps.weight", n_expert, N_FF, N_EMBD, kind=Q4_0),
            weights(f"{block}ffn_up_exps.weight", n_expert, N_FF, N_EMBD, kind=Q4_0),
            weights(f"{block}ffn_down_exps.weight", n_expert, N_EMBD, N_FF, kind=Q4_0),
        ]
    return replace(plain, tensors=tuple(tensors)).with_metadata(
        general__name=(Kind.STRING, "tiny experts"),
        llama__context_length=(Kind.UINT32, 1024),
        llama__embedding_length=(Kind.UINT32, N_EMBD),
        llama__block_count=(Kind.UINT32, n_layer),
        llama__feed_forward_length=(Kind.UINT32, N_FF),
        llama__rope__dimension_count=(Kind.UINT32, N_EMBD // 4),
        llama__expert_count=(Kind.UINT32, n_expert),
        llama__expert_used_count=(Kind.UINT32, N_USED),
    )
