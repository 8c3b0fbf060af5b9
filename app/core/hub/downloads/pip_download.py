"""Downloads one wheel with pip in a child process. Nothing is installed, and no code of the wheel runs.

pip uses the user's mirror, proxy and certificates, so no address is needed here.
`app/core/hub/downloads/first_model.py` checks the wheel and its contents.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.hub.downloads.transfer import TransferControl
from app.core.hub.errors import DiskFullError, PackageError
from app.core.hub.file_names import short
from engine.sentences import Sentence, said

LOOK_EVERY_S = 0.1
END_WAIT_S = 3.0
MAX_LOG_BYTES = 64 << 10
# No dependencies and no source packages: building one would run its code.
OPTIONS = ("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--progress-bar", "off")

_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")  # tokens of the hub are hidden from package indexes
_FULL = ("No space left on device", "Errno 28]", "Disk quota exceeded")
_CUT_OFF = (
    "connection broken by",
    "ConnectionError",
    "Could not fetch URL",
    "Connection reset",
    "IncompleteRead",
    "ProxyError",
    "timed out",
    "name resolution",
    "SSLError",
)
_NOT_FOUND = ("No matching distribution found", "Could not find a version")


@dataclass(frozen=True, slots=True)
class Wheel:
    """The requirement for pip, and the file name that it downloads."""

    package: str
    version: str
    file: str
    size_bytes: int
    sha256: str

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


def pip_command() -> tuple[str, ...] | None:
    """The command for this Python's pip; None without pip, as in a bundle."""
    if getattr(sys, "frozen", False) or importlib.util.find_spec("pip") is None:
        return None
    return (sys.executable, "-P", "-m", "pip")  # -P: ignore a pip.py in the current folder


def download_wheel(command: Sequence[str], wheel: Wheel, folder: Path, watch: TransferControl) -> Path:
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
        process = subprocess.Popen(  # noqa: S603 (this Python, and words of ours)
            full_command,
            cwd=scratch,
            env=_environment(os.environ, scratch),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    try:
        while process.poll() is None:
            watch.wait(LOOK_EVERY_S)
            watch.on_progress(min(_largest(folder), wheel.size_bytes), wheel.size_bytes)
    finally:
        _end(process)
    if process.returncode != 0:
        raise _refusal(_end_of(log), wheel)
    found = wheels / wheel.file
    if found.is_symlink() or not found.is_file():
        raise PackageError(said("pip downloaded a different file than {name}.", name=wheel.file))
    return found


def _environment(environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """The environment for pip: keeps the user's pip settings, puts temporary files in ``scratch``, disables prompts."""
    kept = {name: value for name, value in environ.items() if name not in _TOKENS}
    ours = {name: str(scratch) for name in ("TMPDIR", "TEMP", "TMP")}
    ours |= {"PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    # Safe: nothing is installed, and the wheel's checksum is verified afterwards.
    ours |= {"PIP_REQUIRE_VIRTUALENV": "0", "PIP_REQUIRE_HASHES": "0"}
    return {**kept, **ours}


def _largest(folder: Path) -> int:
    """The size of the largest file below ``folder``: the wheel, which pip writes to a temporary folder first."""
    largest = 0
    for place, _folders, names in os.walk(folder):
        for name in names:
            try:
                largest = max(largest, Path(place, name).lstat().st_size)
            except OSError:  # the file was deleted meanwhile
                continue
    return largest


def _end(process: subprocess.Popen[bytes]) -> None:
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


def _refusal(words: str, wheel: Wheel) -> DiskFullError | PackageError:
    """The error for pip's last output."""
    if any(sign in words for sign in _FULL):
        return DiskFullError("The disk was full before the package was downloaded.", "Free some space and try again.")
    return PackageError(_reason(words, wheel))


def _reason(words: str, wheel: Wheel) -> Sentence:
    if any(sign in words for sign in _CUT_OFF):
        return said("pip could not reach its package index.")
    if any(sign in words for sign in _NOT_FOUND):
        return said("pip's package index has no {package}, or cannot be reached.", package=wheel.requirement)
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1] if lines else "")
    return said("pip failed: {words}.", words=short(last.removeprefix("ERROR:").strip()))
