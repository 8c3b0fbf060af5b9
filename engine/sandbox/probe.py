"""Opens a new or changed model file in a short-lived child process first: a crash there is an error here.

Good verdicts are kept. What is tried stands in `engine.sandbox.probe_child`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

from engine import errors
from engine.errors import (
    EngineError,
    LoadCancelledError,
    ModelLoadError,
    ModelNotFoundError,
    NotEnoughMemoryError,
    TooSlowError,
)
from engine.gguf.model_parts import all_parts
from engine.gguf.source import open_ordinary
from engine.sandbox.process import child_command, child_environment, creation_flags
from engine.sentences import from_json, said
from engine.storage.json_store import JsonStore, with_latest

log = logging.getLogger(__name__)

ELSEWHERE = "--may-lie-elsewhere"  # the child's option
CACHE_FILE = "probed-models.json"
_FORMAT = 2  # of the reports in it; another number forgets them
_MOST_KEPT = 200
Entry = TypeVar("Entry")
START_LIMIT_S = 60.0
SLOWEST_BYTES_PER_S = 30e6  # a network drive; the file is read once
_POLL_S = 0.1
_ABORT = re.compile(r"([\w-]+\.(?:c|cpp|cu|h|hpp|m):\d+: .+)")  # how ggml says where and why it gave up
_WHAT = re.compile(r"what\(\):\s*(.+)")
_NO_DEBUGGER = {"GGML_NO_BACKTRACE": "1"}  # which a crash would start
NO_GPU = {"CUDA_VISIBLE_DEVICES": "-1", "HIP_VISIBLE_DEVICES": "-1", "GGML_VK_VISIBLE_DEVICES": ""}
_OTHER_PROGRAM = said("Choose another file of this model, or a newer version of Paceline.")


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """A file that was loaded and ran some tokens."""

    architecture: str
    name: str
    num_params: int
    size_bytes: int
    n_ctx_train: int
    n_vocab: int
    has_template: bool
    is_recurrent: bool


def probe(
    path: Path,
    cache_dir: Path | None = None,
    timeout_s: float | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    may_lie_elsewhere: bool = False,
) -> ProbeReport:
    """Try ``path`` in a child process, unless this very file was good before.

    ``cache_dir`` keeps good verdicts; bad ones are found again, since they may be due to little memory or an old
    program. ``timeout_s`` None allows for the time to read a file of this size. ``may_lie_elsewhere``: it is for
    devices, whose memory the child does not see, so that the main memory need not hold all of it.

    Raises:
        ModelNotFoundError: no such file, or not readable.
        ModelFileError: it cannot be used; the sentence says what happened: refused, crashed, too slow.
        NotEnoughMemoryError: it does not fit the free memory.
    """

    def ask(num_bytes: int) -> dict[str, Any]:
        limit_s = START_LIMIT_S + num_bytes / SLOWEST_BYTES_PER_S if timeout_s is None else timeout_s
        options = (ELSEWHERE,) if may_lie_elsewhere else ()
        report: dict[str, Any] = ask_child("probe", [path], limit_s, should_stop, options)["report"]
        return report

    store = JsonStore(cache_dir / CACHE_FILE, "reports", _FORMAT) if cache_dir is not None else None
    return ProbeReport(**remembered([path], store, _checked, ask))


def remembered(
    files: Sequence[Path], store: JsonStore | None, checked: Callable[[Any], Entry], ask: Callable[[int], Entry]
) -> Entry:
    """Give the good verdict on these very files that ``store`` has, or what ``ask``, given their bytes, says now.

    Raises:
        ModelNotFoundError: a file is not there, or not readable.
    """
    key, num_bytes = _identity(files)
    known = store.read(checked) if store is not None else {}
    if key in known:
        return known[key]
    entry = ask(num_bytes)
    if store is not None and _identity(files)[0] == key:
        with store.locked():
            store.write(with_latest(known, store.read(checked), key, entry, _MOST_KEPT))
    return entry


def _identity(files: Sequence[Path]) -> tuple[str, int]:
    """What makes files these very files: place, size, time and inode of all parts, who judged them; and their bytes."""
    try:
        version = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:  # a frozen program may carry no package metadata
        version = "unknown"
    told, num_bytes = list[str](), 0
    for path in files:
        try:
            whole = path.resolve()
            open_ordinary(whole).close()
            facts = [part.stat() for part in all_parts(path.absolute())]
        except (OSError, ValueError) as error:  # the latter for a name that no file can have
            reason = getattr(error, "strerror", None) or error
            raise ModelNotFoundError(said("{path} cannot be read: {reason}.", path=path, reason=reason)) from error
        told += [str(whole), *(f"{fact.st_size}|{fact.st_mtime_ns}|{fact.st_ino}" for fact in facts)]
        num_bytes += sum(fact.st_size for fact in facts)
    return "|".join((*told, version)), num_bytes


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    """A report as it was kept.

    Raises:
        TypeError: it is none.
    """
    report = ProbeReport(**values)
    if any(type(getattr(report, field.name)).__name__ != field.type for field in fields(report)):
        raise TypeError("a value has another type")
    return values


def ask_child(
    helper: str,
    paths: Sequence[Path],
    limit_s: float,
    should_stop: Callable[[], bool] = lambda: False,
    words: Sequence[str] = (),
    *,
    sees_gpus: bool = False,
) -> dict[str, Any]:
    """Let a child process open ``paths``; return its answer. Sentences about what went wrong name the first.

    ``words`` are what else it is told. ``should_stop`` is asked a few times a second. ``sees_gpus`` lets it use the
    graphics processors, and take memory of theirs.

    Raises:
        ModelFileError: the child refused one of them, crashed, or was too slow; or it was asked to stop.
        NotEnoughMemoryError: it asked for more memory than it may.
    """
    name = paths[0].name
    its_end, our_end = os.pipe()  # the child ends when ours closes, so it does not outlive us
    child = subprocess.Popen(  # noqa: S603  (our own interpreter and module)
        # Parts are found by their links' names.
        child_command(helper, *(str(path.absolute()) for path in paths), *words),
        stdin=its_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=child_environment(bare=False) | _NO_DEBUGGER | ({} if sees_gpus else NO_GPU),
        creationflags=creation_flags(),
    )
    os.close(its_end)
    try:
        output, complaints = _wait(child, name, limit_s, should_stop)
    finally:
        child.kill()
        child.communicate()
        os.close(our_end)
    if child.returncode != 0:
        log.info("the probe of %s ended with %s: %s", name, child.returncode, complaints.strip()[-2000:])
        raise _crash(name, child.returncode, complaints)
    try:
        answer: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    except (ValueError, IndexError) as error:
        raise ModelLoadError(said("The process that opened {name} ended without an answer.", name=name)) from error
    if "error" in answer:
        raise error_from_json(answer["error"])
    return answer


def _wait(
    child: subprocess.Popen[bytes], name: str, limit_s: float, should_stop: Callable[[], bool]
) -> tuple[str, str]:
    """Return the child's output and error lines."""
    end = time.monotonic() + limit_s
    while True:
        if should_stop():
            raise LoadCancelledError(said("Opening {name} was cancelled.", name=name), "Open it again if you need it.")
        try:
            output, complaints = child.communicate(timeout=_POLL_S)
        except subprocess.TimeoutExpired:
            if time.monotonic() > end:
                raise TooSlowError(
                    said("{name} could not be opened within {limit_s:.0f} seconds.", name=name, limit_s=limit_s),
                    "If it lies on a slow drive, copy it to this computer; otherwise choose another file.",
                ) from None
        else:
            return output.decode("utf-8", "replace"), complaints.decode("utf-8", "replace")


def _crash(name: str, status: int, complaints: str) -> EngineError:
    """One sentence for a child that died."""
    if status == -getattr(signal, "SIGKILL", 9):
        return NotEnoughMemoryError(
            said("The system ended the process that opened {name}, perhaps because memory ran out.", name=name)
        )
    if status == -getattr(signal, "SIGILL", 4):
        return ModelLoadError(
            said("{name} could not be opened: llama.cpp was built for another processor.", name=name),
            "Reinstall llama-cpp-python on this computer.",
        )
    if status == 1:  # Python's own way to end after an error that nobody expected
        last_line = (complaints.strip().splitlines() or [""])[-1][:200].rstrip(".")
        return ModelLoadError(
            said(
                "{name} could not be opened: {last_line}.",
                name=name,
                last_line=last_line or said("no reason was given"),
            ),
            _OTHER_PROGRAM,
        )
    reason = _WHAT.search(complaints) or _ABORT.search(complaints)
    if reason and "bad_alloc" in complaints:
        return NotEnoughMemoryError(said("{name} asks for more memory than a file of its size can need.", name=name))
    detail = reason[1].strip()[:200] if reason else _signal_name(status)
    return ModelLoadError(
        said("llama.cpp crashed when it opened {name} ({detail}).", name=name, detail=detail), _OTHER_PROGRAM
    )


def _signal_name(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status:#x}" if status > 255 else f"status {status}"


def error_from_json(error: dict[str, Any]) -> EngineError:
    """Make the child's error ours; what a context or a pass could not do, a load could not do."""
    kind = getattr(errors, error["kind"], ModelLoadError)
    if not issubclass(kind, errors.ModelFileError | NotEnoughMemoryError):
        kind = ModelLoadError
    reported: EngineError = kind(from_json(error["message"]), from_json(error["advice"]))
    return reported
