"""Numbers between two bounds, as GBNF: by their digits."""

from __future__ import annotations

from math import ceil, floor

from engine.errors import GrammarError
from engine.grammar.gbnf import RuleBook, any_of, literal
from engine.grammar.json_text import MAX_DIGITS
from engine.sentences import said

_MOST = 10**MAX_DIGITS - 1


def integers(rules: RuleBook, lowest: float | None, highest: float | None) -> str:
    """Whole numbers from ``lowest`` to ``highest``; None is no bound but that of `MAX_DIGITS`.

    Raises:
        GrammarError: there is none.
    """
    low = -_MOST if lowest is None else max(ceil(lowest), -_MOST)
    high = _MOST if highest is None else min(floor(highest), _MOST)
    if low > high:
        raise _empty_range(lowest, highest)
    return rules.add(" | ".join(_signed(low, high)), "integer")


def numbers(rules: RuleBook, lowest: float | None, highest: float | None, *, above: bool, below: bool) -> str:
    """Numbers from ``lowest`` to ``highest``, these excluded where ``above`` and ``below`` say so.

    Without exponents. A whole part is followed by any digits where the next whole number away from 0 is inside, too:
    so of a range without two whole numbers only those are left.

    Raises:
        GrammarError: no whole number is in it.
    """
    low = -_MOST if lowest is None else max(ceil(lowest), -_MOST)
    high = _MOST if highest is None else min(floor(highest), _MOST)
    least = low + 1 if above and low == lowest else low
    most = high - 1 if below and high == highest else high
    # More digits would be rounded, perhaps to a bound.
    largest = max(abs(low) if lowest is not None else 0, abs(high) if highest is not None else 0)
    decimals = max(1, MAX_DIGITS - len(str(largest)))
    tail = rules.add(f'"." [0-9]{{1,{decimals}}}', "decimals")
    above_zero = f'"." [0-9]{{0,{decimals - 1}}} [1-9]'
    choices = list[str]()
    if least <= most:
        choices += _signed(least, most)
    if (first := max(least, 0)) <= high - 1:
        choices.append(f"{any_of(_digits(first, high - 1))} {tail}")
    if (first := max(-most, 0)) <= -low - 1:
        choices.append(f'"-" {any_of(_digits(first, -low - 1))} {tail}')
    if above and lowest is not None and lowest == low and lowest >= 0 and low <= high - 1:
        choices.append(f"{literal(str(low))} {above_zero}")
    if below and highest is not None and highest == high and highest <= 0 and -high <= -low - 1:
        choices.append(f'"-" {literal(str(-high))} {above_zero}')
    if not choices:
        raise _empty_range(lowest, highest)
    return rules.add(" | ".join(dict.fromkeys(choices)), "number")


def _empty_range(lowest: float | None, highest: float | None) -> GrammarError:
    return GrammarError(
        said("There is no whole number from {lowest} to {highest}.", lowest=str(lowest), highest=str(highest))
    )


def _signed(low: int, high: int) -> list[str]:
    choices = list[str]()
    if high >= 0:
        choices += _digits(max(low, 0), high)
    if low < 0:
        choices.append(f'"-" {any_of(_digits(max(-high, 1), -low))}')
    return choices


def _digits(low: int, high: int) -> list[str]:
    """The numbers from ``low`` to ``high``, both 0 or more, as choices of digits without a leading 0."""
    choices = list[str]()
    for length in range(len(str(low)), len(str(high)) + 1):
        first = max(low, 10 ** (length - 1) if length > 1 else 0)
        last = min(high, 10**length - 1)
        choices += _same_length(str(first), str(last))
    return choices


def _same_length(low: str, high: str) -> list[str]:
    """The numbers between two of equally many digits."""
    if not low:
        return ['""']
    rest = len(low) - 1
    if low[1:] == "0" * rest and high[1:] == "9" * rest:
        return [_joined(_one_of(low[0], high[0]), f"[0-9]{{{rest}}}" if rest else "")]
    if low[0] == high[0]:
        return [_joined(literal(low[0]), any_of(_same_length(low[1:], high[1:])))]
    between = (chr(ord(low[0]) + 1), chr(ord(high[0]) - 1))
    choices = [_joined(literal(low[0]), any_of(_same_length(low[1:], "9" * rest)))]
    if between[0] <= between[1]:
        choices.append(_joined(_one_of(*between), f"[0-9]{{{rest}}}" if rest else ""))
    return [*choices, _joined(literal(high[0]), any_of(_same_length("0" * rest, high[1:])))]


def _one_of(first: str, last: str) -> str:
    return literal(first) if first == last else f"[{first}-{last}]"


def _joined(first: str, rest: str) -> str:
    return f"{first} {rest}" if rest and rest != '""' else first
