"""What llama.cpp is, told by a helper process: a broken build may end the process that loads it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from engine.errors import NativeLibraryError
from engine.sandbox.limits import end_with_parent, quiet_crashes
from engine.sandbox.process import child_command, child_environment, creation_flags

LIBRARY_LIMIT_S = 60.0


def main(arguments: list[str]) -> int:
    """Print the facts of the library as one line of JSON, or ``error`` with the loader's own words.

    ``arguments`` name the folder of what earlier starts found.
    """
    end_with_parent()
    quiet_crashes()
    try:
        answer = library_facts(Path(arguments[0]) if arguments else None)
    except NativeLibraryError as error:
        answer = {"error": error.message}
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    return 0


def library_facts(cache_dir: Path | None = None) -> dict[str, Any]:
    """What the loaded llama.cpp is: files with builds, features, graphics processors, and what a user should know.

    ``heads_lack`` has the functions that each method of heads needs and this build has not. What a trial of the
    graphics processors found is read from ``cache_dir``.

    Raises:
        NativeLibraryError: it cannot be loaded.
    """
    from engine.gguf.head_files import EAGLE3, MTP  # noqa: PLC0415
    from engine.llama import library  # noqa: PLC0415  (loading it is what may fail)
    from engine.llama.devices import find_gpus  # noqa: PLC0415
    from engine.llama.hidden_rows import missing_for  # noqa: PLC0415
    from engine.sandbox.gpu_check import kept_verdict  # noqa: PLC0415

    library.start()
    gpus = find_gpus()
    verdict, sentence = kept_verdict(cache_dir) if gpus and cache_dir is not None else (None, None)
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
        "heads_lack": {method: list(missing_for(method)) for method in (MTP, EAGLE3)},
        "notices": [str(notice) for notice in library.library_notices()],
    }


def ask_library(cache_dir: Path | None = None, limit_s: float = LIBRARY_LIMIT_S) -> dict[str, Any]:
    """What a child process says of llama.cpp, and of what earlier starts kept in ``cache_dir``.

    ``error`` where it cannot be loaded, says nothing or ends.
    """
    its_end, our_end = os.pipe()  # the child ends when ours closes, so it does not outlive us
    try:
        child = subprocess.run(  # noqa: S603  (our own interpreter and module)
            child_command("library", *([str(cache_dir)] if cache_dir is not None else [])),
            stdin=its_end,
            capture_output=True,
            timeout=limit_s,
            env=child_environment(bare=False),
            creationflags=creation_flags(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"it did not load within {limit_s:.0f} seconds"}
    except OSError as error:
        return {"error": error.strerror or str(error)}
    finally:
        os.close(its_end)
        os.close(our_end)
    if child.returncode < 0:
        return {"error": f"loading it ended the process ({_signal_name(-child.returncode)})"}
    try:
        answer = json.loads(child.stdout.decode("utf-8", "replace").strip().splitlines()[-1])
    except (ValueError, IndexError):
        lines = child.stderr.decode("utf-8", "replace").strip().splitlines()
        return {"error": lines[-1] if lines else f"its process ended with status {child.returncode}"}
    return answer if isinstance(answer, dict) else {"error": "its process gave no answer"}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
