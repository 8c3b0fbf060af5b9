"""Tests once per build of llama.cpp and machine whether kernels and GPUs compute correctly.

A compiler may miscompile kernels: several versions of GCC break an instruction of AMX, which crashes the first pass of
several tokens. If kernels fail, weights keep the layout of the file, which is slower but works. A driver may crash or
compute wrong results, often only in flash attention or when it selects the top tokens, so GPUs are tested again without
these two. The tests run a small model in a helper process (`engine.sandbox.trials`), and their verdicts are stored.
"""

import hashlib
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.errors import EngineError, LoadCancelledError, ModelHeaderError, NotEnoughMemoryError, TooSlowError
from engine.llama import gpu_verdict, library
from engine.llama.devices import find_gpus
from engine.llama.gpu_verdict import GpuVerdict
from engine.records import FlashAttention, LoadRequest
from engine.sandbox.probe import ShouldStop, ask_child, probe
from engine.sentences import Sentence, from_json, i18n
from engine.storage.json_store import JsonStore

log = logging.getLogger(__name__)

KERNELS_FILE = "kernels.json"
_KERNELS_FORMAT = 3
_KERNELS_LIMIT_S = 60.0
_FALLBACK = i18n(
    "The fast kernels of this build of llama.cpp fail on this processor, so slower ones are used. “make run” "
    "compiles it again; README names other ways."
)
_FALLBACK_OF_BUNDLE = i18n(
    "The fast kernels of this build of llama.cpp fail on this processor, so slower ones are used. "
    "A newer version of Paceline may bring others."
)
GPUS_FILE = "gpus.json"
_GPUS_FORMAT = 1
_GPUS_LIMIT_S = 120.0  # for each of the two trials, since at its first start a driver may compile programs for a minute
_SENTENCES: dict[GpuVerdict, Sentence] = {
    GpuVerdict.REDUCED: i18n(
        "Flash attention or sampling fails on this GPU or its driver, so both are off there, and the cache is f16. A "
        "newer driver may help."
    ),
    GpuVerdict.PROCESSOR_ONLY: i18n(
        "The GPU failed a test with a small model, so models run on the processor. A newer driver may help."
    ),
    GpuVerdict.UNTRIED: i18n(
        "The GPU could not be tried with a small model: its memory may be full, or it did not answer in time. So "
        "models run on the processor. Close other programs that use it, and start Paceline again."
    ),
}


def check_kernels(sample: Path, cache_dir: Path | None = None, should_stop: ShouldStop = lambda: False) -> bool:
    """Run ``sample``, a small model, in a helper process; if it fails, no model is repacked for the kernels.

    Returns whether the kernels work. Calls `library.mark_kernels_inexact` if rows differ in bits between passes of
    different shapes. The verdict is stored in ``cache_dir`` for the build and the processor. Without a sample, or
    memory to run it, nothing changes. After a time-out the kernels are not used until the next start, which tests them
    again. Stopping gives no verdict.
    """
    if not library.uses_repacking() or not sample.is_file():
        return library.uses_repacking()
    store = JsonStore(cache_dir, KERNELS_FILE, "verdicts", _KERNELS_FORMAT, _kernel_verdict)
    key = _hash_of(library.machine_facts())
    works, exact = store.get(key) or (None, False)
    if works is None:
        try:
            works, exact = True, bool(ask_child("kernels", [sample], _KERNELS_LIMIT_S, should_stop).get("exact"))
        except (NotEnoughMemoryError, ModelHeaderError) as error:  # this is no verdict on the kernels
            log.info("the kernels could not be tried: %s", error.message)
            return True
        except TooSlowError as error:
            log.warning("the kernels for this processor are left out until the next start: %s", error.message)
            library.disable_repacking()  # the kernels may hang
            return False
        except EngineError as error:
            if should_stop():
                return True
            log.warning("the kernels for this processor do not work: %s", error.message)
            works = False
        store.put(key, (works, exact))
    if not works:
        library.disable_repacking()
    elif not exact:
        library.mark_kernels_inexact()
    return works


def _kernel_verdict(entry: list[Any]) -> tuple[bool, bool]:
    """Whether the kernels work, and whether rows have the same bits in every pass."""
    works, exact = entry
    return bool(works), bool(exact)


def file_inspector(cache_dir: Path | None, sample: Path | None) -> Callable[..., None]:
    """Return a function that tries a file before this process opens it; the first call also tests kernels and GPUs."""
    unchecked = [sample] if sample is not None else []

    def inspect(path: Path, should_stop: ShouldStop, is_for_devices: bool = False) -> None:
        while unchecked:
            check_kernels(unchecked[-1], cache_dir, should_stop)
            if not should_stop():
                check_gpus(unchecked[-1], cache_dir, should_stop)
            if should_stop():  # no verdict: test again before the next file
                break
            unchecked.pop()
        probe(path, cache_dir, should_stop=should_stop, is_for_devices=is_for_devices)

    return inspect


def kernel_notices() -> tuple[Sentence, ...]:
    if library.uses_repacking():
        return ()
    return (_FALLBACK_OF_BUNDLE if getattr(sys, "frozen", False) else _FALLBACK,)


def check_gpus(sample: Path, cache_dir: Path | None = None, should_stop: ShouldStop = lambda: False) -> GpuVerdict:
    """Run ``sample``, a small model, on the GPUs in a helper process, and apply the verdict.

    The verdict is stored in ``cache_dir`` for the build, the devices and their drivers. Without a device no helper is
    started. After a time-out, or without free memory on the device, models run on the CPU until the next start, which
    tests again. Stopping gives no verdict.
    """
    if not sample.is_file() or not library.supports_gpu():
        return gpu_verdict.current()
    store, key = _gpu_store(cache_dir), check_key()
    if (stored := store.get(key)) is not None:
        gpu_verdict.set_current(stored)
        return stored
    try:
        verdict = _test_gpus(sample, should_stop)
    except LoadCancelledError:
        return gpu_verdict.current()
    log.log(logging.INFO if verdict is GpuVerdict.USABLE else logging.WARNING, "graphics processors: %s", verdict.value)
    if verdict is not GpuVerdict.UNTRIED:
        store.put(key, verdict)
    gpu_verdict.set_current(verdict)
    return verdict


def _gpu_store(cache_dir: Path | None) -> JsonStore[GpuVerdict]:
    return JsonStore(cache_dir, GPUS_FILE, "verdicts", _GPUS_FORMAT, GpuVerdict)


def _test_gpus(sample: Path, should_stop: ShouldStop) -> GpuVerdict:
    works = _run_trial(sample, FlashAttention.AUTO, should_stop)
    if works:
        return GpuVerdict.USABLE
    if works is False and (works := _run_trial(sample, FlashAttention.OFF, should_stop)):
        return GpuVerdict.REDUCED
    return GpuVerdict.UNTRIED if works is None else GpuVerdict.PROCESSOR_ONLY


def _run_trial(sample: Path, flash: FlashAttention, should_stop: ShouldStop) -> bool | None:
    """Whether the GPUs work; None if the trial was not possible. Raises LoadCancelledError if stopped."""
    try:
        answer = ask_child("gpus", [sample], _GPUS_LIMIT_S, should_stop, [flash.value])
    except LoadCancelledError:  # a subclass of `ModelLoadError`
        raise
    except (TooSlowError, NotEnoughMemoryError) as error:
        log.warning("the graphics processors could not be tried: %s", error.message)
        return None
    except EngineError as error:
        log.warning("with flash attention %s the graphics processors fail: %s", flash.value, error.message)
        return False
    if answer["refusal"] is not None:
        log.warning("the graphics processors could not be tried: %s", from_json(answer["refusal"]))
        return None
    if not answer["works"]:
        log.warning("with flash attention %s the graphics processors give wrong numbers", flash.value)
    return bool(answer["works"])


def gpu_notices(request: LoadRequest) -> tuple[Sentence, ...]:
    """Notices for the user about the GPUs; empty if they work or are not used."""
    if request.gpu_layers == 0 or request.placement.is_processor:
        return ()
    sentence = _SENTENCES.get(gpu_verdict.current())
    return () if sentence is None else (sentence,)


def stored_verdict(cache_dir: Path) -> tuple[GpuVerdict | None, Sentence | None]:
    """The stored verdict for this machine and its current build and drivers, with a sentence about it."""
    verdict = _gpu_store(cache_dir).get(check_key())
    return verdict, None if verdict is None else _SENTENCES.get(verdict)


def check_key() -> str:
    """Hash of the facts that a verdict depends on: compiled files, devices, and drivers."""
    devices = [(gpu.name, gpu.description, gpu.total_bytes) for gpu in find_gpus()]
    return _hash_of((*library.build_facts(), *devices, *library.driver_facts()))


def _hash_of(facts: Sequence[object]) -> str:
    return hashlib.sha256("\n".join(map(str, facts)).encode()).hexdigest()[:32]
