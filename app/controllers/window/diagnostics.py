"""What somebody who helps would ask for: versions, machine, models, settings, the last log lines; never what was said.

Home folders are written as ``~``, tokens are blotted out.
"""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

import app
from app.domain.settings.values import Settings
from app.logs import redact
from engine.errors import LibraryError
from engine.records import Device, ModelInfo

PACKAGES = ("llama-cpp-python", "PySide6-Essentials", "numpy", "huggingface-hub")
# These hold words of the user's own.
PRIVATE_KEYS = frozenset({"system_prompt"})
_SERVER = re.compile(r"(rpc|engine):[^,#\s]+")  # the address of another computer
NUM_LOG_LINES = 60
LOG_TAIL_BYTES = 64_000


def diagnostics(settings: Settings, models: tuple[ModelInfo | None, ModelInfo | None], log_file: Path) -> str:
    """Make the text for the clipboard; ``models`` are target and draft."""
    memory = psutil.virtual_memory()
    lines = [
        f"Paceline {app.__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        f"llama.cpp's libraries: {_libraries()}",
        f"devices: {_devices()}",
        f"{platform.processor() or platform.machine()}, {psutil.cpu_count(logical=False)} cores "
        f"({os.cpu_count()} threads), {memory.total / 1e9:.1f} GB memory, {memory.available / 1e9:.1f} GB free",
        *(_model(role, info) for role, info in zip(("target", "draft"), models, strict=True)),
        "settings: " + ", ".join(_setting(key, value) for key, value in sorted(settings.values.items())),
        f"last lines of {log_file.name}:",
        *_tail(log_file),
    ]
    return redact(_without_home("\n".join(lines))) + "\n"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _libraries() -> str:
    """Which of llama.cpp's libraries are in use: a variable may have put others in the place of the package's."""
    try:
        from engine.llama.library import loaded_libraries  # noqa: PLC0415  (it loads them, which may fail)
    except (ImportError, LibraryError) as error:
        return f"cannot be loaded: {error}"
    return ", ".join(library.description for library in loaded_libraries()) or "not known on this system"


def _devices() -> str:
    """What llama.cpp finds beside the processor."""
    try:
        from engine.llama.devices import find_gpus  # noqa: PLC0415  (as above)
    except (ImportError, OSError, RuntimeError) as error:
        return f"cannot be listed: {error}"
    return ", ".join(f"{gpu.name} ({gpu.description}, {_free(gpu)})" for gpu in find_gpus()) or "the processor alone"


def _free(device: Device) -> str:
    if device.free_bytes is None or device.total_bytes is None:
        return "memory not known"
    return f"{device.free_bytes / 1e9:.1f} of {device.total_bytes / 1e9:.1f} GB free"


def _model(role: str, info: ModelInfo | None) -> str:
    if info is None:
        return f"{role}: none"
    return (
        f"{role}: {Path(info.path).name}, {info.architecture}, {info.num_params:,} parameters, "
        f"{info.size_bytes:,} bytes, context {info.n_ctx:,}, {info.threads} threads, {info.gpu_layers} GPU layers"
        f"{_places(info)}"
    )


def _places(info: ModelInfo) -> str:
    """What each device has of a model, where it has more than the processor."""
    devices = info.memory.devices if info.memory else ()
    placed = "".join(f", {one.num_layers} layers and {one.all_bytes:,} bytes on {one.name}" for one in devices[:-1])
    experts = info.placement.cpu_moe_layers
    return placed + (f", experts of {experts} layers in main memory" if placed and experts else "")


def _setting(key: str, value: object) -> str:
    if key in PRIVATE_KEYS:
        return f"{key}=({len(str(value))} characters)"
    written = _SERVER.sub(r"\1:(a server)", value) if isinstance(value, str) else value
    return f"{key}={'automatic' if written is None else written}"


def _tail(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            stream.seek(max(0, file.stat().st_size - LOG_TAIL_BYTES))
            text = stream.read().decode("utf-8", "replace")
    except OSError as error:
        return [f"(not readable: {error.strerror or error})"]
    return text.splitlines()[-NUM_LOG_LINES:]


def _without_home(text: str) -> str:
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text
