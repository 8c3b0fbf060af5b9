"""Writes tiny vision models: text models of several families, and matching encoders (CLIP files).

The weights are random: this suffices to check that a picture's embeddings are at the right positions.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.picture import Picture
from engine.records import Message
from tests.engine.gguf_factory import F16, F32, GgufFile, Kind, Tensor, tiny_llama

N_EMBD, N_HEAD = 64, 4  # of the text models, as in `tiny_llama`
_N_CTX = 1024
_V_EMBD, _V_HEAD, _V_FF, _V_LAYERS = 32, 2, 48, 2
# Tokens that llama.cpp puts around pictures or between their parts.
_MARKS = (
    *("<|vision_start|>", "<|vision_end|>", "<start_of_image>", "<end_of_image>", "[IMG_END]"),
    *("<fake_token_around_image>", "<global-img>", "\n\n", "\n", "<row_1_col_1>", "<|im_start|>", "<|im_end|>"),
    *("<img>", "</img>", "<|image>", "<image|>"),
)
FAMILIES = ("llava", "gemma3", "gemma4v", "qwen2vl", "qwen25vl", "qwen3vl", "pixtral", "idefics3", "internvl")
# Text models of each family of encoders. Gemma 4's own text model has its own tests.
_TEXT = {"gemma3": "gemma3", "gemma4v": "gemma3", "qwen2vl": "qwen2vl", "qwen25vl": "qwen2vl", "qwen3vl": "qwen3vl"}
_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Pair:
    """A text model and its projector file."""

    model: Path
    side: Path


def write_pair(folder: Path, family: str, *, template: str | None = _CHATML, seed: int = 0) -> Pair:
    """Write both files of a family into ``folder``."""
    model = text_model(family, template=template, seed=seed).write(folder / f"tiny-{family}.gguf")
    return Pair(model, side_file(family, seed=seed).write(folder / f"mmproj-tiny-{family}.gguf"))


def text_model(family: str, *, template: str | None = _CHATML, seed: int = 0) -> GgufFile:
    """A text model of 0.1 M parameters whose vocabulary has the marks of all families."""
    arch = _TEXT.get(family, "llama")
    base = tiny_llama(seed=seed)
    tokens = [*base.metadata["tokenizer.ggml.tokens"][1][1], *_MARKS]
    types = [*base.metadata["tokenizer.ggml.token_type"][1][1], *[3] * len(_MARKS)]
    scores = [*base.metadata["tokenizer.ggml.scores"][1][1], *[0.0] * len(_MARKS)]
    metadata = {key.replace("llama.", f"{arch}.", 1): value for key, value in base.metadata.items()}
    metadata |= {
        "general.architecture": (Kind.STRING, arch),
        "tokenizer.ggml.model": (Kind.STRING, "llama"),
        f"{arch}.context_length": (Kind.UINT32, _N_CTX),
        f"{arch}.vocab_size": (Kind.UINT32, len(tokens)),
        "tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, tokens)),
        "tokenizer.ggml.token_type": (Kind.ARRAY, (Kind.INT32, types)),
        "tokenizer.ggml.scores": (Kind.ARRAY, (Kind.FLOAT32, scores)),
        "tokenizer.ggml.add_space_prefix": (Kind.BOOL, False),
    }
    if template is not None:
        metadata["tokenizer.chat_template"] = (Kind.STRING, template)
    tensors = [
        _wider(t, len(tokens), seed) if t.name in ("token_embd.weight", "output.weight") else t for t in base.tensors
    ]
    if arch == "qwen2vl":
        metadata["qwen2vl.rope.dimension_sections"] = (Kind.ARRAY, (Kind.INT32, [2, 3, 3, 0]))
        tensors += [
            _zeros(f"blk.{i}.attn_{n}.bias", size) for i in range(2) for n, size in (("q", 64), ("k", 32), ("v", 32))
        ]
    if arch == "qwen3vl":
        metadata["qwen3vl.rope.dimension_sections"] = (Kind.ARRAY, (Kind.INT32, [3, 3, 2, 0]))
        metadata["qwen3vl.n_deepstack_layers"] = (Kind.UINT32, 1)
        metadata["qwen3vl.attention.key_length"] = metadata["qwen3vl.attention.value_length"] = (Kind.UINT32, 16)
        tensors += [_ones(f"blk.{i}.{name}.weight", 16) for i in range(2) for name in ("attn_k_norm", "attn_q_norm")]
    if arch == "gemma3":
        metadata["gemma3.attention.key_length"] = metadata["gemma3.attention.value_length"] = (Kind.UINT32, 16)
        metadata["gemma3.attention.sliding_window"] = (Kind.UINT32, 128)
        names = (("post_attention_norm", 64), ("attn_k_norm", 16), ("attn_q_norm", 16), ("post_ffw_norm", 64))
        tensors += [_ones(f"blk.{i}.{name}.weight", size) for i in range(2) for name, size in names]
    return GgufFile(metadata, tuple(tensors))


def side_file(family: str, *, n_embd: int = N_EMBD, seed: int = 0) -> GgufFile:
    """An encoder of 0.05 M parameters with the projector of a family; its embeddings have ``n_embd`` numbers."""
    dice = np.random.default_rng(seed + 7)
    build = _Encoder(dice, n_embd)
    size, patch, projector, entries, tensors = getattr(build, family)()
    metadata: dict[str, tuple[Kind, Any]] = {
        "general.architecture": (Kind.STRING, "clip"),
        "general.name": (Kind.STRING, f"tiny {family} encoder"),
        "clip.has_vision_encoder": (Kind.BOOL, True),
        "clip.projector_type": (Kind.STRING, projector),
        "clip.use_gelu": (Kind.BOOL, True),
        "clip.vision.image_size": (Kind.UINT32, size),
        "clip.vision.patch_size": (Kind.UINT32, patch),
        "clip.vision.embedding_length": (Kind.UINT32, _V_EMBD),
        "clip.vision.feed_forward_length": (Kind.UINT32, _V_FF),
        "clip.vision.block_count": (Kind.UINT32, _V_LAYERS),
        "clip.vision.projection_dim": (Kind.UINT32, n_embd),
        "clip.vision.attention.head_count": (Kind.UINT32, _V_HEAD),
        "clip.vision.attention.layer_norm_epsilon": (Kind.FLOAT32, 1e-6),
        "clip.vision.image_mean": (Kind.ARRAY, (Kind.FLOAT32, [0.5, 0.5, 0.5])),
        "clip.vision.image_std": (Kind.ARRAY, (Kind.FLOAT32, [0.5, 0.5, 0.5])),
        **entries,
    }
    return GgufFile(metadata, (*build.blocks(is_fused=family == "qwen3vl"), *tensors))


class _Encoder:
    """The tensors and metadata of each family besides the blocks."""

    def __init__(self, dice: np.random.Generator, n_embd: int) -> None:
        self._dice, self._n_embd = dice, n_embd

    def weights(self, name: str, *shape: int, kind: int = F16, scale: float = 0.2) -> Tensor:
        """A random tensor; ``shape`` as in NumPy, slowest dimension first."""
        values = self._dice.normal(0.0, scale, shape).astype(np.float32)
        data = values.astype(np.float16).tobytes() if kind == F16 else values.tobytes()
        return Tensor(name, tuple(reversed(shape)), kind, data)

    def blocks(self, *, is_fused: bool) -> list[Tensor]:
        """The layers that all families have; ``is_fused``: one matrix for queries, keys and values."""
        tensors = [_ones("v.post_ln.weight", _V_EMBD), _zeros("v.post_ln.bias", _V_EMBD)]
        for i in range(_V_LAYERS):
            if is_fused:
                tensors += [self.weights(f"v.blk.{i}.attn_qkv.weight", 3 * _V_EMBD, _V_EMBD)]
                tensors += [_zeros(f"v.blk.{i}.attn_qkv.bias", 3 * _V_EMBD)]
            for name in ("attn_out",) if is_fused else ("attn_q", "attn_k", "attn_v", "attn_out"):
                tensors += [self.weights(f"v.blk.{i}.{name}.weight", _V_EMBD, _V_EMBD)]
                tensors += [_zeros(f"v.blk.{i}.{name}.bias", _V_EMBD)]
            for name in ("ln1", "ln2"):
                tensors += [_ones(f"v.blk.{i}.{name}.weight", _V_EMBD), _zeros(f"v.blk.{i}.{name}.bias", _V_EMBD)]
            tensors += [
                self.weights(f"v.blk.{i}.ffn_up.weight", _V_FF, _V_EMBD),
                _zeros(f"v.blk.{i}.ffn_up.bias", _V_FF),
            ]
            tensors += [self.weights(f"v.blk.{i}.ffn_down.weight", _V_EMBD, _V_FF)]
            tensors += [_zeros(f"v.blk.{i}.ffn_down.bias", _V_EMBD)]
        return tensors

    def _patches(self, patch: int, count: int = 0) -> list[Tensor]:
        found = [self.weights("v.patch_embd.weight", _V_EMBD, 3, patch, patch)]
        return found + ([self.weights("v.position_embd.weight", count, _V_EMBD, kind=F32)] if count else [])

    def _mlp(self, first: int, second: int, width: int) -> list[Tensor]:
        n = self._n_embd
        return [
            *(self.weights(f"mm.{first}.weight", n, width), _zeros(f"mm.{first}.bias", n)),
            *(self.weights(f"mm.{second}.weight", n, n), _zeros(f"mm.{second}.bias", n)),
        ]

    def llava(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """49 embeddings."""
        return 56, 8, "mlp", {}, [*self._patches(8, 49), *self._mlp(0, 2, _V_EMBD)]

    def gemma3(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """144 embeddings with full attention among them, more than one CPU batch."""
        tensors = [
            *self._patches(4, 24 * 24),
            self.weights("mm.input_projection.weight", _V_EMBD, self._n_embd),
            _ones("mm.soft_emb_norm.weight", _V_EMBD),
        ]
        return 96, 4, "gemma3", {"clip.vision.projector.scale_factor": (Kind.UINT32, 2)}, tensors

    def qwen2vl(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """As many embeddings as the picture's size allows, with two-dimensional positions."""
        tensors = [*self._patches(8), self.weights("v.patch_embd.weight.1", _V_EMBD, 3, 8, 8)]
        return 64, 8, "qwen2vl_merger", {}, [*tensors, *self._mlp(0, 2, 4 * _V_EMBD)]

    def gemma4v(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """At least 70 embeddings, each pooled from nine patches, with full attention; positions by row and column."""
        tensors = [
            *self._patches(4),
            self.weights("v.position_embd.weight", 2, 256, _V_EMBD, kind=F32),
            self.weights("mm.input_projection.weight", self._n_embd, _V_EMBD),
        ]
        return 96, 4, "gemma4v", {"clip.vision.projector.scale_factor": (Kind.UINT32, 3)}, tensors

    def qwen25vl(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """Like Qwen2-VL, but every second layer has window attention."""
        size, patch, _, entries, tensors = self.qwen2vl()
        windows = {"clip.vision.n_wa_pattern": (Kind.UINT32, 2)}
        return size, patch, "qwen2.5vl_merger", {**entries, **windows}, tensors

    def internvl(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """Tiles of 16 embeddings each, then an overview; the class token is dropped."""
        wide, n = 4 * _V_EMBD, self._n_embd
        entries = {
            "clip.vision.projector.scale_factor": (Kind.UINT32, 2),
            "clip.vision.preproc_max_tiles": (Kind.UINT32, 4),
        }
        tensors = [
            *self._patches(8, 65),
            self.weights("v.class_embd", _V_EMBD, kind=F32),
            *(_ones("mm.model.mlp.0.weight", wide), _zeros("mm.model.mlp.0.bias", wide)),
            *(self.weights("mm.model.mlp.1.weight", n, wide), _zeros("mm.model.mlp.1.bias", n)),
            *(self.weights("mm.model.mlp.3.weight", n, n), _zeros("mm.model.mlp.3.bias", n)),
        ]
        return 64, 8, "internvl", entries, tensors

    def qwen3vl(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """Like Qwen2-VL, but embeddings are twice as wide: one half is added after the first layer."""
        wide = 4 * _V_EMBD
        tensors = [
            *(*self._patches(8, 64), self.weights("v.patch_embd.weight.1", _V_EMBD, 3, 8, 8)),
            _zeros("v.patch_embd.bias", _V_EMBD),
            *(_ones("v.deepstack.0.norm.weight", wide), _zeros("v.deepstack.0.norm.bias", wide)),
            *(self.weights("v.deepstack.0.fc1.weight", wide, wide), _zeros("v.deepstack.0.fc1.bias", wide)),
            *(self.weights("v.deepstack.0.fc2.weight", self._n_embd, wide),),
            _zeros("v.deepstack.0.fc2.bias", self._n_embd),
        ]
        return 64, 8, "qwen3vl_merger", {}, [*tensors, *self._mlp(0, 2, wide)]

    def pixtral(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """As many embeddings as the picture's size allows, with a token at the end of each row."""
        tensors = [*self._patches(8), self.weights("v.token_embd.img_break", self._n_embd, kind=F32)]
        return 64, 8, "pixtral", {}, [*tensors, *self._mlp(1, 2, _V_EMBD)]

    def idefics3(self) -> tuple[int, int, str, dict[str, Any], list[Tensor]]:
        """An overview and slices of 16 embeddings each, with text between them."""
        entries = {
            "clip.vision.projector.scale_factor": (Kind.UINT32, 2),
            "clip.vision.preproc_image_size": (Kind.UINT32, 128),
        }
        tensors = [*self._patches(8, 64), self.weights("mm.model.fc.weight", self._n_embd, 4 * _V_EMBD)]
        return 64, 8, "idefics3", entries, tensors


def _wider(tensor: Tensor, rows: int, seed: int) -> Tensor:
    values = np.random.default_rng(seed + 3).normal(0.0, 0.12, (rows, N_EMBD)).astype(np.float16)
    return Tensor(tensor.name, (N_EMBD, rows), F16, values.tobytes())


def _ones(name: str, size: int) -> Tensor:
    return Tensor(name, (size,), F32, np.ones(size, np.float32).tobytes())


def _zeros(name: str, size: int) -> Tensor:
    return Tensor(name, (size,), F32, np.zeros(size, np.float32).tobytes())


def picture(seed: int = 0, width: int = 80, height: int = 48) -> Picture:
    """A picture of noise."""
    values = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Picture(width, height, values.tobytes())


def asked(*parts: str | Picture, role: str = "user") -> Message:
    """A message of texts and pictures."""
    words, pictures = "", list[tuple[int, Picture]]()
    for part in parts:
        if isinstance(part, Picture):
            pictures.append((len(words), part))
        else:
            words += part
    return Message(role, words, pictures=tuple(pictures))
