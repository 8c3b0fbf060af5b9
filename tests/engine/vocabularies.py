"""Vocabularies of each of llama.cpp's tokenizers for the tiny model, complete or with missing parts."""

from collections.abc import Sequence

from tests.engine.gguf_factory import GgufFile, Kind, tiny_llama

NUM_TOKENS = 263
UNKNOWN_AND_ENDS = ("<unk>", "<s>", "</s>")
RWKV_BYTES = tuple(f"\\x{byte:02x}" for byte in range(256))
HEX_BYTES = tuple(f"<0x{byte:02X}>" for byte in range(256))
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # token types of llama.h


def byte_letters() -> list[str]:
    """The characters that represent bytes in byte-level BPE."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return [chr(byte) if byte in shown else chr(256 + hidden.index(byte)) for byte in range(256)]


def with_vocabulary(
    tokenizer: str,
    tokens: Sequence[str | bytes],
    types: Sequence[int] = (),
    scores: Sequence[float] = (),
    merges: Sequence[str] = (),
    **more: tuple[Kind, object] | None,
) -> GgufFile:
    """The tiny model with these tokens; unused tokens fill the rest of its embedding matrix."""
    spare = [f"<spare{number}>" for number in range(NUM_TOKENS - len(tokens))]
    all_scores = [*scores, *(-float(number) for number in range(NUM_TOKENS - len(scores)))]
    return tiny_llama(seed=1).with_metadata(
        tokenizer__ggml__model=(Kind.STRING, tokenizer),
        tokenizer__ggml__tokens=(Kind.ARRAY, (Kind.STRING, [*tokens, *spare])),
        tokenizer__ggml__token_type=(
            Kind.ARRAY,
            (Kind.INT32, [*types, *[NORMAL] * (NUM_TOKENS - len(types))]),
        ),
        tokenizer__ggml__scores=(Kind.ARRAY, (Kind.FLOAT32, all_scores)),
        tokenizer__ggml__merges=(Kind.ARRAY, (Kind.STRING, list(merges))),
        **more,
    )
