"""Chooses how many tokens to propose for the next pass. Knows the mode and the request's wish, no tokens."""

from __future__ import annotations

from dataclasses import dataclass

from engine.records import Mode

# Where nothing is asked for. Repacked CPU kernels work on four rows at a time, so passes of 4 or 8 rows (3 or 7
# proposed tokens and the last one) cost less per row than passes of 3, 5 or 6; a text match costs nothing to propose.
AUTOMATIC_DEPTH = {Mode.OFF: 0, Mode.NGRAM: 7, Mode.DRAFT: 3}
MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class FixedPace:
    """The same depth for every pass of an answer."""

    depth: int
    reason: str


def choose_pace(mode: Mode, depth: int | None) -> FixedPace:
    """The pace of an answer; ``depth`` None takes the automatic one.

    Raises:
        ValueError: the depth is outside 0 to `MAX_DEPTH`.
    """
    if mode is Mode.OFF:
        return FixedPace(0, "plain decoding was asked for")
    if depth is None:
        return FixedPace(AUTOMATIC_DEPTH[mode], f"{mode.value} at its automatic depth of {AUTOMATIC_DEPTH[mode]}")
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"The depth must be between 0 and {MAX_DEPTH}.")
    return FixedPace(depth, f"{mode.value} at the chosen depth of {depth}")
