"""Compares rows of logits of the same tokens bit for bit between passes of several shapes."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from engine.interfaces import Rows
from engine.llama.context import ContextParams, LlamaContext, PassPart
from engine.llama.model import LlamaModel
from engine.records import CacheType

NUM_ROWS = 16  # compared rows per shape
_SIZES = ((2,), (4,), (8,), (3, 1, 5, 8, 2))  # numbers of tokens of the passes, used in turn
_OTHER_CHUNK = 37  # chunk size of the prompt in one of the shapes
_NUM_OTHER_TOKENS = 11  # tokens of the other answer in a shared pass


@dataclass(frozen=True, slots=True)
class PassShape:
    """Shape of passes: threads, numbers of tokens used in turn, and whether another answer shares the passes.

    ``chunk``: tokens of the prompt per pass; 0: the default.
    """

    threads: int
    sizes: tuple[int, ...] = (1,)
    chunk: int = 0
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class PassComparison:
    """The difference between a shape's rows after ``num_before`` tokens and rows of one-token passes on one thread."""

    shape: PassShape
    num_before: int
    num_rows: int
    num_different: int
    largest_difference: float  # largest difference of two logits


def compare_passes(
    model: LlamaModel,
    cache_type: CacheType = CacheType.F16,
    num_before_values: Sequence[int] = (0, 300),
    threads: Sequence[int] = (1, 2),
    should_stop: Callable[[], bool] = lambda: False,
) -> Iterator[PassComparison]:
    """Compare all shapes after each number of tokens in ``num_before_values`` that fits the model's trained context.

    Raises:
        ContextError: memory for a context is short.
        DecodeError: a pass failed.
    """
    num_before_values = [one for one in num_before_values if one + NUM_ROWS <= (model.n_ctx_train or NUM_ROWS)] or [0]
    several = 1 if model.is_recurrent else 2
    params = ContextParams(2 * (max(num_before_values) + 2 * NUM_ROWS) + 256, threads[0], cache_type=cache_type)
    dice = np.random.default_rng(0)
    ids = dice.integers(model.vocab.n_vocab // 50, model.vocab.n_vocab, 2 * params.n_ctx).astype(np.int32)
    with ExitStack() as stack:
        alone = stack.enter_context(LlamaContext(model, params))
        shared = ContextParams(params.n_ctx, threads[0], cache_type=cache_type, num_sequences=2)
        first = stack.enter_context(LlamaContext(model, shared)) if several > 1 else None
        for num_before in num_before_values:
            expected = _rows(alone, ids, num_before, PassShape(threads[0]))
            for shape in _shapes(threads, is_shared=first is not None):
                if should_stop():
                    return
                found = _rows(first if shape.is_shared and first is not None else alone, ids, num_before, shape)
                distances = np.abs(found - expected).max(axis=1)
                differing = (found.view(np.uint32) != expected.view(np.uint32)).any(axis=1)
                yield PassComparison(shape, num_before, len(found), int(differing.sum()), float(distances.max()))


def _shapes(threads: Sequence[int], *, is_shared: bool) -> Iterator[PassShape]:
    for number in threads:
        if number != threads[0]:
            yield PassShape(number)
        yield from (PassShape(number, sizes) for sizes in _SIZES)
    yield PassShape(threads[0], chunk=_OTHER_CHUNK)
    if is_shared:
        yield PassShape(threads[-1], _SIZES[-1], is_shared=True)


def _rows(context: LlamaContext, ids: NDArray[np.int32], num_before: int, shape: PassShape) -> Rows:
    context.set_threads(shape.threads)
    other = context.other_sequence(1) if shape.is_shared else None
    if shape.chunk or context.num_past < num_before or not context.rollback(num_before):
        context.clear()
    while context.num_past < num_before:
        end = min(context.num_past + (shape.chunk or context.n_ubatch), num_before)
        context.forward(ids[context.num_past : end], 0)
    rows, done, end = list[Rows](), num_before, num_before + NUM_ROWS
    for size in cycle(shape.sizes):
        if done == end:
            break
        own = ids[done : min(done + size, end)]
        if other is None:
            rows.append(context.forward(own, len(own)).copy())
        else:
            parts = [PassPart(other, ids[-_NUM_OTHER_TOKENS:], 1), PassPart(context, own, len(own))]
            rows.append(context.forward_joined(parts)[1].copy())
            other.clear()
        done += len(own)
    return np.concatenate(rows)
