"""Loads llama.cpp once, keeps its log lines, and tells what this build can do."""

from __future__ import annotations

import collections
import ctypes
import hashlib
import logging
import mmap
import os
import platform
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from engine.errors import NativeLibraryError
from engine.kernels.build_options import NARROW, ORDERED, wanted_kernels
from engine.llama import gpu_verdict
from engine.sentences import Sentence, said

FEW_TOKENS = "few_tokens"  # the folder of our variants, beside llama.cpp's
VARIANT_VARIABLE = "PACELINE_CPU_VARIANT"  # the name of one, as "haswell": for tests, and where a choice is wrong
_OURS = {NARROW: "zen4", ORDERED: "zen5"}
_DEVICES = ("cuda", "hip", "metal", "vulkan", "sycl", "rpc", "blas")  # backends beside the processor's
# The OpenMP threads of a CPU build spin at barriers. Left to itself, that collapses to a few tokens a second as soon as
# another program (or our own painting window) wants a core; with a bounded spin the idle machine loses about 4%.
# Read by the OpenMP runtime when the library is loaded, so it must be set before the import below.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "10000"
# A failed assertion in a build with a debugger at hand would start it and hang the window.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")
try:
    import llama_cpp.llama_cpp as lib
except (ImportError, OSError, RuntimeError, AttributeError) as error:
    raise NativeLibraryError(said("{reason}.", reason=str(error) or type(error).__name__)) from error
log = logging.getLogger(__name__)
_FUNCTIONS = r"(?:[a-z0-9]+(?:_[a-z0-9]+)+: )*"
_PREFIX = re.compile(f"^{_FUNCTIONS}(?:error loading model: )?{_FUNCTIONS}")
GPU_BACKENDS = ("cuda", "hip", "metal", "sycl", "vulkan")
GPU_TYPES = (1, 2)  # ggml-backend.h's enum ggml_backend_dev_type: 1 a GPU of its own, 2 one that shares main memory
TINY_MODEL_PARAMS = 20_000_000  # below this, handing work to a second thread costs more than it saves
# ggml.h's enum ggml_log_level: 1 debug, 2 info, 3 warning, 4 error, 5 continuation. llama.cpp warns about much that a
# user can do nothing about, so its lines stay one step below ours.
_LEVELS = {1: logging.DEBUG, 2: logging.DEBUG, 3: logging.INFO, 4: logging.INFO, 5: logging.DEBUG}
_ERROR_LEVEL = 4
# Of lines about what lies where: buffers, layers on devices, single tensors elsewhere.
_PLACE_MARKS = (" buffer size = ", " assigned to device ", " buffer type overridden to ")
_recent_errors: collections.deque[str] = collections.deque(maxlen=20)
_recent_places: collections.deque[str] = collections.deque(maxlen=8192)  # a line for each layer and moved tensor
_started: list[Any] = []
_starting = threading.Lock()  # backends that are loaded by two threads at once would be there twice
_interrupts: list[bool] = []  # Ctrl+C while a line was logged
_disabled: list[str] = []  # kernels that do not work in this process
_inexact: list[bool] = []  # where the check at the first start found bits that differ
# Files of llama.cpp as the platforms name them; what else is in a process has other names.
_LLAMA_FILES = re.compile(r"(?:lib)?(?:llama|ggml(?:-[\w-]+)?)(?:\.\d+)*\.(?:so(?:\.\d+)*|dylib|dll)")
# Of drivers: Vulkan's by any vendor, and what CUDA, ROCm and SYCL load.
_DRIVER_FILES = re.compile(
    r"(?:lib)?(?:vulkan|cuda|nvcuda|nvoglv|amdhip|amdvlk|hsa-runtime|ze_intel|igvk)", re.IGNORECASE
)
_NVIDIA_VERSION = Path("/proc/driver/nvidia/version")  # the files of its Vulkan driver go by OpenGL's names
_ELF_BUILD_ID = re.compile(rb"\x04\x00{3}([\x08-\x20])\x00{3}\x03\x00{3}GNU\x00", re.DOTALL)
_NOTES_BYTES = 65536  # the linker puts its notes at the beginning
_BUILD_DIGITS = 12
_DELETED = " (deleted)"  # behind the name of a file that was replaced or removed while it is in use
# What each of the set-up's files of kernels calls llama.cpp's own function, which stays in the library beside ours.
_OF_X86 = {
    "attention": b"ggml_compute_forward_flash_attn_ext_stock",
    "few_tokens": b"ggml_gemm_q4_0_8x8_q8_0_stock",
    "few_tokens_sgemm": b"llamafile_sgemm_stock",
    "few_tokens_tiled": b"ggml_compute_forward_mul_mat_tiled_stock",
}
_OF_ARM = {
    "attention": _OF_X86["attention"],
    "few_tokens_arm_q4_k": b"ggml_gemm_q4_K_8x4_q8_K_stock",
    "few_tokens_tiled": _OF_X86["few_tokens_tiled"],
}
KERNEL_MARKS = _OF_ARM if platform.machine() in ("aarch64", "arm64") else _OF_X86


# Loads ggml's backends where llama.cpp was built to find them at run time, as a bundle's is.
#
# Most builds have them compiled in; then nothing is done. Else the processor's backend lies there in a variant for
# each kind of processor, and beside them, in `FEW_TOKENS`, those with this project's products for passes of few tokens
# (`engine/kernels/`). ggml takes the variant with the most features of this machine; which of ours suits it, it cannot
# know.


def load_backends(ggml: Any, folder: Path) -> None:  # noqa: ANN401  (the binding ships no types)
    """Have ``ggml``, the one of libllama, load the backends in ``folder``; nothing where it has some, or is None.

    Loaded once more by its own file, ggml could be a second one, with backends of its own.
    """
    if ggml is None or not hasattr(ggml, "ggml_backend_load"):
        return
    ggml.ggml_backend_reg_count.restype = ctypes.c_size_t
    ggml.ggml_backend_load.argtypes, ggml.ggml_backend_load.restype = [ctypes.c_char_p], ctypes.c_void_p
    if ggml.ggml_backend_reg_count() > 0:
        return
    chosen = find_variant(folder)
    if chosen is not None and ggml.ggml_backend_load(os.fsencode(chosen)):
        log.info("llama.cpp computes with %s", chosen.name)
        for name in _DEVICES:
            if (file := folder / file_name(f"ggml-{name}")).is_file() and not ggml.ggml_backend_load(os.fsencode(file)):
                log.info("%s has nothing to work with here", file.name)
        return
    ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
    ggml.ggml_backend_load_all_from_path.restype = None
    ggml.ggml_backend_load_all_from_path(os.fsencode(folder))


def find_variant(folder: Path) -> Path | None:
    """The variant that this machine calls for by more than its features; None leaves the choice to ggml."""
    forced = os.environ.get(VARIANT_VARIABLE, "")
    if forced:
        file = folder / file_name(f"ggml-cpu-{Path(forced).name}")
    else:
        file = folder / FEW_TOKENS / file_name(f"ggml-cpu-{_OURS.get(wanted_kernels(''), 'none')}")
    return file if file.is_file() else None


def file_name(library: str) -> str:
    """What a library is called on this system."""
    if sys.platform == "win32":
        return f"{library}.dll"
    return f"lib{library}.dylib" if sys.platform == "darwin" else f"lib{library}.so"


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
    elif any(mark in line for mark in _PLACE_MARKS):
        _recent_places.append(line)
    log.log(_LEVELS.get(level, logging.DEBUG), "%s", line)


def start() -> Any:  # noqa: ANN401  (the binding ships no types)
    """The low-level binding, with llama.cpp started and its log caught. Cheap after the first call."""
    with _starting:
        if not _started:
            lib.llama_log_set(_on_log, ctypes.c_void_p(0))
            load_backends(_find_ggml(), _folder())
            lib.llama_backend_init()
            _started.append(lib)
    return lib


def log_callback() -> Any:  # noqa: ANN401  (the binding ships no types)
    """What keeps log lines, for a library that logs by itself."""
    return _on_log


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
def places() -> Iterator[list[str]]:
    """Collect what llama.cpp logs inside the block on buffers and devices; the list is filled when the block ends."""
    _recent_places.clear()
    lines: list[str] = []
    try:
        yield lines
    finally:
        lines.extend(_recent_places)


def clear_errors() -> None:
    """Begin anew, so that `last_error` tells of what follows only."""
    _recent_errors.clear()


def last_error() -> str:
    """llama.cpp's own first reason since `errors` or `clear_errors`, without function names; empty if it gave none."""
    for line in _recent_errors:
        reason = _PREFIX.sub("", line).strip()
        if reason and not reason.startswith("failed to load model"):
            return reason
    return ""


def ggml() -> Any:  # noqa: ANN401  (the binding ships no types)
    """The part of ggml that knows devices, beside the libllama in use; None where it cannot be found there."""
    start()
    return _find_ggml()


@cache
def _find_ggml() -> Any:  # noqa: ANN401
    for source in (_ggml_of_llama, _ggml_of_package):
        try:
            found = source()
            _declare_devices(found)
        except (ImportError, OSError, AttributeError, RuntimeError) as error:
            log.info("ggml's devices are not there: %s", error)
        else:
            return found
    return None


def _ggml_of_llama() -> Any:  # noqa: ANN401
    return lib._lib  # noqa: SLF001  (a library gives its own symbols, and on most systems those that it needs)


def _ggml_of_package() -> Any:  # noqa: ANN401
    from llama_cpp._ggml import libggml  # noqa: PLC0415  (a second copy, where a variable put another in its place)

    return libggml


def _declare_devices(found: Any) -> None:  # noqa: ANN401
    """Say what the functions take and return; an AttributeError where one is missing."""
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_size_t)
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "ggml_backend_dev_count": (ctypes.c_size_t, []),
        "ggml_backend_dev_get": (handle, [ctypes.c_size_t]),
        "ggml_backend_dev_type": (ctypes.c_int, [handle]),
        "ggml_backend_dev_name": (text, [handle]),
        "ggml_backend_dev_description": (text, [handle]),
        "ggml_backend_dev_memory": (None, [handle, size, size]),
        "ggml_backend_dev_buffer_type": (handle, [handle]),
        "ggml_backend_buft_name": (text, [handle]),
        "ggml_backend_reg_by_name": (handle, [text]),
        "ggml_backend_reg_get_proc_address": (handle, [handle, text]),
        "ggml_backend_reg_dev_count": (ctypes.c_size_t, [handle]),
        "ggml_backend_reg_dev_get": (handle, [handle, ctypes.c_size_t]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments


def device_handles() -> tuple[int, ...]:
    """All devices of this build that were found on this machine, the processor included, as ggml knows them."""
    found = ggml()
    if found is None:
        return ()
    return tuple(int(found.ggml_backend_dev_get(number)) for number in range(found.ggml_backend_dev_count()))


def supports_gpu() -> bool:
    """Whether llama.cpp has a graphics processor here to put layers on; the RPC backend by itself is none.

    One that was tried and does not work is none either.
    """
    if gpu_verdict.leaves_gpus_out() or not start().llama_supports_gpu_offload():
        return False
    found = ggml()
    return found is None or any(found.ggml_backend_dev_type(device) in GPU_TYPES for device in device_handles())


def compiled_files() -> list[Path]:
    """The libraries of this build."""
    folder = _folder()
    return [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []


def gpu_backends() -> tuple[str, ...]:
    """The backends for graphics processors that this build has, as "cuda", whether or not they find one here."""
    files = {path.name for path in compiled_files()}
    return tuple(name for name in GPU_BACKENDS if any(re.match(rf"(?:lib)?ggml-{name}\.", file) for file in files))


def _folder() -> Path:
    """Where the binding's libraries lie."""
    return Path(lib.__file__).parent / "lib"


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """A library of llama.cpp as it is in this process, which is not always the installed package's.

    ``build`` is the linker's id, or a digest of the file where there is none, shortened; empty where the file is gone.
    ``kernels`` are the set-up's own that are in it, by the names of `KERNEL_MARKS`.
    """

    path: Path
    is_package: bool
    build: str
    kernels: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """Whose it is, its name, build and kernels, on one line and without a folder."""
        facts = f"build {self.build or 'unknown'}"
        if "ggml-cpu" in self.path.name:
            missing = len(KERNEL_MARKS) - len(self.kernels)
            own = f"of the set-up's kernels only {', '.join(self.kernels)}" if missing else "the set-up's kernels"
            facts += f", {own if self.kernels else 'no kernels of the set-up'}"
        return f"{'the package’s' if self.is_package else 'ANOTHER library:'} {self.path.name} ({facts})"


def loaded_libraries() -> tuple[LoadedLibrary, ...]:
    """Those of llama.cpp in this process, by name; none where the system does not tell.

    An ``LD_LIBRARY_PATH`` that names another build takes the place of the package's without a word.
    """
    paths = sorted({path for path in _mapped_files() if _LLAMA_FILES.fullmatch(Path(path.removesuffix(_DELETED)).name)})
    return tuple(_examine(path) for path in paths)


def library_notices() -> tuple[Sentence, ...]:
    """What a user should know about this llama.cpp: nothing where it is the package's, as the set-up builds it."""
    others = ", ".join(library.path.name for library in loaded_libraries() if not library.is_package)
    if others:
        return (
            said(
                "llama.cpp is not the one that Paceline was installed with: {names} came from another folder, by a "
                "variable such as LD_LIBRARY_PATH. Speed and answers are those of that build.",
                names=others,
            ),
        )
    missing = ", ".join(_missing_kernels())
    if not missing:
        return ()
    return (
        said(
            "llama.cpp lacks the kernels that the set-up builds for this processor ({names}), so drafting gains less. "
            "“make run” builds them in; engine/kernels/README.md says more.",
            names=missing,
        ),
    )


def has_every_kernel() -> bool:
    """Whether all of the set-up's kernels are in the library of this process, in use, and were not found wanting."""
    built = [library.kernels for library in loaded_libraries() if "ggml-cpu" in library.path.name]
    return uses_repacking() and not _inexact and any(set(kernels) == set(KERNEL_MARKS) for kernels in built)


def note_inexact() -> None:
    """Believe no more that rows have the same bits in every pass: they were compared, and had not."""
    _inexact.append(True)


def _missing_kernels() -> tuple[str, ...]:
    """Names in `KERNEL_MARKS` that this processor calls for and the package's library lacks.

    None in a frozen program, which its user cannot build anew, and none where a GPU computes.
    """
    if getattr(sys, "frozen", False) or supports_gpu() or not wanted_kernels(""):
        return ()
    built = [library.kernels for library in loaded_libraries() if "ggml-cpu" in library.path.name]
    return tuple(name for name in KERNEL_MARKS if built and not any(name in kernels for kernels in built))


def _mapped_files() -> list[str]:
    """The files that are mapped into this process, as far as the system tells."""
    if sys.platform == "darwin":
        dyld = ctypes.CDLL(None)
        dyld._dyld_get_image_name.restype = ctypes.c_char_p  # noqa: SLF001  (its name)
        names = (dyld._dyld_get_image_name(index) for index in range(dyld._dyld_image_count()))  # noqa: SLF001
        return [os.fsdecode(name) for name in names if name]
    try:
        lines = Path("/proc/self/maps").read_bytes().splitlines()
        return [os.fsdecode(fields[5]) for line in lines if len(fields := line.split(maxsplit=5)) == 6]
    except OSError:  # not Linux
        pass
    try:
        return [region.path for region in psutil.Process().memory_maps()]
    except (psutil.Error, OSError, AttributeError):
        return []


@cache
def _examine(mapped: str) -> LoadedLibrary:
    """Look at a file, which may have hundreds of megabytes: once."""
    path = Path(mapped.removesuffix(_DELETED))
    frozen = getattr(sys, "_MEIPASS", None)
    homes = (Path(lib.__file__).parent, *([Path(frozen)] if frozen else ()))
    is_package = any(path.resolve().is_relative_to(home.resolve()) for home in homes)
    try:
        if mapped.endswith(_DELETED):
            return LoadedLibrary(path, is_package, "")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            found = _ELF_BUILD_ID.search(content, 0, _NOTES_BYTES)
            build = content[found.end() : found.end() + found[1][0]].hex() if found else ""
            build = build or hashlib.file_digest(file, "sha256").hexdigest()
            marks = KERNEL_MARKS.items() if "ggml-cpu" in path.name else ()
            kernels = tuple(name for name, mark in marks if content.find(mark) >= 0)
        return LoadedLibrary(path, is_package, build[:_BUILD_DIGITS], kernels)
    except (OSError, ValueError):  # an empty one cannot be mapped
        return LoadedLibrary(path, is_package, "")


def uses_repacking() -> bool:
    """Whether models are loaded with weights laid out for this processor's fastest kernels."""
    return not _disabled


def disable_repacking() -> None:
    """Load no more models that way: those kernels do not work here."""
    if not _disabled:
        _disabled.append("repacking")


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


def build_facts() -> tuple[object, ...]:
    """The binding's version, and the compiled files with their sizes and times."""
    try:
        build = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:  # a frozen program may carry no package metadata
        build = "unknown"
    return build, [_file_facts(path) for path in sorted(compiled_files())]


def driver_facts() -> tuple[object, ...]:
    """The drivers of graphics processors in this process: their files with sizes and times, and the system's version.

    A driver is loaded when devices are looked for, and another version of it is another file. What a window or a
    library loads for itself is left out: the facts are the same in each of the program's processes.
    """
    start()
    paths = {Path(path.removesuffix(_DELETED)) for path in _mapped_files()}
    drivers = (path for path in paths if _DRIVER_FILES.match(path.name) and path.is_file())
    try:
        nvidia = _NVIDIA_VERSION.read_text("utf-8", "replace")
    except OSError:  # no driver of theirs, or not Linux
        nvidia = ""
    return platform.version(), nvidia, [_file_facts(path) for path in sorted(drivers)]


def _file_facts(path: Path) -> tuple[str, int, int]:
    facts = path.stat()
    return path.name, facts.st_size, facts.st_mtime_ns


def machine_facts() -> tuple[object, ...]:
    """What of this machine and build changes what a pass costs: for keys of measured costs."""
    spin = os.environ.get("GOMP_SPINCOUNT", os.environ.get("OMP_WAIT_POLICY", ""))
    loaded = loaded_libraries()
    others = [(str(library.path), library.build) for library in loaded if not library.is_package]
    variants = [library.path.name for library in loaded if "ggml-cpu-" in library.path.name]  # one of many in a bundle
    return (*build_facts(), system_info(), _processor_line(), physical_cores(), spin, *_disabled, *others, *variants)


def processor_name() -> str:
    """What the processor calls itself."""
    return _processor_line().rpartition(":")[2].strip()


def _processor_line() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), platform.machine())
