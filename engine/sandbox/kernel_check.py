"""Tries, once for a build of llama.cpp and a processor, whether its kernels for that processor run and calculate right.

A compiler may get them wrong: several versions of GCC spoil an instruction of AMX, and the first pass of several tokens
ends the process. Where they fail, weights stay as they are in the file, which is slower but works. The verdict is kept;
what is tried stands in `engine.sandbox.kernel_child`.
"""

from __future__ import annotations

import hashlib
import logging
import sys
from collections.abc import Callable
from pathlib import Path

from engine.errors import EngineError, ModelHeaderError, NotEnoughMemoryError, TooSlowError
from engine.llama import library
from engine.sandbox.gpu_check import check_gpus
from engine.sandbox.probe import ProbeReport, ask_child, probe
from engine.sentences import Sentence, said
from engine.storage.json_store import JsonStore

log = logging.getLogger(__name__)

CACHE_FILE = "kernels.json"
_FORMAT = 2
_EXACT = " exact"  # behind a key: whether rows have the same bits in every pass
_LIMIT_S = 60.0
_FALLBACK = said(
    "The fast kernels of this build of llama.cpp fail on this processor, so slower ones are used. "
    "“make run” compiles it anew; README says how else."
)
_FALLBACK_OF_BUNDLE = said(
    "The fast kernels of this build of llama.cpp fail on this processor, so slower ones are used. "
    "A newer version of Paceline may bring others."
)


def check_kernels(sample: Path, cache_dir: Path | None = None, should_stop: Callable[[], bool] = lambda: False) -> bool:
    """Have ``sample``, a small model, run in a child process; where that fails, load no model with those kernels.

    Whether they work. Where they do, but give a row other bits in passes of another shape, that is noted
    (`library.note_inexact`). A verdict is kept in ``cache_dir`` until the build or the processor changes. Where there
    is no sample, or no memory to try it, all stays as it is. An answer that did not come in time is no verdict: they
    are done without, and tried again at the next start. Stopped, it is no verdict either.
    """
    if not library.uses_repacking() or not sample.is_file():
        return library.uses_repacking()
    file = JsonStore(cache_dir / CACHE_FILE, "works", _FORMAT) if cache_dir is not None else None
    key = _key()
    kept = file.read(bool) if file is not None else {}
    works, exact = kept.get(key), kept.get(key + _EXACT, False)
    if works is None:
        try:
            works, exact = True, bool(ask_child("kernels", [sample], _LIMIT_S, should_stop).get("exact"))
        except (NotEnoughMemoryError, ModelHeaderError) as error:  # which says nothing of them
            log.info("the kernels could not be tried: %s", error.message)
            return True
        except TooSlowError as error:
            log.warning("the kernels for this processor are left out until the next start: %s", error.message)
            library.disable_repacking()  # they may hang
            return False
        except EngineError as error:
            if should_stop():
                return True
            log.warning("the kernels for this processor do not work: %s", error.message)
            works = False
        if file is not None:
            file.write({key: works, key + _EXACT: exact})
    if not works:
        library.disable_repacking()
    elif not exact:
        library.note_inexact()
    return works


def inspector(cache_dir: Path | None, sample: Path | None) -> Callable[..., ProbeReport]:
    """A look at a file before it is opened in this process: kernels and GPUs first, once, then the file."""
    unchecked = [sample] if sample is not None else []

    def inspect(path: Path, should_stop: Callable[[], bool], may_lie_elsewhere: bool = False) -> ProbeReport:
        while unchecked:
            check_kernels(unchecked[-1], cache_dir, should_stop)
            if not should_stop():
                check_gpus(unchecked[-1], cache_dir, should_stop)
            if should_stop():  # without a verdict: before the next file
                break
            unchecked.pop()
        return probe(path, cache_dir, should_stop=should_stop, may_lie_elsewhere=may_lie_elsewhere)

    return inspect


def kernel_notices() -> tuple[Sentence, ...]:
    """What a user should know about the kernels in use: nothing where they are the right ones."""
    if library.uses_repacking():
        return ()
    return (_FALLBACK_OF_BUNDLE if getattr(sys, "frozen", False) else _FALLBACK,)


def _key() -> str:
    """What changes the verdict: the compiled files, and the processor."""
    return hashlib.sha256("\n".join(map(str, library.machine_facts())).encode()).hexdigest()[:32]
