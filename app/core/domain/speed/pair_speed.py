"""The measured speed of a pair on this machine, from its last answers and races.

Names come from `app.core.domain.model_name`; ``draft`` is "" without a draft model.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.core.domain.speed.verdict import SpeedVerdict, speed_verdict
from app.core.domain.sums import used_draft
from engine.records import Mode, RunStats, Source
from engine.sentences import Sentence, i18n, joined

MAX_ANSWERS = 50
MAX_RACES = 10


@dataclass(frozen=True, slots=True)
class AnswerSpeed:
    """One answer. ``plain_s``: the time that plain decoding would have taken; None if unknown.

    ``decode_s`` excludes the draft model's prompt processing. ``ended_at``: seconds since 1970.
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
        """Speed over plain decoding; None if it is too uncertain (`app.core.domain.speed.verdict`)."""
        return answers_verdict_of([self]).speedup

    @property
    def acceptance_rate(self) -> float | None:
        return self.accepted / self.proposed if self.proposed else None


@dataclass(frozen=True, slots=True)
class RaceSpeed:
    """Speed of a lane with this pair over plain decoding. ``low`` to ``high``: 95% interval over rounds.

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
    """The measurements of one pair, the newest last."""

    target: str
    draft: str
    answers: tuple[AnswerSpeed, ...] = ()
    races: tuple[RaceSpeed, ...] = ()

    @property
    def speedup(self) -> float | None:
        """Speed over plain decoding of all stored answers, weighted by length; None for too few tokens."""
        return self.verdict.speedup

    @property
    def verdict(self) -> SpeedVerdict:
        return answers_verdict_of([each for each in self.answers if each.plain_s and each.decode_s > 0])

    @property
    def num_compared(self) -> int:
        """The number of answers that `speedup` is based on."""
        return sum(bool(each.plain_s) and each.decode_s > 0 for each in self.answers)

    @property
    def acceptance_rate(self) -> float | None:
        """The acceptance rate of all stored answers."""
        proposed = sum(each.proposed for each in self.answers)
        return sum(each.accepted for each in self.answers) / proposed if proposed else None

    @property
    def race(self) -> RaceSpeed | None:
        """The newest race in the mode ``auto``, which chats use; without one, the newest race."""
        usual = [race for race in self.races if race.mode == Mode.AUTO.value]
        return max(usual or self.races, key=lambda race: race.ended_at, default=None)

    @property
    def gain(self) -> float | None:
        """Speed over plain decoding in the newest race, else in the last answers; None if unknown."""
        return self.race.speedup if self.race is not None else self.speedup


def answers_verdict_of(answers: Sequence[AnswerSpeed]) -> SpeedVerdict:
    return speed_verdict(
        tokens=sum(each.tokens for each in answers),
        seconds=sum(each.decode_s for each in answers),
        plain_s=sum(each.plain_s or 0.0 for each in answers),
        proposed=sum(each.proposed for each in answers),
        accepted=sum(each.accepted for each in answers),
    )


def answer_speed(run: RunStats, temperature: float, ended_at: float) -> AnswerSpeed:
    counted = (run.tokens, run.generation_s, run.plain_s, run.proposed, run.accepted)
    return AnswerSpeed(ended_at, run.mode.value, temperature, *counted)


def credited_draft(stats: RunStats, draft: str) -> str:
    """The draft to which an answer's speed is credited; "" if most accepted tokens came from n-grams."""
    by_draft = stats.provenance.get(Source.DRAFT, 0) + stats.provenance.get(Source.HEAD, 0)
    return used_draft(stats.mode, draft) if 2 * by_draft >= stats.accepted else ""


def newest_answers(answers: Iterable[AnswerSpeed]) -> tuple[AnswerSpeed, ...]:
    return tuple(sorted(answers, key=lambda each: each.ended_at)[-MAX_ANSWERS:])


def newest_races(races: Iterable[RaceSpeed]) -> tuple[RaceSpeed, ...]:
    return tuple(sorted(races, key=lambda each: each.ended_at)[-MAX_RACES:])


def measured_words(speed: PairSpeed) -> Sentence:
    """The results of races and answers; empty if there are none."""
    race, answers = speed.race, speed.speedup
    parts = [_race_words(race)] if race is not None else []
    if answers is not None and speed.num_compared == 1:
        parts.append(i18n("Measured here: {speedup:.2f}× the speed without drafting, in one answer.", speedup=answers))
    elif answers is not None:
        parts.append(
            i18n(
                "Measured here: {speedup:.2f}× the speed without drafting, over the last {num_answers} answers.",
                speedup=answers, num_answers=speed.num_compared,
            )
        )  # fmt: skip
    return joined(parts)


def _race_words(race: RaceSpeed) -> Sentence:
    if race.low is None or race.high is None:
        return i18n("Measured here: {speedup:.2f}× the speed without drafting, in a race.", speedup=race.speedup)
    return i18n(
        "Measured here: {speedup:.2f}× the speed without drafting, in a race ({low:.2f}–{high:.2f}).",
        speedup=race.speedup, low=race.low, high=race.high,
    )  # fmt: skip
