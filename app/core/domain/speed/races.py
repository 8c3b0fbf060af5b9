"""Races: setup, events and results, for window, engine and disk.

Lanes are numbered from 0 in the chosen order. Times are seconds unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.records import JobEvent, Message, Mode, Picture, Problem, RunStats, TokenSpan

LEAST_LANES, MOST_LANES = 2, 3
MODES_WITH_DRAFT = frozenset({Mode.DRAFT, Mode.HEAD, Mode.AUTO})  # modes that may use a draft model or a head
UNTIL_MINUTES = 30.0  # the limit of a race until a ratio is sure, which may never happen on a busy machine
SURE_PERCENT = 5.0  # half of the interval of every ratio, at which a race until sure ends
TOO_WIDE = 4.0  # an interval whose end is so many times its start says nothing


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """One lane: a mode, and the number of tokens proposed for a pass; None leaves that to the engine.

    ``draft`` is the file of the lane's own draft model; empty: the loaded one, if any. ``target`` is the file of
    another target; with it an empty ``draft`` means none. The names are for display.
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
    """The setup of a race. ``before`` precedes the question: a system prompt, earlier messages.

    ``rounds`` None: until every ratio is known to `SURE_PERCENT`. ``greedy``: at temperature 0; else with the sampling
    of the settings. ``pictures`` belong to the question, as in a `Message`. Stored races have no pictures;
    ``lost_pictures`` is their number.
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
        return len(self.pictures) + sum(len(message.pictures) for message in self.before) + self.lost_pictures


@dataclass(frozen=True, slots=True)
class Parting:
    """The first difference between two answers: its token in the first round with a difference, counted from 1.

    ``num_rounds`` have a difference. ``reason`` is the target's `ModelInfo.inexact`; empty: there must be none; None:
    unknown.
    """

    token: int
    num_rounds: int
    reason: str | None = None

    @property
    def is_fault(self) -> bool:
        """True if the answers must not differ."""
        return self.reason == ""


@dataclass(frozen=True, slots=True)
class LaneVerdict:
    """A lane's speed over its base lane, with a 95% interval over rounds.

    ``ratio`` is None if one of them has no token; ``parting`` if the answers are equal. ``are_alike`` is False for
    lanes of two targets, whose answers are not compared.
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
        """True if the interval is known and narrow enough."""
        return self.low is not None and self.high is not None and self.high <= TOO_WIDE * self.low

    @property
    def is_sure(self) -> bool:
        """True if one lane is faster beyond the differences between rounds."""
        return self.has_interval and not (self.low or 0.0) <= 1.0 <= (self.high or 0.0)


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The result of a lane. ``stats`` are the sums of all rounds, text and spans those of the last one."""

    choice: LaneChoice
    stats: RunStats
    text: str = ""
    spans: tuple[TokenSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceResult:
    """A finished race. ``created`` is ISO 8601, in UTC; ``id`` names it in the store, empty before it is stored.

    ``report`` and ``markdown`` are the reports of `paceline race`. ``processor`` is the machine's; ``threads`` and
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
    """A stored race in a list, with its main verdict."""

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
    """The verdict on the automatic lane, else on the fastest."""
    known = [verdict for verdict in verdicts if verdict.ratio is not None]
    auto = next((verdict for verdict in known if lanes[verdict.lane] == AUTO_LANE), None)
    return auto or max(known, key=lambda verdict: verdict.ratio or 0.0, default=None)


# ---- events, from the engine's thread -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RaceRoundBegan(JobEvent):
    """A round begins, counted from 0: the lanes process the prompt. Before the first one, costs may be measured."""

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
    """A slice of a lane ended; ``stats`` are its counters in this round, with the seconds of its own slices."""

    lane: int
    round: int
    stats: RunStats
    finished: bool


@dataclass(frozen=True, slots=True)
class RaceRoundEnded(JobEvent):
    """A round is complete; the verdicts are of all complete rounds."""

    num_rounds: int
    verdicts: tuple[LaneVerdict, ...]


@dataclass(frozen=True, slots=True)
class RaceEnded(JobEvent):
    """The race ended. ``result`` is None if there is none; ``problem`` says what went wrong."""

    result: RaceResult | None = None
    problem: Problem | None = None
    notices: tuple[str, ...] = field(default=())
