"""What drafting will gain: a range, from what passes cost here and from how often drafts of such a pair are accepted.

An answer is taken for a mixture. A share of its tokens stands in the conversation already and is proposed as text; the
draft model proposes the others where that pays; what pays neither way is decoded plain, as `Mode.AUTO` does. Times of
passes are the curve's, so one pair gains little where a pass of four tokens costs three, and much where it costs one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt

from engine.pacing.constants import MAX_PASS
from engine.pacing.cost_curve import CostCurve

WIDEST = 1.6  # times its lower end: a wider range tells a person nothing
# Tokens of answers that text proposes, from prompts where little repeats to those where much does, at temperature 0
# and at 0.8: from `auto` without a draft on two real models and two processors (docs/benchmarks/real-models.md).
TEXT_SHARES = ((0.25, 0.55), (0.12, 0.40))
# The same of models without a chat template, which go on where a text ends: chosen greedily they fall into repeating
# themselves (Holtzman et al. 2019, https://arxiv.org/abs/1904.09751). Of Gemma 3 270M text proposed 75% and more.
CONTINUED_SHARES = ((0.50, 0.85), (0.12, 0.40))
CONTINUED_CHANCE = 0.92
TEXT_CHANCE = 0.82  # that the next token of such text is the right one
# Acceptance of a drafted token, at temperature 0 and 0.8.
CHANCES = {
    "distilled": ((0.94, 0.99), (0.92, 0.985)),  # docs/benchmarks/builtin-pair.md
    "family": ((0.66, 0.84), (0.60, 0.80)),  # one maker, one kind of training: Qwen2.5-Coder 1.5B with its 0.5B
    "other": ((0.45, 0.70), (0.40, 0.65)),  # only the vocabulary is the same
    "tiny": ((0.05, 0.25), (0.05, 0.22)),  # the built-in draft for SmolLM2 135M: 6 to 23% of its tokens were accepted
    # Published, not measured here: 0.85 to 0.9 for the second token of DeepSeek-V3's own head (arXiv 2412.19437); for
    # EAGLE-3 of Llama 3.1 8B 2.77 to 3.49 tokens a pass at depth 7 and T = 1, as 0.64 to 0.73 of each would give
    # (https://huggingface.co/nebius/EAGLE3-Llama-3.3-70B-Instruct); heads with little training have less.
    "head": ((0.55, 0.85), (0.50, 0.80)),
}
_USUAL_TEMPERATURE = 0.8
DEPTHS = (1, 3, 7, 15, MAX_PASS - 1)
HEAD_DEPTHS = (1, 2, 3)  # for which figures of heads were published: further ahead of the target they fall
WORK_MS = 0.12  # Python's share of a pass with proposals
_UNSURE = 1.1  # times either end, that this reckoning itself is off by
_NOTHING = 1.01  # times plain decoding
_PAYS = 0.97  # of plain decoding's time: what saves less is not told as a gain
# A pass of four tokens, in plain ones: below the first the memory decides, above the second the arithmetic.
_MEMORY, _ARITHMETIC = 1.6, 2.4


class PairKind(StrEnum):
    """How alike a draft is to its target."""

    DISTILLED = "distilled"  # the draft was trained on the target's own answers
    FAMILY = "family"  # models of one family
    OTHER = "other"
    TINY = "tiny"  # a draft that knows next to nothing of what its target says
    HEAD = "head"  # no model of its own: what reads the target's hidden rows


class Bound(StrEnum):
    """What a pass of several tokens is held up by."""

    MEMORY = "memory"
    ARITHMETIC = "arithmetic"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class GainForecast:
    """Times plain decoding, from ``low`` to ``high``; ``low`` is 1 where nothing may be gained.

    ``draft_share``: a drafted token beside a plain pass; None without a draft. ``draft_pays``: whether the draft model
    adds to what text gives, at the better end. ``break_even_share``: the dearest draft that would, of this acceptance.
    """

    low: float
    high: float
    bound: Bound
    cost_of_four: float
    draft_share: float | None = None
    draft_pays: bool = False
    break_even_share: float | None = None


def forecast_gain(
    curve: CostCurve,
    step_ms: float | None = None,
    kind: PairKind = PairKind.FAMILY,
    temperature: float = 0.8,
    speaks: float = 1.0,
    *,
    answers: bool = True,
) -> GainForecast:
    """The range for usual answers; ``step_ms`` is what a drafted token takes, None without a draft.

    ``speaks``: the share of the target's tokens that a draft with another vocabulary can propose. ``answers`` is False
    for a target without a chat template, which continues texts.
    """
    plain_ms = curve.cost_ms(1)
    shares = _between(TEXT_SHARES if answers else CONTINUED_SHARES, temperature)
    chances = tuple(chance * speaks for chance in _between(CHANCES[kind.value], temperature))
    # Where a higher temperature has ended the repeating, what text says is as certain as in an answer.
    repeats = not answers and temperature < _USUAL_TEMPERATURE / 2
    text = min(_text(curve, CONTINUED_CHANCE if repeats else TEXT_CHANCE), 1.0)
    depths = HEAD_DEPTHS if kind is PairKind.HEAD else DEPTHS
    drafted = [1.0 if step_ms is None else _drafted(curve, step_ms, chance, depths) for chance in chances]
    ends = [1.0 / _time_of_token(text, share, each) for share, each in zip(shares, drafted, strict=True)]
    low, high = narrowed(max(ends[0] / _UNSURE, 1.0), max(ends[1], 1.0) * (_UNSURE if ends[1] > _NOTHING else 1.0))
    four = curve.cost_ms(4) / plain_ms
    bound = Bound.MEMORY if four < _MEMORY else Bound.ARITHMETIC if four > _ARITHMETIC else Bound.BOTH
    if step_ms is None:
        return GainForecast(low, high, bound, four)
    pays = _drafted(curve, step_ms, chances[1], depths) < _PAYS
    even_ms = _largest(lambda ms: _drafted(curve, ms, sum(chances) / 2, depths) < _PAYS, plain_ms)
    return GainForecast(
        low, high, bound, four, step_ms / plain_ms, pays, even_ms / plain_ms if even_ms is not None else None
    )


def narrowed(low: float, high: float) -> tuple[float, float]:
    """The range itself, or one of `WIDEST` around its middle where it is wider; never below plain decoding."""
    if high <= WIDEST * low:
        return low, high
    middle = sqrt(low * high)
    low = max(middle / sqrt(WIDEST), 1.0)
    return low, low * WIDEST


def _time_of_token(text: float, text_share: float, drafted: float) -> float:
    """Of plain passes, what a token takes on average: one that stands in the ``text``, and one that is drafted."""
    other = min(drafted, 1.0)
    return text_share * min(text, other) + (1.0 - text_share) * other


def _text(curve: CostCurve, chance: float) -> float:
    plain_ms = curve.cost_ms(1)
    return min((curve.cost_ms(k + 1) + WORK_MS) / plain_ms / _expected(chance, k) for k in DEPTHS)


def _drafted(curve: CostCurve, step_ms: float, chance: float, depths: Sequence[int]) -> float:
    plain_ms = curve.cost_ms(1)
    return min((curve.cost_ms(k + 1) + k * step_ms + WORK_MS) / plain_ms / _expected(chance, k) for k in depths)


def _expected(chance: float, depth: int) -> float:
    """Tokens of a pass that proposes ``depth`` of them: the accepted ones and one more (Leviathan et al. 2022)."""
    return (1.0 - chance ** (depth + 1)) / (1.0 - chance) if chance < 1.0 else depth + 1.0


def _between(ends: tuple[tuple[float, float], tuple[float, float]], temperature: float) -> tuple[float, float]:
    """The two ends at a temperature; beyond the usual one they go on falling, to half of those at 0 at most."""
    share = min(max(temperature, 0.0) / _USUAL_TEMPERATURE, 1.5)
    low, high = (cold + (warm - cold) * share for cold, warm in zip(*ends, strict=True))
    least = [min(cold / 2, warm) for cold, warm in zip(*ends, strict=True)]
    return max(low, least[0]), max(high, least[1])


def _largest(holds: Callable[[float], bool], most: float) -> float | None:
    """The largest number up to ``most`` for which a falling condition holds; None where it does for none."""
    low, high = most * 1e-3, most
    if not holds(low):
        return None
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
