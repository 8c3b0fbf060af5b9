"""How a draft on the processor keeps its cache: as usual, or with small keys and attention in separate steps.

llama.cpp's fused attention goes through the cache token by token where a pass has one token, as those of a draft have.
In separate steps over keys of q8_0 (values stay f16) the same takes a fraction of the time: on the built-in draft two
fifths at 200 tokens of context, an eighth at 1,900. Other drafts and processors differ, so both are tried for a moment
when a draft is first used, and what was found is kept. A draft's numbers only decide what is proposed: what the target
makes of it is the same.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from engine.errors import ContextError
from engine.llama import library
from engine.llama.context import CPU_UBATCH
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadedModel, LoadOptions, other_context
from engine.records import CacheType, FlashAttention
from engine.sequence import CachedSequence
from engine.storage.cost_store import CostStore, SavedCosts, file_facts, key_of

log = logging.getLogger(__name__)

KEY_TYPE = CacheType.Q8_0
FILL = 512  # tokens of context at which both are compared: a short conversation
_LEAST_FILL = 128
_CHUNK = 64
_STRIDE = 7919  # a prime: between the ids of what a cache is filled with
_LOOKS, _MOST_VARIATION = 8, 0.1  # with small keys it is 0.002 to 0.03, where they are misread 0.15 or more
_KEY_BLOCK = 32  # values of a q8_0 block
_BUDGET_S = 0.3  # to fill a cache; a draft that takes longer is large, and stays as usual
_STEPS, _LEAST_STEPS = 24, 4
_PAYS = 0.97  # of what a step takes as usual
_MOST_SCORES_BYTES = 64 * 2**20  # that separate steps may hold at once
_SCORE_BYTES = 4

Open = Callable[[LoadOptions], LoadedModel]


class DraftCache:
    """Opens drafts with the cache that is faster."""

    def __init__(self, store: CostStore) -> None:
        """What was measured is kept in ``store``."""
        self._store = store

    def known_best(self, path: str, options: LoadOptions) -> LoadOptions:
        """``options`` with the faster cache, where it is known already."""
        if not _is_open(options) or options.may_leave_main_memory:
            return options
        kept = [self._store.get(self._key(path, one)) for one in (options, _separate(options))]
        steps_ms = [costs.bands[min(costs.bands)][1] for costs in kept if costs is not None]
        return _better(options, steps_ms) if len(steps_ms) == len(kept) else options

    def open_best(self, path: str, draft: LoadedModel, options: LoadOptions, open_with: Open) -> LoadedModel:
        """The draft, which was opened with ``options``, or itself opened anew by ``open_with`` where that is faster.

        Raises:
            EngineError: it could not be tried; the draft is closed.
        """
        if self.known_best(path, options) != options or not _is_worth_trying(draft, options):
            return draft
        if self._store.get(self._key(path, options)):  # tried already
            return draft
        try:
            steps_ms = _compare(draft, options)
        except BaseException:
            draft.close()
            raise
        for one, milliseconds in zip((options, _separate(options)), steps_ms, strict=False):
            self._store.put(self._key(path, one), SavedCosts(draft.context.threads, {0: {1: milliseconds}}))
        if len(steps_ms) == 1:
            return draft
        log.info("a step of the draft takes %.3f ms with its cache as usual, %.3f ms with small keys", *steps_ms)
        if _better(options, steps_ms) == options:
            return draft
        draft.close()
        return open_with(_separate(replace(options, gpu_layers=0)))

    def _key(self, path: str, options: LoadOptions) -> str:
        shape = (options.n_ctx, options.threads, options.key_type)
        return key_of("cache", *file_facts(path), *shape, *library.machine_facts())


def _separate(options: LoadOptions) -> LoadOptions:
    return replace(options, key_type=KEY_TYPE)


def _better(options: LoadOptions, steps_ms: list[float]) -> LoadOptions:
    return _separate(options) if steps_ms[1] < _PAYS * steps_ms[0] else options


def _is_open(options: LoadOptions) -> bool:
    """Whether nobody asked for a kind of cache, or of attention."""
    as_usual = options.cache_type is CacheType.F16 and options.key_type is None
    return as_usual and options.flash_attention is FlashAttention.AUTO


def _is_worth_trying(draft: LoadedModel, options: LoadOptions) -> bool:
    """On the processor, with a cache of keys and values, and scores that are small enough to be held at once."""
    if not _is_open(options) or draft.model.gpu_layers or not draft.can_rollback:
        return False
    if draft.sequence.num_snapshots is not None:
        return False
    heads = _number(draft.model, "attention.head_count")
    # llama.cpp does not look whether whole blocks make up a head where attention is not fused: it would read others.
    lengths = {_number(draft.model, f"attention.key_length{kind}") for kind in ("", "_swa", "_mla")} - {0}
    lengths = lengths or {_number(draft.model, "embedding_length") // max(1, heads)}
    scores_bytes = heads * draft.context.n_ctx * CPU_UBATCH * _SCORE_BYTES
    return 0 < scores_bytes <= _MOST_SCORES_BYTES and all(length % _KEY_BLOCK == 0 for length in lengths)


def _number(model: LlamaModel, name: str) -> int:
    """A figure of the model's metadata; 0 where there is none, or one for each layer."""
    value = model.metadata(f"{model.architecture}.{name}") or ""
    return int(value) if value.isdecimal() else 0


def _compare(draft: LoadedModel, options: LoadOptions) -> list[float]:
    """Milliseconds of a step as usual and with small keys; only the first where the other is out of the question.

    It is where the draft is too slow to tell in a moment, and where it says something else with small keys.

    Raises:
        DecodeError: a pass failed.
    """
    sequence = draft.sequence
    filled = _fill(sequence, min(FILL, sequence.n_ctx // 2))
    try:
        if filled < _LEAST_FILL:
            return _steps_ms((sequence,))
        small = min(sequence.n_ctx, 2 * FILL)  # a cache of the whole length twice might be too much
        with other_context(draft, replace(_separate(options), n_ctx=small)) as context:
            other = CachedSequence(context)
            if _fill(other, filled) < filled:
                return _steps_ms((sequence,))
            if not _agree(sequence, other):
                log.info("the draft's cache stays as usual: with small keys it says something else")
                return _steps_ms((sequence,))
            return _steps_ms((sequence, other))
    except ContextError as error:
        log.info("the draft's cache stays as usual: %s", error.message)
        return _steps_ms((sequence,))
    finally:
        sequence.clear()


def _fill(sequence: CachedSequence, num_tokens: int) -> int:
    """Fill an empty cache with so many tokens, as far as time allows; give how many there are."""
    sequence.clear()
    ends = perf_counter() + _BUDGET_S
    while sequence.num_past < num_tokens and perf_counter() < ends:
        past = sequence.num_past
        sequence.forward([_id(i, sequence) for i in range(past, min(past + _CHUNK, num_tokens))], 0)
    return sequence.num_past


def _id(position: int, sequence: CachedSequence) -> int:
    """Some token, others at other places: what attention finds then depends on the keys."""
    return position * _STRIDE % sequence.n_vocab


def _agree(one: CachedSequence, other: CachedSequence) -> bool:
    """Whether both say nearly the same about what follows: by the total variation between their probabilities."""
    past = one.num_past
    ids = [_id(past + i, one) for i in range(_LOOKS)]
    said = []
    for sequence in (one, other):
        rows = sequence.forward(ids, _LOOKS).astype(np.float64)
        weights = np.exp(rows - rows.max(axis=1, keepdims=True))
        said.append(weights / weights.sum(axis=1, keepdims=True))
        sequence.rollback(past)
    return bool(np.abs(said[0] - said[1]).sum() / 2 / _LOOKS < _MOST_VARIATION)


def _steps_ms(sequences: Sequence[CachedSequence]) -> list[float]:
    """Milliseconds of a pass of one token on each, in turn: the least of several."""
    past = sequences[0].num_past
    best = [float("inf")] * len(sequences)
    ends = perf_counter() + _BUDGET_S
    for number in range(_STEPS):
        if number >= _LEAST_STEPS and perf_counter() > ends:
            break
        for i, sequence in enumerate(sequences):
            started = perf_counter()
            sequence.forward((_id(past, sequence),), 1)
            best[i] = min(best[i], (perf_counter() - started) * 1000.0)
            sequence.rollback(past)
    return best
