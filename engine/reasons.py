"""Why drafting goes on or rests, in words and figures. Knows no pacer."""

from __future__ import annotations

from collections.abc import Callable

TEXT = "n-gram on: the text repeats"
_HALVINGS = 12


def break_even(pays: Callable[[float], bool]) -> float | None:
    """The least acceptance per token that ``pays``; None where not even 1 does."""
    if not pays(1.0):
        return None
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if pays(middle) else (middle, high)
    return high


def text_break_even(gain_of: Callable[[int, float, float], float], num_tokens: int) -> float | None:
    """The least acceptance per token from which some of so many tokens of text are worth proposing.

    ``gain_of`` gives what a number of tokens gains, by how many are expected to be kept and the chance that all are.
    """

    def pays(acceptance: float) -> bool:
        alive = [acceptance**depth for depth in range(1, num_tokens + 1)]
        return any(gain_of(depth, sum(alive[:depth]), alive[depth - 1]) > 0.0 for depth in range(1, num_tokens + 1))

    return break_even(pays)


def drafting(accepted: float, *, is_seen: bool) -> str:
    """Drafting pays; of tokens at depth 1 such a share is ``accepted``, or expected to be where none was seen yet."""
    return f"draft on: {_at_first(accepted, is_seen=is_seen)}"


def not_paying(
    accepted: float, needed: float | None, rejection_ms: float | None, *, as_asked: bool, is_seen: bool
) -> str:
    """Drafting does not pay below the acceptance ``needed``; ``rejection_ms`` where a rejection is dear."""
    needs = _needs(needed)
    if rejection_ms is not None:
        needs += f", where a rejection costs {rejection_ms:.1f} ms"
    beginning = "draft on as asked, but it does not pay" if as_asked else "draft paused"
    return f"{beginning}: {_at_first(accepted, is_seen=is_seen)}, {needs}"


def text_not_paying(accepted: float, needed: float | None, *, is_seen: bool) -> str:
    """Text that came before does not pay below the acceptance ``needed``."""
    needs = _needs(needed)
    word = "accepted" if is_seen else "expected"
    return f"text lookup paused: {_percent(accepted)} {word}, {needs}"


def _at_first(share: float, *, is_seen: bool) -> str:
    """What nobody has seen yet is not told as seen."""
    return f"{_percent(share)} accepted at depth 1" if is_seen else f"{_percent(share)} expected at depth 1"


def _needs(acceptance: float | None) -> str:
    if acceptance is None:
        return "and cannot pay here at any acceptance"
    return f"needs {_percent(acceptance)} here"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"
