"""The fastest way through a stretch of tokens that is foreseen: how many of them to propose now. Knows no tokens.

A token that is likely to be kept is worth little to a small pass where a later, larger one could take it along, and
what ends a stretch has to be passed in any case. So ways through the whole stretch are compared, not single passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

_DEPTHS = (1, 2, 3, 5, 7, 11, 15, 19, 23, 31)  # tried beside all that is left: costs have their steps about here
_HOPELESS = 1e-9


def best_depth(
    chances: Sequence[float], cost_ms: Callable[[int], float], token_ms: float, extra_ms: Callable[[int, float], float]
) -> tuple[float, int]:
    """Milliseconds that the stretch saves against the average, and how many of its tokens to propose in the next pass.

    Args:
        chances: of each token of the stretch, that it is right where all before it were.
        cost_ms: of a pass of so many tokens.
        token_ms: what a token takes on the average, and so wherever the stretch has turned out to be wrong.
        extra_ms: what proposing so many tokens costs beside the pass, all of them kept with such a chance.
    """
    end = len(chances)
    alive, missed_ms = [1.0], [0.0]  # the chance of the first i; what is left after a miss among them, on the average
    for i, chance in enumerate(chances):
        alive.append(alive[i] * chance)
        missed_ms.append(missed_ms[i] + (alive[i] - alive[i + 1]) * (end - i - 1) * token_ms)
    pass_ms = [cost_ms(depth + 1) for depth in range(end + 1)]
    left_ms = [0.0] * (end + 1)  # from each place on
    best = 0
    for start in range(end - 1, -1, -1):
        here, best, least_ms = alive[start], 0, float("inf")
        if here < _HOPELESS:
            left_ms[start] = (end - start) * token_ms
            continue
        for depth in (0, *_DEPTHS, end - start):
            last = start + depth
            if last > end:
                continue
            kept = alive[last] / here
            ms = pass_ms[depth] + (missed_ms[last] - missed_ms[start]) / here
            if depth:
                ms += extra_ms(depth, kept)
            if last < end:  # the pass gives one token more, of the stretch or another one
                right = chances[last]
                ms += kept * (right * left_ms[last + 1] + (1.0 - right) * (end - last - 1) * token_ms)
            else:
                ms -= kept * token_ms
            if ms < least_ms:
                least_ms, best = ms, depth
        left_ms[start] = least_ms
    return end * token_ms - left_ms[0], best
