"""Tests how many bytes of a model's weights each token reads."""

from engine.gguf.header import GgufHeader, TensorInfo
from engine.gguf.token_weights import bytes_per_token, head_bytes_per_token

TRUNK = {"token_embd.weight": 100, "output.weight": 150, "blk.0.ffn_up.weight": 40}


def header(tensors: dict[str, int], **metadata: int) -> GgufHeader:
    infos = tuple(TensorInfo(name, (num_bytes,), "Q8_0", 0, num_bytes) for name, num_bytes in tensors.items())
    entries = {"general.architecture": "llama", "llama.block_count": 2}
    entries |= {f"llama.{key}": value for key, value in metadata.items()}
    return GgufHeader(3, entries, {}, infos, 0, 0)


def test_an_embedding_beside_an_output_matrix_is_looked_up_not_read() -> None:
    assert bytes_per_token(header(TRUNK)) == 190
    assert bytes_per_token(header({name: size for name, size in TRUNK.items() if name != "output.weight"})) == 140


def test_of_experts_those_in_use_are_read() -> None:
    tensors = {"blk.0.ffn_up_exps.weight": 800, "blk.0.attn_q.weight": 50}
    assert bytes_per_token(header(tensors, expert_count=8, expert_used_count=2)) == 250


def test_of_the_first_part_the_rest_is_like_it() -> None:
    assert bytes_per_token(header({"blk.0.attn_q.weight": 50}), all_bytes=150) == 150


def test_a_plain_pass_reads_no_next_token_layers_a_drafted_token_one() -> None:
    own = {
        f"blk.{layer}.{name}.weight": size
        for layer in (1, 2)
        for name, size in (("ffn_up", 30), ("nextn.eh_proj", 10), ("nextn.embed_tokens", 100))
    }
    assert bytes_per_token(header(TRUNK | own, block_count=3, nextn_predict_layers=2)) == 190
    alone = header(own, block_count=3, nextn_predict_layers=2)
    assert head_bytes_per_token(header(TRUNK), alone) == 40 + 150


def test_a_head_file_has_an_output_matrix_or_reads_the_targets() -> None:
    eagle3 = {"fc.weight": 60, "blk.0.attn_q.weight": 20, "token_embd.weight": 90}
    target = header(TRUNK)
    assert head_bytes_per_token(target, header(eagle3)) == 80 + 150
    assert head_bytes_per_token(target, header(eagle3 | {"output.weight": 50, "d2t": 400})) == 130
    assert head_bytes_per_token(header({"blk.0.ffn_up.weight": 40}), header(eagle3)) is None
