"""How this program starts short-lived helpers of itself; `engine.process.helper` is where such a helper begins.

A helper does what may end a process: rendering a stranger's chat template, opening a stranger's model file, reading a
stranger's grammar; or it sees to it that a stranger's program ends with this one.
A frozen program has no ``python -m``: there the program is started again with ``CHILD_FLAG`` as its first
argument, and whoever owns the command line must hand the rest to it before anything else is imported.
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
    return [sys.executable, "-P", "-m", "engine.process.helper", name, *arguments]


def child_environment(*, bare: bool) -> dict[str, str]:
    """Return the helper's environment: this one's, or (``bare``) only what it needs to start."""
    kept = {name: value for name, value in os.environ.items() if not bare or name.upper() in _HARMLESS}
    root = str(Path(__file__).resolve().parents[2])
    return {**kept, "PYTHONPATH": os.pathsep.join([root, *filter(None, [kept.get("PYTHONPATH")])])}


def creation_flags() -> int:
    """Return the flag that keeps Windows from flashing a console window; 0 elsewhere."""
    import subprocess  # noqa: PLC0415  (the command line asks here whether it is a helper before it does anything)

    return int(getattr(subprocess, "CREATE_NO_WINDOW", 0))
