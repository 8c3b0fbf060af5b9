"""Writes a small BERT as a GGUF file, and computes its hidden rows with NumPy."""

from dataclasses import dataclass, field
from math import sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor

Array = NDArray[np.float32]
UNK, CLS, SEP = 1, 2, 3
WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *"abcdefghijklmnopqrstuvwxyz0123456789.,!?",
    "hello",
    "world",
    "##s",
    "##ing",
)
WIDTH, HEADS, LAYERS, FF, CTX = 32, 4, 2, 64, 64
MEAN_POOLING = 1
EPSILON = 1e-12


def gguf_spelling(word: str) -> str:
    """A WordPiece token as GGUF files spell it: "word" becomes "▁word", and "##continuation" loses its "##"."""
    return word if word.startswith("[") else word.removeprefix("##") if word.startswith("##") else f"\u2581{word}"


@dataclass
class TinyBert:
    """A BERT with random weights under GGUF names. ``pooling``: llama.cpp's number; None omits it."""

    pooling: int | None = MEAN_POOLING  # llama.cpp's number
    seed: int = 0
    weights: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        dice = np.random.default_rng(self.seed)
        shapes: dict[str, tuple[int, ...]] = {
            "token_embd.weight": (len(WORDS), WIDTH), "token_types.weight": (2, WIDTH),
            "position_embd.weight": (CTX, WIDTH), "token_embd_norm.weight": (WIDTH,), "token_embd_norm.bias": (WIDTH,),
        }  # fmt: skip
        for layer in range(LAYERS):
            at = f"blk.{layer}"
            for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
                shapes |= {f"{at}.{name}.weight": (WIDTH, WIDTH), f"{at}.{name}.bias": (WIDTH,)}
            shapes |= {f"{at}.ffn_up.weight": (FF, WIDTH), f"{at}.ffn_up.bias": (FF,)}
            shapes |= {f"{at}.ffn_down.weight": (WIDTH, FF), f"{at}.ffn_down.bias": (WIDTH,)}
            for name in ("attn_output_norm", "layer_output_norm"):
                shapes |= {f"{at}.{name}.weight": (WIDTH,), f"{at}.{name}.bias": (WIDTH,)}
        for name, shape in shapes.items():
            self.weights[name] = dice.normal(0.0, 0.3, shape).astype(np.float32)

    def file(self) -> GgufFile:
        tensors = [
            Tensor(name, tuple(reversed(values.shape)), F32, values.tobytes()) for name, values in self.weights.items()
        ]
        types = [3 if word.startswith("[") and word != "[UNK]" else 2 if word == "[UNK]" else 1 for word in WORDS]
        metadata = {
            "general.architecture": (Kind.STRING, "bert"),
            "general.name": (Kind.STRING, "tiny bert"),
            "bert.context_length": (Kind.UINT32, CTX),
            "bert.embedding_length": (Kind.UINT32, WIDTH),
            "bert.feed_forward_length": (Kind.UINT32, FF),
            "bert.block_count": (Kind.UINT32, LAYERS),
            "bert.attention.head_count": (Kind.UINT32, HEADS),
            "bert.attention.layer_norm_epsilon": (Kind.FLOAT32, EPSILON),
            "bert.attention.causal": (Kind.BOOL, False),
            "tokenizer.ggml.model": (Kind.STRING, "bert"),
            "tokenizer.ggml.token_type_count": (Kind.UINT32, 2),
            "tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, [gguf_spelling(word) for word in WORDS])),
            "tokenizer.ggml.scores": (Kind.ARRAY, (Kind.FLOAT32, [-1000.0] * len(WORDS))),
            "tokenizer.ggml.token_type": (Kind.ARRAY, (Kind.INT32, types)),
            "tokenizer.ggml.unknown_token_id": (Kind.UINT32, UNK),
            "tokenizer.ggml.padding_token_id": (Kind.UINT32, 0),
            "tokenizer.ggml.cls_token_id": (Kind.UINT32, CLS),
            "tokenizer.ggml.bos_token_id": (Kind.UINT32, CLS),
            "tokenizer.ggml.seperator_token_id": (Kind.UINT32, SEP),
            "tokenizer.ggml.eos_token_id": (Kind.UINT32, SEP),
        }
        if self.pooling is not None:
            metadata["bert.pooling_type"] = (Kind.UINT32, self.pooling)
        return GgufFile(metadata, tuple(tensors))

    def rows(self, ids: list[int]) -> Array:
        """The last hidden rows [num_tokens, WIDTH]."""
        w = self.weights
        x = w["token_embd.weight"][ids] + w["token_types.weight"][0] + w["position_embd.weight"][: len(ids)]
        x = self._norm(x, "token_embd_norm")
        for layer in range(LAYERS):
            at, size = f"blk.{layer}", WIDTH // HEADS
            q, k, v = (self._dense(x, f"{at}.attn_{name}").reshape(-1, HEADS, size) for name in "qkv")
            scores = np.einsum("ihd,jhd->hij", q, k) / sqrt(size)
            shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
            shares /= shares.sum(axis=-1, keepdims=True)
            seen = np.einsum("hij,jhd->ihd", shares, v).reshape(-1, WIDTH)
            x = self._norm(x + self._dense(seen, f"{at}.attn_output"), f"{at}.attn_output_norm")
            inner = _gelu(self._dense(x, f"{at}.ffn_up"))
            x = self._norm(x + self._dense(inner, f"{at}.ffn_down"), f"{at}.layer_output_norm")
        return x

    def _dense(self, x: Array, name: str) -> Array:
        made: Array = x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return made

    def _norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + EPSILON)
        made: Array = scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return made


def _gelu(x: Array) -> Array:
    return np.vectorize(lambda one: 0.5 * one * (1.0 + tanh(0.7978845608 * (one + 0.044715 * one**3))))(x).astype(
        np.float32
    )
