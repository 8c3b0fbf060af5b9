"""Collects facts about llama.cpp and its devices in a helper process, which a broken build or driver may crash.

Besides, CUDA allocates device memory in each process that lists devices.
"""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.errors import NativeLibraryError
from engine.records import Device, DeviceKind
from engine.sandbox.helper import HelperTimeoutError, run_helper
from engine.sandbox.probe import ask_child

LIBRARY_LIMIT_S = 60.0
_DEVICES_LIMIT_S = 20.0


def query_llama_cpp(cache_dir: Path | None = None, limit_s: float = LIBRARY_LIMIT_S) -> dict[str, Any]:
    """Run `library_facts` in a helper; ``cache_dir`` has verdicts of earlier starts.

    Returns only ``error`` if llama.cpp cannot be loaded, crashes or hangs.
    """
    try:
        ended = run_helper("library", [str(cache_dir)] if cache_dir is not None else [], limit_s=limit_s)
    except HelperTimeoutError:
        return {"error": f"it did not load within {limit_s:.0f} seconds"}
    except OSError as error:
        return {"error": error.strerror or str(error)}
    if ended.status < 0:
        return {"error": f"loading it ended the process ({ended.exit_reason})"}
    if ended.answer is not None:
        return ended.answer
    lines = ended.stderr.strip().splitlines()
    return {"error": lines[-1] if lines else f"its process ended with status {ended.status} and without an answer"}


def report_library(words: list[str]) -> dict[str, Any]:
    """The helper of `query_llama_cpp`: return the facts, or ``error`` with the loader's message."""
    try:
        return library_facts(Path(words[0]) if words else None)
    except NativeLibraryError as error:
        return {"error": error.message}


def library_facts(cache_dir: Path | None = None) -> dict[str, Any]:
    """Files and builds of the loaded llama.cpp, features, GPUs, and notices for the user.

    ``heads_lack``: for each kind of head, the functions that it needs but this build lacks. The verdict on the GPUs is
    read from ``cache_dir``.

    Raises:
        NativeLibraryError: llama.cpp cannot be loaded.
    """
    from engine.gguf.head_files import DFLASH, EAGLE3, MTP  # noqa: PLC0415
    from engine.llama import library  # noqa: PLC0415  (loading it may fail)
    from engine.llama.devices import find_gpus  # noqa: PLC0415
    from engine.llama.hidden_rows import missing_for  # noqa: PLC0415
    from engine.sandbox.machine_check import stored_verdict  # noqa: PLC0415

    library.start()
    gpus = find_gpus()
    verdict, sentence = stored_verdict(cache_dir) if gpus and cache_dir is not None else (None, None)
    return {
        "system_info": library.system_info().strip(),
        "processor": library.processor_name(),
        "cores": library.physical_cores(),
        "libraries": [loaded.description for loaded in library.loaded_libraries()],
        "gpu_backends": list(library.gpu_backends()),
        "gpus": [
            {"name": f"{gpu.name}, {gpu.description}", "total_bytes": gpu.total_bytes, "free_bytes": gpu.free_bytes}
            for gpu in gpus
        ],
        "gpu_verdict": verdict,
        "gpu_notice": None if sentence is None else str(sentence),
        "heads_lack": {method: list(missing_for(method)) for method in (MTP, EAGLE3, DFLASH)},
        "notices": [str(notice) for notice in library.library_notices()],
    }


def list_devices(cache_dir: Path, names: tuple[str, ...] = ()) -> tuple[Device, ...]:
    """Find devices by name in a helper; without names, all GPUs.

    Raises:
        DeviceError: a device does not exist or answer.
        EngineError: the helper crashed.
    """
    answer = ask_child("devices", [cache_dir], _DEVICES_LIMIT_S, words=names)
    return tuple(Device(**{**one, "kind": DeviceKind(one["kind"])}) for one in answer["devices"])


def report_devices(words: list[str]) -> dict[str, Any]:
    """The helper of `list_devices`. ``words``: the cache folder, then device names."""
    from engine.llama import gpu_verdict  # noqa: PLC0415  (loads llama.cpp)
    from engine.llama.devices import find_devices, find_gpus  # noqa: PLC0415
    from engine.sandbox.machine_check import stored_verdict  # noqa: PLC0415

    cache_dir, *names = words
    verdict, _sentence = stored_verdict(Path(cache_dir))
    if verdict is not None:
        gpu_verdict.set_current(verdict)
    return {"devices": [asdict(device) for device in (find_devices(names) if names else find_gpus())]}
