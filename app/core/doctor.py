"""Checks what Paceline needs of this system, and says what is missing and how to get it.

Must not fail on a broken system, so llama.cpp is loaded in a child process and Qt is not loaded.
"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

import app
from app.core.display import PACKAGES, has_display, missing_library
from app.core.logs import redact
from app.core.paths import Paths, builtin_draft, builtin_target
from engine.sandbox.library_facts import query_llama_cpp

FOLDERS = ("config", "data", "cache", "logs", "models")
MIN_FREE_BYTES = 200_000_000  # for chats, settings and caches; models are checked before their download
_REINSTALL = "Install Paceline again: “make run” in its folder, or “pip install --force-reinstall llama-cpp-python”."


class Level(StrEnum):
    """How serious a finding is."""

    OK = "fine"
    NOTE = "note"  # works, but could be better
    PROBLEM = "fault"  # something does not work


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check, with advice if something is wrong."""

    subject: str
    level: Level
    message: str
    advice: str = ""


def examine(paths: Paths) -> tuple[Finding, ...]:
    """Run all checks, in the order of a start. The texts name no home folder, since they may be shown to others."""
    library = query_llama_cpp(paths.cache)
    found = (
        _program(),
        *_llama(library),
        *_gpus(library),
        _display(),
        *(_folder(f"Folder for {name}", getattr(paths, name)) for name in FOLDERS),
        _builtin_models(),
        _memory(),
    )
    return tuple(replace(one, message=private(one.message), advice=private(one.advice)) for one in found)


def private(text: str) -> str:
    """The text without the home folder's name and without tokens."""
    home = str(Path.home())
    return redact(text.replace(home, "~") if len(home) > 1 else text)


def _program() -> Finding:
    kind = "a bundle" if getattr(sys, "frozen", False) else "Python packages"
    message = f"Paceline {app.__version__} as {kind}, Python {platform.python_version()}, {platform.platform()}."
    return Finding("Paceline", Level.OK, message)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _llama(library: dict[str, Any]) -> Iterator[Finding]:
    build = _version("llama-cpp-python") or "of the bundle"
    if "error" in library:
        message = f"It cannot be loaded: {library['error'].rstrip('.')}."
        yield Finding("llama.cpp", Level.PROBLEM, message, _advice(library["error"]))
        return
    names = "; ".join(library["libraries"]) or "its files are not known on this system"
    yield Finding("llama.cpp", Level.OK, f"Version {build}: {names}.")
    features = f"{library['processor']}, {library['cores']} cores. llama.cpp uses: {library['system_info']}."
    yield Finding("Processor", Level.OK, features)
    yield _heads(library.get("heads_lack", {}))
    for notice in library["notices"]:
        yield Finding("llama.cpp", Level.NOTE, notice)


def _heads(lack: dict[str, list[str]]) -> Finding:
    if not any(lack.values()):
        message = f"This build can run heads of the kinds {' and '.join(lack)}."
        return Finding("Heads", Level.OK, message)
    lines = [f"no {', '.join(names)}, which {method} needs" for method, names in lack.items() if names]
    message = f"This build of llama.cpp has {'; '.join(lines)}. All other modes work."
    return Finding("Heads", Level.NOTE, message, f"To have them: {_REINSTALL}")


def _advice(error: str) -> str:
    if "libgomp" in error:
        return "Type: sudo apt install libgomp1"
    if "SIGILL" in error:
        return f"It was built for another processor. {_REINSTALL}"
    return _REINSTALL


def _gpus(library: dict[str, Any]) -> Iterator[Finding]:
    """The GPUs that this build uses; if it uses none, the GPUs of the system."""
    for gpu in library.get("gpus", ()):
        total, free = gpu["total_bytes"], gpu["free_bytes"]
        size = "its memory is not known" if total is None else f"{total / 1e9:.1f} GB, {free / 1e9:.1f} GB free"
        yield Finding("GPU", Level.OK, f"{gpu['name']}: {size}.")
    if library.get("gpus"):
        yield _gpu_check(library.get("gpu_verdict"), library.get("gpu_notice"))
    if not library.get("gpus") and "error" not in library:
        yield _no_gpu(graphics_of_system(), library.get("gpu_backends", ()))


def _gpu_check(verdict: str | None, notice: str | None) -> Finding:
    """The result of the small test model that an earlier start ran on the GPU."""
    if verdict is None:
        message = "It was not tested yet: that is done once, when the first model is opened."
        return Finding("GPU test", Level.OK, message)
    if notice is None:
        return Finding("GPU test", Level.OK, "A small model ran correctly on it.")
    return Finding("GPU test", Level.NOTE, notice, "Update its driver, then start Paceline: it is tested again.")


def _no_gpu(present: list[str], backends: Sequence[str]) -> Finding:
    """``present``: the system's GPUs; ``backends``: GPU backends that llama.cpp was built with."""
    can = f"can use a GPU ({', '.join(backends)}) and found none" if backends else "was built for the processor only"
    if not present:  # only Linux lists its devices
        return Finding("GPU", Level.OK, f"Models run on the processor: no GPU is known, and llama.cpp {can}.")
    message = f"This system has {', '.join(present)}, but llama.cpp {can}."
    return Finding("GPU", Level.NOTE, message, "How to use it: docs/gpu.md.")


def graphics_of_system(root: Path = Path("/")) -> list[str]:
    found = []
    if (root / "proc/driver/nvidia/version").exists():
        found.append("an NVIDIA driver")
    if (root / "dev/kfd").exists():
        found.append("an AMD compute device")
    if any((root / "dev/dri").glob("renderD*")):
        found.append("a graphics device")
    return found


def _display() -> Finding:
    if not has_display():
        advice = 'For the window, start it on a desktop; in a terminal, use: paceline run --prompt "..."'
        return Finding("Display", Level.NOTE, "There is none: neither DISPLAY nor WAYLAND_DISPLAY is set.", advice)
    missing = missing_library()
    if missing:
        package = PACKAGES.get(missing)
        advice = f"Type: sudo apt install {package}" if package else "Install it with your system's package manager."
        message = f"The window cannot open: {missing}, which Qt needs, is missing."
        return Finding("Display", Level.PROBLEM, message, advice)
    return Finding("Display", Level.OK, "There is one, and the libraries that Qt needs for it.")


def _folder(subject: str, folder: Path, write: Callable[[Path], None] | None = None) -> Finding:
    """Try to write into ``folder``, or its nearest existing parent."""
    parent = next((one for one in (folder, *folder.parents) if one.is_dir()), Path(folder.anchor))
    advice = "Allow writing to it, or set PACELINE_HOME to a folder of your own."
    try:
        (write or _try_to_write)(parent)
    except OSError as error:
        return Finding(subject, Level.PROBLEM, f"{folder} cannot be written to: {error.strerror or error}.", advice)
    free = shutil.disk_usage(parent).free
    if free < MIN_FREE_BYTES:
        message = f"{folder}: only {free / 1e6:.0f} MB of the disk are free."
        return Finding(subject, Level.PROBLEM, message, "Free some space, or nothing more can be saved.")
    return Finding(subject, Level.OK, f"{folder}, {free / 1e9:.1f} GB free.")


def _try_to_write(folder: Path) -> None:
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, os.strerror(13))
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())


def _builtin_models() -> Finding:
    missing = [file.name for file in (builtin_target(), builtin_draft()) if not file.is_file()]
    if missing:
        return Finding("Built-in models", Level.PROBLEM, f"Missing: {', '.join(missing)}.", "Install Paceline again.")
    return Finding("Built-in models", Level.OK, "The pair for the first steps is there.")


def _memory() -> Finding:
    memory = psutil.virtual_memory()
    message = f"{memory.total / 1e9:.1f} GB, {memory.available / 1e9:.1f} GB free."
    return Finding("Memory", Level.OK, message)
