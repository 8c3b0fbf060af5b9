"""Decides whether a model's logits depend only on the tokens before, and if not, explains why.

With the set-up's kernels a row of logits has the same bits for every number of tokens in a pass, every number of
threads, with and without other answers in the pass, and at every position of its cells. So answers are identical with
and without drafting.
"""

from pathlib import Path

from engine.errors import ModelFileError
from engine.fit.cache_size import first, per_layer
from engine.gguf.header import GgufHeader, read_header
from engine.llama import library
from engine.records import CacheType, FlashAttention
from engine.sentences import i18n

# CPU features whose kernels in llama.cpp add in another order for several tokens than for one.
_INEXACT_CPU_FEATURES = {"MATMUL_INT8": "i8mm"}  # name in `library.system_info`: name of the instructions
# Types of matrices whose products have the same bits for any number of tokens (engine/kernels, docs/kernels.md).
_EXACT_WEIGHTS = frozenset(
    ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS", "IQ4_NL", "MXFP4", "F32", "F16", "BF16"]
)
_HEAD_STEP = 16  # the set-up's attention kernel needs head widths that are multiples of this
_EXACT_CACHES = (CacheType.F16, CacheType.Q8_0)


def why_inexact(
    path: str,
    gpu_layers: int = 0,
    cache_type: CacheType = CacheType.F16,
    flash_attention: FlashAttention = FlashAttention.AUTO,
) -> str:
    """Why answers may differ between runs with these options, as a sentence; empty if they cannot."""
    if gpu_layers:
        return i18n("On a GPU, rounding depends on how many tokens a pass has, so words may change with the mode.")
    if reason := _build_reason():
        return reason
    if cache_type not in _EXACT_CACHES or flash_attention is FlashAttention.OFF:
        return i18n(
            "With a cache of type {kind}, rounding depends on how many tokens a pass has, so words may change with the "
            "mode. Caches of f16 and q8_0 are exact.",
            kind=cache_type.value,
        )
    return _file_reason(path)


def _file_reason(path: str) -> str:
    try:
        header = read_header(Path(path))
    except ModelFileError:  # the file was moved after loading
        return ""
    if any(length % _HEAD_STEP for length in _head_lengths(header)):
        return i18n(
            "With attention heads of this model's size, rounding depends on how many tokens a pass has, so words may "
            "change with the mode."
        )
    kinds = {tensor.type_name for tensor in header.tensors if len(tensor.dims) > 1}
    if others := ", ".join(sorted(kinds - _EXACT_WEIGHTS)):
        return i18n(
            "With weights of type {kinds}, rounding depends on how many tokens a pass has, so words may change with "
            "the mode.",
            kinds=others,
        )
    return ""


def _build_reason() -> str:
    if not library.has_every_kernel():
        return i18n(
            "llama.cpp lacks the kernels that Paceline's set-up builds, so rounding depends on how many tokens a pass "
            "has, and words may change with the mode."
        )
    features = library.system_info()
    names = ", ".join(name for mark, name in _INEXACT_CPU_FEATURES.items() if f"{mark} = 1" in features)
    if names:
        return i18n(
            "llama.cpp uses this processor's {names}, with which rounding depends on how many tokens a pass has, so "
            "words may change with the mode.",
            names=names,
        )
    return ""


def _head_lengths(header: GgufHeader) -> list[int]:
    """Widths of a head's keys and values; empty for other kinds of attention."""
    heads = max(
        per_layer(header.arch_value("attention.head_count"), first(header.arch_value("block_count"))), default=0
    )
    usual = first(header.arch_value("embedding_length")) // heads if heads else 0
    return [first(header.arch_value(f"attention.{kind}_length")) or usual for kind in ("key", "value")]
