"""What the hub, the downloads and the library tell the rest of the app, as plain data.

Every text in here that came from the hub was checked: bounded, without control characters, and no path leads out of a
folder. ``None`` (or an empty text) always means: the hub did not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from app.domain.models import FileKind


class SortBy(StrEnum):
    """The orders of a search; the values are the hub's own words."""

    DOWNLOADS = "downloads"
    LIKES = "likes"
    UPDATED = "lastModified"
    TRENDING = "trendingScore"


class Gated(StrEnum):
    """Whether the publisher wants to be asked before files can be fetched."""

    NO = ""
    AUTOMATIC = "auto"  # accept the terms on the repository's page
    MANUAL = "manual"  # a person decides


# ---- what the hub says -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RepoSummary:
    """One repository in the answer to a search."""

    repo_id: str  # "owner/name"
    downloads: int | None = None
    updated: datetime | None = None
    gated: Gated = Gated.NO
    licence: str = ""
    architecture: str = ""
    num_parameters: int | None = None
    context_length: int | None = None
    quantizations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a repository. ``sha256`` is 64 hex digits, or empty where the hub does not say."""

    path: str
    size_bytes: int | None = None
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class RemoteModel:
    """One model of a repository: one GGUF file, or all shards of one, in order."""

    name: str  # the file's name without folder, shard number and ".gguf"
    kind: FileKind
    files: tuple[RemoteFile, ...]
    quantization: str = ""
    missing_shards: int = 0

    @property
    def size_bytes(self) -> int | None:
        """All files together; None where one size is not known."""
        sizes = [file.size_bytes for file in self.files]
        return sum(size for size in sizes if size is not None) if None not in sizes else None


@dataclass(frozen=True, slots=True)
class RepoDetails:
    """One repository with its models."""

    summary: RepoSummary
    commit: str  # 40 hex digits, or empty
    models: tuple[RemoteModel, ...] = ()
    has_readme: bool = False


@dataclass(frozen=True, slots=True)
class RemoteLocation:
    """Where one file lies right now. ``url`` may be signed and short-lived, and on another host than the hub."""

    repo_id: str
    path: str
    url: str
    etag: str  # the hub's name for these bytes; the sha256 for big files
    size_bytes: int
    commit: str = ""

    @property
    def sha256(self) -> str:
        """The expected checksum, or an empty text where the hub gives none."""
        digits = self.etag.lower()
        return digits if len(digits) == 64 and set(digits) <= set("0123456789abcdef") else ""


# ---- downloads ---------------------------------------------------------------------------------------------------


class DownloadStatus(StrEnum):
    """Where a download stands. QUEUED, RUNNING and VERIFYING go on by themselves."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"  # after a failure of the connection, until the next attempt
    VERIFYING = "verifying"
    PAUSED = "paused"
    FAILED = "failed"
    DONE = "done"

    @property
    def is_active(self) -> bool:
        """Whether a thread is at work on it."""
        return self in (DownloadStatus.RUNNING, DownloadStatus.WAITING, DownloadStatus.VERIFYING)


@dataclass(frozen=True, slots=True)
class DownloadRequest:
    """What to fetch. ``draft_of`` names the target in the library to pair this model with when it is here.

    ``url``: the address of the first file where it is of no hub; ``repo_id`` then only names a folder of the library.
    """

    repo_id: str
    model: RemoteModel
    revision: str = "main"
    draft_of: str = ""
    licence: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class FileProgress:
    """One file of a download."""

    path: str
    size_bytes: int | None
    done_bytes: int = 0


@dataclass(frozen=True, slots=True)
class DownloadState:
    """One download as it is now. ``message`` and ``advice`` say why it failed, waits, or started over."""

    download_id: str
    request: DownloadRequest
    status: DownloadStatus
    files: tuple[FileProgress, ...]
    bytes_per_s: float | None = None
    attempt: int = 0
    message: str = ""
    advice: str = ""

    @property
    def done_bytes(self) -> int:
        """Bytes on the disk."""
        return sum(file.done_bytes for file in self.files)

    @property
    def size_bytes(self) -> int | None:
        """All files together; None where one size is not known."""
        sizes = [file.size_bytes for file in self.files]
        return sum(size for size in sizes if size is not None) if None not in sizes else None

    @property
    def seconds_left(self) -> float | None:
        """At the present speed; None where that is not known."""
        if not self.bytes_per_s or self.size_bytes is None:
            return None
        return (self.size_bytes - self.done_bytes) / self.bytes_per_s


# ---- library -----------------------------------------------------------------------------------------------------


class Origin(StrEnum):
    """How a model came into the library."""

    DOWNLOADED = "downloaded"  # in the library folder: removing it deletes its files
    IN_PLACE = "in place"  # somewhere else on this disk: removing it only forgets it


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """One model on this machine. ``missing``: its files are not where they were."""

    name: str  # unique in the library
    files: tuple[Path, ...]  # in order; the first is what is loaded
    kind: FileKind
    origin: Origin
    quantization: str = ""
    size_bytes: int = 0
    repo_id: str = ""
    licence: str = ""
    draft: str = ""  # the name of the model that drafts for it
    added: datetime | None = None
    last_used: datetime | None = None
    missing: bool = False
    source: str = ""  # where the bytes came from, where that is not the repository

    @property
    def path(self) -> Path:
        """The file to load."""
        return self.files[0]


@dataclass(frozen=True, slots=True)
class Offer:
    """A model that another program keeps on this disk and that could be added in place."""

    name: str
    files: tuple[Path, ...]
    kind: FileKind
    found_in: str  # "Hugging Face cache", "LM Studio", "Jan", "llama.cpp"
    quantization: str = ""
    size_bytes: int = 0
