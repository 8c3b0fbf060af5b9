"""Damaged and hostile model files: random damage, and well-formed files with absurd values."""

import math
import random
import struct
from collections.abc import Iterator
from dataclasses import replace

from engine.gguf.header import parse_header
from tests.engine.gguf_factory import F16, F32, GgufFile, Kind, Tensor, prefix_reader, tiny_llama

NUM_TOKENS = 263
BIG = 2**32 - 1


def random_damage(good: bytes, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Truncated files, and files with changed bytes in the header, the tensor table or the weights, in turn."""
    dice = random.Random(seed)  # noqa: S311  (reproducible, not secret)
    header = parse_header(prefix_reader(good), len(good))
    table = good.index(header.tensors[0].name.encode()) - 8
    regions = {
        "cut": (0, len(good)),
        "header": (0, table),
        "table": (table, header.data_offset),
        "weights": (header.data_offset, len(good)),
    }
    for index in range(count):
        kind = list(regions)[index % 4]
        begin, end = regions[kind]
        if kind == "cut":
            yield f"{kind}-{index}", good[: dice.randrange(begin, end)]
            continue
        data = bytearray(good)
        for _ in range(dice.choice((1, 1, 2, 4, 16, 64))):
            data[dice.randrange(begin, end)] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)))
        yield f"{kind}-{index}", bytes(data)


def absurd_files() -> dict[str, GgufFile]:
    """Well-formed files whose numbers describe no possible model. The header check rejects some, loading the others."""
    good = tiny_llama(seed=1)
    return _absurd_shapes(good) | _absurd_numbers(good) | _absurd_tokens(good) | _absurd_tensors(good)


def _absurd_shapes(good: GgufFile) -> dict[str, GgufFile]:
    u32 = Kind.UINT32
    moe = {"llama__expert_used_count": (u32, 2)}
    far_block = replace(good.tensors[3], name="blk.600.attn_norm.weight")
    many = replace(good, tensors=(*good.tensors, far_block)).with_metadata(llama__block_count=(u32, 601))
    return {
        "head count 0": good.with_metadata(llama__attention__head_count=(u32, 0)),
        "head count huge": good.with_metadata(llama__attention__head_count=(u32, 10**9)),
        "head count 7": good.with_metadata(llama__attention__head_count=(u32, 7)),
        "kv heads 0": good.with_metadata(llama__attention__head_count_kv=(u32, 0)),
        "kv heads 3": good.with_metadata(llama__attention__head_count_kv=(u32, 3)),
        "kv heads 16": good.with_metadata(llama__attention__head_count_kv=(u32, 16)),
        "key length 1": good.with_metadata(llama__attention__key_length=(u32, 1)),
        "key length 65536": good.with_metadata(llama__attention__key_length=(u32, 65536)),
        "value length 3": good.with_metadata(llama__attention__value_length=(u32, 3)),
        "context 0": good.with_metadata(llama__context_length=(u32, 0)),
        "context 1": good.with_metadata(llama__context_length=(u32, 1)),
        "context huge": good.with_metadata(llama__context_length=(u32, 2**31 - 1)),
        "blocks 0": good.with_metadata(llama__block_count=(u32, 0)),
        "blocks 10^9": good.with_metadata(llama__block_count=(u32, 10**9)),
        "blocks 601": many,
        "blocks 1": good.with_metadata(llama__block_count=(u32, 1)),
        "embedding 1": good.with_metadata(llama__embedding_length=(u32, 1)),
        "embedding 65": good.with_metadata(llama__embedding_length=(u32, 65)),
        "feed forward 1": good.with_metadata(llama__feed_forward_length=(u32, 1)),
        "feed forward 0": good.with_metadata(llama__feed_forward_length=(u32, 0)),
        "experts 2000": good.with_metadata(llama__expert_count=(u32, 2000), **moe),
        "experts 8": good.with_metadata(llama__expert_count=(u32, 8), **moe),
        "experts used only": good.with_metadata(**moe),
        "expert groups": good.with_metadata(llama__expert_count=(u32, 4), llama__expert_group_count=(u32, 9), **moe),
        "prediction layers": good.with_metadata(llama__nextn_predict_layers=(u32, 99)),
        "window 0": good.with_metadata(llama__attention__sliding_window=(u32, 0)),
        "head list too short": good.with_metadata(llama__attention__head_count=(Kind.ARRAY, (u32, [4]))),
        "head list of zeros": good.with_metadata(llama__attention__head_count=(Kind.ARRAY, (u32, [4, 0]))),
        "other architecture": _renamed(good, "gpt2"),
        "recurrent architecture": _renamed(good, "mamba"),
        "unknown architecture": _renamed(good, "no-such-thing"),
    }


def _renamed(good: GgufFile, architecture: str) -> GgufFile:
    entries = {key.replace("llama.", architecture + "."): value for key, value in good.metadata.items()}
    return replace(good, metadata=entries | {"general.architecture": (Kind.STRING, architecture)})


def _absurd_numbers(good: GgufFile) -> dict[str, GgufFile]:
    f32, u32 = Kind.FLOAT32, Kind.UINT32
    return {
        "rope base 0": good.with_metadata(llama__rope__freq_base=(f32, 0.0)),
        "rope base nan": good.with_metadata(llama__rope__freq_base=(f32, math.nan)),
        "rope base tiny": good.with_metadata(llama__rope__freq_base=(f32, 1e-8)),
        "rope scale nan": good.with_metadata(llama__rope__scaling__factor=(f32, math.nan)),
        "rope scale huge": good.with_metadata(llama__rope__scaling__factor=(f32, 3e38)),
        "rope scaling yarn": good.with_metadata(
            llama__rope__scaling__type=(Kind.STRING, "yarn"),
            llama__rope__scaling__factor=(f32, 1e-30),
            llama__rope__scaling__original_context_length=(u32, 0),
        ),
        "rope dimensions 0": good.with_metadata(llama__rope__dimension_count=(u32, 0)),
        "rope dimensions 64": good.with_metadata(llama__rope__dimension_count=(u32, 64)),
        "epsilon 0": good.with_metadata(llama__attention__layer_norm_rms_epsilon=(f32, 0.0)),
        "epsilon nan": good.with_metadata(llama__attention__layer_norm_rms_epsilon=(f32, math.nan)),
        "epsilon negative": good.with_metadata(llama__attention__layer_norm_rms_epsilon=(f32, -1.0)),
        "epsilon huge": good.with_metadata(llama__attention__layer_norm_rms_epsilon=(f32, 3e38)),
        "logit scale 0": good.with_metadata(llama__logit_scale=(f32, 0.0)),
        "text for a number": good.with_metadata(llama__embedding_length=(Kind.STRING, "64")),
        "no epsilon": good.with_metadata(llama__attention__layer_norm_rms_epsilon=None),
    }


def _absurd_tokens(good: GgufFile) -> dict[str, GgufFile]:
    u32 = Kind.UINT32
    kind, (item_kind, tokens) = good.metadata["tokenizer.ggml.tokens"]
    types = good.metadata["tokenizer.ggml.token_type"][1][1]
    byte = (kind, (item_kind, [*tokens[:3], "<0x-1>", *tokens[4:]]))
    return {
        "vocabulary of 5": good.with_metadata(llama__vocab_size=(u32, 5)),
        "tokens missing": good.with_metadata(tokenizer__ggml__tokens=(kind, (item_kind, tokens[:100]))),
        "tokens all empty": good.with_metadata(tokenizer__ggml__tokens=(kind, (item_kind, [""] * NUM_TOKENS))),
        "tokens all equal": good.with_metadata(
            tokenizer__ggml__tokens=(kind, (item_kind, ["a"] * NUM_TOKENS)),
            tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, [1] * NUM_TOKENS)),
        ),
        "negative byte": good.with_metadata(tokenizer__ggml__tokens=byte),
        "no byte tokens": good.with_metadata(
            tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, [1 if kind == 6 else kind for kind in types]))
        ),
        "token types absurd": good.with_metadata(
            tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, [-(2**31)] * NUM_TOKENS))
        ),
        "all control": good.with_metadata(tokenizer__ggml__token_type=(Kind.ARRAY, (Kind.INT32, [3] * NUM_TOKENS))),
        "scores nan": good.with_metadata(tokenizer__ggml__scores=(Kind.ARRAY, (Kind.FLOAT32, [math.nan] * NUM_TOKENS))),
        "scores missing": good.with_metadata(tokenizer__ggml__scores=None),
        "bos out of range": good.with_metadata(tokenizer__ggml__bos_token_id=(u32, BIG)),
        "eos out of range": good.with_metadata(tokenizer__ggml__eos_token_id=(u32, 10**6)),
        "unknown out of range": good.with_metadata(tokenizer__ggml__unknown_token_id=(u32, 10**6)),
        "bos text": good.with_metadata(tokenizer__ggml__bos_token_id=(Kind.STRING, "1")),
        "unknown tokenizer": good.with_metadata(tokenizer__ggml__model=(Kind.STRING, "abacus")),
        "unknown pre-tokenizer": good.with_metadata(
            tokenizer__ggml__model=(Kind.STRING, "gpt2"),
            tokenizer__ggml__pre=(Kind.STRING, "abacus"),
            tokenizer__ggml__merges=(Kind.ARRAY, (Kind.STRING, ["a b", "nonsense", ""])),
        ),
        "merges missing": good.with_metadata(tokenizer__ggml__model=(Kind.STRING, "gpt2")),
        "unigram": good.with_metadata(
            tokenizer__ggml__model=(Kind.STRING, "t5"),
            tokenizer__ggml__precompiled_charsmap=(Kind.ARRAY, (Kind.UINT8, [255] * 64)),
        ),
        "wordpiece": good.with_metadata(tokenizer__ggml__model=(Kind.STRING, "bert")),
        "rwkv tokenizer": good.with_metadata(tokenizer__ggml__model=(Kind.STRING, "rwkv")),
        "template of control characters": good.with_metadata(tokenizer__chat_template=(Kind.STRING, "\x00\x01{%")),
    }


def _absurd_tensors(good: GgufFile) -> dict[str, GgufFile]:
    first = good.tensors[0]
    values = first.dims[0] * first.dims[1]
    not_a_number = struct.pack("<e", math.nan) * values
    infinite = struct.pack("<e", math.inf) * values
    wide = Tensor("blk.0.attn_q.weight", (64, 64), F32, bytes(4 * 64 * 64))
    return {
        "tensor twice": replace(good, tensors=(*good.tensors, good.tensors[1])),
        "tensor missing": replace(good, tensors=good.tensors[:-1]),
        "tensor unknown": replace(good, tensors=(*good.tensors, Tensor("surprise", (4,), F32, bytes(16)))),
        "no tensors": replace(good, tensors=()),
        "embedding turned": good.with_tensor("token_embd.weight", dims=(NUM_TOKENS, 64)),
        "embedding of one value": good.with_tensor("token_embd.weight", dims=(1,), data=b"\0\0"),
        "zero dimension": good.with_tensor("output.weight", dims=(64, 0), data=b""),
        "four dimensions": good.with_tensor("output.weight", dims=(64, NUM_TOKENS, 1, 1)),
        "norm as integers": good.with_tensor("output_norm.weight", kind=26),
        "other type": good.with_tensor("blk.0.attn_q.weight", kind=wide.kind, data=wide.data),
        "weights nan": good.with_tensor("output.weight", data=not_a_number, kind=F16),
        "weights infinite": good.with_tensor("token_embd.weight", data=infinite, kind=F16),
        "weights zero": good.with_tensor("token_embd.weight", data=bytes(2 * values)),
        "offset overlaps": good.with_tensor("output.weight", offset=0),
    }
