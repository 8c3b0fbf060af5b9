"""Chooses the number of parallel answers that fit in memory, with the reason for fewer.

All answers use one pool of cells. Either each has a whole context in it, so that the pool grows with their number, or
they share one context.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.fit.cache_size import is_recurrent
from engine.fit.fit import FitVerdict
from engine.fit.table import FitTable, FreeMemory, PairPlan, table_of
from engine.gguf.header import GgufHeader
from engine.sentences import said, size_of

MOST_AUTOMATIC = 4  # the default of llama.cpp's server
MOST_PARALLEL = 64  # limit of the sequences in one context
_EXTRA_SHARE = 0.1  # share of the machine's memory for additional contexts in automatic mode


@dataclass(frozen=True, slots=True)
class Parallel:
    """A number of parallel answers. ``reason``: why it is 1 or less than requested; otherwise empty."""

    number: int
    reason: str = ""


def choose_parallel(
    pair: PairPlan, free: FreeMemory, asked: int = 0, *, shared: bool = False, obstacle: str = ""
) -> Parallel:
    """Choose the number of parallel answers that fit in memory without moving layers.

    Args:
        pair: the plan for one answer, with its final layers, experts and draft device.
        free: the free memory before loading.
        asked: the user's maximum. 0 is automatic: up to `MOST_AUTOMATIC` answers that fit well and whose additional
            cells take at most a tenth of the machine's memory.
        shared: whether all answers share the cells of one context.
        obstacle: why the model cannot answer in parallel, regardless of memory; empty if it can.
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


def parallel_obstacle(header: GgufHeader, *, shared: bool = False) -> str:
    """Why a model with this header cannot answer in parallel; empty if it can."""
    if is_recurrent(header):
        return said("This model keeps a recurrent state of one conversation, so it answers one at a time.")
    # llama.cpp selects one of two sets of RoPE factors by the size of the pool: a larger pool would use the factors for
    # long texts.
    if not shared and header.arch_value("rope.scaling.original_context_length") is not None:
        return said("This model reads short and long contexts differently, so it answers one at a time.")
    return ""


def _needed_bytes(table: FitTable) -> int:
    return table.needed.main_bytes + table.needed.gpu_bytes
