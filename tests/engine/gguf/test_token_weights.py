"""Tests how many bytes of a model's weights each token reads."""

import pytest

from engine.gguf.header import GgufHeader, TensorInfo
from engine.gguf.token_weights import TokenWeights, head_weights, token_weights, weights_by_size


def header(tensors: dict[str, tuple[str, int]], **metadata: int) -> GgufHeader:
    infos = tuple(TensorInfo(name, (num_bytes,), kind, 0, num_bytes) for name, (kind, num_bytes) in tensors.items())
    entries = {"general.architecture": "llama", "llama.block_count": 2}
    entries |= {f"llama.{key}": value for key, value in metadata.items()}
    return GgufHeader(3, entries, {}, infos, 0, 0)


def test_an_embedding_beside_an_output_matrix_is_looked_up_not_read() -> None:
    tensors = {"token_embd.weight": ("Q4_K", 100), "output.weight": ("Q6_K", 150), "blk.0.ffn_up.weight": ("Q4_K", 40)}
    assert token_weights(header(tensors)) == TokenWeights({"Q6_K": 150, "Q4_K": 40}, 2)
    del tensors["output.weight"]
    assert token_weights(header(tensors)) == TokenWeights({"Q4_K": 140}, 2)


def test_of_experts_those_in_use_are_read() -> None:
    tensors = {"blk.0.ffn_up_exps.weight": ("Q4_K", 800), "blk.0.attn_q.weight": ("Q4_K", 50)}
    found = token_weights(header(tensors, expert_count=8, expert_used_count=2))
    assert found.num_bytes == 250


def test_of_the_first_part_the_rest_is_like_it() -> None:
    found = token_weights(header({"blk.0.attn_q.weight": ("Q4_K", 50)}), all_bytes=150)
    assert found.num_bytes == 150


def test_finer_kinds_cost_more_a_byte() -> None:
    assert TokenWeights({"Q5_0": 100}, 1).cost_bytes > TokenWeights({"Q4_K": 100}, 1).cost_bytes


@pytest.mark.parametrize(
    ("size", "quantization", "name", "read"),
    [
        (1_000, "Q4_K_M", "Qwen2.5 7B", 1_000),
        (30_000, "Q4_0", "Qwen3-30B-A3B-Instruct", 3_000),
        (1_000, "", "x", 1_000),
        (1_000, "Q4_K_S", "A3B-30B", 1_000),
    ],
)
def test_by_a_size_alone(size: int, quantization: str, name: str, read: int) -> None:
    assert weights_by_size(size, quantization, name).num_bytes == read


def test_a_larger_model_has_more_layers() -> None:
    layers = [weights_by_size(size, "Q4_K_M").num_layers for size in (10**8, 10**9, 5 * 10**9, 4 * 10**10)]
    assert layers == sorted(layers)


TRUNK = {"token_embd.weight": ("Q4_K", 100), "output.weight": ("Q6_K", 150), "blk.0.ffn_up.weight": ("Q4_K", 40)}
OWN_HEADS = {
    f"blk.{layer}.{name}.weight": ("Q8_0", size)
    for layer in (1, 2)
    for name, size in (("ffn_up", 30), ("nextn.eh_proj", 10), ("nextn.embed_tokens", 100))
}


def test_a_plain_pass_reads_no_next_token_layers_a_drafted_token_one() -> None:
    whole = header(TRUNK | OWN_HEADS, block_count=3, nextn_predict_layers=2)
    assert token_weights(whole).bytes_by_kind == {"Q6_K": 150, "Q4_K": 40}
    assert head_weights(whole) == TokenWeights({"Q8_0": 40, "Q6_K": 150}, 1)
    with_output = OWN_HEADS | {"blk.1.nextn.shared_head_head.weight": ("Q8_0", 20)}
    found = head_weights(header(TRUNK | with_output, block_count=3, nextn_predict_layers=2))
    assert found == TokenWeights({"Q8_0": 50}, 1)
    tied = {name: what for name, what in TRUNK.items() if name != "output.weight"}
    found = head_weights(header(tied | OWN_HEADS, block_count=3, nextn_predict_layers=2))
    assert found == TokenWeights({"Q8_0": 40, "Q4_K": 100}, 1)
    assert head_weights(header(TRUNK)) is None


def test_a_head_file_has_an_output_matrix_or_reads_the_targets() -> None:
    eagle3 = {"fc.weight": ("Q8_0", 60), "blk.0.attn_q.weight": ("Q8_0", 20), "token_embd.weight": ("Q8_0", 90)}
    target = header(TRUNK)
    assert head_weights(target, header(eagle3)) == TokenWeights({"Q8_0": 80, "Q6_K": 150}, 1)
    own = eagle3 | {"output.weight": ("Q4_0", 50), "d2t": ("I64", 400)}
    assert head_weights(target, header(own)) == TokenWeights({"Q8_0": 80, "Q4_0": 50}, 1)
    assert head_weights(header({"blk.0.ffn_up.weight": ("Q4_K", 40)}), header(eagle3)) is None
