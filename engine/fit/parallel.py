"""Number of parallel answers of a model: as many as fit the memory, and the reason for fewer.

All answers share one pool of cells. Each may have a whole context in it, so that the pool grows with their number, or
they share one context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.fit.cache_size import is_recurrent
from engine.fit.fit import FitVerdict
from engine.fit.table import FitTable, FreeMemory, PairPlan, table_of
from engine.gguf.header import GgufHeader
from engine.sentences import said, size_of

MOST_AUTOMATIC = 4  # the default of llama.cpp's server, too
MOST_PARALLEL = 64  # sequences that one context is asked for
_EXTRA_SHARE = 0.1  # of the machine's memory, for cells that the user did not ask for


@dataclass(frozen=True, slots=True)
class Parallel:
    """A number of parallel answers. ``reason``: why only one, or fewer than asked; otherwise empty."""

    number: int
    reason: str = ""


def choose_parallel(
    pair: PairPlan, free: FreeMemory, asked: int = 0, *, shared: bool = False, obstacle: str = ""
) -> Parallel:
    """Choose the number of parallel answers that fit the memory, without moving layers.

    Args:
        pair: as it is loaded for one answer: layers, experts and the draft's device are settled.
        free: the free memory before loading.
        asked: the most that the user wants; 0 is automatic: up to `MOST_AUTOMATIC` that fit well, with cells beyond the
            first answer's of at most a tenth of the machine's memory.
        shared: all answers share the cells of one context.
        obstacle: why the model can only answer one at a time, regardless of memory; empty if it can.
    """
    if obstacle or asked == 1:
        return Parallel(1, obstacle)
    free = replace(free, disk_bytes=None)
    alone = table_of(pair, free)
    for number in range(min(asked, MOST_PARALLEL) or MOST_AUTOMATIC, 1, -1):
        table = table_of(pair.answering(number, shared=shared), free)
        if asked:
            fits = table.verdict is not FitVerdict.TOO_LARGE
        else:
            extra = table.cache_bytes - alone.cache_bytes
            fits = table.verdict is FitVerdict.FITS and extra <= _EXTRA_SHARE * (free.machine_bytes or free.main_bytes)
        if fits:
            reason = said("The memory has room for {num_answers} answers at once.", num_answers=number)
            return Parallel(number, reason if number < asked else "")
    two = table_of(pair.answering(2, shared=shared), free)
    more = size_of(_needed_bytes(two) - _needed_bytes(alone))
    return Parallel(1, said("The memory has room for one answer at a time: a second one takes {size} more.", size=more))


def obstacle_of(header: GgufHeader, *, shared: bool = False) -> str:
    """Why a model can only answer one at a time, by its header; empty if it can answer several."""
    if is_recurrent(header):
        return said("This model keeps a recurrent state of one conversation, so it answers one at a time.")
    # llama.cpp selects one of two sets of RoPE factors by the size of the pool, so that a larger pool would use the
    # factors for long texts.
    if not shared and header.own("rope.scaling.original_context_length") is not None:
        return said("This model reads short and long contexts differently, so it answers one at a time.")
    return ""


def _needed_bytes(table: FitTable) -> int:
    return table.needed.main_bytes + table.needed.gpu_bytes
