"""Helper processes that start as forks of a process that has imported all modules.

A helper of `engine.sandbox` needs a third of a second for imports before it opens a file, too long for tests that open
hundreds of files. Here the start command is a client of a few milliseconds. It passes its pipes, arguments and
environment to a server, which forks; the client ends like the fork, even by the same signal. The app's own start
command is used in the long form of the tests, on systems without fork, and in tests without this fixture.
"""

import importlib
import os
import select
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from engine.sandbox.helper import NO_GPU, child_environment
from engine.sandbox.helper import main as be_helper
from tests.long_form import LONG

CAN_FORK = sys.platform.startswith("linux") and not LONG
_IMPORTED = (
    "engine.sandbox.trials",
    "engine.sandbox.picture_child",
    "engine.session.session",
)
_MOST_BYTES = 1 << 17  # of arguments and environment
# Imports neither `socket` nor `site`, which would take longer than everything else.
_CLIENT = r"""
import _socket, os, sys
server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
server.connect(sys.argv[1])
words = [os.fsencode(word) for word in sys.argv[2:]]
order = b"\0".join([b"%d" % len(words), *words, *(name + b"=" + value for name, value in os.environb.items())])
pipes = b"".join(number.to_bytes(4, sys.byteorder) for number in (0, 1, 2))
server.sendmsg([order], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, pipes)])
status = int(server.recv(16) or b"70")
if status < 0:
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@contextmanager
def helper_server() -> Iterator[str]:
    """Run a helper server; yields its address."""
    with tempfile.TemporaryDirectory(prefix="paceline-") as folder:
        address = str(Path(folder) / "s")
        environment = child_environment(bare=False) | NO_GPU | {"OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-P", "-m", "tests.engine.warm_helpers", address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"ready\n"
            yield address


def client_command(address: str, name: str, *arguments: str) -> list[str]:
    """Replaces `engine.sandbox.helper.child_command`; if ``name`` is "-c", the command runs Python code."""
    return [sys.executable, "-I", "-S", "-c", _CLIENT, address, name, *arguments]


def run_instead(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Run this Python code with the helper's arguments in place of every helper."""
    monkeypatch.setattr(
        "engine.sandbox.helper.child_command", lambda _name, *words: [sys.executable, "-c", code, *words]
    )


def serve(address: str) -> None:
    """Fork a helper for each client until standard input ends."""
    for name in _IMPORTED:
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        os.write(1, b"ready\n")
        while True:
            if 0 in select.select([listener, 0], [], [])[0]:
                return
            connection, _ = listener.accept()
            with connection, suppress(ConnectionError):  # the client may have been killed meanwhile
                order, pipes, _, _ = socket.recv_fds(connection, _MOST_BYTES, 3)
                connection.send(str(_run(order, pipes)).encode())


def _run(order: bytes, pipes: list[int]) -> int:
    """Fork to run a helper or code; returns the exit status, negative for a signal."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            for number, pipe in enumerate(pipes):
                os.dup2(pipe, number)
                os.close(pipe)
            count, *parts = order.split(b"\0")
            words, environment = parts[: int(count)], parts[int(count) :]
            os.environ.clear()
            os.environb.update(entry.split(b"=", 1) for entry in environment)
            status = _run_helper([os.fsdecode(word) for word in words])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:  # noqa: BLE001  (as the interpreter would)
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    for pipe in pipes:
        os.close(pipe)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _run_helper(words: list[str]) -> int:
    if words[0] != "-c":
        return be_helper(words)
    sys.argv = ["-c", *words[2:]]
    exec(words[1], {"__name__": "__main__"})  # noqa: S102  (a test's own)
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
