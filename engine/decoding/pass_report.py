"""Reports of the target's passes, and the protocols of what follows and plans them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from engine.drafters.base import Draft
from engine.interfaces import Batch


class PassReport(NamedTuple):
    """One pass, with the milliseconds of each part of its step.

    A named tuple: making a frozen dataclass of so many fields would take two microseconds more for every pass.

    Attributes:
        num_history: tokens before it, including the prompt.
        draft: the proposal.
        num_accepted: how many of its first tokens were accepted.
        num_decoded: tokens that the target decoded: pending ones, the last one, the proposed ones and padding.
        num_pending: tokens among them that an earlier rollback had left.
        num_left_pending: tokens that its own rollback leaves to the next pass.
        num_replayed: tokens that were decoded again, here or in separate passes.
        is_joined: whether the batcher made it, so that ``forward_ms`` includes the work of other answers.
        is_shared: whether other answers had tokens in it.
        draft_ms: proposing.
        checkpoint_ms: saving a state for the rollback.
        forward_ms: the target's pass.
        verify_ms: verification and sampling.
        rollback_ms: dropping the rejected tokens.
        emit_ms: the rest.
        total_ms: all of these.
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
        num_history: tokens before the first of them.
        forward_ms: the target's part of each.
        passes_ms: of each, with sampling and overhead.
        total_ms: of all together.
        num_joined: how many the batcher made.
        num_shared: how many of these had tokens of other answers.
    """

    num_history: int
    forward_ms: Sequence[float]
    passes_ms: Sequence[float]
    total_ms: float
    num_joined: int
    num_shared: int


class PassObserver(Protocol):
    """Is called after every pass of an answer."""

    def on_pass(self, report: PassReport) -> None:
        """Called after a pass for which a drafter was asked."""

    def on_plain_run(self, report: PlainRunReport) -> None:
        """Called after plain passes without a drafter."""


class PassPlanner(Protocol):
    """Is called before every pass of an answer."""

    def begin_pass(self, num_pending: int, batch: Batch | None) -> None:
        """Prepare a pass that decodes ``num_pending`` tokens again; ``batch`` joins it with other answers' passes."""
