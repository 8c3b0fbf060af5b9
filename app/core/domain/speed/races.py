"""Races: setup, events, results and verdicts as sentences, for window, terminal and engine.

Lanes are numbered from 0 in the order of the setup. Times are in seconds unless a name says otherwise.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.records import MODES_WITH_DRAFT, JobEvent, Message, Mode, Picture, Problem, RunStats, TokenSpan
from engine.sentences import Sentence, i18n, joined

MIN_LANES, MAX_LANES = 2, 3
MAX_INTERVAL_RATIO = 4.0  # an interval with high / low above this is not shown


@dataclass(frozen=True, slots=True)
class LaneChoice:
    """One lane: a mode and a depth; ``depth`` None: the engine chooses it.

    ``draft``: file of the lane's own draft model; empty: the loaded one, if any. ``draft_name`` is for display.
    """

    mode: Mode
    depth: int | None = None
    draft: str = ""
    draft_name: str = field(default="", compare=False)

    @property
    def uses_draft(self) -> bool:
        return self.mode in MODES_WITH_DRAFT


PLAIN_LANE, AUTO_LANE = LaneChoice(Mode.OFF), LaneChoice(Mode.AUTO)


@dataclass(frozen=True, slots=True)
class RaceSetup:
    """The setup of a race. ``before``: the messages before the question.

    ``greedy``: temperature 0; else the settings' sampling. ``pictures`` belong to the question, as in a `Message`.
    """

    question: str
    lanes: tuple[LaneChoice, ...] = (PLAIN_LANE, AUTO_LANE)
    rounds: int = 3
    max_tokens: int = 256
    greedy: bool = True
    before: tuple[Message, ...] = ()
    pictures: tuple[tuple[int, Picture], ...] = ()


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

    ``ratio`` is None if a lane has no token; ``parting`` is None if the answers are equal.
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

    @property
    def has_interval(self) -> bool:
        """True if the interval is known and narrow enough."""
        return self.low is not None and self.high is not None and self.high <= MAX_INTERVAL_RATIO * self.low

    @property
    def is_significant(self) -> bool:
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
    """A finished race. ``created``: ISO 8601, UTC.

    ``processor``: the machine's CPU. ``threads`` and ``gpu_layers``: the target's.
    """

    setup: RaceSetup
    target: str
    draft: str
    processor: str
    threads: int
    gpu_layers: int
    created: str
    lanes: tuple[LaneResult, ...]
    verdicts: tuple[LaneVerdict, ...]
    num_rounds: int
    is_complete: bool
    temperature: float


def main_verdict(verdicts: Sequence[LaneVerdict], lanes: Sequence[LaneChoice]) -> LaneVerdict | None:
    """The verdict on the lane in the mode ``auto``, else on the fastest lane."""
    known = [verdict for verdict in verdicts if verdict.ratio is not None]
    auto = next((verdict for verdict in known if lanes[verdict.lane] == AUTO_LANE), None)
    return auto or max(known, key=lambda verdict: verdict.ratio or 0.0, default=None)


def base_lane(choices: Sequence[LaneChoice]) -> int:
    """The index of the base lane, with which the other lanes are compared: plain decoding, else the first."""
    return choices.index(PLAIN_LANE) if PLAIN_LANE in choices else 0


def speed_sentence(verdict: LaneVerdict, names: Sequence[str]) -> Sentence:
    """How much faster a lane was, and how certain this is; ``names`` are the names of all lanes."""
    lane, base, ratio = names[verdict.lane], names[verdict.base], verdict.ratio
    if ratio is None:
        return i18n("{lane} and {base} cannot be compared.", lane=lane, base=base)
    speed = i18n("{lane}: {ratio:.2f}× the speed of {base}", lane=lane, ratio=ratio, base=base)
    low, high, rounds = verdict.low, verdict.high, verdict.num_rounds
    if not verdict.is_complete:
        return i18n("{speed}, in a round that was cut short.", speed=speed)
    if low is None or high is None:
        return i18n("{speed}. One round gives no interval.", speed=speed)
    if not verdict.has_interval:
        return i18n("{speed}. The rounds were too different for an interval.", speed=speed)
    if verdict.is_significant:
        return i18n(
            "{speed} ({low:.2f} to {high:.2f} over {rounds} rounds).", speed=speed, low=low, high=high, rounds=rounds
        )
    return i18n(
        "{speed} ({low:.2f} to {high:.2f} over {rounds} rounds), so it is not certain which is faster.",
        speed=speed,
        low=low,
        high=high,
        rounds=rounds,
    )


def answers_sentence(verdict: LaneVerdict) -> Sentence:
    """Whether the answers are identical, and what a difference means."""
    found = verdict.parting
    if found is None and verdict.is_complete:
        return i18n("Same answer, token for token.")
    if found is None:
        return i18n("Same text, up to the end of the shorter answer.")
    where = i18n("The answers differ at token {token:,}.", token=found.token)
    if found.num_rounds < verdict.num_rounds:
        some, rounds = found.num_rounds, verdict.num_rounds
        where = i18n(
            "The answers differ at token {token:,} in {some} of {all} rounds.", token=found.token, some=some, all=rounds
        )
    fault = i18n("This should not happen: answers are exact on this computer. Please report it.")
    return joined([where, fault if found.is_fault else i18n(found.reason or "")])


def verdict_sentence(verdict: LaneVerdict, names: Sequence[str]) -> Sentence:
    return joined([speed_sentence(verdict, names), answers_sentence(verdict)])


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
