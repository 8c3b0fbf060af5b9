"""How this program starts short-lived helpers of itself, and where such a helper begins.

A helper does what may end a process: rendering a stranger's chat template, opening a stranger's model file, reading a
stranger's grammar; or it sees to it that a stranger's program ends with this one.
A frozen program has no ``python -m``: there the program is started again with ``CHILD_FLAG`` as its first
argument, and whoever owns the command line must hand the rest to `main` before anything else is imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

CHILD_FLAG = "--engine-child"
ENGINE_FLAG = "--engine-process"  # for the one that stays: `engine.process`
WINDOW_PID = "PACELINE_WINDOW_PID"  # in its environment: the number of the process that it computes for
# What a helper needs to start and to tell the time; anything else (access tokens, say) stays with the parent.
_HARMLESS = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TZ")


def child_command(name: str, *arguments: str) -> list[str]:
    """Return the command that starts the helper ``name``."""
    if getattr(sys, "frozen", False):
        return [sys.executable, CHILD_FLAG, name, *arguments]
    # -P: a stray jinja2.py in the current folder must not be imported.
    return [sys.executable, "-P", "-m", "engine.sandbox.process", name, *arguments]


def child_environment(*, bare: bool) -> dict[str, str]:
    """Return the helper's environment: this one's, or (``bare``) only what it needs to start."""
    kept = {name: value for name, value in os.environ.items() if not bare or name.upper() in _HARMLESS}
    root = str(Path(__file__).resolve().parents[2])
    return {**kept, "PYTHONPATH": os.pathsep.join([root, *filter(None, [kept.get("PYTHONPATH")])])}


def creation_flags() -> int:
    """Return the flag that keeps Windows from flashing a console window; 0 elsewhere."""
    import subprocess  # noqa: PLC0415  (the command line asks here whether it is a helper before it does anything)

    return int(getattr(subprocess, "CREATE_NO_WINDOW", 0))


def main(arguments: list[str]) -> int:  # noqa: C901, PLR0912 (a branch for each helper)
    """Be the helper that ``arguments`` name; return its exit status."""
    name, rest = arguments[0], arguments[1:]
    # Imported here, and by name: a helper needs only its own, and tools that freeze programs must see all of them.
    if name == "template":
        from engine.sandbox.template_child import main as be_helper  # noqa: PLC0415
    elif name == "probe":
        from engine.sandbox.probe_child import main as be_helper  # noqa: PLC0415
    elif name == "kernels":
        from engine.sandbox.kernel_child import main as be_helper  # noqa: PLC0415
    elif name == "gpus":
        from engine.sandbox.gpu_child import main as be_helper  # noqa: PLC0415
    elif name == "pairs":
        from engine.sandbox.pair_child import main as be_helper  # noqa: PLC0415
    elif name == "grammar":
        from engine.sandbox.grammar_check import main as be_helper  # noqa: PLC0415
    elif name == "heads":
        from engine.sandbox.head_child import main as be_helper  # noqa: PLC0415
    elif name == "prune":
        from engine.sandbox.pruning_child import main as be_helper  # noqa: PLC0415
    elif name == "self-draft":
        from engine.sandbox.self_draft_child import main as be_helper  # noqa: PLC0415
    elif name == "devices":
        from engine.sandbox.device_child import main as be_helper  # noqa: PLC0415
    elif name == "guard":
        from engine.sandbox.guard_child import main as be_helper  # noqa: PLC0415
    elif name == "library":
        from engine.sandbox.library_child import main as be_helper  # noqa: PLC0415
    elif name == "sides":
        from engine.sandbox.side_child import main as be_helper  # noqa: PLC0415
    elif name == "embeddings":
        from engine.sandbox.embedding_child import main as be_helper  # noqa: PLC0415
    elif name == "picture":
        from engine.sandbox.picture_child import main as be_helper  # noqa: PLC0415
    else:
        raise ValueError(f"there is no helper called {name!r}")
    return be_helper(rest)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
