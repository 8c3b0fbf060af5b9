"""Records of embedding models and of their results."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from enum import StrEnum


class Pooling(StrEnum):
    """How the token vectors of a text become one vector, with the names of llama.cpp's server."""

    NONE = "none"  # one vector for each token
    MEAN = "mean"
    CLS = "cls"  # the vector of the first token
    LAST = "last"
    RANK = "rank"  # rerankers, which make no vectors


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model. ``n_ctx`` limits the tokens of a text; ``width`` is the length of a vector."""

    name: str
    n_ctx: int
    width: int
    n_vocab: int
    pooling: Pooling
    architecture: str
    num_params: int
    size_bytes: int
    n_ctx_train: int


@dataclass(frozen=True, slots=True)
class EmbeddingForm:
    """``is_normalized`` scales vectors to length 1; ``dimensions`` truncates each to its first numbers.

    ``is_cut`` truncates a text that is too long instead of refusing it.
    """

    is_normalized: bool = True
    dimensions: int | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a text, or without pooling one vector for each token."""

    num_tokens: int
    vectors: tuple[array[float], ...]  # type code "f"
