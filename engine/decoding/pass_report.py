"""Reports of the target's passes, and protocols of their observers and planners."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from engine.drafters.base import Draft
from engine.interfaces import Batch


class PassReport(NamedTuple):
    """One pass, with the milliseconds of each part of its step.

    A named tuple, because a frozen dataclass of so many fields would take two microseconds more per pass.

    Attributes:
        num_history: tokens before the pass, including the prompt.
        draft: the proposal.
        num_accepted: number of accepted tokens of the proposal.
        num_decoded: tokens that the target decoded: pending tokens, the last token and proposed tokens.
        num_pending: decoded tokens that were pending since an earlier rollback.
        num_left_pending: tokens that this pass's rollback leaves to the next pass.
        num_replayed: tokens that were decoded again, in this pass or in separate ones.
        is_joined: whether the batcher made the pass, so that ``forward_ms`` includes other answers' work.
        is_shared: whether other answers had tokens in the pass.
        draft_ms: drafting.
        checkpoint_ms: saving a state for the rollback.
        forward_ms: the target's pass.
        verify_ms: verification and sampling.
        rollback_ms: dropping the rejected tokens.
        emit_ms: everything else.
        total_ms: the sum of these.
    """

    num_history: int
    draft: Draft
    num_accepted: int
    num_decoded: int
    num_pending: int
    num_left_pending: int
    num_replayed: int
    is_joined: bool
    is_shared: bool
    draft_ms: float
    checkpoint_ms: float
    forward_ms: float
    verify_ms: float
    rollback_ms: float
    emit_ms: float
    total_ms: float

    @property
    def num_proposed(self) -> int:
        return len(self.draft.ids)


@dataclass(frozen=True, slots=True)
class PlainRunReport:
    """Consecutive plain passes, in milliseconds.

    Attributes:
        num_history: tokens before the first pass.
        forward_ms: the target's part of each pass.
        passes_ms: each pass with sampling and overhead.
        total_ms: all passes together.
        num_joined: number of passes that the batcher made.
        num_shared: number of these with tokens of other answers.
    """

    num_history: int
    forward_ms: Sequence[float]
    passes_ms: Sequence[float]
    total_ms: float
    num_joined: int
    num_shared: int


class PassObserver(Protocol):
    """Called after every pass of an answer."""

    def on_pass(self, report: PassReport) -> None:
        """Called after a pass with a drafter, even if nothing was proposed."""

    def on_plain_run(self, report: PlainRunReport) -> None:
        """Called after plain passes without a drafter."""


class PassPlanner(Protocol):
    """Called before every pass of an answer."""

    def begin_pass(self, num_pending: int, batch: Batch | None) -> None:
        """Prepare a pass that decodes ``num_pending`` tokens again; ``batch`` may join it with other passes."""
