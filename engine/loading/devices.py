"""Distributes a model over devices, and lists placements to try if it does not fit.

Popular models for laptops are mixtures of experts: most of their bytes are experts, of which a token needs few. If such
a model does not fit, the experts of its first layers stay in main memory, and all other weights go to the GPU.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from engine.fit.cache_size import CacheSetup, first, num_cached_layers
from engine.fit.estimate import DeviceSplit, experts_pattern
from engine.fit.fit import FreeMemory, ModelPlan, PairPlan, all_parts_bytes, experts_to_leave
from engine.gguf.header import read_header
from engine.llama.devices import find_devices
from engine.records import Device, Placement

log = logging.getLogger(__name__)

ALL_LAYERS = 999
_GPU_LAYER_ATTEMPTS = (ALL_LAYERS, 32, 16, 8, 0)


def split_over(placement: Placement, devices: Sequence[Device], used: Sequence[Device]) -> DeviceSplit:
    """The split of a model over ``devices``; ``used`` are the devices that the placement names, in order."""
    given = placement.tensor_split or [one.free_bytes or 1 for one in used]
    shares = {one.name: share for one, share in zip(used, given, strict=False)}
    return DeviceSplit(
        shares=tuple(float(shares.get(one.name, 0.0)) for one in devices) or (1.0,),
        moved=((experts_pattern(placement.cpu_moe_layers), None),) if placement.cpu_moe_layers else (),
        mode=placement.split_mode,
    )


def free_memory(devices: Sequence[Device], main_bytes: int = 0, disk_bytes: int | None = None) -> FreeMemory:
    """Free memory, in total and of each device."""
    free = tuple((one.name, one.free_bytes or 0) for one in devices)
    machine_bytes = psutil.virtual_memory().total
    return FreeMemory(main_bytes, sum(num_bytes for _, num_bytes in free), disk_bytes, free, machine_bytes)


LoadAttempt = tuple[int, int | None]  # layers on devices, and layers whose experts stay in main memory (None: any)


def load_attempts(path: Path, placement: Placement, setup: CacheSetup, draft_bytes: int = 0) -> Iterator[LoadAttempt]:
    """Yield placements of a model, each with less device memory than the one before.

    ``draft_bytes`` is the device memory that a draft will take.

    Raises:
        ModelFileError: the header cannot be read.
        DeviceError: a device does not exist.
    """
    for number in _cpu_moe_choices(path, placement, setup, draft_bytes):
        yield _GPU_LAYER_ATTEMPTS[0], number
    for layers in _GPU_LAYER_ATTEMPTS[1:]:
        yield layers, placement.cpu_moe_layers


def _cpu_moe_choices(path: Path, placement: Placement, setup: CacheSetup, draft_bytes: int) -> tuple[int | None, ...]:
    """Numbers of layers, to be tried in order, whose experts stay in main memory."""
    header = read_header(path)
    if placement.cpu_moe_layers is not None or not first(header.arch_value("expert_count")):
        return (placement.cpu_moe_layers,)
    devices = find_devices(placement.devices)
    if any(one.free_bytes is None for one in devices):
        return (None, num_cached_layers(header))
    spread = split_over(placement, devices, devices)
    plan = ModelPlan(header, setup, ALL_LAYERS, all_parts_bytes(path, header), spread=spread)
    each = draft_bytes // max(1, len(devices))
    left = [replace(one, free_bytes=max(0, (one.free_bytes or 0) - each)) for one in devices]
    fewest, everything = experts_to_leave(PairPlan(plan), free_memory(left)), num_cached_layers(header)
    if not fewest:
        return (None, everything)
    log.info("the experts of %d of %d layers stay in main memory", fewest, everything)
    return tuple(sorted({fewest, -(-(fewest + everything) // 2), everything}))
