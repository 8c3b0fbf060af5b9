"""Runs a peer's process in a clean environment and ends it in all cases."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import IO

from app.core.domain.errors import PeerError
from engine.sandbox.helper import creation_flags

END_S = 5.0  # seconds between terminating and killing a process
# Variables that our window sets for its threads; a peer should run with its own defaults.
_THREAD_VARIABLES = ("GOMP_SPINCOUNT", "OMP_WAIT_POLICY")
_HIDDEN_OPTIONS = "LLAMA_ARG_"
_PR_SET_PDEATHSIG = 1  # from Linux's <sys/prctl.h>


class PeerProcess:
    """One running peer. Its stderr goes to a file that is read only if the process dies."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        """Start ``command``.

        Raises:
            PeerError: the process cannot be started.
        """
        self._name = name
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `end`)
        try:
            self.process = subprocess.Popen(  # noqa: S603  (the program that the person named)
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env=peer_environment(),
                creationflags=creation_flags(),
                start_new_session=os.name == "posix",  # Ctrl+C reaches only this process, which ends the peer
                preexec_fn=_die_with_parent(),  # noqa: PLW1509  (a single call of the system)
            )
        except OSError as error:
            self._log.close()
            raise PeerError(f"{name} could not be started from {command[0]}: {error.strerror}.") from error

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def exit_error(self, while_doing: str) -> PeerError:
        """The error of a process that ended, with its exit status and last line of stderr."""
        said = self.last_line()
        status = self.process.poll()
        how = "does not answer" if status is None else f"ended with status {status}"
        return PeerError(f"{self._name} {how} while {while_doing}{f'; it said: {said}' if said else ''}.")

    def last_line(self) -> str:
        """The last line of stderr; empty if there is none."""
        self._log.seek(max(0, self._log.seek(0, os.SEEK_END) - 4096))
        lines = [line.strip() for line in self._log.read().decode("utf-8", "replace").splitlines()]
        return next((line for line in reversed(lines) if line), "")[:300].rstrip(".")

    def stop(self) -> None:
        """Terminate the process, then kill it if it does not end. Safe to call twice."""
        for ask in (self.process.terminate, self.process.kill):
            if self.has_ended:
                break
            ask()
            try:
                self.process.wait(END_S)
            except subprocess.TimeoutExpired:
                continue

    def end(self) -> None:
        self.stop()
        self._log.close()


def _die_with_parent() -> Callable[[], object] | None:
    """Let Linux end the peer when the thread that started it ends, even if the benchmark is killed."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM))


def peer_environment() -> dict[str, str]:
    """This process's environment, except our thread settings and the variables that set options of llama-server."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _THREAD_VARIABLES and not name.startswith(_HIDDEN_OPTIONS)
    }
