"""Diagnostics for a bug report: the installation, the models, settings, the last log lines; never chat texts.

Home folders are written as ``~``, tokens are masked.
"""

import re
from pathlib import Path

from app.core.doctor import examine, private
from app.core.domain.settings.values import Settings
from app.core.logs import LOG_NAME
from app.core.paths import Paths
from engine.records import ModelInfo

# Settings that contain text of the user.
PRIVATE_KEYS = frozenset({"system_prompt", "allowed_tools", "unused_servers"})
_SERVER = re.compile(r"(engine):[^,#\s]+")  # contains the address of another computer
NUM_LOG_LINES = 60
LOG_TAIL_BYTES = 64_000


def diagnostics(settings: Settings, models: tuple[ModelInfo | None, ModelInfo | None], paths: Paths) -> str:
    """Blocks: a helper process has to load llama.cpp."""
    lines = [
        *(f"{one.subject}: {one.message}" for one in examine(paths)),
        *(_model(role, info) for role, info in zip(("target", "draft"), models, strict=True)),
        "settings: " + ", ".join(_setting(key, value) for key, value in sorted(settings.values.items())),
        f"last lines of {LOG_NAME}:",
        *_tail(paths.logs / LOG_NAME),
    ]
    return private("\n".join(lines)) + "\n"


def _model(role: str, info: ModelInfo | None) -> str:
    if info is None:
        return f"{role}: none"
    sizes = f"{info.num_params:,} parameters, {info.size_bytes:,} bytes"
    devices = info.memory.devices if info.memory else ()
    placed = "".join(f", {one.num_layers} layers and {one.all_bytes:,} bytes on {one.name}" for one in devices[:-1])
    if placed and info.placement.cpu_moe_layers:
        placed += f", experts of {info.placement.cpu_moe_layers} layers in main memory"
    how = f"context {info.n_ctx:,}, {info.threads} threads, {info.gpu_layers} GPU layers"
    return f"{role}: {Path(info.path).name}, {info.architecture}, {sizes}, {how}{placed}"


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
