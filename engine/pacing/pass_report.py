"""What a pass of the target was given, what it gave and how long each part took: for all that watch the decoding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from engine.drafters.base import Draft


class PassReport(NamedTuple):
    """One pass, with the laps of its step in milliseconds.

    Making a frozen dataclass of so many fields would take two microseconds more, for every pass.

    Attributes:
        num_history: tokens before it, those of the prompt among them.
        draft: what was proposed.
        num_accepted: how many of its first tokens were kept.
        num_decoded: tokens that the target decoded: pending ones, the last one, the proposed ones and padding.
        num_pending: of these, the ones that a rollback before had left.
        num_left_pending: tokens that its own rollback has left to the next pass.
        num_replayed: tokens that were decoded once more, here or in passes of their own.
        is_joined: whether it was made together with passes of other answers, whose work is in ``forward_ms``.
        is_shared: whether others had tokens in it; who only looked for arrivals made it alone.
        draft_ms: proposing.
        checkpoint_ms: keeping a state to go back to.
        forward_ms: the target's pass.
        verify_ms: verification and sampling.
        rollback_ms: forgetting what was rejected.
        emit_ms: what is left.
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
        """How many tokens were proposed."""
        return len(self.draft.ids)


@dataclass(frozen=True, slots=True)
class PlainRunReport:
    """Plain passes that followed each other, in milliseconds.

    Attributes:
        num_history: tokens before the first of them.
        forward_ms: the target's part of each.
        passes_ms: of each, with sampling and all around it.
        total_ms: of all together.
        num_joined: how many were made with passes of other answers.
        num_shared: how many of these others had tokens in.
    """

    num_history: int
    forward_ms: Sequence[float]
    passes_ms: Sequence[float]
    total_ms: float
    num_joined: int
    num_shared: int


class PassObserver(Protocol):
    """Is told of every pass of an answer, right after it."""

    def on_pass(self, report: PassReport) -> None:
        """Hear of a pass for which a drafter was asked."""

    def on_plain_run(self, report: PlainRunReport) -> None:
        """Hear of plain passes without one."""
