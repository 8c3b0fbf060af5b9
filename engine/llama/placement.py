"""Converts a `Placement` to llama.cpp's parameters: devices, split mode, and tensor overrides."""

import ctypes
from typing import Any

from engine.errors import DeviceError
from engine.fit.estimate import experts_pattern
from engine.llama import gpu_verdict
from engine.llama.devices import buffer_type_of, default_gpus, handles_of
from engine.records import Placement, SplitMode
from engine.sentences import i18n

CPU_BUFFER = "CPU"
MAX_DEVICES = 16  # llama_max_devices()
_ONE_EACH = "Give one number for each device."


def moved_tensors(placement: Placement) -> tuple[tuple[str, str], ...]:
    """All tensor overrides in order: the user's, then the experts that stay in main memory."""
    layers = placement.cpu_moe_layers or 0
    return (*placement.overrides, *(((experts_pattern(layers), CPU_BUFFER),) if layers > 0 else ()))


class _Override(ctypes.Structure):
    """llama.h's ``llama_model_tensor_buft_override``."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buft", ctypes.c_void_p))


class NativePlacement:
    """The arrays that llama.cpp reads while loading, and references while the model is loaded.

    Raises:
        DeviceError: a device does not exist, or a number does not match the devices.
    """

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._handles = handles_of(placement.devices)
        _check_numbers(placement, self._handles)
        self._devices = (ctypes.c_void_p * (len(self._handles) + 1))(*self._handles, None)
        shares = placement.tensor_split
        self._split = (ctypes.c_float * MAX_DEVICES)(*shares) if shares else None
        moved = [(text.encode(), buffer_type_of(where, self._handles)) for text, where in moved_tensors(placement)]
        self._overrides = (_Override * (len(moved) + 1))(*(_Override(*one) for one in moved)) if moved else None

    def write_to(self, params: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """Set fields of ``params``, a ``llama_model_params``; unspecified values are not changed."""
        if self._placement.devices or gpu_verdict.excludes_gpus():
            params.devices = ctypes.addressof(self._devices)
        mode = self._placement.split_mode if self._has_devices() else SplitMode.LAYER  # nothing to split
        params.split_mode = list(SplitMode).index(mode)
        params.main_gpu = self._placement.main_device
        if self._split is not None:
            params.tensor_split = self._split
        if self._overrides is not None:
            params.tensor_buft_overrides = ctypes.addressof(self._overrides)

    def _has_devices(self) -> bool:
        if self._placement.devices or self._placement.split_mode is SplitMode.LAYER:
            return bool(self._handles)
        return bool(default_gpus())


def _check_numbers(placement: Placement, handles: tuple[int, ...]) -> None:
    if placement.tensor_split and not any(placement.tensor_split):
        raise DeviceError(i18n("The tensor split gives no device anything."), i18n(_ONE_EACH))
    chooses = placement.split_mode is SplitMode.NONE and placement.main_device > 0
    if not chooses and not placement.tensor_split:  # first, since searching for devices may take half a second
        return
    num_devices = len(handles) if placement.devices else len(default_gpus())
    if chooses and placement.main_device >= num_devices > 0:
        raise DeviceError(
            i18n(
                "There is no main device {number}: counted from 0, the last is {last}.",
                number=placement.main_device,
                last=num_devices - 1,
            )
        )
    if len(placement.tensor_split) > num_devices > 0:
        raise DeviceError(
            i18n(
                "The tensor split has {parts} parts; the number of devices is {num_devices}.",
                parts=len(placement.tensor_split),
                num_devices=num_devices,
            ),
            i18n(_ONE_EACH),
        )
