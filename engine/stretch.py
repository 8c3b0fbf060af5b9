"""The fastest way through a stretch of tokens that is foreseen: how many of them to propose now. Knows no tokens.

A token that is likely to be kept is worth little to a small pass where a later, larger one could take it along, and
what ends a stretch has to be passed in any case. So ways through the whole stretch are compared, not single passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

_DEPTHS = (0, 1, 2, 3, 5, 7, 11, 15, 19, 23, 31)  # those tried, and all that is left: costs have their steps about here
_HOPELESS = 1e-9


def best_depth(
    chances: Sequence[float],
    pass_ms: Sequence[float],
    token_ms: float,
    extra_ms: Callable[[int, float], float] | None = None,
    *,
    ends: bool = False,
) -> tuple[float, int]:
    """Milliseconds that the stretch saves against the average, and how many of its tokens to propose in the next pass.

    It is asked right after drafting, at every pass: what two ways have in common is computed once.

    Args:
        chances: of each token of the stretch, that it is right where all before it were.
        pass_ms: of passes that propose so many tokens, from none to all of them.
        token_ms: what a token takes on the average, and so wherever the stretch has turned out to be wrong.
        extra_ms: what proposing so many tokens costs beside the pass, all of them kept with such a chance.
        ends: the answer ends after the stretch. A pass that takes all of it gives the end as well, which else takes
            one more.
    """
    end = len(chances)
    alive, missed_ms = [1.0], [0.0]  # the chance of the first i; what is left after a miss among them, on the average
    for i, chance in enumerate(chances):
        alive.append(alive[i] * chance)
        missed_ms.append(missed_ms[i] + (alive[i] - alive[i + 1]) * (end - i - 1) * token_ms)
    # What comes after a pass that goes on to a place, on the average, its misses and its own token included.
    after_ms = [*missed_ms[:end], missed_ms[end] - alive[end] * (pass_ms[0] if ends else token_ms)]
    left_ms, best = 0.0, 0  # from a place on, and the depth there
    for start in range(end - 1, -1, -1):
        here, left = alive[start], end - start
        right = chances[start]  # the pass gives one token more, of the stretch or another one
        after_ms[start] += here * (right * left_ms + (1.0 - right) * (left - 1) * token_ms)
        if here < _HOPELESS:
            left_ms, best = left * token_ms, 0
            continue
        depths = _depths(left)
        ms = [pass_ms[depth] + after_ms[start + depth] / here for depth in depths]
        if extra_ms is not None:
            ms[1:] = [
                one + extra_ms(depth, alive[start + depth] / here)
                for one, depth in zip(ms[1:], depths[1:], strict=True)
            ]
        least_ms = min(ms)
        left_ms, best = least_ms - missed_ms[start] / here, depths[ms.index(least_ms)]
    return end * token_ms - left_ms, best


@cache
def _depths(left: int) -> tuple[int, ...]:
    """The depths that are tried where so many tokens are left."""
    return (*(depth for depth in _DEPTHS if depth < left), left)
