"""Loads llama.cpp once, records its log lines, and describes this build."""

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
from engine.kernels.build_options import KERNELS_256_BIT, KERNELS_ORDERED, wanted_kernels
from engine.llama import gpu_verdict
from engine.sentences import Sentence, i18n

OWN_VARIANTS_FOLDER = "few_tokens"  # subfolder with this project's variants of the CPU backend
VARIANT_VARIABLE = "PACELINE_CPU_VARIANT"  # its value, such as "haswell", overrides the choice
_OWN_VARIANTS = {KERNELS_256_BIT: "zen4", KERNELS_ORDERED: "zen5"}
_DEVICE_BACKENDS = ("cuda", "hip", "metal", "vulkan", "sycl", "blas")  # backends other than the CPU's
# The OpenMP threads of a CPU build spin at barriers. Without a limit, speed collapses to a few tokens per second as
# soon as another program (or our own window) needs a core; with a limit, an idle machine loses about 4%. The OpenMP
# runtime reads the variable when the library is loaded, so it must be set before the import below.
if not {"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"} & os.environ.keys():
    os.environ["GOMP_SPINCOUNT"] = "10000"
# A failed assertion would start an installed debugger, which hangs the window.
os.environ.setdefault("GGML_NO_BACKTRACE", "1")
try:
    import llama_cpp.llama_cpp as lib
except (ImportError, OSError, RuntimeError, AttributeError) as error:
    raise NativeLibraryError(i18n("{reason}.", reason=str(error) or type(error).__name__)) from error
log = logging.getLogger(__name__)
_FUNCTIONS = r"(?:[a-z0-9]+(?:_[a-z0-9]+)+: )*"
_PREFIX = re.compile(f"^{_FUNCTIONS}(?:error loading model: )?{_FUNCTIONS}")
GPU_BACKENDS = ("cuda", "hip", "metal", "sycl", "vulkan")
GPU_TYPES = (1, 2)  # ggml-backend.h's enum ggml_backend_dev_type: 1 a dedicated GPU, 2 one that shares main memory
TINY_MODEL_PARAMS = 20_000_000  # smaller models are faster on a single thread
# ggml.h's enum ggml_log_level: 1 debug, 2 info, 3 warning, 4 error, 5 continuation. Its levels are lowered by one,
# since many of llama.cpp's warnings are of no use to users.
_LEVELS = {1: logging.DEBUG, 2: logging.DEBUG, 3: logging.INFO, 4: logging.INFO, 5: logging.DEBUG}
_ERROR_LEVEL = 4
# Parts of log lines about buffers, layers on devices, and moved tensors.
_PLACE_MARKS = (" buffer size = ", " assigned to device ", " buffer type overridden to ")
_recent_errors: collections.deque[str] = collections.deque(maxlen=20)
_recent_placements: collections.deque[str] = collections.deque(maxlen=8192)  # one line per layer and moved tensor
_started: list[Any] = []
_starting = threading.Lock()  # prevents two threads from loading backends twice
_interrupts: list[bool] = []  # not empty if Ctrl+C was pressed while a line was logged
_disabled: list[str] = []  # kernels that fail in this process
_inexact: list[bool] = []  # not empty if the check at the first start found different bits
# Names of llama.cpp's library files on all platforms.
_LLAMA_FILES = re.compile(r"(?:lib)?(?:llama|ggml(?:-[\w-]+)?)(?:\.\d+)*\.(?:so(?:\.\d+)*|dylib|dll)")
# Names of driver files: Vulkan's of all vendors, and those of CUDA, ROCm and SYCL.
_DRIVER_FILES = re.compile(
    r"(?:lib)?(?:vulkan|cuda|nvcuda|nvoglv|amdhip|amdvlk|hsa-runtime|ze_intel|igvk)", re.IGNORECASE
)
_NVIDIA_VERSION = Path("/proc/driver/nvidia/version")  # NVIDIA's Vulkan driver uses OpenGL's files
_ELF_BUILD_ID = re.compile(rb"\x04\x00{3}([\x08-\x20])\x00{3}\x03\x00{3}GNU\x00", re.DOTALL)
_NOTES_BYTES = 65536  # bytes at the beginning of a file that contain the linker's notes
_BUILD_DIGITS = 12
_DELETED = " (deleted)"  # suffix of a mapped file that was replaced or removed
# Functions of llama.cpp that the set-up's kernel files rename. The new name shows that a library has the kernels.
_X86_MARKS = {
    "attention": b"ggml_compute_forward_flash_attn_ext_stock",
    "few_tokens": b"ggml_gemm_q4_0_8x8_q8_0_stock",
    "few_tokens_sgemm": b"llamafile_sgemm_stock",
    "few_tokens_tiled": b"ggml_compute_forward_mul_mat_tiled_stock",
}
_ARM_MARKS = {
    "attention": _X86_MARKS["attention"],
    "few_tokens_arm_q4_k": b"ggml_gemm_q4_K_8x4_q8_K_stock",
    "few_tokens_tiled": _X86_MARKS["few_tokens_tiled"],
}
KERNEL_MARKS = _ARM_MARKS if platform.machine() in ("aarch64", "arm64") else _X86_MARKS


# Loads ggml's backends if llama.cpp was built to load them at run time, as in a bundle. (Most builds have them compiled
# in.) The CPU backend has a variant for each kind of processor, and `OWN_VARIANTS_FOLDER` has variants with this
# project's kernels (`engine/kernels/`). ggml chooses a variant by the processor's features, which does not suffice for
# this project's variants.


def load_backends(ggml: Any, folder: Path) -> None:  # noqa: ANN401  (the binding ships no types)
    """Load the backends in ``folder`` into libllama's ``ggml``, unless it has backends already or is None.

    (A ggml loaded from its own file could be a second instance with separate backends.)
    """
    if ggml is None or not hasattr(ggml, "ggml_backend_load"):
        return
    ggml.ggml_backend_reg_count.restype = ctypes.c_size_t
    ggml.ggml_backend_load.argtypes, ggml.ggml_backend_load.restype = [ctypes.c_char_p], ctypes.c_void_p
    if ggml.ggml_backend_reg_count() > 0:
        return
    chosen = find_kernel_variant(folder)
    if chosen is not None and ggml.ggml_backend_load(os.fsencode(chosen)):
        log.info("llama.cpp computes with %s", chosen.name)
        for name in _DEVICE_BACKENDS:
            if (file := folder / file_name(f"ggml-{name}")).is_file() and not ggml.ggml_backend_load(os.fsencode(file)):
                log.info("%s has nothing to work with here", file.name)
        return
    ggml.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
    ggml.ggml_backend_load_all_from_path.restype = None
    ggml.ggml_backend_load_all_from_path(os.fsencode(folder))


def find_kernel_variant(folder: Path) -> Path | None:
    """The project's variant for this machine; None leaves the choice to ggml."""
    forced = os.environ.get(VARIANT_VARIABLE, "")
    if forced:
        file = folder / file_name(f"ggml-cpu-{Path(forced).name}")
    else:
        file = folder / OWN_VARIANTS_FOLDER / file_name(f"ggml-cpu-{_OWN_VARIANTS.get(wanted_kernels(''), 'none')}")
    return file if file.is_file() else None


def file_name(library: str) -> str:
    if sys.platform == "win32":
        return f"{library}.dll"
    return f"lib{library}.dylib" if sys.platform == "darwin" else f"lib{library}.so"


@lib.llama_log_callback  # type: ignore[untyped-decorator]
def on_log(level: int, text: bytes, _user_data: ctypes.c_void_p) -> None:
    try:
        _record_line(level, text.decode("utf-8", "replace").rstrip())
    except KeyboardInterrupt:  # ctypes would print it and lose it
        _interrupts.append(True)


def _record_line(level: int, line: str) -> None:
    if not line or line == ".":
        return
    if level == _ERROR_LEVEL:
        _recent_errors.append(line)
    elif any(mark in line for mark in _PLACE_MARKS):
        _recent_placements.append(line)
    log.log(_LEVELS.get(level, logging.DEBUG), "%s", line)


def start() -> Any:  # noqa: ANN401  (the binding ships no types)
    """Start llama.cpp, record its log, and return the low-level binding. Cheap after the first call."""
    with _starting:
        if not _started:
            lib.llama_log_set(on_log, ctypes.c_void_p(0))
            load_backends(_find_ggml(), _folder())
            lib.llama_backend_init()
            _started.append(lib)
    return lib


@contextmanager
def collected_errors() -> Iterator[list[str]]:
    """Collect the error lines that llama.cpp logs inside the block; the list is filled when the block ends.

    Raises:
        KeyboardInterrupt: Ctrl+C was pressed while a line was logged.
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
def placement_lines() -> Iterator[list[str]]:
    """Collect llama.cpp's log lines on buffers and devices inside the block; the list is filled when the block ends."""
    _recent_placements.clear()
    lines: list[str] = []
    try:
        yield lines
    finally:
        lines.extend(_recent_placements)


def clear_errors() -> None:
    """Make `last_error` ignore earlier errors."""
    _recent_errors.clear()


def last_error() -> str:
    """llama.cpp's first logged error since `collected_errors` or `clear_errors`, without function names, or empty."""
    for line in _recent_errors:
        reason = _PREFIX.sub("", line).strip()
        if reason and not reason.startswith("failed to load model"):
            return reason
    return ""


def ggml() -> Any:  # noqa: ANN401  (the binding ships no types)
    """The ggml library with the devices of the loaded libllama; None if not found."""
    start()
    return _find_ggml()


@cache
def _find_ggml() -> Any:  # noqa: ANN401
    for source in (_ggml_of_llama, _ggml_of_package):
        try:
            found = source()
            _declare_device_functions(found)
        except (ImportError, OSError, AttributeError, RuntimeError) as error:
            log.info("ggml's devices are not there: %s", error)
        else:
            return found
    return None


def _ggml_of_llama() -> Any:  # noqa: ANN401
    return lib._lib  # noqa: SLF001  (on most systems a library exports the symbols that it needs as well)


def _ggml_of_package() -> Any:  # noqa: ANN401
    from llama_cpp._ggml import libggml  # noqa: PLC0415  (a second copy, if a variable names another library)

    return libggml


def _declare_device_functions(found: Any) -> None:  # noqa: ANN401
    """Set argument and result types; raises AttributeError if a function is missing."""
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
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, arguments


def device_handles() -> tuple[int, ...]:
    """Ggml's handles of all devices of this machine, including the CPU."""
    found = ggml()
    if found is None:
        return ()
    return tuple(int(found.ggml_backend_dev_get(number)) for number in range(found.ggml_backend_dev_count()))


def supports_gpu() -> bool:
    """Whether llama.cpp has a working GPU on this machine."""
    if gpu_verdict.excludes_gpus() or not start().llama_supports_gpu_offload():
        return False
    found = ggml()
    return found is None or any(found.ggml_backend_dev_type(device) in GPU_TYPES for device in device_handles())


def compiled_files() -> list[Path]:
    folder = _folder()
    return [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []


def gpu_backends() -> tuple[str, ...]:
    """The GPU backends of this build, such as "cuda", even without a device."""
    files = {path.name for path in compiled_files()}
    return tuple(name for name in GPU_BACKENDS if any(re.match(rf"(?:lib)?ggml-{name}\.", file) for file in files))


def _folder() -> Path:
    return Path(lib.__file__).parent / "lib"


@dataclass(frozen=True, slots=True)
class LoadedLibrary:
    """A library of llama.cpp in this process, which may differ from the installed package's.

    ``build`` is the linker's id, or a digest of a file without an id, shortened; empty if the file is gone. ``kernels``
    are the names (`KERNEL_MARKS`) of the set-up's kernels in it.
    """

    path: Path
    is_from_package: bool
    build: str
    kernels: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """One line with origin, name, build and kernels, without the folder."""
        facts = f"build {self.build or 'unknown'}"
        if "ggml-cpu" in self.path.name:
            missing = len(KERNEL_MARKS) - len(self.kernels)
            own = f"of the set-up's kernels only {', '.join(self.kernels)}" if missing else "the set-up's kernels"
            facts += f", {own if self.kernels else 'no kernels of the set-up'}"
        return f"{'the package’s' if self.is_from_package else 'ANOTHER library:'} {self.path.name} ({facts})"


def loaded_libraries() -> tuple[LoadedLibrary, ...]:
    """The libraries of llama.cpp in this process, sorted by name; empty if the system does not list them.

    An ``LD_LIBRARY_PATH`` with another build silently replaces the package's.
    """
    paths = sorted({path for path in _mapped_files() if _LLAMA_FILES.fullmatch(Path(path.removesuffix(_DELETED)).name)})
    return tuple(_describe_libraries(path) for path in paths)


def library_notices() -> tuple[Sentence, ...]:
    """Notices for the user about this llama.cpp; empty if it is the package's with the set-up's kernels."""
    others = ", ".join(library.path.name for library in loaded_libraries() if not library.is_from_package)
    if others:
        return (
            i18n(
                "llama.cpp is not the one that Paceline was installed with: {names} came from another folder, by a "
                "variable such as LD_LIBRARY_PATH. Speed and answers are those of that build.",
                names=others,
            ),
        )
    missing = ", ".join(_missing_kernels())
    if not missing:
        return ()
    return (
        i18n(
            "llama.cpp lacks the kernels that the set-up builds for this processor ({names}), so drafting gains less. "
            "“make run” builds them in; engine/kernels/README.md says more.",
            names=missing,
        ),
    )


def has_every_kernel() -> bool:
    """Whether this process's library has and uses all of the set-up's kernels, and no check found them inexact."""
    built = [library.kernels for library in loaded_libraries() if "ggml-cpu" in library.path.name]
    return uses_repacking() and not _inexact and any(set(kernels) == set(KERNEL_MARKS) for kernels in built)


def mark_kernels_inexact() -> None:
    """Record that the bits of a row depend on the pass, as the check of the kernels found."""
    _inexact.append(True)


def _missing_kernels() -> tuple[str, ...]:
    """Names in `KERNEL_MARKS` that this processor needs and the package's library lacks.

    Empty in a frozen program, which users cannot rebuild, and on a GPU.
    """
    if getattr(sys, "frozen", False) or supports_gpu() or not wanted_kernels(""):
        return ()
    built = [library.kernels for library in loaded_libraries() if "ggml-cpu" in library.path.name]
    return tuple(name for name in KERNEL_MARKS if built and not any(name in kernels for kernels in built))


def _mapped_files() -> list[str]:
    """The files that are mapped into this process; empty if the system does not list them."""
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
def _describe_libraries(mapped: str) -> LoadedLibrary:
    """Examine a library file; cached, since it may have hundreds of megabytes."""
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
    except (OSError, ValueError):  # an empty file cannot be mapped
        return LoadedLibrary(path, is_package, "")


def uses_repacking() -> bool:
    """Whether models are loaded with weights repacked for the CPU's fastest kernels."""
    return not _disabled


def disable_repacking() -> None:
    """Stop repacking weights, because the kernels fail on this CPU."""
    if not _disabled:
        _disabled.append("repacking")


def system_info() -> str:
    """The CPU and GPU features of this build, in llama.cpp's words."""
    return str(start().llama_print_system_info().decode("utf-8", "replace"))


def physical_cores() -> int:
    """Number of physical cores that this process may use."""
    physical = _cores_of_machine()
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else physical
    return max(1, min(physical, allowed))


@cache
def _cores_of_machine() -> int:
    """Cached, since counting reads a long file."""
    return psutil.cpu_count(logical=False) or os.cpu_count() or 1


def idle_seconds() -> float:
    """Total idle seconds of the cores of `physical_cores` since the machine started."""
    try:
        times = psutil.cpu_times(percpu=True)
    except OSError:  # hidden by a sandbox
        return 0.0
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(len(times))
    idle_s = [core.idle + getattr(core, "iowait", 0.0) for number, core in enumerate(times) if number in allowed]
    return sum(idle_s) * min(1.0, physical_cores() / max(1, len(idle_s)))


def default_threads(num_params: int) -> int:
    """Default number of threads before a measurement: all physical cores, but one for a tiny model."""
    return 1 if num_params < TINY_MODEL_PARAMS else physical_cores()


def build_facts() -> tuple[object, ...]:
    """The binding's version, and its compiled files with sizes and time stamps."""
    try:
        build = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:  # a frozen program may have no package metadata
        build = "unknown"
    return build, [_file_facts(path) for path in sorted(compiled_files())]


def driver_facts() -> tuple[object, ...]:
    """The GPU drivers in this process: files with sizes and time stamps, and the system's version.

    A driver is loaded when devices are searched, and each version has its own file. Libraries that only the window
    loads are left out, so that the facts are equal in all of the program's processes.
    """
    start()
    paths = {Path(path.removesuffix(_DELETED)) for path in _mapped_files()}
    drivers = (path for path in paths if _DRIVER_FILES.match(path.name) and path.is_file())
    try:
        nvidia = _NVIDIA_VERSION.read_text("utf-8", "replace")
    except OSError:  # no such driver, or not Linux
        nvidia = ""
    return platform.version(), nvidia, [_file_facts(path) for path in sorted(drivers)]


def _file_facts(path: Path) -> tuple[str, int, int]:
    facts = path.stat()
    return path.name, facts.st_size, facts.st_mtime_ns


def machine_facts() -> tuple[object, ...]:
    """Facts of this machine and build that affect the cost of a pass, for keys of measured costs."""
    spin = os.environ.get("GOMP_SPINCOUNT", os.environ.get("OMP_WAIT_POLICY", ""))
    loaded = loaded_libraries()
    others = [(str(library.path), library.build) for library in loaded if not library.is_from_package]
    variants = [library.path.name for library in loaded if "ggml-cpu-" in library.path.name]  # a bundle has many
    return (*build_facts(), system_info(), _processor_line(), physical_cores(), spin, *_disabled, *others, *variants)


def processor_name() -> str:
    return _processor_line().rpartition(":")[2].strip()


def _processor_line() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:  # not Linux
        return platform.processor()
    return next((line for line in lines if line.startswith("model name")), platform.machine())
