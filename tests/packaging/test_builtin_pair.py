"""Tests the shipped pair of GGUFs: sizes, types, vocabulary, chat template, licence."""

import math
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType, GGUFReader

MODELS = Path(__file__).parents[2] / "assets" / "models"
TARGET, DRAFT = MODELS / "paceline-tiny-target.gguf", MODELS / "paceline-tiny-draft.gguf"
LIMIT_BYTES = 16_000_000


@pytest.fixture(scope="module")
def target() -> GGUFReader:
    return GGUFReader(TARGET)


@pytest.fixture(scope="module")
def draft() -> GGUFReader:
    return GGUFReader(DRAFT)


def value(reader: GGUFReader, key: str) -> object:
    field = reader.get_field(key)
    assert field is not None, key
    return field.contents()


def num_parameters(reader: GGUFReader) -> int:
    return sum(math.prod(int(size) for size in tensor.shape) for tensor in reader.tensors)


def test_both_files_are_small() -> None:
    assert TARGET.stat().st_size + DRAFT.stat().st_size <= LIMIT_BYTES


def test_target_feed_forward_is_q4_0(target: GGUFReader) -> None:
    kinds = {tensor.name: tensor.tensor_type for tensor in target.tensors}
    feed_forward = {name: kind for name, kind in kinds.items() if ".ffn_" in name and "norm" not in name}
    assert len(feed_forward) == 3 * int(str(value(target, "llama.block_count")))
    assert set(feed_forward.values()) == {GGMLQuantizationType.Q4_0}
    norms = {kind for name, kind in kinds.items() if "norm" in name}
    assert norms == {GGMLQuantizationType.F32}
    rest = {kind for name, kind in kinds.items() if "norm" not in name and ".ffn_" not in name}
    assert rest <= {GGMLQuantizationType.Q8_0, GGMLQuantizationType.F16}


def test_every_matrix_row_is_whole_blocks(target: GGUFReader, draft: GGUFReader) -> None:
    for reader in (target, draft):
        assert all(int(tensor.shape[0]) % 32 == 0 for tensor in reader.tensors)


def test_draft_is_at_least_eight_times_smaller(target: GGUFReader, draft: GGUFReader) -> None:
    assert 4_000_000 < num_parameters(target) < 11_000_000
    assert num_parameters(target) >= 8 * num_parameters(draft)


@pytest.mark.parametrize(
    "key",
    [
        "tokenizer.ggml.model",
        "tokenizer.ggml.pre",
        "tokenizer.ggml.tokens",
        "tokenizer.ggml.merges",
        "tokenizer.ggml.token_type",
        "tokenizer.ggml.bos_token_id",
        "tokenizer.ggml.eos_token_id",
        "tokenizer.ggml.add_bos_token",
        "tokenizer.chat_template",
    ],
)
def test_same_vocabulary_and_template(target: GGUFReader, draft: GGUFReader, key: str) -> None:
    assert value(target, key) == value(draft, key)


def test_every_byte_is_a_token(target: GGUFReader) -> None:
    tokens = value(target, "tokenizer.ggml.tokens")
    assert isinstance(tokens, list)
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    byte_tokens = {chr(byte) for byte in printable} | {chr(256 + at) for at in range(256 - len(printable))}
    assert byte_tokens <= set(tokens)
    assert len(tokens) == len(set(tokens)) == 4096


def test_facts_in_the_header(target: GGUFReader, draft: GGUFReader) -> None:
    for reader, role in ((target, "target"), (draft, "draft")):
        assert value(reader, "general.architecture") == "llama"
        assert value(reader, "general.name") == f"Paceline tiny {role}"
        assert value(reader, "general.license") == "mit"
        assert value(reader, "general.description")
        assert int(str(value(reader, "llama.context_length"))) >= 2048
    tokens = value(target, "tokenizer.ggml.tokens")
    assert isinstance(tokens, list)
    assert tokens[int(str(value(target, "tokenizer.ggml.eos_token_id")))] == "<|im_end|>"


def test_model_card_names_every_source() -> None:
    card = (MODELS / "MODEL_CARD.md").read_text(encoding="utf-8")
    sources = (
        "jfainberg/self_dialogue_corpus",
        "openai/grade-school-math",
        "google-research-datasets/Synthetic-Persona-Chat",
        "google-research-datasets/Taskmaster",
        "rasbt/LLMs-from-scratch",
        "yizhongw/self-instruct",
        "paredezadrian/open-datasets",
        "ntulsi/BotBuilder-PersonalityChat",
        "SODA",
        "gunthercox/chatterbot-corpus",
    )
    for source in sources:
        assert source in card
    for licence in ("MIT", "BSD-3-Clause", "CC BY 4.0", "Apache-2.0"):
        assert licence in card
