"""Absurd values in a well-formed header are rejected with a sentence; real models pass."""

import math
from pathlib import Path

import pytest

from engine.errors import ModelFileError, ModelHeaderError
from engine.gguf.header import read_header
from engine.gguf.hyperparameters import read_checked_header
from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama
from tests.engine.heads.head_factory import eagle3_for, head_only, qwen35_with_mtp

TINY = tiny_llama(n_ff=32)
NUM_TOKENS = len(TINY.metadata["tokenizer.ggml.tokens"][1][1])
MODELS = sorted((Path(__file__).resolve().parents[4] / "shared" / "models").glob("*.gguf"))


def u32(value: int) -> tuple[Kind, int]:
    return Kind.UINT32, value


def tokens_with(index: int, text: str) -> tuple[Kind, object]:
    kind, (item_kind, items) = TINY.metadata["tokenizer.ggml.tokens"]
    return kind, (item_kind, [*items[:index], text, *items[index + 1 :]])


ABSURD = {
    "no architecture": ({"general__architecture": None}, "which architecture"),
    "architecture path": ({"general__architecture": (Kind.STRING, "../llama")}, "is called"),
    "no blocks": ({"llama__block_count": u32(0)}, "block_count is 0"),
    "no block count": ({"llama__block_count": None}, "does not say its llama.block_count"),
    "many blocks": ({"llama__block_count": u32(10**9)}, "block_count is 1,000,000,000"),
    "3 blocks claimed": ({"llama__block_count": u32(3)}, "blocks should be 3 and is 2"),
    "1 block claimed": ({"llama__block_count": u32(1)}, "blocks should be 1 and is 2"),
    "block count text": ({"llama__block_count": (Kind.STRING, "2")}, "not a whole number"),
    "block count list": ({"llama__block_count": (Kind.ARRAY, (Kind.UINT32, []))}, "not a whole number"),
    "context 0": ({"llama__context_length": u32(0)}, "context_length is 0"),
    "huge context": ({"llama__context_length": u32(2**32 - 1)}, "context_length"),
    "embedding 0": ({"llama__embedding_length": u32(0)}, "embedding_length is 0"),
    "no heads": ({"llama__attention__head_count": u32(0)}, "no attention heads"),
    "many heads": ({"llama__attention__head_count": u32(10**6)}, "head_count is 1,000,000"),
    "heads that cannot share": (
        {"llama__attention__head_count_kv": u32(3)},
        "is not a multiple of that of its key and value heads, 3",
    ),
    "negative heads": ({"llama__attention__head_count": (Kind.INT32, -4)}, "head_count is -4"),
    "key length 0": ({"llama__attention__key_length": u32(0)}, "key_length is 0"),
    "feed forward": ({"llama__feed_forward_length": u32(2**31)}, "feed_forward_length"),
    "experts": ({"llama__expert_count": u32(10**6)}, "expert_count is 1,000,000"),
    "experts used": ({"llama__expert_count": u32(4), "llama__expert_used_count": u32(8)}, "8 of 4 experts"),
    "experts unused": ({"llama__expert_count": u32(4)}, "uses none"),
    "odd rope": ({"llama__rope__dimension_count": u32(15)}, "odd number"),
    "rope base 0": ({"llama__rope__freq_base": (Kind.FLOAT32, 0.0)}, "freq_base is 0.0"),
    "rope base nan": ({"llama__rope__freq_base": (Kind.FLOAT32, math.nan)}, "not a finite number"),
    "rope scale": ({"llama__rope__scaling__factor": (Kind.FLOAT32, -1.0)}, "factor is -1.0"),
    "epsilon nan": ({"llama__attention__layer_norm_rms_epsilon": (Kind.FLOAT32, math.nan)}, "finite"),
    "epsilon infinite": ({"llama__attention__layer_norm_rms_epsilon": (Kind.FLOAT32, math.inf)}, "finite"),
    "epsilon negative": ({"llama__attention__layer_norm_rms_epsilon": (Kind.FLOAT32, -1.0)}, "epsilon is -1.0"),
    "other float": ({"llama__logit_scale": (Kind.FLOAT32, math.inf)}, "logit_scale is not a finite"),
    "vocabulary 0": ({"llama__vocab_size": u32(0)}, "vocab_size is 0"),
    "no tokens": ({"tokenizer__ggml__tokens": None}, "no vocabulary"),
    "empty tokens": ({"tokenizer__ggml__tokens": (Kind.ARRAY, (Kind.STRING, []))}, "has 0 tokens"),
    "tokens are numbers": ({"tokenizer__ggml__tokens": (Kind.ARRAY, (Kind.UINT8, [1, 2]))}, "wrong type"),
    "tokens are text": ({"tokenizer__ggml__tokens": (Kind.STRING, "a b c")}, "wrong type"),
    "few scores": (
        {"tokenizer__ggml__scores": (Kind.ARRAY, (Kind.FLOAT32, [0.0] * 5))},
        "that of the entries in tokenizer.ggml.",
    ),
    "scores of 8 bits": (
        {"tokenizer__ggml__scores": (Kind.ARRAY, (Kind.UINT8, [0] * NUM_TOKENS))},
        "wrong type",
    ),
    "few types": (
        {"tokenizer__ggml__token_type": (Kind.ARRAY, (Kind.INT32, [1] * 5))},
        "that of the entries in tokenizer.ggml.",
    ),
    "negative byte": ({"tokenizer__ggml__tokens": tokens_with(3, "<0x-1>")}, "should name a byte"),
    "long control token": ({"tokenizer__ggml__tokens": tokens_with(1, "a" * 600)}, "control tokens is 600 bytes long"),
    "long token": ({"tokenizer__ggml__tokens": tokens_with(260, "a" * 70_000)}, "70,000 bytes long"),
    **{
        f"long token of {tokenizer}": (
            {
                "tokenizer__ggml__model": (Kind.STRING, tokenizer),
                "tokenizer__ggml__tokens": tokens_with(260, "a" * 2_000),
            },
            "2,000 bytes long",
        )
        for tokenizer in ("bert", "plamo2", "rwkv", "t5")
    },
}


@pytest.mark.parametrize(("changes", "reason"), ABSURD.values(), ids=ABSURD)
def test_absurd_claims_are_refused(tmp_path: Path, changes: dict[str, object], reason: str) -> None:
    path = TINY.with_metadata(**changes).write(tmp_path / "absurd.gguf")
    with pytest.raises(ModelHeaderError) as caught:
        read_checked_header(path)
    assert reason in caught.value.message
    assert caught.value.message.endswith(".")


def test_a_vocabulary_alone_is_no_model(tmp_path: Path) -> None:
    path = GgufFile(TINY.metadata).write(tmp_path / "vocab.gguf")
    with pytest.raises(ModelHeaderError, match="no weights"):
        read_checked_header(path)


@pytest.mark.skipif(not MODELS, reason="the shared models are not on this machine")
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_real_models_pass(path: Path) -> None:
    assert read_checked_header(path).num_params > 200_000


SANE = {
    "heads a layer": {"llama__attention__head_count": (Kind.ARRAY, (Kind.UINT32, [4, 0]))},
    "part of a split model": {"split__count": (Kind.UINT16, 4), "llama__block_count": u32(80)},
    "prediction layer": {"llama__block_count": u32(3), "llama__nextn_predict_layers": u32(1)},
    "state layers": {"llama__ssm__state_size": u32(16), "llama__attention__head_count": u32(0)},
    "unscaled": {"llama__rope__scaling__factor": (Kind.FLOAT32, 0.0)},
}


def test_a_head_may_have_no_vocabulary_and_a_model_may_not(tmp_path: Path) -> None:
    none = {"tokenizer__ggml__model": (Kind.STRING, "no_vocab"), "tokenizer__ggml__tokens": None}
    path = TINY.with_metadata(**none).write(tmp_path / "none.gguf")
    assert read_checked_header(path, is_head=True).architecture == "llama"
    with pytest.raises(ModelHeaderError, match="it has no vocabulary"):
        read_checked_header(path)


@pytest.mark.parametrize("changes", SANE.values(), ids=SANE)
def test_unusual_but_real_claims_pass(tmp_path: Path, changes: dict[str, object]) -> None:
    assert read_checked_header(TINY.with_metadata(**changes).write(tmp_path / "sane.gguf")).architecture == "llama"


def test_a_head_alone_is_checked_like_a_model_and_is_none(tmp_path: Path) -> None:
    for name, head in (("eagle3", eagle3_for()), ("mtp", head_only(qwen35_with_mtp()))):
        path = head.write(tmp_path / f"{name}.gguf")
        assert read_checked_header(path, is_head=True).tensors == read_header(path).tensors
        with pytest.raises(ModelFileError, match="of another model"):
            read_checked_header(path)
    damaged = eagle3_for().with_metadata(eagle3__block_count=u32(10**9)).write(tmp_path / "damaged.gguf")
    with pytest.raises(ModelHeaderError, match="block_count is 1,000,000,000"):
        read_checked_header(damaged, is_head=True)


@pytest.mark.parametrize(
    ("name", "advice"),
    [("m-00002-of-00003.gguf", "Open the first part, m-00001-of-00003.gguf."), ("x.gguf", "Open the first part.")],
)
def test_a_later_part_names_the_first(tmp_path: Path, name: str, advice: str) -> None:
    part = GgufFile({"split.no": (Kind.UINT16, 1), "split.count": (Kind.UINT16, 3)}, TINY.tensors[:2])
    with pytest.raises(ModelFileError, match="is part 2 of 3 of a model") as caught:
        read_checked_header(part.write(tmp_path / name))
    assert caught.value.advice == advice
