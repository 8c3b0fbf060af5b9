"""Lists the devices that this build of llama.cpp can use, with their memory."""

import ctypes
from collections.abc import Sequence

from engine.errors import DeviceError
from engine.llama import gpu_verdict, library
from engine.records import NO_DEVICE, Device, DeviceKind
from engine.sentences import i18n

_KINDS = dict(zip(library.GPU_TYPES, (DeviceKind.GPU, DeviceKind.INTEGRATED), strict=True))


def find_gpus() -> tuple[Device, ...]:
    """All GPUs of this machine, in llama.cpp's order; empty if the build supports only the CPU."""
    return tuple(_describe(handle) for handle in _gpu_handles())


def default_gpus() -> tuple[Device, ...]:
    """The GPUs that share a model by default: all dedicated GPUs, else the integrated ones."""
    return shared_by_default(find_gpus())


def shared_by_default(gpus: tuple[Device, ...]) -> tuple[Device, ...]:
    """Select the GPUs that share a model by default."""
    return tuple(device for device in gpus if device.kind is DeviceKind.GPU) or gpus


def find_devices(names: Sequence[str]) -> tuple[Device, ...]:
    """Find devices by name; without names the default GPUs, with `NO_DEVICE` none.

    Raises:
        DeviceError: a device does not exist.
    """
    if not names:
        return default_gpus()
    return tuple(_describe(handle) for handle in handles_of(names))


def handles_of(names: Sequence[str]) -> tuple[int, ...]:
    """Ggml's handles of devices by name.

    Raises:
        DeviceError: a device does not exist, or is named twice.
    """
    if tuple(names) == (NO_DEVICE,):
        return ()
    found: list[int] = []
    for name in names:
        handle = _gpu_of(name)
        if handle in found:
            raise DeviceError(i18n("The device {name} is named twice.", name=name))
        found.append(handle)
    return tuple(found)


def cpu_buffer_type() -> int:
    """The buffer type of main memory."""
    ggml = library.ggml()
    is_gpu = {handle: ggml.ggml_backend_dev_type(handle) in library.GPU_TYPES for handle in library.device_handles()}
    return int(ggml.ggml_backend_dev_buffer_type(next(handle for handle, gpu in is_gpu.items() if not gpu)))


def _gpu_handles() -> tuple[int, ...]:
    if gpu_verdict.excludes_gpus():
        return ()
    ggml = library.ggml()
    handles = library.device_handles()
    return tuple(handle for handle in handles if ggml.ggml_backend_dev_type(handle) in library.GPU_TYPES)


def _gpu_of(name: str) -> int:
    ggml, known = library.ggml(), dict[str, int]()
    for handle in _gpu_handles():
        known[_decode_text(ggml.ggml_backend_dev_name(handle))] = handle
    if name in known:
        return known[name]
    if name == NO_DEVICE:
        raise DeviceError(i18n("“none” stands for the processor alone: name it without other devices."))
    if gpu_verdict.current() is gpu_verdict.GpuVerdict.UNTRIED:
        raise DeviceError(
            i18n("The device {name} is not used: it could not be tried with a small model.", name=name),
            i18n("Close other programs that use its memory, and start Paceline again."),
        )
    if gpu_verdict.excludes_gpus():
        raise DeviceError(
            i18n("The device {name} is not used: the GPU of this computer failed a test.", name=name),
            i18n("A newer driver may help; “paceline doctor” says more."),
        )
    if not known:
        raise DeviceError(i18n("There is no device {name}: llama.cpp finds none besides the processor.", name=name))
    raise DeviceError(i18n("There is no device {name}; llama.cpp finds: {names}.", name=name, names=", ".join(known)))


def _describe(handle: int) -> Device:
    ggml = library.ggml()
    free, total = ctypes.c_size_t(0), ctypes.c_size_t(0)
    ggml.ggml_backend_dev_memory(handle, ctypes.byref(free), ctypes.byref(total))
    known = total.value > 0
    return Device(
        _decode_text(ggml.ggml_backend_dev_name(handle)),
        _decode_text(ggml.ggml_backend_dev_description(handle)) or "graphics processor",
        total.value if known else None,
        free.value if known else None,
        _KINDS[ggml.ggml_backend_dev_type(handle)],
    )


def _decode_text(raw: bytes | None) -> str:
    return raw.decode("utf-8", "replace") if raw else ""
