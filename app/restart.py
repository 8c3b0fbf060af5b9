"""Starts the app again in the place of this process, on the chat that was open. Knows no window and closes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

CHAT_VARIABLE = "PACELINE_OPEN_CHAT"
NEW_CHAT = 0


@dataclass(slots=True)
class Restart:
    """Whether the app is wanted again once it has closed, and the open chat; None is the one without a message."""

    wanted: bool = False
    conversation_id: int | None = None


def start_again(conversation_id: int | None) -> None:
    """Run this process's own command again. Call it last: where the system can, this process becomes the new one."""
    command = [sys.executable, *sys.orig_argv[1:]]
    environ = {**os.environ, CHAT_VARIABLE: str(NEW_CHAT if conversation_id is None else conversation_id)}
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform == "win32":  # there, exec leaves the one who waits for this process without it
        subprocess.Popen(command, env=environ)  # noqa: S603 (our own command)
    else:
        os.execve(sys.executable, command, environ)  # noqa: S606 (our own command)


def chat_to_open() -> int | None:
    """What the process before handed over: a chat's id, `NEW_CHAT`, or None where there is none. It counts once."""
    handed = os.environ.pop(CHAT_VARIABLE, "")
    return int(handed) if handed.isdecimal() else None
