"""A helper that runs an untrusted program, and ends its process group once this app is gone (POSIX).

The program inherits the helper's standard streams and process group. Its command is a line of JSON from a separate
pipe, since other users can read arguments and environment variables. That pipe closes when the app's process ends for
any reason. A program that leaves its process group escapes.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import FrameType

END_S = 1.0  # seconds between SIGTERM and SIGKILL
NOT_STARTED = 127  # exit status as in a shell


def main(arguments: list[str]) -> int:
    """Run the program from the pipe with the given file descriptor, and return its exit status."""
    life = int(arguments[0])
    given = json.loads(_line(life))
    # An empty handler instead of SIG_IGN, which the program would inherit. Only the helper must survive SIGTERM.
    signal.signal(signal.SIGTERM, _ignore_sigterm)
    try:
        program = subprocess.Popen(  # noqa: S603  (what the user entered)
            [given["command"], *given["args"]], env=given["env"], cwd=given["cwd"] or None
        )
    except OSError as error:
        sys.stderr.write(f"{given['command']}: {error.strerror or error}\n")
        return NOT_STARTED
    # Close the helper's copies of the program's pipes, so that app and program notice when the other is gone.
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    threading.Thread(target=_watch, args=(life,), name="life", daemon=True).start()
    status = program.wait()
    with suppress(OSError):
        os.killpg(0, signal.SIGTERM)  # end the program's remaining processes
    return status if status >= 0 else 128 - status


def _ignore_sigterm(_number: int, _frame: FrameType | None) -> None:
    """Ignore SIGTERM, so that the helper does not end before the program."""


def _line(life: int) -> bytes:
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        part = os.read(life, 65_536)
        if not part:
            os._exit(1)
        parts.append(part)
    return b"".join(parts)


def _watch(life: int) -> None:
    with suppress(OSError):
        os.read(life, 1)
    with suppress(OSError):
        os.killpg(0, signal.SIGTERM)
        time.sleep(END_S)
    os.killpg(0, signal.SIGKILL)  # includes this process
