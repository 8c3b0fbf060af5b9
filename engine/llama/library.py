"""Loads llama.cpp once, keeps its log lines, and knows what this build can do. Knows no model and no context."""

from __future__ import annotations

import collections
import ctypes
import logging
import os
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

# The OpenMP threads of a CPU build spin at barriers. Left to itself, that collapses to a few tokens a second as soon as
# another program (or our own painting window) wants a core; with a bounded spin the idle machine loses about 4 %.
# Read by the OpenMP runtime when the library is loaded, so it must be set before the import below.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "10000"

# A failed assertion in a build with a debugger at hand would start it and hang the window.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")

import llama_cpp.llama_cpp as lib

log = logging.getLogger(__name__)

_FUNCTIONS = r"(?:[a-z0-9]+(?:_[a-z0-9]+)+: )*"
_PREFIX = re.compile(f"^{_FUNCTIONS}(?:error loading model: )?{_FUNCTIONS}")
TINY_MODEL_PARAMS = 20_000_000  # below this, handing work to a second thread costs more than it saves
# ggml.h's enum ggml_log_level: 1 debug, 2 info, 3 warning, 4 error, 5 continuation. llama.cpp warns about much that a
# user can do nothing about, so its lines stay one step below ours.
_LEVELS = {1: logging.DEBUG, 2: logging.DEBUG, 3: logging.INFO, 4: logging.INFO, 5: logging.DEBUG}
_ERROR_LEVEL = 4
_recent_errors: collections.deque[str] = collections.deque(maxlen=20)
_recent_buffers: collections.deque[str] = collections.deque(maxlen=200)
_started: list[Any] = []
_interrupts: list[bool] = []  # Ctrl+C while a line was logged
_forgone: list[str] = []  # kernels that do not work in this process


@lib.llama_log_callback  # type: ignore[untyped-decorator]
def _on_log(level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
    try:
        _keep_line(level, text.decode("utf-8", "replace").rstrip())
    except KeyboardInterrupt:  # from here it would be printed and lost
        _interrupts.append(True)


def _keep_line(level: int, line: str) -> None:
    if not line or line == ".":
        return
    if level == _ERROR_LEVEL:
        _recent_errors.append(line)
    elif " buffer size = " in line:
        _recent_buffers.append(line)
    log.log(_LEVELS.get(level, logging.DEBUG), "%s", line)


def start() -> Any:  # noqa: ANN401  (the binding ships no types)
    """The low-level binding, with llama.cpp started and its log caught. Cheap after the first call."""
    if not _started:
        lib.llama_log_set(_on_log, ctypes.c_void_p(0))
        lib.llama_backend_init()
        _started.append(lib)
    return lib


@contextmanager
def errors() -> Iterator[list[str]]:
    """Collect the error lines that llama.cpp logs inside the block; the list is filled when the block ends.

    Raises:
        KeyboardInterrupt: Ctrl+C was pressed while one was logged.
    """
    _recent_errors.clear()
    lines: list[str] = []
    try:
        yield lines
    finally:
        lines.extend(_recent_errors)
        if _interrupts:
            _interrupts.clear()
            raise KeyboardInterrupt


@contextmanager
def buffers() -> Iterator[list[str]]:
    """Collect the lines on buffers that llama.cpp logs inside the block; the list is filled when the block ends."""
    _recent_buffers.clear()
    lines: list[str] = []
    try:
        yield lines
    finally:
        lines.extend(_recent_buffers)


def forget_errors() -> None:
    """Begin anew, so that `last_error` tells of what follows only."""
    _recent_errors.clear()


def last_error() -> str:
    """llama.cpp's own first reason since `errors` or `forget_errors`, without function names; empty if it gave none."""
    for line in _recent_errors:
        reason = _PREFIX.sub("", line).strip()
        if reason and not reason.startswith("failed to load model"):
            return reason
    return ""


def supports_gpu() -> bool:
    """Whether this build of llama.cpp can put layers on a GPU."""
    return bool(start().llama_supports_gpu_offload())


def compiled_files() -> list[Path]:
    """The libraries of this build."""
    folder = Path(lib.__file__).parent / "lib"
    return [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []


def uses_repacking() -> bool:
    """Whether models are loaded with weights laid out for this processor's fastest kernels."""
    return not _forgone


def forgo_repacking() -> None:
    """Load no more models that way: those kernels do not work here."""
    if not _forgone:
        _forgone.append("repacking")


def system_info() -> str:
    """The CPU and GPU features of this build, in llama.cpp's words."""
    return str(start().llama_print_system_info().decode("utf-8", "replace"))


def physical_cores() -> int:
    """Cores that this process may compute on, two threads of one core counted once."""
    physical = _cores_of_machine()
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


@cache
def _cores_of_machine() -> int:
    """Counting them reads a long file."""
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


def idle_seconds() -> float:
    """Seconds that the cores of `physical_cores` have idled since the machine started, added up."""
    try:
        times = psutil.cpu_times(percpu=True)
    except OSError:  # a sandbox may hide them: then none is known to be idle
        return 0.0
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(times))
    idle_s = [core.idle + getattr(core, "iowait", 0.0) for number, core in enumerate(times) if number in allowed]
    return sum(idle_s) * min(1.0, physical_cores() / max(1, len(idle_s)))


def default_threads(num_params: int) -> int:
    """Threads for a model of this size before anything was measured: physical cores, but one for a tiny model."""
    return 1 if num_params < TINY_MODEL_PARAMS else physical_cores()


def machine_facts() -> tuple[object, ...]:
    """What of this machine and build changes what a pass costs: for keys of measured costs."""
    try:
        build = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:  # a frozen program may carry no package metadata
        build = "unknown"
    spin = os.environ.get("GOMP_SPINCOUNT", os.environ.get("OMP_WAIT_POLICY", ""))
    files = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(compiled_files())]
    return (build, files, system_info(), _processor_name(), physical_cores(), spin, *_forgone)


def _processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), platform.machine())
