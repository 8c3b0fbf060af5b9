"""A helper that runs an untrusted program, and ends it with all that it started once this app is gone (POSIX).

The program gets the helper's standard streams and its process group. Its command comes as a line of JSON by a separate
pipe, since other users can read arguments and variables. That pipe closes when the process at its other end has ended,
in whatever way. A program that leaves its process group gets away.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

END_S = 1.0  # between the request to end and the end
NOT_STARTED = 127  # as in a shell


def main(arguments: list[str]) -> int:
    """Run the program that comes by the pipe of the given number, and return its exit status."""
    life = int(arguments[0])
    given = json.loads(_line(life))
    # A handler, not SIG_IGN, which the program would inherit: only the helper must survive the first SIGTERM.
    signal.signal(signal.SIGTERM, _ignore_sigterm)
    try:
        program = subprocess.Popen(  # noqa: S603  (what the user entered)
            [given["command"], *given["args"]], env=given["env"], cwd=given["cwd"] or None
        )
    except OSError as error:
        sys.stderr.write(f"{given['command']}: {error.strerror or error}\n")
        return NOT_STARTED
    _release_streams()
    threading.Thread(target=_watch, args=(life,), name="life", daemon=True).start()
    status = program.wait()
    with suppress(OSError):
        os.killpg(0, signal.SIGTERM)  # processes that the program left behind
    return status if status >= 0 else 128 - status


def _ignore_sigterm(_number: int, _frame: FrameType | None) -> None:
    """SIGTERM does not end the helper before the program has ended."""


def _line(life: int) -> bytes:
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        part = os.read(life, 65_536)
        if not part:
            os._exit(1)
        parts.append(part)
    return b"".join(parts)


def _release_streams() -> None:
    """Close the program's pipes here: each side must notice when the other is gone."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)


def _watch(life: int) -> None:
    with suppress(OSError):
        os.read(life, 1)
    with suppress(OSError):
        os.killpg(0, signal.SIGTERM)
        time.sleep(END_S)
    os.killpg(0, signal.SIGKILL)  # this process included
