"""Reads the lanes of a race from the command line."""

from __future__ import annotations

from app.core.domain.speed.races import LEAST_LANES, MODES_WITH_DRAFT, MOST_LANES, PLAIN_LANE, LaneChoice
from engine.errors import SettingError
from engine.pacing.draft_length import choose_draft_length
from engine.records import Mode


def read_lanes(text: str) -> tuple[LaneChoice, ...]:
    """Read for example ``off,auto`` or ``plain,draft:3,suffix``. A single lane is compared with plain decoding.

    Raises:
        ValueError: the text does not name two or three different lanes.
    """
    lanes = tuple(_read_lane(word.strip()) for word in text.split(",") if word.strip())
    if len(lanes) == 1 and lanes[0] != PLAIN_LANE:
        lanes = (PLAIN_LANE, *lanes)
    if not LEAST_LANES <= len(set(lanes)) == len(lanes) <= MOST_LANES:
        raise ValueError(
            f"A race has two or three different lanes, and {text} gives {len(set(lanes))} of {len(lanes)}."
        )
    return lanes


def _read_lane(word: str) -> LaneChoice:
    mode, colon, depth = word.partition(":")
    mode = Mode.OFF.value if mode == "plain" else mode
    if mode not in set(Mode):
        raise ValueError(f"There is no mode {mode}; lanes are of {', '.join(Mode)}, with a depth as in draft:3.")
    if not colon:
        return LaneChoice(Mode(mode))
    if not depth.isdecimal() or mode in (Mode.OFF, Mode.AUTO):
        raise ValueError(f"The lane {word} has an invalid depth: off and auto have none, others a number.")
    try:
        choose_draft_length(Mode(mode), int(depth), can_pace=True)
    except SettingError as error:
        raise ValueError(error.message) from error
    return LaneChoice(Mode(mode), int(depth))


def uses_draft(choice: LaneChoice) -> bool:
    return choice.mode in MODES_WITH_DRAFT
