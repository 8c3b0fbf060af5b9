"""Checks a draft by its header before the download; llama.cpp compares the vocabularies on stub files."""

import re
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from app.core.hub.remote_header import KnownModel
from engine.errors import DraftRefusedError
from engine.fit.fit import FreeMemory
from engine.gguf.head_files import head_method
from engine.gguf.header import write_stub
from engine.heads.compatibility import check_head_file
from engine.loading.devices import free_memory
from engine.records import Device
from engine.sandbox.probe import PairVerdict, judge_pairs

_UNSAFE = re.compile(r"[^\w.-]+")


def check_draft(target: KnownModel, draft: KnownModel, should_stop: Callable[[], bool] = lambda: False) -> PairVerdict:
    """Check a draft model by its vocabulary, or a head (MTP, EAGLE-3) by its header.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the check was cancelled.
    """
    if not head_method(draft.header):
        return check_vocabularies(target, [draft], should_stop)[0]
    try:
        check_head_file(target.header, draft.header)
    except DraftRefusedError as error:
        return PairVerdict(False, error.message)
    return PairVerdict(True)


def check_vocabularies(
    target: KnownModel, drafts: Sequence[KnownModel], should_stop: Callable[[], bool] = lambda: False
) -> tuple[PairVerdict, ...]:
    """Check the vocabularies of ``drafts``; returns one verdict per draft, in order.

    Heads in separate files need `check_draft`.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the check was cancelled.
    """
    with tempfile.TemporaryDirectory(prefix="paceline-") as name:
        folder = Path(name)
        stubs = []
        for number, model in enumerate((target, *drafts)):
            (folder / str(number)).mkdir()
            # The stub has the model's name as far as possible, since error messages contain it.
            path = folder / str(number) / f"{_UNSAFE.sub('_', model.name)[:80]}.gguf"
            stubs.append(write_stub(model.header, model.read_at, path))
        return judge_pairs(stubs[0], stubs[1:], should_stop)


def free_memory_at(models_folder: Path, devices: Sequence[Device] = ()) -> FreeMemory:
    """Free main memory, device memory, and disk space at ``models_folder``, which need not exist yet."""
    folder = models_folder.resolve()
    while not folder.exists():
        folder = folder.parent
    return free_memory(devices, psutil.virtual_memory().available, shutil.disk_usage(folder).free)
