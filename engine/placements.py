"""Where a loaded model lies: devices, and how several of them share it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SplitMode(StrEnum):
    """How several devices share a model, as llama.cpp has it."""

    NONE = "none"  # all of it on the main one
    LAYER = "layer"  # whole layers with their cache, one device after the other
    ROW = "row"  # each matrix by rows, where the backend can
    TENSOR = "tensor"  # weights and cache, all devices at once; experimental in llama.cpp


NO_DEVICE = "none"  # in place of a device's name: the processor alone


@dataclass(frozen=True, slots=True)
class Placement:
    """On which devices a model lies; by default on all graphics processors of this machine.

    Args:
        devices: names as llama.cpp lists them ("CUDA0"), or "rpc:host:port"; or `NO_DEVICE` alone.
        split_mode: how several share it.
        main_device: which of them, counted from 0, takes all of it with `SplitMode.NONE`.
        tensor_split: proportions, in the order of the devices; without any, by their free memory.
        cpu_moe_layers: so many of the first layers keep their experts in main memory; None: no more than have to.
        overrides: a regular expression for names of tensors, and the buffer type or device that these go to; the
            first that matches counts.
    """

    devices: tuple[str, ...] = ()
    split_mode: SplitMode = SplitMode.LAYER
    main_device: int = 0
    tensor_split: tuple[float, ...] = ()
    cpu_moe_layers: int | None = None
    overrides: tuple[tuple[str, str], ...] = ()

    @property
    def is_processor(self) -> bool:
        """Whether no device is to be used."""
        return self.devices == (NO_DEVICE,)

    @property
    def facts(self) -> tuple[str, ...]:
        """What of it changes costs and numbers, for keys; nothing where all of it is as by default."""
        return () if self == Placement() else (repr(self),)


ANYWHERE = Placement()


class DeviceKind(StrEnum):
    """What a device is."""

    GPU = "gpu"
    INTEGRATED = "integrated gpu"  # shares the main memory
    REMOTE = "remote"  # of another machine, over llama.cpp's RPC


@dataclass(frozen=True, slots=True)
class Device:
    """A device beside the processor; ``name`` is llama.cpp's for it ("CUDA0"). Bytes are None where nobody tells."""

    name: str
    description: str
    total_bytes: int | None
    free_bytes: int | None
    kind: DeviceKind = DeviceKind.GPU
