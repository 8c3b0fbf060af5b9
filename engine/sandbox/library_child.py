"""The helper process that loads llama.cpp to tell what it is: a broken build may end the process that loads it."""

from __future__ import annotations

import json
import sys
from typing import Any

from engine.errors import LibraryError
from engine.sandbox.limits import end_with_parent, quiet_crashes


def main(arguments: list[str]) -> int:  # noqa: ARG001  (every helper takes some)
    """Print the facts of the library as one line of JSON, or ``error`` with the loader's own words."""
    end_with_parent()
    quiet_crashes()
    try:
        answer = library_facts()
    except LibraryError as error:
        answer = {"error": error.message}
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    return 0


def library_facts() -> dict[str, Any]:
    """What the loaded llama.cpp is: files with builds, features, graphics processors, and what a user should know.

    Raises:
        LibraryError: it cannot be loaded.
    """
    from engine.llama import library  # noqa: PLC0415  (loading it is what may fail)
    from engine.llama.devices import find_gpus  # noqa: PLC0415

    library.start()
    return {
        "system_info": library.system_info().strip(),
        "processor": library.processor_name(),
        "cores": library.physical_cores(),
        "libraries": [loaded.description for loaded in library.loaded_libraries()],
        "supports_gpu": library.supports_gpu(),
        "gpus": [
            {"name": f"{gpu.name}, {gpu.description}", "total_bytes": gpu.total_bytes, "free_bytes": gpu.free_bytes}
            for gpu in find_gpus()
        ],
        "notices": [str(notice) for notice in library.library_notices()],
    }
