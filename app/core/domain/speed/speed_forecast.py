"""The expected and measured speed of a model and a pair on this machine, as sentences.

The sentences are English and translatable (`engine.sentences`), the same for window, terminal and reports.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.core.domain.speed.pair_speed import PairSpeed, RaceSpeed
from engine.records import GainForecast
from engine.sentences import Sentence, i18n, joined

FAST_ENOUGH = 8.0  # tokens a second: about reading speed
_DECIMAL_BELOW = 3.0  # below so many tokens a second, a decimal is shown
_NO_GAIN = 1.05  # a smaller speedup over plain decoding counts as no gain
# Cost of a pass of four tokens, relative to a plain pass. Below the first value the memory limits the speed, above the
# second the arithmetic.
_MEMORY, _ARITHMETIC = 1.6, 2.4
_BOUNDS = {"memory": i18n("memory"), "arithmetic": i18n("arithmetic"), "both": i18n("memory and arithmetic")}
HIGH_TEMPERATURE = 0.6  # from this temperature on, a sentence says that a temperature of 0 gains more


@dataclass(frozen=True, slots=True)
class SpeedRange:
    """The expected range of plain decoding in tokens a second."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The most likely value."""
        return float((self.low * self.high) ** 0.5)

    @property
    def rounded(self) -> tuple[float, float]:
        """Both ends for display: whole numbers; below three with one decimal."""
        digits = 1 if self.low < _DECIMAL_BELOW else None
        return float(round(self.low, digits)), float(round(self.high, digits))

    @property
    def is_fast_enough(self) -> bool:
        """True if the likely speed is at least reading speed."""
        return self.middle >= FAST_ENOUGH

    @property
    def is_surely_fast(self) -> bool:
        """True if even the low end is at least reading speed."""
        return self.low >= FAST_ENOUGH

    @property
    def is_fast(self) -> bool:
        """True if the likely speed is at least twice reading speed, and the low end at least reading speed."""
        return self.is_surely_fast and self.middle >= 2 * FAST_ENOUGH

    def halved(self) -> SpeedRange:
        """The effective speed of an answer if the model first reasons for as many tokens."""
        return SpeedRange(self.low / 2, self.high / 2)


@dataclass(frozen=True, slots=True)
class SpeedForecast:
    """``basis``: what was measured: this "model", "others", or the "memory". ``measured_with``: the measured model."""

    plain: SpeedRange
    gain: GainForecast
    ngram_gain: GainForecast
    basis: str
    measured_with: str = ""
    temperature: float = 0.0
    measured: PairSpeed | None = None
    by_head: bool = False  # a head drafts: next-token layers (MTP) or EAGLE-3

    @property
    def bound(self) -> str:
        """What limits the speed of a pass of several tokens: "memory", "arithmetic" or "both"."""
        cost = self.gain.cost_of_four
        return "memory" if cost < _MEMORY else "arithmetic" if cost > _ARITHMETIC else "both"

    @property
    def headline(self) -> Sentence:
        """The measured speed if there is one, else the expected range."""
        found = measured_words(self.measured) if self.measured is not None else i18n("")
        return found or self._expected

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences, the most important first."""
        return (self.headline, *self.details)

    @property
    def details(self) -> tuple[Sentence, ...]:
        """The sentences after the headline."""
        parts = []
        if self.gain.draft_cost is not None and not self.gain.draft_pays and not (self.is_measured and self.is_gain):
            parts.append(
                i18n("Drafting with it would slow this model down here. Speculation uses repeated text instead.")
            )
        checking = i18n(
            "On this computer, checking four tokens takes {cost:.1f} times as long as one (limited by {what}).",
            what=_BOUNDS[self.bound], cost=self.gain.cost_of_four,
        )  # fmt: skip
        parts.append(checking)
        return tuple(parts) if self.is_measured else (*parts, *self._basis)

    @property
    def is_measured(self) -> bool:
        """True if the headline was measured with this pair."""
        return self.measured is not None and bool(measured_words(self.measured))

    @property
    def is_gain(self) -> bool:
        """True if the pair is faster than plain decoding, as measured, else as expected."""
        if self.measured is None or not self.is_measured:
            return self.gain.is_gain
        race = self.measured.race
        return (race.speedup if race is not None else self.measured.speedup or 0.0) >= 1.0

    @property
    def is_draft_worth_using(self) -> bool:
        """True if the draft should be offered: it was measured faster, or its expected range has a gain at the low end.

        A measurement overrides the expectation; for a race the low end of its interval decides.
        """
        if self.measured is not None and self.is_measured:
            race, answers = self.measured.race, self.measured.speedup
            if race is None:
                return (answers or 0.0) >= _NO_GAIN
            return race.low > 1.0 if race.low is not None else race.speedup >= _NO_GAIN
        return self.gain.draft_pays and self.gain.low >= _NO_GAIN and self.gain.low > self.ngram_gain.low

    @property
    def would_lose(self) -> bool:
        """True if there is a drafter that was measured slower, or that is not expected to gain over n-gram drafts."""
        if self.gain.draft_cost is None:
            return False
        return not self.is_gain if self.is_measured else not self.gain.draft_pays

    @property
    def score(self) -> tuple[bool, float]:
        """Sort key of drafts, larger is better: measured gains come before expected ones."""
        if self.measured is not None and self.is_measured:
            race = self.measured.race
            return True, race.speedup if race is not None else self.measured.speedup or 0.0
        return False, self.gain.low

    @property
    def _expected(self) -> Sentence:
        slow, fast = self.plain.rounded
        if not self.gain.is_gain:
            return i18n(
                "Expect about {slow:g}–{fast:g} tokens per second on this computer, and next to no gain from drafting.",
                slow=slow, fast=fast,
            )  # fmt: skip
        return i18n(
            "Expect about {slow:g}–{fast:g} tokens per second on this computer, and {low:.1f}–{high:.1f}× that with "
            "drafting.",
            slow=slow, fast=fast, low=self.gain.low, high=self.gain.high,
        )  # fmt: skip

    @property
    def _basis(self) -> tuple[Sentence, ...]:
        """What the expected range depends on."""
        if self.temperature >= HIGH_TEMPERATURE:
            conditions = i18n("Short answers gain less; a temperature of 0 gains more.")
        else:
            conditions = i18n("Short answers and higher temperatures gain less.")
        if self.basis == "model":
            basis = i18n("Estimated from this model's passes, which were measured here.")
        elif self.basis == "others":
            basis = i18n("Estimated from passes of {name}, which were measured here.", name=self.measured_with)
        else:
            basis = i18n("Estimated from the speed of the memory, which was measured here.")
        if not self.by_head:
            return conditions, basis
        head = i18n("The range comes from published figures: how often this head is right was not measured here.")
        return conditions, basis, head


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
