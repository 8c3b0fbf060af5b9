"""How many answers at once a model gets: as many as the memory has room for, and why not more.

All answers have one pool of cells. Each may take a whole context of it, so that the pool grows with their number, or
they share the cells of one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.fit.cache_size import is_recurrent
from engine.fit.fit import FitVerdict
from engine.fit.table import FitTable, FreeMemory, PairPlan, table_of
from engine.gguf.header import GgufHeader
from engine.sentences import said, size_of

MOST_AUTOMATIC = 4  # what llama.cpp's server takes by itself, too
MOST_PARALLEL = 64  # sequences that one context is asked for
_EXTRA_SHARE = 0.1  # of the machine's memory, for cells that nobody asked for


@dataclass(frozen=True, slots=True)
class Parallel:
    """So many answers at once. ``reason`` says why only one, or fewer than were asked for; empty else."""

    number: int
    reason: str = ""


def choose_parallel(
    pair: PairPlan, room: FreeMemory, asked: int = 0, *, shared: bool = False, obstacle: str = ""
) -> Parallel:
    """Choose how many answers at once a pair has room for beside everything else; it stays where it lies.

    Args:
        pair: as it is loaded for one answer: layers, experts and the draft's place are settled.
        room: what is free before anything of it is loaded.
        asked: the most that is wanted; 0 is automatic: up to `MOST_AUTOMATIC`, only of what fits with room to spare,
            and their cells beyond the first answer's take no more than a tenth of the machine's memory.
        shared: all answers have the cells of one context together.
        obstacle: why the model can only answer one at a time, whatever the memory; empty where it can.
    """
    if obstacle or asked == 1:
        return Parallel(1, obstacle)
    room = replace(room, disk_bytes=None)
    alone = table_of(pair, room)
    for number in range(min(asked, MOST_PARALLEL) or MOST_AUTOMATIC, 1, -1):
        table = table_of(pair.answering(number, shared=shared), room)
        if asked:
            fits = table.verdict is not FitVerdict.TOO_LARGE
        else:
            extra = table.cache_bytes - alone.cache_bytes
            fits = table.verdict is FitVerdict.FITS and extra <= _EXTRA_SHARE * (room.machine_bytes or room.main_bytes)
        if fits:
            return Parallel(number, _fewer(number) if number < asked else "")
    two = table_of(pair.answering(2, shared=shared), room)
    return Parallel(1, _only_one(_needed_bytes(two) - _needed_bytes(alone)))


def obstacle_of(header: GgufHeader, *, shared: bool = False) -> str:
    """Why a model can only answer one at a time whatever the memory, by its header; empty where it can more."""
    if is_recurrent(header):
        return said("This model keeps a recurrent state of one conversation, so it answers one at a time.")
    # llama.cpp chooses between two sets of factors by the size of the whole pool: the larger one would be read with
    # those for long texts.
    if not shared and header.own("rope.scaling.original_context_length") is not None:
        return said("This model reads short and long contexts differently, so it answers one at a time.")
    return ""


def _needed_bytes(table: FitTable) -> int:
    return table.needed.main_bytes + table.needed.gpu_bytes


def _fewer(number: int) -> str:
    return said("The memory has room for {num_answers} answers at once.", num_answers=number)


def _only_one(more_bytes: int) -> str:
    return said(
        "The memory has room for one answer at a time: a second one takes {size} more.", size=size_of(more_bytes)
    )
