"""Stores which features of the GPUs work, as found by a trial (`engine.sandbox.machine_check`)."""

from enum import StrEnum


class GpuVerdict(StrEnum):
    """Features that work on the GPUs."""

    USABLE = "fine"
    REDUCED = "reduced"  # no flash attention, and no candidates selected on the device
    PROCESSOR_ONLY = "processor only"
    UNTRIED = "untried"  # no free GPU memory, or no answer in time: use the CPU for now


_current = [GpuVerdict.USABLE]


def current() -> GpuVerdict:
    """The current verdict; `GpuVerdict.USABLE` until one is set."""
    return _current[0]


def set_current(verdict: GpuVerdict) -> None:
    _current[0] = verdict


def excludes_gpus() -> bool:
    return current() in (GpuVerdict.PROCESSOR_ONLY, GpuVerdict.UNTRIED)


def is_reduced() -> bool:
    """Whether flash attention and samplers must not be used on the GPUs."""
    return current() is not GpuVerdict.USABLE
