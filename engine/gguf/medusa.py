"""Checks the headers of files with Medusa and Hydra heads (docs/heads.md), and whether they fit a target.

A file has the architecture ``medusa`` and these entries: ``kind`` ("medusa" or "hydra"), ``head_count``,
``block_count`` (residual blocks of a head), ``embedding_length``, ``vocab_size`` and ``tokenizer_sha256`` of the
target, and ``target_name``. Head k, counted from 0, has the tensors ``head.k.block.n.weight`` and ``.bias``, and
``head.k.output.weight`` and ``.bias``. Hydra heads, whose first block has more inputs than outputs, also have
``head.k.skip.weight`` and ``.bias``. One ``output.weight`` for all heads may replace their outputs; without any output
the target's is used. ``vocab_map`` has the token ids of the output rows, ascending; without it each token has a row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import DraftRefusedError
from engine.gguf.head_files import HYDRA, head_method
from engine.gguf.header import GgufHeader, TensorInfo
from engine.gguf.source import open_for_reading
from engine.sentences import i18n

MAX_HEADS, MAX_BLOCKS = 16, 8
TOKENS = "tokenizer.ggml.tokens"
VOCAB_MAP, SHARED_OUTPUT, EMBEDDING = "vocab_map", "output.weight", "token_embd.weight"
# Types that ggml's CPU backend can multiply; others abort the process.
MATRIX_TYPES = frozenset(
    {"F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"}
    | {"IQ4_NL", "IQ4_XS"}
)


@dataclass(frozen=True, slots=True)
class MedusaLayout:
    """The fields of a checked header. ``num_outputs``: number of tokens that the heads can propose."""

    method: str
    num_heads: int
    num_blocks: int
    width: int
    n_vocab: int
    num_outputs: int
    target_name: str

    def num_tokens(self, head: int) -> int:
        """Number of tokens that a head reads after the hidden row."""
        return head + 1 if self.method == HYDRA else 0


@dataclass(frozen=True, slots=True)
class _Expected:
    """An expected tensor, fastest dimension first; ``needed`` unless it is optional."""

    name: str
    dims: tuple[int, ...]
    needed: bool = True


def medusa_layout(header: GgufHeader) -> MedusaLayout:
    """Check the header of a head file.

    Raises:
        DraftRefusedError: the file is not valid; the message says why.
    """
    if header.arch_value("kind") not in ("medusa", "hydra"):
        raise DraftRefusedError(i18n("The file does not say whether its heads are of the kind medusa or hydra."))
    numbers = {
        key: _number(header, key, most)
        for key, most in (
            ("head_count", MAX_HEADS),
            ("block_count", MAX_BLOCKS),
            ("embedding_length", 2**20),
            ("vocab_size", 2**22),
        )
    }
    by_name = {tensor.name: tensor for tensor in header.tensors}
    n_vocab, name = numbers["vocab_size"], header.arch_value("target_name")
    layout = MedusaLayout(
        method=head_method(header),
        num_heads=numbers["head_count"],
        num_blocks=numbers["block_count"],
        width=numbers["embedding_length"],
        n_vocab=n_vocab,
        num_outputs=_num_outputs(by_name.get(VOCAB_MAP), n_vocab),
        target_name=name[:200] if isinstance(name, str) else "",
    )
    _check_tensors(layout, by_name)
    return layout


def medusa_reason(target: GgufHeader, head: GgufHeader) -> str:
    """Why heads do not fit a target, by both headers; empty if they fit."""
    try:
        layout = medusa_layout(head)
    except DraftRefusedError as error:
        return error.message
    width, tokens = target.arch_value("embedding_length"), target.arrays.get(TOKENS)
    if layout.width != width:
        return i18n(
            "The head reads hidden states of {wanted} numbers, and the target's have {width}: it belongs to another "
            "model.",
            wanted=layout.width,
            width=width if isinstance(width, int) else "?",
        )
    if tokens is not None and tokens.length != layout.n_vocab:
        return i18n(
            "The heads were made for a vocabulary of {num_tokens:,} tokens, and the target's has {number:,}.",
            num_tokens=layout.n_vocab,
            number=tokens.length,
        )
    return ""


def tokenizer_sha256(path: Path, header: GgufHeader) -> str:
    """SHA-256 (hex) of a model's list of tokens; empty if the file has none.

    Raises:
        ModelFileError: the file cannot be read.
    """
    tokens = header.arrays.get(TOKENS)
    if tokens is None:
        return ""
    with open_for_reading(path) as (read_at, _size):
        return hashlib.sha256(read_at(tokens.offset, tokens.num_bytes)).hexdigest()


def token_bytes(header: GgufHeader, target: GgufHeader) -> dict[str, int]:
    """Bytes of weights read per drafted token, by kind; the mean of all heads."""
    heads = max(1, number) if isinstance(number := header.arch_value("head_count"), int) else 1
    read: dict[str, int] = {}
    has_output = False
    for tensor in header.tensors:
        if tensor.name != VOCAB_MAP:
            share = 1 if tensor.name == SHARED_OUTPUT else heads
            has_output = has_output or tensor.name.endswith("output.weight")
            read[tensor.type_name] = read.get(tensor.type_name, 0) + tensor.num_bytes // share
    lent = None if has_output else target_output(target)
    if lent is not None:
        number = borrowed_output_bytes(lent, header)
        read[lent.type_name] = read.get(lent.type_name, 0) + number
    return read


def borrowed_output_bytes(output: TensorInfo, head: GgufHeader) -> int:
    """Bytes of the target's output rows that heads without an output matrix use."""
    used = next((tensor.num_values for tensor in head.tensors if tensor.name == VOCAB_MAP), output.dims[-1])
    return output.num_bytes // output.dims[-1] * min(used, output.dims[-1])


def target_output(target: GgufHeader) -> TensorInfo | None:
    """The tensor of a target's output matrix; None if this file lacks it."""
    by_name = {tensor.name: tensor for tensor in target.tensors}
    return by_name.get(SHARED_OUTPUT) or by_name.get(EMBEDDING)


def _number(header: GgufHeader, key: str, most: int) -> int:
    found = header.arch_value(key)
    if isinstance(found, int) and not isinstance(found, bool) and 1 <= found <= most:
        return found
    shown = i18n("nothing") if found is None else str(found)[:40]
    raise DraftRefusedError(
        i18n("The file's {key} is {found}; it must be 1 to {most:,}.", found=shown, key=key, most=most)
    )


def _num_outputs(vocab_map: TensorInfo | None, n_vocab: int) -> int:
    if vocab_map is None:
        return n_vocab
    if vocab_map.type_name != "I32" or len(vocab_map.dims) != 1 or vocab_map.dims[0] > n_vocab:
        raise DraftRefusedError(i18n("Its vocabulary map is not a list of at most {limit:,} ids.", limit=n_vocab))
    return vocab_map.dims[0]


def _check_tensors(layout: MedusaLayout, by_name: dict[str, TensorInfo]) -> None:
    expected = {one.name: one for one in _expected(layout)}
    for tensor in by_name.values():
        if tensor.name not in expected and tensor.name != VOCAB_MAP:
            raise DraftRefusedError(i18n("The file has the tensor {name}, which no such head has.", name=tensor.name))
    for one in expected.values():
        found = by_name.get(one.name)
        if found is None and one.needed:
            raise DraftRefusedError(i18n("The file lacks the tensor {name}.", name=one.name))
        if found is not None and found.dims != one.dims:
            raise DraftRefusedError(
                i18n(
                    "The tensor {name} has {found} values, and should have {wanted}.",
                    name=one.name,
                    found=" × ".join(map(str, found.dims)),
                    wanted=" × ".join(map(str, one.dims)),
                )
            )
        kinds = MATRIX_TYPES if len(one.dims) > 1 else {"F32"}
        if found is not None and found.type_name not in kinds:
            raise DraftRefusedError(
                i18n(
                    "The tensor {name} is of the type {kind}, which is not supported.",
                    name=one.name,
                    kind=found.type_name,
                )
            )
    own = [f"head.{k}.output.weight" in by_name for k in range(layout.num_heads)]
    if any(own) and not all(own):
        raise DraftRefusedError(i18n("Some of its heads have an output matrix of their own, and some have none."))


def _expected(layout: MedusaLayout) -> Iterator[_Expected]:
    width = layout.width
    yield _Expected(SHARED_OUTPUT, (width, layout.num_outputs), needed=False)
    for k in range(layout.num_heads):
        wide = width * (1 + layout.num_tokens(k))
        for n in range(layout.num_blocks):
            yield _Expected(f"head.{k}.block.{n}.weight", (wide if n == 0 else width, width))
            yield _Expected(f"head.{k}.block.{n}.bias", (width,), needed=False)
        if wide > width:
            yield _Expected(f"head.{k}.skip.weight", (wide, width))
            yield _Expected(f"head.{k}.skip.bias", (width,), needed=False)
        yield _Expected(f"head.{k}.output.weight", (width, layout.num_outputs), needed=False)
        yield _Expected(f"head.{k}.output.bias", (layout.num_outputs,), needed=False)
