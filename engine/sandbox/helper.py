"""Runs helper processes: this program, started again for work that an untrusted file may crash.

`JOBS` lists the kinds. `run_helper` runs a helper for one job; a `HelperProcess` keeps running, and answers line by
line. A frozen program has no ``python -m``: it is started with ``CHILD_FLAG`` as first argument, and its command line
passes the other arguments to `main` before it imports other modules.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn, cast

if TYPE_CHECKING:  # keeps this module's import fast: the command line imports it first
    import subprocess

    from engine.errors import EngineError

CHILD_FLAG = "--engine-child"
ENGINE_FLAG = "--engine-process"  # first argument of a frozen program that starts `engine.process`
WINDOW_PID = "PACELINE_WINDOW_PID"  # environment variable of the engine's process with the id of the window's process
NO_GPU = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1", "GGML_VK_VISIBLE_DEVICES": ""}
_NO_DEBUGGER = {"GGML_NO_BACKTRACE": "1"}  # a crash would start a debugger
# Environment variables that a helper needs to start and for the time zone; others, such as access tokens, are not
# passed on.
_PASSED_VARIABLES = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP", "TZ")
_POLL_S = 0.1


@dataclass(frozen=True, slots=True)
class HelperJob:
    """A kind of helper: its function and permissions.

    ``function`` of ``module`` takes the helper's arguments and returns an answer, which is printed as a line of JSON.
    With ``is_raw`` it does its own input and output, and returns the exit status. ``is_bare``: the helper gets only
    harmless environment variables. ``is_silent``: stderr, which may quote the file, is discarded. ``sees_gpus``: the
    helper may use GPUs.
    """

    module: str
    function: str = "main"
    is_raw: bool = False
    is_bare: bool = False
    is_silent: bool = False
    sees_gpus: bool = False


_TRIALS, _FACTS = "engine.sandbox.trials", "engine.sandbox.library_facts"
JOBS = {
    "probe": HelperJob(_TRIALS, "try_model"),
    "heads": HelperJob(_TRIALS, "try_head"),
    "sides": HelperJob(_TRIALS, "try_side_file"),
    "pairs": HelperJob(_TRIALS, "compare_vocabularies"),
    "kernels": HelperJob(_TRIALS, "try_kernels"),
    "gpus": HelperJob(_TRIALS, "try_gpus", sees_gpus=True),
    "library": HelperJob(_FACTS, "report_library", sees_gpus=True),
    "devices": HelperJob(_FACTS, "report_devices", sees_gpus=True),
    "embeddings": HelperJob("engine.sandbox.embedding_child", is_raw=True, is_silent=True),
    "template": HelperJob("engine.sandbox.template_child", is_raw=True, is_bare=True, is_silent=True),
    "picture": HelperJob("engine.sandbox.picture_child", is_raw=True, is_bare=True, is_silent=True),
    "document": HelperJob("engine.sandbox.document_child", is_bare=True, is_silent=True),
    "guard": HelperJob("engine.sandbox.guard_child", is_raw=True),
}


class HelperTimeoutError(Exception):
    """The helper exceeded its time limit and was killed."""


class HelperStoppedError(Exception):
    """The helper was killed on request."""


@dataclass(frozen=True, slots=True)
class HelperResult:
    """A helper's exit status (negative for a signal) and output."""

    status: int
    output: bytes
    stderr: str

    @property
    def exit_reason(self) -> str:
        with suppress(ValueError):
            return signal.Signals(-self.status).name
        return f"status {self.status:#x}" if self.status > 255 else f"status {self.status}"

    @property
    def answer(self) -> dict[str, Any] | None:
        """The last printed line as JSON; None if it is not JSON."""
        try:
            found = json.loads(self.output.decode("utf-8", "replace").strip().splitlines()[-1])
        except (ValueError, IndexError):
            return None
        return found if isinstance(found, dict) else None


def child_command(name: str, *words: str) -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, CHILD_FLAG, name, *words]
    # -P prevents the import of a stray jinja2.py in the current folder.
    return [sys.executable, "-P", "-m", "engine.sandbox.helper", name, *words]


def child_environment(*, bare: bool) -> dict[str, str]:
    """The helper's environment: this process's, or with ``bare`` only the variables needed to start."""
    kept = {name: value for name, value in os.environ.items() if not bare or name.upper() in _PASSED_VARIABLES}
    root = str(Path(__file__).resolve().parents[2])
    return {**kept, "PYTHONPATH": os.pathsep.join([root, *filter(None, [kept.get("PYTHONPATH")])])}


def creation_flags() -> int:
    """The flag that prevents a console window on Windows; 0 elsewhere."""
    import subprocess  # noqa: PLC0415  (as above)

    return int(getattr(subprocess, "CREATE_NO_WINDOW", 0))


def run_helper(
    name: str,
    words: Sequence[str] = (),
    data: bytes | None = None,
    *,
    limit_s: float,
    should_stop: Callable[[], bool] = lambda: False,
) -> HelperResult:
    """Run a helper for a job; ``data`` goes to its standard input. The helper ends if this process ends.

    ``should_stop`` is called several times a second.

    Raises:
        HelperTimeoutError: the helper was not done within ``limit_s`` seconds.
        HelperStoppedError: ``should_stop`` returned True.
        OSError: the helper cannot be started.
    """
    import subprocess  # noqa: PLC0415  (as above)

    its_end, our_end = os.pipe()  # a helper without data exits once `our_end` is closed
    try:
        child = _start_helper(name, words, its_end)
    except BaseException:
        os.close(our_end)
        raise
    finally:
        os.close(its_end)
    sender = threading.Thread(target=_send, args=(our_end, data or b""), daemon=True)
    if data is not None:  # `communicate` sends nothing more after a timeout
        sender.start()
    end = time.monotonic() + limit_s
    try:
        while True:
            if should_stop():
                raise HelperStoppedError(name)
            try:
                output, stderr = child.communicate(timeout=min(_POLL_S, max(end - time.monotonic(), 0.0)))
            except subprocess.TimeoutExpired:
                if time.monotonic() > end:
                    raise HelperTimeoutError(name) from None
            else:
                return HelperResult(child.returncode, output, (stderr or b"").decode("utf-8", "replace"))
    finally:
        child.kill()
        child.communicate()
        if data is None:
            os.close(our_end)
        else:
            sender.join()


def _send(pipe: int, data: bytes) -> None:
    with suppress(OSError), open(pipe, "wb") as file:  # the helper may end before it has read everything
        file.write(data)


def _start_helper(name: str, words: Sequence[str], stdin: int) -> subprocess.Popen[bytes]:
    import subprocess  # noqa: PLC0415  (as above)

    job = JOBS[name]
    return subprocess.Popen(  # noqa: S603  (this interpreter and module)
        child_command(name, *words),
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if job.is_silent else subprocess.PIPE,
        env=child_environment(bare=job.is_bare) | _NO_DEBUGGER | ({} if job.sees_gpus else NO_GPU),
        creationflags=creation_flags(),
    )


class HelperProcess:
    """A helper that keeps running, and answers each line with a line. Not thread-safe."""

    def __init__(self, name: str, words: Sequence[str]) -> None:
        import subprocess  # noqa: PLC0415  (as above)

        self._process = _start_helper(name, words, subprocess.PIPE)
        self.pid = self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def request(self, line: bytes, most_bytes: int) -> bytes:
        """Send a line, or nothing, and read the helper's next line, which lacks a line end if the helper died."""
        stdin, stdout = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)
        try:
            stdin.write(line)
            stdin.flush()
            return stdout.readline(most_bytes)
        except OSError:  # a broken pipe: the helper died during the write
            return b""

    def kill(self) -> None:
        """End the helper; thread-safe."""
        self._process.kill()

    def close(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # closing flushes unsent data, which may fail
                    pipe.close()
        self._process.wait()


# ---- in the helper -------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """Run the helper named by ``arguments``, and return its exit status."""
    name, words = arguments[0], arguments[1:]
    if name not in JOBS:
        raise ValueError(f"there is no helper called {name!r}")
    job = JOBS[name]
    # A helper imports only its own module.
    work = getattr(importlib.import_module(job.module), job.function)
    return int(work(words)) if job.is_raw else _answer_as_json(work, words)


def _answer_as_json(work: Callable[[list[str]], dict[str, Any]], words: list[str]) -> int:
    """Print the result of ``work`` or its error; the exit status is 0 for both."""
    from engine.errors import EngineError, NotEnoughMemoryError  # noqa: PLC0415  (as above)
    from engine.sandbox.limits import end_with_parent, quiet_crashes  # noqa: PLC0415
    from engine.sentences import i18n  # noqa: PLC0415

    end_with_parent()
    quiet_crashes()
    try:
        answer = work(words)
    except EngineError as error:
        answer = error_to_json(error)
    except MemoryError:
        name = Path(words[0]).name
        answer = error_to_json(NotEnoughMemoryError(i18n("{name} needs more memory than is allowed.", name=name)))
    sys.stdout.write("\n" + json.dumps(answer) + "\n")
    sys.stdout.flush()
    return 0


def error_to_json(error: EngineError) -> dict[str, Any]:
    from engine.sentences import to_json  # noqa: PLC0415  (as above)

    told = {"kind": type(error).__name__, "message": to_json(error.message), "advice": to_json(error.advice)}
    return {"error": told}


def error_from_json(told: dict[str, Any]) -> EngineError:
    """Recreate the helper's error in this process; errors of a context or pass become load errors."""
    from engine import errors  # noqa: PLC0415  (as above)
    from engine.sentences import from_json  # noqa: PLC0415

    kind = getattr(errors, told["kind"], errors.ModelLoadError)
    known = (errors.ModelFileError, errors.NotEnoughMemoryError, errors.DeviceError)
    if not issubclass(kind, known):
        kind = errors.ModelLoadError
    error: EngineError = kind(from_json(told["message"]), from_json(told["advice"]))
    return error


def run_as_helper(arguments: list[str]) -> NoReturn:
    """Run a helper, and exit without cleanup, since some drivers crash at the end of a process."""
    os._exit(main(arguments))


if __name__ == "__main__":
    run_as_helper(sys.argv[1:])
