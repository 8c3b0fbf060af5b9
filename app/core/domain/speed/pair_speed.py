"""How fast a pair of target and draft was on this machine: its last answers and races, counters only.

A pair is named as figures are kept (`app.core.domain.model_name`); the draft is "" where the target runs without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.domain.speed.verdict import SpeedVerdict, judge
from app.core.domain.sums import draft_in
from engine.records import Mode, RunStats, Source

MOST_ANSWERS = 50
MOST_RACES = 10
ENOUGH_ANSWERS = 5  # until something is advised by them


@dataclass(frozen=True, slots=True)
class AnswerSpeed:
    """One answer. ``plain_s`` is what plain decoding would have taken for it; None where its cost was not measured.

    ``decode_s`` is without the draft model's reading of the prompt. ``ended_at``: seconds since 1970.
    """

    ended_at: float
    mode: str
    temperature: float
    tokens: int
    decode_s: float
    plain_s: float | None
    proposed: int
    accepted: int

    @property
    def speedup(self) -> float | None:
        """Speed over that of plain decoding, where it is told (`app.core.domain.speed.verdict`)."""
        return judged([self]).speedup

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted / proposed; None where nothing was proposed."""
        return self.accepted / self.proposed if self.proposed else None


@dataclass(frozen=True, slots=True)
class RaceSpeed:
    """How a lane with this pair ended against plain decoding of its target. ``low`` to ``high``: 95%, over rounds.

    ``ended_at``: seconds since 1970.
    """

    ended_at: float
    mode: str
    temperature: float
    speedup: float
    low: float | None = None
    high: float | None = None
    rounds: int = 1
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class PairSpeed:
    """What is known of one pair, the newest last."""

    target: str
    draft: str
    answers: tuple[AnswerSpeed, ...] = ()
    races: tuple[RaceSpeed, ...] = ()

    @property
    def speedup(self) -> float | None:
        """Of the kept answers together, a long one weighing more; None of too few tokens."""
        return self.verdict.speedup

    @property
    def verdict(self) -> SpeedVerdict:
        """What the kept answers say together."""
        return judged([each for each in self.answers if each.plain_s and each.decode_s > 0])

    @property
    def num_compared(self) -> int:
        """Answers that `speedup` is of."""
        return sum(bool(each.plain_s) and each.decode_s > 0 for each in self.answers)

    @property
    def acceptance_rate(self) -> float | None:
        """Of the kept answers together."""
        proposed = sum(each.proposed for each in self.answers)
        return sum(each.accepted for each in self.answers) / proposed if proposed else None

    @property
    def race(self) -> RaceSpeed | None:
        """The newest race; one of the mode ``auto`` before those of others, since that is what chats use."""
        usual = [race for race in self.races if race.mode == Mode.AUTO.value]
        return max(usual or self.races, key=lambda race: race.ended_at, default=None)

    @property
    def is_losing(self) -> bool:
        """Whether enough answers were slower than plain decoding, together and beyond chance."""
        return self.verdict.is_loss and self.num_compared >= ENOUGH_ANSWERS


def judged(answers: Sequence[AnswerSpeed]) -> SpeedVerdict:
    """What answers say together of drafting."""
    return judge(
        tokens=sum(each.tokens for each in answers),
        seconds=sum(each.decode_s for each in answers),
        plain_s=sum(each.plain_s or 0.0 for each in answers),
        proposed=sum(each.proposed for each in answers),
        accepted=sum(each.accepted for each in answers),
    )


def answer_speed(run: RunStats, temperature: float, ended_at: float) -> AnswerSpeed:
    """What is kept of a run."""
    counted = (run.tokens, run.generation_s, run.plain_s, run.proposed, run.accepted)
    return AnswerSpeed(ended_at, run.mode.value, temperature, *counted)


def credited_draft(stats: RunStats, draft: str) -> str:
    """The draft that the speed of an answer or a lane is credited to: "" where most accepted tokens came from text."""
    by_draft = stats.provenance.get(Source.DRAFT, 0) + stats.provenance.get(Source.HEAD, 0)
    return draft_in(stats.mode, draft) if 2 * by_draft >= stats.accepted else ""


def newest(answers: Iterable[AnswerSpeed]) -> tuple[AnswerSpeed, ...]:
    """The last `MOST_ANSWERS` of them, in the order in which they ended."""
    return tuple(sorted(answers, key=lambda each: each.ended_at)[-MOST_ANSWERS:])


def newest_races(races: Iterable[RaceSpeed]) -> tuple[RaceSpeed, ...]:
    """The last `MOST_RACES` of them, in the order in which they ended."""
    return tuple(sorted(races, key=lambda each: each.ended_at)[-MOST_RACES:])
