"""What one more drafted token takes with all that Python does about it, measured on the drafters themselves.

On a draft model of a million parameters the pass is the smaller part: choosing how far to look takes longer. Knows no
prompt and no answer; leaves the cache as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np

from engine.drafters.draft_model import DraftModelDrafter
from engine.drafters.lookahead import Lookahead
from engine.drafters.seen import Seen
from engine.drafters.suffix import SuffixDrafter
from engine.errors import DecodeError
from engine.measuring import Interrupted, ShouldStop, nobody_waits, room_for
from engine.pacer import Pacer
from engine.records import SamplingParams
from engine.sampling import Sampler
from engine.sequence import CachedSequence

_TOKENS, _TRIES = 4, 5


def drafting_step_ms(
    sequence: CachedSequence,
    n_vocab: int,
    pacer: Pacer,
    between: Callable[[], None] = lambda: None,
    *,
    should_stop: ShouldStop = nobody_waits,
) -> float:
    """Milliseconds of one more token of a draft model, drawn for a target of ``n_vocab`` tokens: the middle of a few.

    ``between`` is run before each try: what the target leaves of the processor's caches is what Python finds.
    ``should_stop`` is asked before each, too.

    Raises:
        DecodeError: a pass failed.
        Interrupted: ``should_stop`` said so.
    """

    def begin() -> None:
        if should_stop():
            raise Interrupted
        between()

    if sequence.num_snapshots is None:
        past = room_for(sequence, _TOKENS + 2)
        try:
            return _step_ms(sequence, n_vocab, pacer, begin)
        finally:
            sequence.rollback(past)
    # A state can be taken back to one place only, and drafting needs that for itself: so it begins with nothing.
    before = sequence.export()
    sequence.clear()
    try:
        return _step_ms(sequence, n_vocab, pacer, begin)
    finally:
        sequence.clear()
        if before is not None:
            sequence.adopt(before)


def _step_ms(sequence: CachedSequence, n_vocab: int, pacer: Pacer, between: Callable[[], None]) -> float:
    past = sequence.num_past
    history = np.zeros(past + 1, dtype=np.int32)
    text, model, sampler = SuffixDrafter(), DraftModelDrafter(sequence, n_vocab, frozenset()), Sampler(SamplingParams())
    text.begin(history[:1], sampler)
    seconds = []
    for _ in range(_TRIES):
        between()
        model.sampler = sampler
        text.propose(history[:1], 0)
        started = perf_counter()
        gate = _Tireless(pacer, text, Seen(), _TOKENS)
        model.look(history, _TOKENS, gate)
        gate.plan(may_rest=True)
        if model.failure:
            raise DecodeError(model.failure)
        seconds.append(perf_counter() - started)
        sequence.rollback(past)
    return median(seconds) * 1000.0 / _TOKENS


class _Tireless(Lookahead):
    """Looks on whatever it costs, so that all of it is measured."""

    def worth_running(self, drawn_id: int) -> bool:
        super().worth_running(drawn_id)
        return True
