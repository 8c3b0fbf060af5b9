"""Records of embedding models and of their results."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from enum import StrEnum


class Pooling(StrEnum):
    """How the rows of a text become one vector, by the names of llama.cpp's server."""

    NONE = "none"  # each token has a vector
    MEAN = "mean"
    CLS = "cls"  # the vector of the first token
    LAST = "last"
    RANK = "rank"  # how well a document answers a query, as one number: of models trained for it


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """An embedding model: the longest text in tokens (``n_ctx``), the numbers of a vector (``width``), its pooling."""

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
class RankPair:
    """A query and a document, for a model with `Pooling.RANK`."""

    query: str
    document: str


@dataclass(frozen=True, slots=True)
class EmbeddingForm:
    """The form of vectors: of length 1 (``is_normalized``), the first ``dimensions`` numbers of each.

    ``is_cut``: a text that is too long is truncated instead of refused.
    """

    is_normalized: bool = True
    dimensions: int | None = None
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a text; one for each of its tokens if they are not pooled."""

    num_tokens: int
    vectors: tuple[array[float], ...]  # of the type "f"
