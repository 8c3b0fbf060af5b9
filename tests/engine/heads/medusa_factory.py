"""Writes small files of Medusa and Hydra heads for generated targets."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tests.engine.gguf_factory import F32, GgufFile, Kind, Tensor, string, tiny_llama

N_EMBD = 64
_IDLE = ("attn_output.weight", "ffn_down.weight")
Values = NDArray[np.float64]


def tensor(name: str, values: Values | NDArray[np.float32]) -> Tensor:
    return Tensor(name, values.shape[::-1], F32, values.astype(np.float32).tobytes())


def tokens_of(target: GgufFile) -> list[str]:
    return list(target.metadata["tokenizer.ggml.tokens"][1][1])


def heads_file(
    target: GgufFile, tensors: list[Tensor], kind: str = "medusa", num_heads: int = 3, num_blocks: int = 1
) -> GgufFile:
    """A heads file with these tensors for a target."""
    tokens = tokens_of(target)
    listed = b"".join(string(one) for one in tokens)
    return GgufFile(
        {
            "general.architecture": (Kind.STRING, "medusa"),
            "general.name": (Kind.STRING, "made heads"),
            "medusa.kind": (Kind.STRING, kind),
            "medusa.target_name": (Kind.STRING, "tiny"),
            "medusa.tokenizer_sha256": (Kind.STRING, hashlib.sha256(listed).hexdigest()),
            "medusa.head_count": (Kind.UINT32, num_heads),
            "medusa.block_count": (Kind.UINT32, num_blocks),
            "medusa.embedding_length": (Kind.UINT32, N_EMBD),
            "medusa.vocab_size": (Kind.UINT32, len(tokens)),
        },
        tuple(tensors),
    )


def random_heads(
    target: GgufFile,
    kind: str = "medusa",
    *,
    seed: int = 5,
    num_heads: int = 3,
    num_blocks: int = 1,
    kept: NDArray[np.int32] | None = None,
    output: str = "own",
) -> GgufFile:
    """Random heads. ``output``: output layers are each head's "own", "shared", or "lent" by the target."""
    dice, tensors = np.random.default_rng(seed), list[Tensor]()
    number = len(tokens_of(target)) if kept is None else len(kept)

    def random(name: str, *shape: int) -> None:
        tensors.append(tensor(name, dice.normal(0.0, 0.2, shape)))

    for k in range(num_heads):
        wide = N_EMBD * (k + 2 if kind == "hydra" else 1)
        for n in range(num_blocks):
            random(f"head.{k}.block.{n}.weight", N_EMBD, N_EMBD if n else wide)
            random(f"head.{k}.block.{n}.bias", N_EMBD)
        if kind == "hydra":
            random(f"head.{k}.skip.weight", N_EMBD, wide)
            random(f"head.{k}.skip.bias", N_EMBD)
        if output == "own":
            random(f"head.{k}.output.weight", number, N_EMBD)
            random(f"head.{k}.output.bias", number)
    if output == "shared":
        random("output.weight", number, N_EMBD)
    if kept is not None:
        tensors.append(Tensor("vocab_map", (number,), 26, kept.astype(np.int32).tobytes()))
    return heads_file(target, tensors, kind, num_heads, num_blocks)


def markov_llama(*, seed: int = 0) -> GgufFile:
    """A target whose next token depends on the current one only: its layers add nothing to the residual."""
    base = tiny_llama(seed=seed).with_metadata(llama__context_length=(Kind.UINT32, 1024))
    number, dice = len(tokens_of(base)), np.random.default_rng(seed + 11)
    embedding = dice.normal(0.0, 1.0, (number, N_EMBD))
    output = dice.normal(0.0, 0.35, (number, N_EMBD))
    made = {"token_embd.weight": embedding, "output.weight": output}
    return replace(
        base,
        tensors=tuple(
            tensor(one.name, made[one.name])
            if one.name in made
            else replace(one, data=bytes(len(one.data)))
            if one.name.endswith(_IDLE)
            else one
            for one in base.tensors
        ),
    )


def markov_heads(target: GgufFile, noise: float, *, num_heads: int = 3, seed: int = 0) -> GgufFile:
    """Hydra heads that depend on the last token only, with the target's output plus ``noise``.

    The target's hidden row of a token is its embedding, normalized; the noise is added to the output matrix.
    """
    by_name = {one.name: one for one in target.tensors}
    output = np.frombuffer(by_name["output.weight"].data, np.float32).reshape(-1, N_EMBD)
    dice, tensors = np.random.default_rng(seed + 8), list[Tensor]()
    for k in range(num_heads):
        wide = N_EMBD * (k + 2)
        tensors.append(tensor(f"head.{k}.block.0.weight", np.zeros((N_EMBD, wide))))
        tensors.append(tensor(f"head.{k}.skip.weight", np.hstack([np.zeros((N_EMBD, wide - N_EMBD)), np.eye(N_EMBD)])))
    tensors.append(tensor("output.weight", output + dice.normal(0.0, noise * 0.35, output.shape)))
    return heads_file(target, tensors, "hydra", num_heads)


def unit_embeddings(target: GgufFile) -> GgufFile:
    """The same target with normalized embeddings, so that heads may use them as hidden rows."""
    found = next(one for one in target.tensors if one.name == "token_embd.weight")
    values = np.frombuffer(found.data, np.float32).reshape(-1, N_EMBD).astype(np.float64)
    values /= np.sqrt((values**2).mean(axis=1, keepdims=True))
    return target.with_tensor("token_embd.weight", data=values.astype(np.float32).tobytes())
