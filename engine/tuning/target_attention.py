"""Whether a target on the processor attends by the fused kernel or in separate steps: by measurement.

llama.cpp fuses attention wherever it can. On processors the fused kernel goes through the cache once for every token of
a pass, where separate steps are products of matrices: from a few hundred tokens of context on, these can take half as
long, and least for passes of several tokens, which is what drafting lives on. How much differs by heads and processor,
so both are tried on a layer with the same heads, which takes a moment whatever the model's size, and what was found is
kept. Both are the target's own arithmetic, rounded differently.
"""

from __future__ import annotations

import logging
import tempfile
from dataclasses import astuple, replace
from pathlib import Path
from time import perf_counter

import numpy as np

from engine.errors import EngineError
from engine.gguf.header import GgufHeader, read_header
from engine.llama import library
from engine.llama.context import CPU_UBATCH, ContextParams, LlamaContext
from engine.llama.model import LlamaModel
from engine.loading.loading import LoadOptions, has_room
from engine.records import CacheType, FlashAttention
from engine.storage.cost_store import CostStore, SavedCosts, key_of
from engine.tuning.attention_stand_in import N_VOCAB, AttentionShape, shape_of, write_stand_in

log = logging.getLogger(__name__)

FILLS = (256, 1024)  # tokens of context at which both are compared: a short and a long conversation
PASSES = (1, 8)  # tokens of the passes that are
LEAST_HEADS = 128  # of all layers together: with fewer, attention is too small a part of a pass
MOST_SCORES_BYTES = 256 * 2**20  # that separate steps may hold at once
_ROUNDS, _LEAST_ROUNDS = 16, 4
_BUDGET_S = 0.2  # for each fill of the cache
_PAYS, _LOSES = 0.9, 1.05  # of the fused kernel's time: at the larger fill altogether, and anywhere
_KINDS = (FlashAttention.AUTO, FlashAttention.OFF)

Times = dict[int, dict[int, float]]  # milliseconds by fill and by tokens of a pass


class TargetAttention:
    """Settles how a target attends where nobody has said it."""

    def __init__(self, store: CostStore) -> None:
        """What was measured is kept in ``store``."""
        self._store = store

    def choose(self, path: str, options: LoadOptions) -> LoadOptions:
        """``options``, whose context is settled, with attention in separate steps where that is faster and has room.

        Raises:
            ModelFileError: the header cannot be read.
        """
        if options.flash_attention is not FlashAttention.AUTO or options.cache_type is not CacheType.F16:
            return options
        if options.key_type is not None or options.may_leave_main_memory:
            return options
        header = read_header(Path(path))
        shape, separate = shape_of(header), replace(options, flash_attention=FlashAttention.OFF)
        if shape is None or not _is_worth_trying(shape, options) or not has_room(path, separate):
            return options
        times = self._times(shape, _threads(header, options))
        return separate if times is not None and pays(*times) else options

    def _times(self, shape: AttentionShape, threads: int) -> tuple[Times, Times] | None:
        """What was measured, now or earlier; None where it cannot be."""
        keys = [key_of("attention", *astuple(shape)[1:], threads, kind, *library.machine_facts()) for kind in _KINDS]
        kept = [self._store.get(key) for key in keys]
        if kept[0] is not None and kept[1] is not None:
            return kept[0].bands, kept[1].bands
        try:
            fused, separate = measured(shape, threads)
        except (EngineError, OSError) as error:
            log.info("how attention is best computed could not be measured: %s", error)
            return None
        for key, times in zip(keys, (fused, separate), strict=True):
            self._store.put(key, SavedCosts(threads, times))
        log.info("a layer of %s takes %s ms fused, %s ms in separate steps", shape, fused, separate)
        return fused, separate


def pays(fused: Times, separate: Times) -> bool:
    """Whether separate steps are clearly faster in long conversations, and nowhere slower to speak of."""
    points = [(fill, num_tokens) for fill in FILLS for num_tokens in PASSES]
    try:
        nowhere_slower = all(separate[fill][n] <= _LOSES * fused[fill][n] for fill, n in points)
        long = max(FILLS)
        return nowhere_slower and all(separate[long][n] <= _PAYS * fused[long][n] for n in PASSES)
    except KeyError:  # kept by a version that looked elsewhere
        return False


def measured(shape: AttentionShape, threads: int) -> tuple[Times, Times]:
    """Milliseconds of passes through one layer, fused and in separate steps, in turn: the least of several.

    Raises:
        EngineError: llama.cpp refuses the layer.
        OSError: there is no room for its file.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layer.gguf"
        write_stand_in(path, shape)
        with LlamaModel(path) as model:
            params = ContextParams(2 * max(FILLS), threads)
            with (
                LlamaContext(model, replace(params, flash_attention=_KINDS[0])) as fused,
                LlamaContext(model, replace(params, flash_attention=_KINDS[1])) as separate,
            ):
                return _compare(fused, separate)


def _compare(*contexts: LlamaContext) -> tuple[Times, Times]:
    times: tuple[Times, Times] = ({}, {})
    for fill in FILLS:
        for context in contexts:
            while context.num_past < fill:
                context.forward(_ids(min(CPU_UBATCH, fill - context.num_past)), 0)
        for num_tokens in PASSES:
            best = _least_ms(contexts, num_tokens)
            for mine, milliseconds in zip(times, best, strict=True):
                mine.setdefault(fill, {})[num_tokens] = milliseconds
    return times


def _least_ms(contexts: tuple[LlamaContext, ...], num_tokens: int) -> list[float]:
    best = [float("inf")] * len(contexts)
    ends = perf_counter() + _BUDGET_S / len(PASSES)
    for number in range(_ROUNDS):
        if number >= _LEAST_ROUNDS and perf_counter() > ends:
            break
        for i, context in enumerate(contexts):
            past = context.num_past
            started = perf_counter()
            context.forward(_ids(num_tokens), 1)
            best[i] = min(best[i], (perf_counter() - started) * 1000.0)
            context.rollback(past)
    return best


def _ids(num_tokens: int) -> np.ndarray:
    return np.arange(num_tokens, dtype=np.int32) % N_VOCAB


def _is_worth_trying(shape: AttentionShape, options: LoadOptions) -> bool:
    many = shape.num_layers * shape.num_heads >= LEAST_HEADS
    return many and shape.scores_bytes(options.n_ctx or 0, CPU_UBATCH) <= MOST_SCORES_BYTES


def _threads(header: GgufHeader, options: LoadOptions) -> int:
    return options.threads or library.default_threads(header.num_params)
