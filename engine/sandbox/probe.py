"""Opens new or changed model files in a helper process first, where a crash only becomes an error.

Good verdicts are stored. `engine.sandbox.trials` has the trials.
"""

import logging
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

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
from engine.sandbox.helper import HelperResult, HelperStoppedError, HelperTimeoutError, error_from_json, run_helper
from engine.sentences import from_json, i18n, replace_field
from engine.storage.json_store import JsonStore

log = logging.getLogger(__name__)

FOR_DEVICES = "--may-lie-elsewhere"  # option of the helper
CACHE_FILE = "probed-files.json"
START_LIMIT_S = 60.0
MIN_BYTES_PER_S = 30e6  # the file is read once, perhaps from a network drive
_EACH_DRAFT_LIMIT_S = 15.0
_ABORT = re.compile(r"([\w-]+\.(?:c|cpp|cu|h|hpp|m):\d+: .+)")  # location and reason of ggml's aborts
_CPP_EXCEPTION = re.compile(r"what\(\):\s*(.+)")
_OTHER_PROGRAM = i18n("Choose another file of this model, or a newer version of Paceline.")

ShouldStop = Callable[[], bool]
InspectHead = Callable[[Path, Path | None, ShouldStop], None]
InspectSide = Callable[[Path, Path, ShouldStop], None]


def probe(
    path: Path,
    cache_dir: Path | None = None,
    should_stop: ShouldStop = lambda: False,
    *,
    is_for_devices: bool = False,
) -> None:
    """Try ``path`` in a helper process, unless a positive verdict on the unchanged file is stored in ``cache_dir``.

    Other verdicts are not stored, since they may be caused by little memory or an old program. ``is_for_devices``:
    devices will hold the model, so it need not fit in main memory.

    Raises:
        ModelNotFoundError: no such file, or not readable.
        ModelFileError: the file was refused, crashed the helper or was too slow; the message says what happened.
        NotEnoughMemoryError: it does not fit the free memory.
    """
    _try_once("probe", [path], cache_dir, should_stop, (FOR_DEVICES,) if is_for_devices else ())


def _identity(files: Sequence[Path]) -> tuple[str, int]:
    """A key of path, size, time stamp and inode of all parts and the program's version; and the total bytes."""
    try:
        version = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:  # a frozen program may have no package metadata
        version = "unknown"
    told, num_bytes = list[str](), 0
    for path in files:
        try:
            whole = path.resolve()
            open_ordinary(whole).close()
            facts = [part.stat() for part in all_parts(path.absolute())]
        except (OSError, ValueError) as error:  # ValueError: an impossible name
            reason = getattr(error, "strerror", None) or error
            raise ModelNotFoundError(i18n("{path} cannot be read: {reason}.", path=path, reason=reason)) from error
        told += [str(whole), *(f"{fact.st_size}|{fact.st_mtime_ns}|{fact.st_ino}" for fact in facts)]
        num_bytes += sum(fact.st_size for fact in facts)
    return "|".join((*told, version)), num_bytes


def probe_head(
    target: Path, head: Path | None, should_stop: ShouldStop = lambda: False, cache_dir: Path | None = None
) -> None:
    """Try a target with its next-token layers or a head file, unless a positive verdict on these files is stored.

    Raises:
        ModelFileError: they cannot be used together; the message names the file with the head.
        NotEnoughMemoryError: they do not fit the free memory.
    """
    files = [target] if head is None else [head, target]
    _try_once("heads", files, cache_dir, should_stop)


def probe_side(
    target: Path, side: Path, should_stop: ShouldStop = lambda: False, cache_dir: Path | None = None
) -> None:
    """Try a picture with a target and its side file, unless a positive verdict on these files is stored.

    Raises:
        ModelFileError: they cannot be used together; the message names the side file.
        NotEnoughMemoryError: they do not fit the free memory.
    """
    _try_once("sides", [side, target], cache_dir, should_stop)


def _try_once(
    job: str, files: Sequence[Path], cache_dir: Path | None, should_stop: ShouldStop, words: Sequence[str] = ()
) -> None:
    store = JsonStore(cache_dir, CACHE_FILE, "files", 1, bool)
    identity, num_bytes = _identity(files)
    key = f"{job}|{identity}"
    if store.get(key):
        return
    ask_child(job, files, START_LIMIT_S + num_bytes / MIN_BYTES_PER_S, should_stop, words)
    if _identity(files)[0] == identity:
        store.put(key, True)


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Whether a draft fits a target; ``reason``: why it does not, otherwise empty.

    ``coverage`` (another vocabulary only): share of the target's tokens that are a single draft token. ``difference``
    (same vocabulary only): where the chat templates differ, if compared.
    """

    matches: bool
    reason: str = ""
    coverage: float | None = None


def judge_pairs(
    target: Path, drafts: Sequence[Path], should_stop: ShouldStop = lambda: False
) -> tuple[PairVerdict, ...]:
    """Compare vocabularies of models, or of stubs of remote models; return a verdict for each draft, in order.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the comparison was stopped.
    """
    if not drafts:
        return ()
    limit_s = START_LIMIT_S + _EACH_DRAFT_LIMIT_S * len(drafts)
    try:
        answer = ask_child("pairs", [target, *drafts], limit_s, should_stop)
    except EngineError as error:
        if len(drafts) > 1 and not should_stop():  # a draft may have crashed the helper: try each alone
            return tuple(verdict for draft in drafts for verdict in judge_pairs(target, [draft], should_stop))
        if should_stop() or not _probe_target(target):
            raise
        return (PairVerdict(False, replace_field(error.message, target.name, drafts[0].name)),)
    return tuple(PairVerdict(**{**verdict, "reason": from_json(verdict["reason"])}) for verdict in answer["verdicts"])


def _probe_target(target: Path) -> bool:
    """Whether the target works without a draft, so that the draft must cause the failure."""
    try:
        ask_child("pairs", [target], START_LIMIT_S)
    except EngineError:
        return False
    return True


def ask_child(
    job: str,
    paths: Sequence[Path],
    limit_s: float,
    should_stop: ShouldStop = lambda: False,
    words: Sequence[str] = (),
) -> dict[str, Any]:
    """Run a helper for ``job`` on ``paths``, and return its answer. Error messages name the first path.

    ``words``: additional arguments. ``should_stop`` is called several times a second.

    Raises:
        ModelFileError: the helper refused a file, crashed, was too slow, or was stopped.
        NotEnoughMemoryError: the helper exceeded its memory.
        EngineError: the helper refused an argument.
    """
    name = paths[0].name
    # Absolute, but links are not resolved, since parts are found by the names of links.
    told = [*(str(path.absolute()) for path in paths), *words]
    try:
        ended = run_helper(job, told, limit_s=limit_s, should_stop=should_stop)
    except HelperStoppedError:
        message = i18n("Opening {name} was cancelled.", name=name)
        raise LoadCancelledError(message, "Open it again if you need it.") from None
    except HelperTimeoutError:
        raise TooSlowError(
            i18n("{name} could not be opened within {limit_s:.0f} seconds.", name=name, limit_s=limit_s),
            "If it lies on a slow drive, copy it to this computer; otherwise choose another file.",
        ) from None
    if ended.status != 0:
        log.info("the probe of %s ended with %s: %s", name, ended.status, ended.stderr.strip()[-2000:])
        raise _crash_error(name, ended)
    answer = ended.answer
    if answer is None:
        raise ModelLoadError(i18n("The process that opened {name} ended without an answer.", name=name))
    if "error" in answer:
        raise error_from_json(answer["error"])
    return answer


def _crash_error(name: str, ended: HelperResult) -> EngineError:
    status, stderr = ended.status, ended.stderr
    if status == -getattr(signal, "SIGKILL", 9):
        return NotEnoughMemoryError(
            i18n("The system ended the process that opened {name}, perhaps because memory ran out.", name=name)
        )
    if status == -getattr(signal, "SIGILL", 4):
        return ModelLoadError(
            i18n("{name} could not be opened: llama.cpp was built for another processor.", name=name),
            "Reinstall llama-cpp-python on this computer.",
        )
    if status == 1:  # Python's status after an unexpected exception
        last_line = (stderr.strip().splitlines() or [""])[-1][:200].rstrip(".")
        return ModelLoadError(
            i18n(
                "{name} could not be opened: {last_line}.",
                name=name,
                last_line=last_line or i18n("no reason was given"),
            ),
            _OTHER_PROGRAM,
        )
    reason = _CPP_EXCEPTION.search(stderr) or _ABORT.search(stderr)
    if reason and "bad_alloc" in stderr:
        return NotEnoughMemoryError(i18n("{name} asks for more memory than a file of its size can need.", name=name))
    detail = reason[1].strip()[:200] if reason else ended.exit_reason
    return ModelLoadError(
        i18n("llama.cpp crashed when it opened {name} ({detail}).", name=name, detail=detail), _OTHER_PROGRAM
    )
