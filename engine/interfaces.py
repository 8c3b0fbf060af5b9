"""What the loop needs of a model, of a tokenizer and of a grammar, as protocols; tests have scripted ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]  # [n_rows, n_vocab] logits
_REACH = 12.0  # natural logarithms
TokenIds = Sequence[int] | NDArray[np.int32]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The likeliest tokens of a row: ``ids`` [n], ascending, and their ``logits`` [n].

    ``confidence`` is how likely a token drawn from them is to be accepted, where the model itself estimates that.
    """

    ids: NDArray[np.int64]
    logits: NDArray[np.float32]
    confidence: float | None = None


def likely(scores: NDArray[np.float32], confidence: float | None = None) -> Candidates:
    """The tokens of a head's row [n_vocab] that may be drawn: none where the head says nothing of any.

    Tokens far below the best are hardly ever drawn or kept; q goes without them.
    """
    best = scores[scores.argmax()]
    if np.isnan(best):  # whoever looks at the numbers says so
        return Candidates(np.arange(len(scores)), scores, confidence)
    kept = np.flatnonzero(scores > max(best - _REACH, -np.inf))
    return Candidates(kept, scores[kept], confidence)


class LanguageModel(Protocol):
    """A model with a cache of ``num_past`` tokens at positions 0 .. num_past - 1."""

    @property
    def n_vocab(self) -> int:
        """Size of the vocabulary: the width of a row."""

    @property
    def n_ctx(self) -> int:
        """How many tokens the cache can hold."""

    @property
    def n_ubatch(self) -> int:
        """How many tokens of a prompt it computes at once."""

    @property
    def num_past(self) -> int:
        """How many tokens the cache holds."""

    def forward(self, ids: TokenIds, n_rows: int, num_padding: int = 0) -> Rows:
        """Append ``ids`` to the cache in one pass; return the logits after each of the last ``n_rows`` of them.

        The last ``num_padding`` ids are there only because a larger pass is cheaper: they give no rows, and the
        caller rolls them back.

        The rows are a view that the next call overwrites; the caller may write into it.

        Raises:
            DecodeError: the pass failed; the cache is as before the call, or empty where it is a state.
        """

    @property
    def num_candidates(self) -> int:
        """How many of a row's likeliest tokens `forward_candidates` gives; 0 where `forward` must be asked instead."""

    def forward_candidates(self, ids: TokenIds) -> Candidates:
        """Append ``ids`` in one pass; return the likeliest tokens to follow the last, and the caller's own.

        All tokens are candidates where the model turns out unable to choose; from then on ``num_candidates`` is 0.

        Raises:
            DecodeError: the pass failed; the cache is as before the call, or empty where it is a state.
        """

    @property
    def num_snapshots(self) -> int | None:
        """How many of a pass's last tokens (never all of them) can be forgotten right after it.

        None where the memory can forget any tail at any time; 0 where it is a state that only `restore` can bring back.
        """

    def rollback(self, num_past: int) -> bool:
        """Forget all but the first ``num_past`` tokens. False where the memory cannot (recurrent models): unchanged."""

    def save(self) -> bool:
        """Keep the state as it is now, in place of one kept before; False where this memory's cannot be kept."""

    def restore(self) -> bool:
        """Go back to the kept state, as often as wanted. False where there is none: then all is forgotten.

        Only tokens that followed it may have been decoded or forgotten since.
        """

    @property
    def state_bytes(self) -> int:
        """How many bytes `export_state` would give."""

    def export_state(self) -> NDArray[np.uint8] | None:
        """Everything that the cache holds, as bytes of this model and build only; None where it cannot be had."""

    def import_state(self, state: NDArray[np.uint8], num_past: int, gaps: Sequence[tuple[int, int]] = ()) -> bool:
        """Hold what `export_state` gave when the cache had ``num_past`` tokens. False: refused, all is forgotten.

        ``gaps`` are places, ascending, and how many positions fewer than places there were before each.
        """

    def clear(self) -> None:
        """Forget everything."""


@dataclass(frozen=True, slots=True)
class JoinedPass:
    """A pass that was made for all sequences that wanted one, or for the only one that did.

    Attributes:
        num_tokens: of all of them.
        num_sequences: that had tokens in it.
        milliseconds: the pass took.
    """

    num_tokens: int
    num_sequences: int
    milliseconds: float

    @property
    def is_shared(self) -> bool:
        """Whether others had tokens in it: who only looked for arrivals made it alone."""
        return self.num_sequences > 1


@dataclass(frozen=True, slots=True)
class Beside:
    """What other answers put into the passes that an answer takes part in.

    Attributes:
        num_answers: there are, with those whose prompts are being read.
        num_tokens: in a pass.
        tokens: that they gain by a pass, on the average.
        num_drafting: how many of them draft with a model as well.
    """

    num_answers: int = 0
    num_tokens: int = 0
    tokens: float = 0.0
    num_drafting: int = 0


NOBODY = Beside()


class Batch(Protocol):
    """What makes the passes of several sequences together."""

    @property
    def is_alone(self) -> bool:
        """Whether whoever runs now may make passes by itself."""

    @property
    def is_answering(self) -> bool:
        """Whether whoever runs now is an answer of the batch."""

    def forward(
        self,
        sequence: Any,  # noqa: ANN401  (of a context of llama.cpp)
        ids: TokenIds,
        n_rows: int,
        num_padding: int,
    ) -> tuple[Rows, JoinedPass | None]:
        """Make a pass with what the others want. Raises `DecodeError` where it failed."""

    def call(self, work: Callable[[], Result]) -> Result:
        """Do what makes passes of its own, once nobody looks at the rows of another."""

    def beside(self, *, is_drafting: bool) -> Beside:
        """What the others put into the passes of the task that asks, which drafts with a model or does not."""


class Computing(Protocol):
    """What is asked of whatever computes a model or heads, beside its passes."""

    @property
    def n_ctx(self) -> int:
        """How many tokens it can hold."""

    @property
    def n_ubatch(self) -> int:
        """How many tokens of a prompt it computes at once."""

    @property
    def threads(self) -> int:
        """Threads that it uses on the processor."""

    @property
    def num_snapshots(self) -> int | None:
        """See `LanguageModel.num_snapshots`; None also where a pass may be ended in the middle."""

    def set_threads(self, threads: int) -> None:
        """Use so many threads from the next pass on."""

    def set_abort_callback(self, asks: Any, data: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """See `LlamaContext.set_abort_callback`."""

    def close(self) -> None:
        """Free what it holds."""


@dataclass(frozen=True, slots=True)
class Run:
    """Places of a sequence that are no tokens: what an encoder made of a picture, or of a part of one.

    The first place has the id ``first_id``, which is negative, and the others count down from it: so an id tells the
    run and the place in it. What follows goes on ``num_positions`` behind.
    """

    first_id: int
    num_places: int
    num_positions: int

    @property
    def ids(self) -> range:
        """The ids of its places."""
        return range(self.first_id, self.first_id - self.num_places, -1)


class Runs(Protocol):
    """The runs that are known, and how they get into a model's cache.

    A run's name tells what it is of, whichever program has it; its ids are this program's.
    """

    def run_of(self, place_id: int) -> Run | None:
        """The run that a negative id belongs to; None where it is not known any more."""

    def name_of(self, run: Run) -> str | None:
        """The name of a run; None where it is not known any more."""

    def named(self, name: str, num_places: int, num_positions: int) -> Run:
        """The run of a name, with the ids that it has, or will have once what it is of is seen.

        Raises:
            PictureError: there are no ids left.
        """

    def append(self, run: Run) -> None:
        """Append a run to the cache of the model that these runs are for.

        Raises:
            DecodeError: the pass failed.
            PictureError: the encoder failed.
        """


class Tokenizer(Protocol):
    """Text to ids and back, as the GGUF says."""

    @property
    def n_vocab(self) -> int:
        """Number of tokens."""

    @property
    def add_bos(self) -> bool:
        """Whether a prompt begins with the BOS token."""

    @property
    def bos_id(self) -> int | None:
        """The BOS token, if there is one."""

    @property
    def eos_id(self) -> int | None:
        """The EOS token, if there is one."""

    @property
    def file_ids(self) -> tuple[int, int] | None:
        """The tokens before the name of a project and before that of a file in it; None where there are not both."""

    @property
    def fill_ids(self) -> tuple[int, int, int] | None:
        """The tokens before a text, before what follows the gap behind it, and where the gap is to be filled."""

    @property
    def control_texts(self) -> tuple[str, ...]:
        """The texts of all control tokens, for keeping them out of what a person typed."""

    @property
    def eog_ids(self) -> frozenset[int]:
        """All tokens that end an answer."""

    def tokenize(self, text: str, *, special: bool, add_bos: bool = False) -> list[int]:
        """Ids of ``text``; ``special`` lets control tokens' texts become control tokens."""

    def piece(self, token_id: int) -> bytes:
        """The bytes that a token stands for; control tokens give none."""

    def token_text(self, token_id: int) -> str:
        """The token's own text in the vocabulary, control tokens included."""

    def is_eog(self, token_id: int) -> bool:
        """Whether this token ends the answer."""


class Constraint(Protocol):
    """Says which tokens may follow a history [num_tokens] and the pending tokens of a proposal.

    None from either where nothing is known, as behind a proposed token that must not be there: then all may.
    """

    def allows(
        self, history: NDArray[np.int32], pending: Sequence[int], ids: Sequence[int] | NDArray[np.int64]
    ) -> NDArray[np.bool_] | None:
        """Say of each of ``ids`` [n] whether it may follow."""

    def all_allowed(self, history: NDArray[np.int32], pending: Sequence[int]) -> NDArray[np.int64] | None:
        """The ids of all tokens that may follow, ascending; asking for all of them takes long."""
