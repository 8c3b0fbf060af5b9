"""Races: what is raced, what happens while it goes on, and what came of it; plain data for window, engine and disk.

Lanes are numbered from 0 in the order in which they were chosen. Times are seconds unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.records import JobEvent, Message, Mode, Picture, Problem, RunStats, TokenSpan

LEAST_LANES, MOST_LANES = 2, 3
MODES_WITH_DRAFT = frozenset({Mode.DRAFT, Mode.HEAD, Mode.AUTO})  # that may use a draft model or a head
UNTIL_MINUTES = 30.0  # where rounds go on until a ratio is sure: on a busy machine it may never be
SURE_PERCENT = 5.0  # half of the interval of every ratio, where rounds go on until they are sure
TOO_WIDE = 4.0  # an interval that ends at so many times its start tells a person nothing


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """One lane: a mode, and how many tokens are proposed for a pass; None leaves that to the engine.

    ``draft`` is the file of a draft model that this lane loads for itself; empty: the one that is loaded, if any.
    ``target`` is that of another target; with it an empty ``draft`` is none. A person reads the names.
    """

    mode: Mode
    depth: int | None = None
    draft: str = ""
    target: str = ""
    draft_name: str = field(default="", compare=False)
    target_name: str = field(default="", compare=False)


PLAIN_LANE, AUTO_LANE = LaneChoice(Mode.OFF), LaneChoice(Mode.AUTO)


@dataclass(frozen=True, slots=True)
class RaceSetup:
    """What is to be raced. ``before`` goes before the question: a system prompt, earlier messages.

    ``rounds`` None: until every ratio is known to `SURE_PERCENT`. ``greedy``: at temperature 0; else with
    the sampling that the settings have. ``pictures`` are those of the question, as in a `Message`. They are not kept
    with a race, nor are those before the question: of a kept one ``lost_pictures`` says how many it had.
    """

    question: str
    lanes: tuple[LaneChoice, ...] = (PLAIN_LANE, AUTO_LANE)
    rounds: int | None = 3
    max_tokens: int = 256
    greedy: bool = True
    before: tuple[Message, ...] = ()
    pictures: tuple[tuple[int, Picture], ...] = ()
    lost_pictures: int = 0

    @property
    def num_pictures(self) -> int:
        """How many the lanes are shown, or were."""
        return len(self.pictures) + sum(len(message.pictures) for message in self.before) + self.lost_pictures


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two answers part: at this token of the first round that has a difference, counted from 1.

    ``num_rounds`` have one. ``reason``: why that may be, by the target's `ModelInfo`; empty: it may not; None where it
    is not known.
    """

    token: int
    num_rounds: int
    reason: str | None = None

    @property
    def is_fault(self) -> bool:
        """Whether the answers should have been equal to the letter."""
        return self.reason == ""


@dataclass(frozen=True, slots=True)
class LaneVerdict:
    """A lane's speed over that of the lane it is compared with, and its 95% interval over rounds where there is one.

    ``ratio`` is None where one of them has no token; ``parting`` where the answers are the same. ``are_alike`` is False
    for lanes of two targets: nothing is said of where their answers part.
    """

    lane: int
    base: int
    ratio: float | None
    low: float | None
    high: float | None
    num_rounds: int
    parting: Parting | None
    temperature: float
    is_complete: bool = True
    are_alike: bool = True

    @property
    def has_interval(self) -> bool:
        """Whether the interval says something: there are rounds enough, and they are alike enough."""
        return self.low is not None and self.high is not None and self.high <= TOO_WIDE * self.low

    @property
    def is_sure(self) -> bool:
        """Whether one of the two is faster beyond what the rounds differ by."""
        return self.has_interval and not (self.low or 0.0) <= 1.0 <= (self.high or 0.0)


@dataclass(frozen=True, slots=True)
class LaneResult:
    """What a lane did. ``stats`` are the sums of all its rounds, text and spans those of the last one."""

    choice: LaneChoice
    stats: RunStats
    text: str = ""
    spans: tuple[TokenSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceResult:
    """A race that ended. ``created`` is ISO 8601, in UTC; ``id`` names it in the store, empty before it is kept.

    ``report`` and ``markdown`` are what `paceline race` writes of it. ``processor`` is the machine's; ``threads`` and
    ``gpu_layers`` are those of the target.
    """

    setup: RaceSetup
    target: str
    draft: str
    target_path: str
    draft_path: str
    processor: str
    threads: int
    gpu_layers: int
    created: str
    lanes: tuple[LaneResult, ...]
    verdicts: tuple[LaneVerdict, ...]
    num_rounds: int
    is_complete: bool
    temperature: float
    report: str = ""
    markdown: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class RaceSummary:
    """A kept race in a list: its question, its pair, and the verdict on the lane that matters most."""

    id: str
    created: str
    question: str
    target: str
    draft: str
    target_path: str
    draft_path: str
    lanes: tuple[LaneChoice, ...]
    verdict: LaneVerdict | None


def summary_of(result: RaceResult) -> RaceSummary:
    """Sum up a race for the list."""
    return RaceSummary(
        result.id,
        result.created,
        result.setup.question,
        result.target,
        result.draft,
        result.target_path,
        result.draft_path,
        tuple(lane.choice for lane in result.lanes),
        main_verdict(result.verdicts, [lane.choice for lane in result.lanes]),
    )


def main_verdict(verdicts: tuple[LaneVerdict, ...], lanes: list[LaneChoice]) -> LaneVerdict | None:
    """The verdict that a race is known by: on the automatic lane where there is one, else on the fastest."""
    known = [verdict for verdict in verdicts if verdict.ratio is not None]
    auto = next((verdict for verdict in known if lanes[verdict.lane] == AUTO_LANE), None)
    return auto or max(known, key=lambda verdict: verdict.ratio or 0.0, default=None)


# ---- events, from the engine's thread -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RaceRoundBegan(JobEvent):
    """A round begins, counted from 0: the lanes read the question. Before the first one, costs may be measured."""

    round: int


@dataclass(frozen=True, slots=True)
class LaneText(JobEvent):
    """More of a lane's answer, with the provenance of its tokens."""

    lane: int
    round: int
    text: str
    spans: tuple[TokenSpan, ...]


@dataclass(frozen=True, slots=True)
class LaneProgress(JobEvent):
    """A slice of a lane is over; ``stats`` are its counters in this round, with the seconds of its own slices."""

    lane: int
    round: int
    stats: RunStats
    finished: bool


@dataclass(frozen=True, slots=True)
class RaceRoundEnded(JobEvent):
    """A round is complete: the number of complete rounds, and their results."""

    num_rounds: int
    verdicts: tuple[LaneVerdict, ...]


@dataclass(frozen=True, slots=True)
class RaceEnded(JobEvent):
    """The race is over. ``result`` is None where there is nothing to show; ``problem`` says what went wrong."""

    result: RaceResult | None = None
    problem: Problem | None = None
    notices: tuple[str, ...] = field(default=())
