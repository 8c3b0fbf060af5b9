"""Tries, once for a build of llama.cpp, its graphics processors and their drivers, whether models run right on them.

A driver may crash or calculate wrong, often only in flash attention or where it picks the likeliest tokens, and a crash
would take the window with it. So a child process runs a small model there first, as the program would, and once more
without these two where that fails. The verdict is kept; what is tried stands in `engine.sandbox.gpu_child`.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path

from engine.errors import EngineError, LoadCancelledError, NotEnoughMemoryError, TooSlowError
from engine.llama import gpu_verdict, library
from engine.llama.devices import find_gpus
from engine.llama.gpu_verdict import GpuVerdict
from engine.records import FlashAttention, LoadRequest
from engine.sandbox.probe import ask_child
from engine.sentences import Sentence, from_json, said
from engine.storage.json_store import JsonStore

log = logging.getLogger(__name__)

CACHE_FILE = "gpus.json"
_FORMAT = 1
_MOST_KEPT = 20
_LIMIT_S = 120.0  # for each of the two trials: at its first start a driver may compile its programs for a minute
_SENTENCES: dict[GpuVerdict, Sentence] = {
    GpuVerdict.REDUCED: said(
        "Flash attention or sampling fails on this graphics processor or its driver, so both are off there, and the "
        "cache is f16. "
        "A newer driver may help."
    ),
    GpuVerdict.PROCESSOR_ONLY: said(
        "The graphics processor failed a test with a small model, so models run on the processor. "
        "A newer driver may help."
    ),
    GpuVerdict.UNTRIED: said(
        "The graphics processor could not be tried with a small model: its memory may be full, or it did not answer in "
        "time. So models run on the processor. Close what else uses it, and start Paceline again."
    ),
}


class _Outcome(Enum):
    """Of one trial."""

    WORKS = auto()
    FAILS = auto()  # it crashed, or its numbers are wrong
    UNKNOWN = auto()  # it could not be tried this time


def check_gpus(
    sample: Path, cache_dir: Path | None = None, should_stop: Callable[[], bool] = lambda: False
) -> GpuVerdict:
    """Have ``sample``, a small model, run on the graphics processors in a child process, and follow what is found.

    The verdict is kept in ``cache_dir`` until the build, the devices or their driver change. Where there is no device,
    nothing is started. Where no answer came in time or the device had no memory, models are loaded on the processor,
    and the next start tries it again. Stopped, it is no verdict.
    """
    if not sample.is_file() or not library.supports_gpu():
        return gpu_verdict.current()
    file = JsonStore(cache_dir / CACHE_FILE, "verdicts", _FORMAT) if cache_dir is not None else None
    key, kept = check_key(), file.read(GpuVerdict) if file is not None else {}
    if key in kept:
        gpu_verdict.set_current(kept[key])
        return kept[key]
    try:
        verdict = _tried(sample, should_stop)
    except LoadCancelledError:
        return gpu_verdict.current()
    log.log(logging.INFO if verdict is GpuVerdict.FINE else logging.WARNING, "graphics processors: %s", verdict.value)
    if file is not None and verdict is not GpuVerdict.UNTRIED:  # another trial may say more
        newest = dict(list(kept.items())[1 - _MOST_KEPT :])
        file.write({**newest, key: verdict})
    gpu_verdict.set_current(verdict)
    return verdict


def _tried(sample: Path, should_stop: Callable[[], bool]) -> GpuVerdict:
    outcome = _try(sample, FlashAttention.AUTO, should_stop)
    if outcome is _Outcome.WORKS:
        return GpuVerdict.FINE
    if outcome is _Outcome.FAILS:
        outcome = _try(sample, FlashAttention.OFF, should_stop)
        if outcome is _Outcome.WORKS:
            return GpuVerdict.REDUCED
    return GpuVerdict.PROCESSOR_ONLY if outcome is _Outcome.FAILS else GpuVerdict.UNTRIED


def _try(sample: Path, flash: FlashAttention, should_stop: Callable[[], bool]) -> _Outcome:
    """Raises LoadCancelledError where it is stopped."""
    try:
        answer = ask_child("gpus", [sample], _LIMIT_S, should_stop, [flash.value], sees_gpus=True)
    except LoadCancelledError:  # a `ModelLoadError` as well
        raise
    except (TooSlowError, NotEnoughMemoryError) as error:
        log.warning("the graphics processors could not be tried: %s", error.message)
        return _Outcome.UNKNOWN
    except EngineError as error:
        log.warning("with flash attention %s the graphics processors fail: %s", flash.value, error.message)
        return _Outcome.FAILS
    if answer["refusal"] is not None:
        log.warning("the graphics processors could not be tried: %s", from_json(answer["refusal"]))
        return _Outcome.UNKNOWN
    if not answer["works"]:
        log.warning("with flash attention %s the graphics processors give wrong numbers", flash.value)
    return _Outcome.WORKS if answer["works"] else _Outcome.FAILS


def gpu_notices(request: LoadRequest) -> tuple[Sentence, ...]:
    """What a user should know about the graphics processors: nothing where they work, or nobody wants them."""
    if request.gpu_layers == 0 or request.placement.is_processor:
        return ()
    sentence = _SENTENCES.get(gpu_verdict.current())
    return () if sentence is None else (sentence,)


def kept_verdict(cache_dir: Path) -> tuple[GpuVerdict | None, Sentence | None]:
    """What an earlier start found for this machine as it is now, and the sentence on it; None where there is none."""
    verdict = JsonStore(cache_dir / CACHE_FILE, "verdicts", _FORMAT).read(GpuVerdict).get(check_key())
    return verdict, None if verdict is None else _SENTENCES.get(verdict)


def check_key() -> str:
    """What changes the verdict: the compiled files, the devices, and their drivers."""
    devices = [(gpu.name, gpu.description, gpu.total_bytes) for gpu in find_gpus()]
    facts = (*library.build_facts(), *devices, *library.driver_facts())
    return hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:32]
