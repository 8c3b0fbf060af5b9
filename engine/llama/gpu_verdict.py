"""How far the graphics processors of this machine are trusted in this process: what a trial of them found.

Whoever tries them sets it (`engine.sandbox.gpu_check`); contexts, placements and the list of devices follow it.
"""

from __future__ import annotations

from enum import StrEnum


class GpuVerdict(StrEnum):
    """What works on them."""

    FINE = "fine"
    WITHOUT_FLASH_ATTENTION = "without flash attention"
    PROCESSOR_ONLY = "processor only"


_current = [GpuVerdict.FINE]


def current() -> GpuVerdict:
    """The verdict that holds now; `GpuVerdict.FINE` until one is set."""
    return _current[0]


def set_current(verdict: GpuVerdict) -> None:
    """Let ``verdict`` hold for what is loaded from now on."""
    _current[0] = verdict


def leaves_gpus_out() -> bool:
    """Whether nothing may be computed on them."""
    return current() is GpuVerdict.PROCESSOR_ONLY


def avoids_flash_attention() -> bool:
    """Whether attention there has to run in separate steps."""
    return current() is not GpuVerdict.FINE
