"""Headers of well-known models with sparse data: the right shapes and sizes, but no weights.

llama.cpp opens these files with `no_alloc`: it plans every buffer as for the real model, and allocates none.
"""

import ctypes
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from engine.gguf.value_types import BLOCK_SIZES
from engine.llama import library
from engine.llama.context import CPU_UBATCH, MAX_ROWS, N_BATCH
from tests.engine.gguf_factory import F32, Q4_0, GgufFile, Kind, Tensor

LOG = "engine.llama.library"
MIB = 2**20
Q6_K, Q8_0 = 14, 8
NATIVE_TYPES = {"f16": 1, "q4_0": 2, "q8_0": 8}


@dataclass(frozen=True)
class Geometry:
    """The dimensions of a model; ``experts``: total, used, and neurons of each."""

    architecture: str
    n_embd: int
    n_layer: int
    n_ff: int
    heads: int
    kv_heads: int
    n_vocab: int
    tied: bool = False
    head_dim: int = 0
    bias: bool = False
    norms: tuple[str, ...] = ()
    experts: tuple[int, int, int] | None = None
    own: dict[str, tuple[Kind, Any]] = field(default_factory=dict)

    def file(self) -> GgufFile:
        """The header with all tensor offsets, without data."""
        placed, offset = [], 0
        for name, dims, kind in self._tensors():
            placed.append(Tensor(name, dims, kind, b"", offset))
            offset += -(-tensor_bytes(dims, kind) // 32) * 32
        return GgufFile(self._metadata(), tuple(placed))

    def write(self, path: Path) -> Path:
        """Write the header and sparse data."""
        header, size = self._header
        with path.open("wb") as stream:
            stream.write(header)
            stream.truncate(size)
        return path

    @cached_property
    def _header(self) -> tuple[bytes, int]:
        """The header bytes and the file size. Takes a tenth of a second for a large vocabulary."""
        file = self.file()
        header, last = file.header(), file.tensors[-1]
        size = len(header) + -len(header) % 32 + (last.offset or 0) + tensor_bytes(last.dims, last.kind)
        return header, -(-size // 32) * 32

    def _tensors(self) -> Iterator[tuple[str, tuple[int, ...], int]]:
        yield "token_embd.weight", (self.n_embd, self.n_vocab), Q8_0
        yield "output_norm.weight", (self.n_embd,), F32
        if not self.tied:
            yield "output.weight", (self.n_embd, self.n_vocab), Q8_0
        head_dim = self.head_dim or self.n_embd // self.heads
        widths = {"q": self.heads * head_dim, "k": self.kv_heads * head_dim, "v": self.kv_heads * head_dim}
        for i in range(self.n_layer):
            block = f"blk.{i}."
            for name in ("attn_norm", "ffn_norm", *(name for name in self.norms if "attn_" not in name)):
                yield f"{block}{name}.weight", (self.n_embd,), F32
            for name in self.norms:
                if "attn_" in name:
                    yield f"{block}{name}.weight", (head_dim,), F32
            for letter, width in widths.items():
                yield f"{block}attn_{letter}.weight", (self.n_embd, width), Q4_0
                if self.bias:
                    yield f"{block}attn_{letter}.bias", (width,), F32
            yield f"{block}attn_output.weight", (widths["q"], self.n_embd), Q4_0
            yield from self._feed_forward(block)

    def _feed_forward(self, block: str) -> Iterator[tuple[str, tuple[int, ...], int]]:
        tail: tuple[int, ...] = ()
        end, n_ff = "", self.n_ff
        if self.experts:
            number, _, n_ff = self.experts
            tail, end = (number,), "_exps"
            yield f"{block}ffn_gate_inp.weight", (self.n_embd, number), F32
        for name in ("ffn_gate", "ffn_up"):
            yield f"{block}{name}{end}.weight", (self.n_embd, n_ff, *tail), Q4_0
        yield f"{block}ffn_down{end}.weight", (n_ff, self.n_embd, *tail), Q4_0

    def _metadata(self) -> dict[str, tuple[Kind, Any]]:
        whole = Kind.UINT32
        own: dict[str, tuple[Kind, Any]] = {
            "context_length": (whole, 131072),
            "embedding_length": (whole, self.n_embd),
            "block_count": (whole, self.n_layer),
            "feed_forward_length": (whole, self.n_ff),
            "attention.head_count": (whole, self.heads),
            "attention.head_count_kv": (whole, self.kv_heads),
            "attention.layer_norm_rms_epsilon": (Kind.FLOAT32, 1e-5),
            "vocab_size": (whole, self.n_vocab),
        }
        if self.head_dim:
            own |= {f"attention.{what}_length": (whole, self.head_dim) for what in ("key", "value")}
        if self.experts:
            names = ("expert_count", "expert_used_count", "expert_feed_forward_length")
            own |= {name: (whole, number) for name, number in zip(names, self.experts, strict=True)}
        named = {f"{self.architecture}.{key}": value for key, value in (own | self.own).items()}
        return {"general.architecture": (Kind.STRING, self.architecture), **named, **vocabulary(self.n_vocab)}


def vocabulary(n_vocab: int) -> dict[str, tuple[Kind, Any]]:
    """A SentencePiece vocabulary of this size."""
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256)), *(f"w{i}" for i in range(n_vocab - 259))]
    return {
        "tokenizer.ggml.model": (Kind.STRING, "llama"),
        "tokenizer.ggml.tokens": (Kind.ARRAY, (Kind.STRING, tokens)),
        "tokenizer.ggml.scores": (Kind.ARRAY, (Kind.FLOAT32, [0.0] * n_vocab)),
        "tokenizer.ggml.token_type": (Kind.ARRAY, (Kind.INT32, [2, 3, 3, *[6] * 256, *[1] * (n_vocab - 259)])),
        "tokenizer.ggml.bos_token_id": (Kind.UINT32, 1),
        "tokenizer.ggml.eos_token_id": (Kind.UINT32, 2),
    }


def tensor_bytes(dims: tuple[int, ...], kind: int) -> int:
    """Bytes of a tensor."""
    values = 1
    for dim in dims:
        values *= dim
    block = BLOCK_SIZES[kind]
    return values // block.num_values * block.num_bytes


GEMMA_NORMS = ("post_attention_norm", "post_ffw_norm")
QK_NORMS = ("attn_q_norm", "attn_k_norm")
LLAMA_8B = Geometry("llama", 4096, 32, 14336, 32, 8, 128256)
GEOMETRIES = {
    "Llama 3.1 8B": LLAMA_8B,
    "Llama 3.1 70B": replace(LLAMA_8B, n_embd=8192, n_layer=80, n_ff=28672, heads=64),
    "Qwen2.5 0.5B": Geometry("qwen2", 896, 24, 4864, 14, 2, 151936, tied=True, bias=True),
    "Qwen3 8B": Geometry("qwen3", 4096, 36, 12288, 32, 8, 151936, head_dim=128, norms=QK_NORMS),
    "Gemma 3 12B": Geometry(
        "gemma3", 3840, 48, 15360, 16, 8, 262208, True, 256, norms=GEMMA_NORMS + QK_NORMS,
        own={"attention.sliding_window": (Kind.UINT32, 1024)},
    ),
    "Mistral Small 24B": Geometry("llama", 5120, 40, 32768, 32, 8, 131072, head_dim=128),
    "Qwen3 30B-A3B": Geometry(
        "qwen3moe", 2048, 48, 6144, 32, 4, 151936, head_dim=128, norms=QK_NORMS, experts=(128, 8, 768)
    ),
    "Mixtral 8x7B": Geometry("llama", 4096, 32, 14336, 32, 8, 32000, experts=(8, 2, 14336)),
}  # fmt: skip


@dataclass(frozen=True)
class Told:
    """The bytes that llama.cpp planned."""

    cache_bytes: float
    compute_bytes: float


@contextmanager
def planned_model(path: Path) -> Iterator[Any]:
    """A model that llama.cpp opened without allocating memory."""
    lib = library.start()
    params = lib.llama_model_default_params()
    params.n_gpu_layers, params.no_alloc, params.load_mode = 0, True, 0
    with library.collected_errors():
        model = lib.llama_model_load_from_file(str(path).encode(), params)
        assert model, library.last_error()
    yield model
    lib.llama_model_free(model)


def plan(model: Any, n_ctx: int, cache_type: str, *, fused: bool = True) -> Told:  # noqa: ANN401  (a native handle)
    """Let llama.cpp plan a context with this engine's options, and read its report."""
    lines: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    lib, logger, listener = library.start(), logging.getLogger(LOG), Listener()
    params = lib.llama_context_default_params()
    params.n_ctx, params.n_batch, params.n_ubatch = n_ctx, N_BATCH, CPU_UBATCH
    params.n_outputs_max, params.swa_full = MAX_ROWS, True
    params.type_k = params.type_v = NATIVE_TYPES[cache_type]
    params.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_AUTO if fused else lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addHandler(listener)
    try:
        context = lib.llama_init_from_model(model, params)
    finally:
        logger.removeHandler(listener)
        logger.setLevel(before)
    assert context, lines[-3:]
    lib.llama_free(ctypes.c_void_p(context))
    text = "\n".join(lines)
    cache = re.findall(r"size = +([\d.]+) MiB \( *\d+ cells", text)
    compute = re.findall(r"compute buffer size = +([\d.]+) MiB", text)
    return Told(sum(map(float, cache)) * MIB, sum(map(float, compute)) * MIB)
