"""Finds drafts on this computer, and checks drafts by their headers, also before a download. Calls block."""

import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import psutil

from app.core.domain.models import FileKind
from app.core.hub.records import LibraryModel
from app.core.hub.remote_header import KnownModel, read_local_header
from engine.errors import DraftRefusedError, EngineError
from engine.fit.fit import FreeMemory
from engine.gguf.head_files import head_method
from engine.gguf.header import write_stub
from engine.gguf.token_weights import head_bytes_per_token
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


LARGEST_SHARE = 0.5  # maximum draft cost / target cost: more expensive drafts gain nothing
_NO_DRAFTS = (FileKind.MMPROJ, FileKind.IMATRIX, FileKind.VOCAB, FileKind.ADAPTER)


def find_drafts(
    target: KnownModel, library: Iterable[LibraryModel], should_stop: Callable[[], bool] = lambda: False
) -> tuple[LibraryModel, ...]:
    """The models that match and are cheap enough: first those with the target's vocabulary, then the cheapest.

    Raises:
        ModelFileError: the target's vocabulary cannot be used, or the search was cancelled.
    """
    known = list(_candidates(target, library))
    heads = [one for one in known if head_method(one[1].header)]
    models = [one for one in known if not head_method(one[1].header)]
    verdicts = [check_draft(target, head, should_stop) for _, head in heads]
    if models:
        verdicts += check_vocabularies(target, [header for _, header in models], should_stop)
    found = []
    for (model, header), verdict in zip((*heads, *models), verdicts, strict=True):
        share = _cost_share(target, header)
        if verdict.matches and (share is None or share <= LARGEST_SHARE):
            found.append(((verdict.coverage is not None, share or 0.0), model))
    found.sort(key=lambda one: one[0])
    return tuple(model for _, model in found)


def _candidates(target: KnownModel, library: Iterable[LibraryModel]) -> Iterator[tuple[LibraryModel, KnownModel]]:
    """The models with readable headers, without the target and copies of it and of each other."""
    seen = {(target.path.name.casefold(), target.size_bytes)} if target.path is not None else set()
    for model in library:
        is_target = target.path is not None and model.path.resolve() == target.path.resolve()
        key = (model.path.name.casefold(), model.size_bytes)
        if is_target or key in seen or model.missing or model.kind in _NO_DRAFTS:
            continue
        seen.add(key)
        try:
            yield model, read_local_header(model.path, may_be_head=True)
        except EngineError:  # it cannot be loaded
            continue


def _cost_share(target: KnownModel, draft: KnownModel) -> float | None:
    """The cost of a drafted token relative to a pass of the target; None if unknown."""
    is_head = bool(head_method(draft.header))
    read = head_bytes_per_token(target.header, draft.header) if is_head else draft.bytes_per_token
    return read / target.bytes_per_token if read is not None and target.bytes_per_token else None
