"""Races: setup, events and results, for window, engine and disk.

Lanes are numbered from 0 in the order of the setup. Times are in seconds unless a name says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.records import JobEvent, Message, Mode, Picture, Problem, RunStats, TokenSpan

LEAST_LANES, MOST_LANES = 2, 3
MODES_WITH_DRAFT = frozenset({Mode.DRAFT, Mode.HEAD, Mode.AUTO})  # modes that may use a draft model or a head
OPEN_END_MINUTES = 30.0  # time limit of a race with open end: on a busy machine a ratio may never become sure
SURE_PERCENT = 5.0  # a race with open end stops when half of every interval is below this
MAX_INTERVAL_RATIO = 4.0  # an interval with high / low above this is not shown


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """One lane: a mode and a depth; ``depth`` None: the engine chooses it.

    ``draft``: file of the lane's own draft model; empty: the loaded one, if any. ``target``: file of another target;
    then an empty ``draft`` means no draft. The names are for display.
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
    """The setup of a race. ``before``: the messages before the question.

    ``rounds`` None: open end, until every ratio is known to `SURE_PERCENT`. ``greedy``: temperature 0; else the
    settings' sampling. ``pictures`` belong to the question, as in a `Message`. A stored race has only their number,
    ``lost_pictures``.
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
class AnswerDifference:
    """The first difference between two answers. ``token``: its number (from 1) in the first round with a difference.

    ``num_rounds``: rounds with a difference. ``reason``: the target's `ModelInfo.inexact_reason`; empty: the answers
    must not differ; None: unknown.
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

    ``ratio`` is None if a lane has no token; ``parting`` is None if the answers are equal. ``are_alike``: False for
    lanes of two targets, whose answers are not compared.
    """

    lane: int
    base: int
    ratio: float | None
    low: float | None
    high: float | None
    num_rounds: int
    parting: AnswerDifference | None
    temperature: float
    is_complete: bool = True
    are_alike: bool = True

    @property
    def has_interval(self) -> bool:
        """True if the interval is known and narrow enough."""
        return self.low is not None and self.high is not None and self.high <= MAX_INTERVAL_RATIO * self.low

    @property
    def is_sure(self) -> bool:
        """True if the interval excludes equal speed."""
        return self.has_interval and not (self.low or 0.0) <= 1.0 <= (self.high or 0.0)


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The result of a lane. ``stats``: sums over all rounds. ``text`` and ``spans``: the last round's answer."""

    choice: LaneChoice
    stats: RunStats
    text: str = ""
    spans: tuple[TokenSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class RaceResult:
    """A finished race. ``created``: ISO 8601, UTC. ``id``: its name in the store; empty until it is stored.

    ``report`` and ``markdown``: the reports of `paceline race`. ``processor``: the machine's CPU. ``threads`` and
    ``gpu_layers``: the target's.
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
    """The verdict on the lane in the mode ``auto``, else on the fastest lane."""
    known = [verdict for verdict in verdicts if verdict.ratio is not None]
    auto = next((verdict for verdict in known if lanes[verdict.lane] == AUTO_LANE), None)
    return auto or max(known, key=lambda verdict: verdict.ratio or 0.0, default=None)


# ---- events, from the engine's thread -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RaceRoundBegan(JobEvent):
    """A round (from 0) begins: the lanes process the prompt. Before the first round, pass costs may be measured."""

    round: int


@dataclass(frozen=True, slots=True)
class LaneText(JobEvent):
    """The next text of a lane's answer, with the provenance of its tokens."""

    lane: int
    round: int
    text: str
    spans: tuple[TokenSpan, ...]


@dataclass(frozen=True, slots=True)
class LaneProgress(JobEvent):
    """A time slice of a lane ended. ``stats``: its counters in this round; seconds are of its own slices."""

    lane: int
    round: int
    stats: RunStats
    finished: bool


@dataclass(frozen=True, slots=True)
class RaceRoundEnded(JobEvent):
    """A round is complete. ``verdicts``: over all complete rounds."""

    num_rounds: int
    verdicts: tuple[LaneVerdict, ...]


@dataclass(frozen=True, slots=True)
class RaceEnded(JobEvent):
    """The race ended. ``result``: None if there is no result. ``problem``: what went wrong."""

    result: RaceResult | None = None
    problem: Problem | None = None
    notices: tuple[str, ...] = field(default=())
