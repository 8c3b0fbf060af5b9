"""Checks whether a GGUF header is plausible for a model: hyper-parameters, token lists, special values.

llama.cpp trusts these numbers: an absurd value can abort the process, read beyond an array, or allocate all memory.
Only values that no real model has are refused; llama.cpp checks the consistency of the others.
"""

import math
import re
from collections.abc import Iterable
from pathlib import Path

from engine.gguf.header import BLOCK, ArrayRef, GgufHeader, Value, parse_header, read_numbers, read_strings
from engine.gguf.model_kind import check_writes_text
from engine.gguf.model_parts import check_first_part
from engine.gguf.source import ReadAt, check, damaged_error, open_for_reading
from engine.gguf.value_types import ValueType

_ESCAPE = re.compile(rb"\\(?:x(..)|x.?\Z|(.)|\Z)", re.DOTALL)
_ESCAPED_BYTES = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
_EMPTY = b"[EMPTY_"  # prefix of llama.cpp's name for a token without a text
MAX_BYTES = 4 * 2**20  # of a table of characters; the largest known, of XLM-RoBERTa, has 0.3 MB
MAX_DEPTH = 1024  # bytes of the longest replaced text; real tables have 18
_MAX_VALUE = 2**31 - 1
MAX_TOKENS = 4_000_000  # the largest vocabularies have about 300,000
MAX_TOKEN_BYTES = 65_536  # the longest real tokens, runs of spaces, have about 1,000
# Limit for tokenizers whose tables llama.cpp fills in cubic time, or by a recursion per byte (the loading thread has a
# smaller stack than the process that tries the model).
MAX_NESTED_TOKEN_BYTES = 1_024
# Limit for tokens that are matched before a text is split: long texts must not be split within such a token, and
# llama.cpp aborts on a long run without a split (`engine.llama.vocab`). The longest real ones have about 50 bytes.
MAX_CONTROL_TOKEN_BYTES = 512
_NESTED_TOKENIZERS = ("bert", "plamo2", "rwkv", "t5")
# (smallest, largest) value of the architecture's entries, or of each item of a list. The largest values are at least
# ten times those of known models, and small enough that llama.cpp's products fit 64 bits. The smallest known context is
# 128 tokens; much smaller ones are too short for the passes that measure a model.
_RANGES = {
    "attention.head_count": (0, 16_384),
    "attention.head_count_kv": (0, 16_384),
    "attention.key_length": (1, 65_536),
    "attention.value_length": (1, 65_536),
    "attention.sliding_window": (0, 2**31 - 1),
    "block_count": (1, 4_096),
    "context_length": (16, 2**31 - 1),
    "embedding_length": (1, 1_048_576),
    "expert_count": (0, 4_096),
    "expert_used_count": (0, 4_096),
    "feed_forward_length": (0, 16_777_216),
    "rope.dimension_count": (0, 65_536),
    "vocab_size": (1, MAX_TOKENS),
}
_POSITIVE = ("rope.freq_base", "rope.freq_base_swa")
_NOT_NEGATIVE = ("attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon", "rope.scaling.factor")
_NEEDED = ("block_count", "context_length", "embedding_length")
# Names of entries of layers without attention, which have no attention heads.
_RECURRENT_MARKS = (".ssm.", ".wkv.", ".shortconv.", ".linear_attention.")
_ARCHITECTURE = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}", re.IGNORECASE)
_BYTE_TOKEN = re.compile(rb"<0x[0-9A-Fa-f]{2}>")
_UNKNOWN_TYPE, _CONTROL_TYPE, _BYTE_TYPE = 2, 3, 6  # llama.cpp's LLAMA_TOKEN_TYPE_...
_TOKENS, _SCORES, _TYPES, _CHARSMAP = (
    "tokenizer.ggml." + name for name in ("tokens", "scores", "token_type", "precompiled_charsmap")
)
_NO_TOKENIZERS = ("no_vocab", "none")
# llama.cpp reads each of these arrays as one fixed type, without a check.
_LIST_TYPES = {
    _TOKENS: (ValueType.STRING,),
    "tokenizer.ggml.merges": (ValueType.STRING,),
    _SCORES: (ValueType.FLOAT32,),
    _TYPES: (ValueType.INT32, ValueType.UINT32),
    _CHARSMAP: (ValueType.INT8, ValueType.UINT8),
}


# RWKV's tokenizer takes the longest token at the beginning of a text. If some tokens begin with a byte that is not a
# token itself, llama.cpp finds no token where another text follows this byte: it does not advance, and collects tokens
# until memory is full (`llm_tokenizer_rwkv_session::tokenize`). A trial of a few texts cannot detect this.


def check_rwkv_tokens(texts: Iterable[bytes]) -> None:
    """Check that the first byte of each token is a token itself.

    Raises:
        ModelHeaderError: a first byte is not a token.
    """
    tokens = set(map(token_bytes, texts))
    missing = min({token[:1] for token in tokens if token} - tokens, default=b"")
    byte = missing.hex()
    check(not missing, "it has tokens that begin with the byte {byte}, but no token for that byte alone", byte=byte)


def token_bytes(text: bytes) -> bytes:
    """The bytes of a token as llama.cpp reads them: its text up to a zero, with escapes replaced."""
    return _ESCAPE.sub(_read_escape, text.partition(b"\0")[0] or _EMPTY)


def _read_escape(found: re.Match[bytes]) -> bytes:
    if found[1] is not None:
        high, low = map(_digit, found[1])
        return bytes([((high << 4) + low) & 0xFF])
    return _ESCAPED_BYTES.get(found[2], found[2]) if found[2] is not None else b""


def _digit(code: int) -> int:
    """The value of a hexadecimal digit; for other characters, the value that llama.cpp computes."""
    return code - (ord("a") - 10 if ord("a") <= code < 0x80 else ord("0"))


# Checks the table by which a unigram tokenizer normalises text, for every possible text.
#
# llama.cpp walks the table byte by byte, and an index outside of it throws an exception that ends the process. A trial
# misses an error at a byte that its texts lack. Layout (SentencePiece, as llama.cpp reads it in
# `llm_tokenizer_ugm_session::normalize_prefix`): the length of an XOR-compressed compact double array in bytes, its
# nodes of 32 bits, then the replacements, each ended by a zero byte.


def check_charsmap(data: bytes) -> None:
    """Check all nodes that a text can reach.

    Raises:
        ModelHeaderError: the message says what is wrong.
    """
    import numpy as np  # noqa: PLC0415  (the window's first page checks no tokenizer, and must not wait for NumPy)

    check(len(data) <= MAX_BYTES, "its table of characters has {length:,} bytes", length=len(data))
    num_bytes = int.from_bytes(data[:4], "little") if len(data) >= 4 else len(data)
    check(num_bytes + 4 < len(data), "its table of characters is cut short")
    nodes = np.frombuffer(data, "<u4", num_bytes // 4, 4).astype(np.int64)
    replacements = data[4 + num_bytes :]
    if not len(nodes):
        return
    bases = (nodes >> 10) << ((nodes & (1 << 9)) >> 6)
    # A node stores the byte that leads to it, which determines its parent: each node has one incoming edge.
    letters = nodes & 0xFF
    edges = ((letters > 0) & (nodes >> 31 == 0)).nonzero()[0]
    edges = edges[(edges ^ letters[edges]).argsort(kind="stable")]
    origins = edges ^ letters[edges]
    seen = np.zeros(len(nodes), dtype=np.bool_)
    here, last_end = bases[:1], replacements.rfind(b"\0")
    for _depth in range(MAX_DEPTH):
        # Any byte may follow, so all targets must be inside the table.
        check(bool((here | 0xFF).max() < len(nodes)), "its table of characters points outside of itself")
        here = here[~seen[here]]
        if not len(here):
            return
        seen[here] = True
        first, last = origins.searchsorted(here), origins.searchsorted(here, side="right")
        counts = last - first
        found = edges[np.repeat(first - (counts.cumsum() - counts), counts) + np.arange(counts.sum())]
        if not len(found):
            return
        here = found ^ bases[found]
        check(bool(here.max() < len(nodes)), "its table of characters points outside of itself")
        offsets = nodes[here[(nodes[found] >> 8) & 1 == 1]] & _MAX_VALUE
        is_ended = not len(offsets) or bool(offsets.max() <= last_end)
        check(is_ended, "its table of characters has a replacement without an end")
        here = np.unique(here)
    raise damaged_error("its table of characters has no end")


def read_checked_header(path: Path, *, writes_text: bool = True, is_head: bool = False) -> GgufHeader:
    """Read a local file's header; check its format, hyper-parameters and tokens, and whether the model ``writes_text``.

    ``is_head``: the file has only heads for another model, and may have no vocabulary.

    Raises:
        ModelNotFoundError: no such file, or not readable.
        ModelHeaderError: the message says what is wrong.
        ModelFileError: not a complete model, or not a text model; the message says what the file is.
    """
    with open_for_reading(path) as (read_at, file_size):
        header = parse_header(read_at, file_size)
        check_first_part(header, path)  # first, since later parts lack entries and would look damaged
        if writes_text and not is_head:
            check_writes_text(header, path.name)
        check_header(header)
        tokenizer = header.metadata.get("tokenizer.ggml.model")
        check(is_head or tokenizer not in _NO_TOKENIZERS, "it has no vocabulary")
        check_tokens(header, read_at)
    return header


def check_header(header: GgufHeader) -> None:
    """Check the hyper-parameters of a model.

    Raises:
        ModelHeaderError: the message says what is wrong.
    """
    check(bool(header.architecture), "it does not say which architecture it has")
    good = _ARCHITECTURE.fullmatch(header.architecture) is not None
    check(good, "its architecture is called {architecture!r}", architecture=header.architecture[:80])
    check(bool(header.tensors) or _is_part(header), "it contains no weights, only a vocabulary or metadata")
    for key in (f"{header.architecture}.{name}" for name in _NEEDED):
        check(key in header.metadata, "it does not say its {key}", key=key)
    for key, (smallest, largest) in _RANGES.items():
        for number in _numbers(header.arch_value(key), key):
            check(smallest <= number <= largest, "its {key} is {number:,}", key=key, number=number)
    _check_floats(header)
    _check_heads(header)
    all_of_them = max(_numbers(header.arch_value("expert_count"), "expert_count"), default=0)
    used = max(_numbers(header.arch_value("expert_used_count"), "expert_used_count"), default=0)
    check(used <= all_of_them, "it uses {used} of {all_of_them} experts", used=used, all_of_them=all_of_them)
    check(used > 0 or all_of_them == 0, "it uses none of its experts ({all_of_them})", all_of_them=all_of_them)
    # Compare the blocks with the header's count, which may include next-token layers; a part has only some blocks.
    blocks = [int(match[1]) for tensor in header.tensors if (match := BLOCK.match(tensor.name))]
    if not blocks or _is_part(header):
        return
    (claimed, *_), found = _numbers(header.arch_value("block_count"), "block_count"), max(blocks) + 1
    extra = sum(_numbers(header.arch_value("nextn_predict_layers"), "nextn_predict_layers"))
    fields, is_right = {"claimed": claimed, "found": found}, abs(claimed - found) <= extra
    check(is_right, "the number of its blocks should be {claimed:,} and is {found:,}", **fields)


def check_tokens(header: GgufHeader, read_at: ReadAt) -> None:
    """Check the vocabulary: lengths and types of its lists, byte tokens, and the table of characters.

    Raises:
        ModelHeaderError: the message says what is wrong.
    """
    if header.metadata.get("tokenizer.ggml.model") in _NO_TOKENIZERS:
        return
    present = header.arrays.keys() | header.metadata.keys()
    lists = {key: _list(header, key, types) for key, types in _LIST_TYPES.items() if key in present}
    check(_TOKENS in lists, "it has no vocabulary")
    num_tokens = lists[_TOKENS].length
    check(0 < num_tokens <= MAX_TOKENS, "its vocabulary has {num_tokens:,} tokens", num_tokens=num_tokens)
    for key in lists.keys() & {_SCORES, _TYPES}:
        length = lists[key].length
        check(
            length == num_tokens,
            "the number of its tokens is {num_tokens:,}, but that of the entries in {key} is {length:,}",
            num_tokens=num_tokens,
            length=length,
            key=key,
        )
    texts = read_strings(read_at, lists[_TOKENS])
    longest, tokenizer = max(map(len, texts)), header.metadata.get("tokenizer.ggml.model")
    allowed = MAX_NESTED_TOKEN_BYTES if tokenizer in _NESTED_TOKENIZERS else MAX_TOKEN_BYTES
    check(longest <= allowed, "one of its tokens is {longest:,} bytes long", longest=longest)
    if tokenizer == "rwkv":
        check_rwkv_tokens(texts)
    if _CHARSMAP in lists:
        check_charsmap(read_numbers(read_at, lists[_CHARSMAP]).tobytes())
    if _TYPES in lists:
        types = read_numbers(read_at, lists[_TYPES])
        marks = ((types == _CONTROL_TYPE) | (types == _UNKNOWN_TYPE)).nonzero()[0]
        longest = max((len(texts[token_id]) for token_id in marks), default=0)
        good = longest <= MAX_CONTROL_TOKEN_BYTES
        check(good, "one of its control tokens is {longest:,} bytes long", longest=longest)
        for token_id in (types == _BYTE_TYPE).nonzero()[0]:
            fields, is_byte = (
                {"token_id": token_id, "texts": texts[token_id][:40]},
                _BYTE_TOKEN.fullmatch(texts[token_id]),
            )
            check(bool(is_byte), "token {token_id} should name a byte, but is {texts!r}", **fields)


def _numbers(value: Value | None, key: str) -> tuple[int, ...]:
    """The number, or the numbers per layer; empty if the entry is absent."""
    if value is None:
        return ()
    numbers = value if isinstance(value, tuple) else (value,)
    good = all(isinstance(number, int) and not isinstance(number, bool) for number in numbers)
    check(good and len(numbers) > 0, "its {key} is not a whole number", key=key)
    return tuple(number for number in numbers if isinstance(number, int))


def _check_floats(header: GgufHeader) -> None:
    for name, value in header.metadata.items():
        numbers = value if isinstance(value, tuple) else (value,)
        finite = all(math.isfinite(number) for number in numbers if isinstance(number, float))
        check(finite or name.startswith("tokenizer."), "its {name} is not a finite number", name=name)
    for keys, smallest in ((_POSITIVE, 1e-9), (_NOT_NEGATIVE, 0.0)):
        for key in keys:
            own = header.arch_value(key)
            if own is not None:
                check(isinstance(own, int | float) and own >= smallest, "its {key} is {own}", key=key, own=own)


def _check_heads(header: GgufHeader) -> None:
    heads, kv_heads = (_numbers(header.arch_value(f"attention.head_count{end}"), "head_count") for end in ("", "_kv"))
    recurrent = any(mark in key for key in header.metadata for mark in _RECURRENT_MARKS)
    check(recurrent or not heads or max(heads) > 0, "it has no attention heads")
    if len(heads) == len(kv_heads) == 1 and heads[0] and kv_heads[0]:
        check(
            heads[0] % kv_heads[0] == 0,
            "the number of its attention heads, {heads}, is not a multiple of that of its key and value "
            "heads, {kv_heads}",
            heads=heads[0],
            kv_heads=kv_heads[0],
        )
    for number in _numbers(header.arch_value("rope.dimension_count"), "rope.dimension_count"):
        check(number % 2 == 0, "its rope.dimension_count is {number}, an odd number", number=number)


def _is_part(header: GgufHeader) -> bool:
    """Whether the model has other files; the first may have no weights."""
    parts = header.metadata.get("split.count", 1)
    return isinstance(parts, int) and parts > 1


def _list(header: GgufHeader, key: str, types: tuple[ValueType, ...]) -> ArrayRef:
    value = header.arrays.get(key)
    check(
        value is not None and (value.item_type in types or value.length == 0), "its {key} has the wrong type", key=key
    )
    return value if value is not None else ArrayRef(types[0], 0, 0, 0)
