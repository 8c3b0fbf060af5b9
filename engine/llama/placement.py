"""Converts a `Placement` to llama.cpp's parameters: devices, split mode, and experts in main memory."""

import ctypes
from typing import Any

from engine.errors import DeviceError
from engine.fit.estimate import experts_pattern
from engine.llama import gpu_verdict
from engine.llama.devices import cpu_buffer_type, default_gpus, handles_of
from engine.records import Placement, SplitMode
from engine.sentences import i18n

MAX_DEVICES = 16  # llama_max_devices()
_FIRST_SPLIT = 1  # llama.h's enum llama_split_mode: 0 is a single device, then the modes of `SplitMode`


class _Override(ctypes.Structure):
    """llama.h's ``llama_model_tensor_buft_override``."""

    _fields_ = (("pattern", ctypes.c_char_p), ("buft", ctypes.c_void_p))


class NativePlacement:
    """The arrays that llama.cpp reads while loading, and references while the model is loaded.

    Raises:
        DeviceError: a device does not exist, or the tensor split does not match the devices.
    """

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self._handles = handles_of(placement.devices)
        _check_split(placement, self._handles)
        self._devices = (ctypes.c_void_p * (len(self._handles) + 1))(*self._handles, None)
        shares = placement.tensor_split
        self._split = (ctypes.c_float * MAX_DEVICES)(*shares) if shares else None
        self._overrides = None
        if layers := placement.cpu_moe_layers or 0:
            self._overrides = (_Override * 2)(_Override(experts_pattern(layers).encode(), cpu_buffer_type()))

    def write_to(self, params: Any) -> None:  # noqa: ANN401  (the binding ships no types)
        """Set fields of ``params``, a ``llama_model_params``; unspecified values are not changed."""
        if self._placement.devices or gpu_verdict.excludes_gpus():
            params.devices = ctypes.addressof(self._devices)
        mode = self._placement.split_mode if self._has_devices() else SplitMode.LAYER  # nothing to split
        params.split_mode = _FIRST_SPLIT + list(SplitMode).index(mode)
        if self._split is not None:
            params.tensor_split = self._split
        if self._overrides is not None:
            params.tensor_buft_overrides = ctypes.addressof(self._overrides)

    def _has_devices(self) -> bool:
        if self._placement.devices or self._placement.split_mode is SplitMode.LAYER:
            return bool(self._handles)
        return bool(default_gpus())


def _check_split(placement: Placement, handles: tuple[int, ...]) -> None:
    if not placement.tensor_split:  # first, since searching for devices may take half a second
        return
    num_devices = len(handles) if placement.devices else len(default_gpus())
    if not any(placement.tensor_split) or len(placement.tensor_split) > num_devices > 0:
        raise DeviceError(
            i18n(
                "The tensor split has {parts} parts; the number of devices is {num_devices}.",
                parts=len([share for share in placement.tensor_split if share]),
                num_devices=num_devices,
            ),
            i18n("Give one number for each device."),
        )
