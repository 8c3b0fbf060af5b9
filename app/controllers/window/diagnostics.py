"""Diagnostics for a bug report: versions, machine, models, settings, the last log lines; never chat texts.

Home folders are written as ``~``, tokens are masked.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

import app
from app.core.domain.settings.values import Settings
from app.core.logs import redact
from engine.records import ModelInfo

PACKAGES = ("llama-cpp-python", "PySide6-Essentials", "numpy", "huggingface-hub")
# Settings that contain text of the user.
PRIVATE_KEYS = frozenset({"system_prompt", "allowed_tools", "unused_servers"})
_SERVER = re.compile(r"(engine):[^,#\s]+")  # contains the address of another computer
NUM_LOG_LINES = 60
LOG_TAIL_BYTES = 64_000


def diagnostics(
    settings: Settings, models: tuple[ModelInfo | None, ModelInfo | None], log_file: Path, library: Mapping[str, Any]
) -> str:
    memory = psutil.virtual_memory()
    lines = [
        f"Paceline {app.__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{name} {_version(name)}" for name in PACKAGES),
        f"llama.cpp's libraries: {_libraries(library)}",
        f"devices: {_devices(library)}",
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


def _libraries(library: Mapping[str, Any]) -> str:
    """The llama.cpp libraries in use; environment variables can replace those of the package."""
    if "error" in library:
        return f"cannot be loaded: {library['error']}"
    return ", ".join(library["libraries"]) or "not known on this system"


def _devices(library: Mapping[str, Any]) -> str:
    """The devices that llama.cpp finds besides the CPU."""
    if "error" in library:
        return "not known"
    return "; ".join(f"{gpu['name']} ({_free(gpu)})" for gpu in library["gpus"]) or "the processor alone"


def _free(gpu: Mapping[str, Any]) -> str:
    if gpu["free_bytes"] is None or gpu["total_bytes"] is None:
        return "memory not known"
    return f"{gpu['free_bytes'] / 1e9:.1f} of {gpu['total_bytes'] / 1e9:.1f} GB free"


def _model(role: str, info: ModelInfo | None) -> str:
    if info is None:
        return f"{role}: none"
    return (
        f"{role}: {Path(info.path).name}, {info.architecture}, {info.num_params:,} parameters, "
        f"{info.size_bytes:,} bytes, context {info.n_ctx:,}, {info.threads} threads, {info.gpu_layers} GPU layers"
        f"{_device_shares(info)}"
    )


def _device_shares(info: ModelInfo) -> str:
    """The model's share of each device, if there is more than the CPU."""
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
