"""How far the graphics processors of this machine are trusted in this process: what a trial of them found.

Whoever tries them sets it (`engine.sandbox.machine_check`); contexts, placements and the list of devices follow it.
"""

from __future__ import annotations

from enum import StrEnum


class GpuVerdict(StrEnum):
    """What works on them."""

    FINE = "fine"
    REDUCED = "reduced"  # attention in separate steps, and no tokens picked on the device
    PROCESSOR_ONLY = "processor only"
    UNTRIED = "untried"  # no room there, or no answer in time: the processor for now


_current = [GpuVerdict.FINE]


def current() -> GpuVerdict:
    """The verdict that holds now; `GpuVerdict.FINE` until one is set."""
    return _current[0]


def set_current(verdict: GpuVerdict) -> None:
    """Let ``verdict`` hold for what is loaded from now on."""
    _current[0] = verdict


def leaves_gpus_out() -> bool:
    """Whether nothing may be computed on them."""
    return current() in (GpuVerdict.PROCESSOR_ONLY, GpuVerdict.UNTRIED)


def is_reduced() -> bool:
    """Whether flash attention and samplers are to be kept away from them."""
    return current() is not GpuVerdict.FINE
