"""Protocols of a model, a tokenizer and a grammar for the decoding loop. Tests implement scripted ones."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]  # [n_rows, n_vocab] logits
_MAX_LOGIT_GAP = 12.0  # natural logarithm; candidates are at most this far below the best token
TokenIds = Sequence[int] | NDArray[np.int32]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The most likely tokens of a row: ``ids`` [n], ascending, and their ``logits`` [n].

    ``confidence``: the model's own estimate that a token sampled from them is accepted, if it has one.
    """

    ids: NDArray[np.int64]
    logits: NDArray[np.float32]
    confidence: float | None = None


def likely_candidates(scores: NDArray[np.float32], confidence: float | None = None) -> Candidates:
    """Select the tokens of a head's row [n_vocab] that may be sampled: none if all logits are -inf.

    Tokens far below the best are hardly ever sampled or accepted, so q leaves them out.
    """
    best = scores[scores.argmax()]
    if np.isnan(best):  # the sampler reports NaN
        return Candidates(np.arange(len(scores)), scores, confidence)
    kept = np.flatnonzero(scores > max(best - _MAX_LOGIT_GAP, -np.inf))
    return Candidates(kept, scores[kept], confidence)


class LanguageModel(Protocol):
    """A model with a cache of ``num_past`` tokens at positions 0 .. num_past - 1."""

    @property
    def n_vocab(self) -> int:
        """The width of a row."""

    @property
    def n_ctx(self) -> int: ...

    @property
    def n_ubatch(self) -> int:
        """How many tokens of a prompt one pass computes."""

    @property
    def num_past(self) -> int: ...

    def forward(self, ids: TokenIds, n_rows: int) -> Rows:
        """Append ``ids`` to the cache in one pass; return the logits after each of the last ``n_rows`` of them.

        The rows are a view that the next call overwrites; the caller may write into it.

        Raises:
            DecodeError: the pass failed; the cache is as before the call, or empty if it is recurrent.
        """

    @property
    def num_candidates(self) -> int:
        """How many tokens `forward_candidates` gives; 0 if `forward` must be used instead."""

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """Append ``ids`` in one pass; return the most likely tokens to follow the last.

        If the model turns out unable to select candidates, all tokens are returned, and ``num_candidates`` becomes 0.
        Raises `DecodeError` like `forward`.
        """

    @property
    def num_snapshots(self) -> int | None:
        """How many of a pass's last tokens (never all of them) can be dropped right after it.

        None if the memory can drop any tail at any time; 0 if only `restore` can return to an earlier state.
        """

    def rollback(self, num_past: int) -> bool:
        """Drop all but the first ``num_past`` tokens. False, without a change, if a recurrent memory cannot."""

    def save(self) -> bool:
        """Save the current state, replacing the saved one; False if this memory's state cannot be saved."""

    def restore(self) -> bool:
        """Return to the saved state; may be repeated. False if none was saved: then the cache is empty.

        Since `save`, only tokens after the saved state may have been decoded or dropped.
        """

    @property
    def state_bytes(self) -> int:
        """Number of bytes that `export_state` returns."""

    def export_state(self) -> NDArray[np.uint8] | None:
        """The content of the cache as bytes, readable by this model and build only; None if it cannot be exported."""

    def import_state(self, state: NDArray[np.uint8], num_past: int, gaps: Sequence[tuple[int, int]] = ()) -> bool:
        """Replace the content by an exported one of ``num_past`` tokens. False if it was refused: the cache is empty.

        ``gaps``: pairs of a token index, ascending, and the number of tokens minus positions before that index.
        """

    def clear(self) -> None: ...


@dataclass(frozen=True, slots=True)
class JoinedPass:
    """A pass that the batcher made.

    Attributes:
        num_tokens: tokens of all sequences.
        num_sequences: sequences with tokens in the pass.
    """

    num_tokens: int
    num_sequences: int

    @property
    def is_shared(self) -> bool:
        """Whether other sequences had tokens in it."""
        return self.num_sequences > 1


@dataclass(frozen=True, slots=True)
class BatchComposition:
    """The other answers' share of an answer's passes.

    Attributes:
        num_answers: number of other answers, including answers whose prompts are being read.
        num_tokens: tokens of these answers in a pass.
        tokens: average number of tokens that a pass adds to these answers.
        num_drafting: number of these answers that draft with a model.
    """

    num_answers: int = 0
    num_tokens: int = 0
    tokens: float = 0.0
    num_drafting: int = 0


SINGLE_ANSWER = BatchComposition()


class Batch(Protocol):
    """Joins the passes of several sequences."""

    @property
    def is_alone(self) -> bool:
        """True if the running code may make passes without the batcher."""

    def forward(self, sequence: Any, ids: TokenIds, n_rows: int) -> tuple[Rows, JoinedPass | None]:  # noqa: ANN401
        """Make a pass together with the others. Raises `DecodeError` if it failed."""

    def call(self, work: Callable[[], Result]) -> Result:
        """Run ``work``, which makes passes itself, once no rows of another pass are in use."""

    def composition(self, *, is_drafting: bool) -> BatchComposition:
        """The other tasks' share of the running task's passes; ``is_drafting``: this task drafts with a model."""


class ComputeContext(Protocol):
    """Settings of a context of a model or of heads."""

    @property
    def n_ctx(self) -> int: ...

    @property
    def n_ubatch(self) -> int: ...

    @property
    def threads(self) -> int: ...

    @property
    def num_snapshots(self) -> int | None:
        """See `LanguageModel.num_snapshots`; None also if a pass may be interrupted."""

    def set_threads(self, threads: int) -> None:
        """Use this number of threads from the next pass on."""

    def set_abort_callback(self, asks: Any, data: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """See `LlamaContext.set_abort_callback`."""

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class PictureRun:
    """Tokens that an encoder made of a picture, or of a part of one.

    The first token has the negative id ``first_id``, the ids of the others count down from it: an id identifies the run
    and the index within it. The run takes ``num_positions`` positions.
    """

    first_id: int
    num_tokens: int
    num_positions: int

    @property
    def ids(self) -> range:
        return range(self.first_id, self.first_id - self.num_tokens, -1)


class PictureRuns(Protocol):
    """The known runs, which can be appended to a model's cache.

    A run's name identifies its picture in any process; its ids are valid in this process.
    """

    def run_of(self, run_id: int) -> PictureRun | None:
        """The run of a negative id; None if it is not known any more."""

    def name_of(self, run: PictureRun) -> str | None:
        """The name of a run; None if it is not known any more."""

    def run_named(self, name: str, num_tokens: int, num_positions: int) -> PictureRun:
        """The run with this name; reserves ids for it if its picture was not used yet.

        Raises:
            PictureError: there are no ids left.
        """

    def append(self, run: PictureRun) -> None:
        """Append a run to the cache of the model that these runs are for.

        Raises:
            DecodeError: the pass failed.
            PictureError: the encoder failed.
        """


class Tokenizer(Protocol):
    """Converts text to ids and back, as specified in the GGUF."""

    @property
    def n_vocab(self) -> int: ...

    @property
    def add_bos(self) -> bool:
        """Whether a prompt begins with the BOS token."""

    @property
    def bos_id(self) -> int | None: ...

    @property
    def eos_id(self) -> int | None: ...

    @property
    def repo_and_file_ids(self) -> tuple[int, int] | None:
        """The tokens that precede a project's name and a file's name; None unless both exist."""

    @property
    def infill_ids(self) -> tuple[int, int, int] | None:
        """The prefix, suffix and middle tokens for infill; None if there are none."""

    @property
    def control_texts(self) -> tuple[str, ...]:
        """The texts of all control tokens, which a user's text must not produce."""

    @property
    def eog_ids(self) -> frozenset[int]:
        """All end-of-generation tokens."""

    def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
        """Ids of ``text``; ``special`` parses control tokens."""

    def piece(self, token_id: int) -> bytes:
        """The bytes of a token; empty for control tokens."""

    def token_text(self, token_id: int) -> str:
        """The token's text in the vocabulary, control tokens included."""

    def is_eog(self, token_id: int) -> bool: ...


class Constraint(Protocol):
    """Decides which tokens may follow a history [num_tokens] and the pending tokens of a proposal.

    A method returns None if this is unknown, as after a forbidden proposed token: then all tokens are allowed.
    """

    def allows(
        self, history: NDArray[np.int32], pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Whether each of ``ids`` [n] may follow."""

    def all_allowed(self, history: NDArray[np.int32], pending: Sequence[int]) -> NDArray[np.int64] | None:
        """Ids of all tokens that may follow, ascending; slow."""
