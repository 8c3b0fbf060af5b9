"""The data of hub, downloads and library.

Texts of the hub are limited in length and have no control characters, and no path leads out of a folder. None and empty
texts mean that the hub did not report the value.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.core.domain.models import FileKind, RepoModel, RepoSummary


def moment_of(text: Any) -> datetime | None:  # noqa: ANN401 (untrusted)
    """Parse a time in ISO 8601 (default: UTC); None if it is invalid or absurd."""
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    if not 1970 <= moment.year < 2200:  # some systems cannot display other years
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RepoDetails:
    summary: RepoSummary
    models: tuple[RepoModel, ...] = ()


@dataclass(frozen=True, slots=True)
class RemoteLocation:
    """The current location of a file. ``url`` may be signed and short-lived, and may be on another host."""

    repo_id: str
    path: str
    url: str
    etag: str  # identifies the version; for large files the sha256
    size_bytes: int

    @property
    def sha256(self) -> str:
        """The expected checksum; empty if the hub has none."""
        digits = self.etag.lower()
        return digits if len(digits) == 64 and set(digits) <= set("0123456789abcdef") else ""


# ---- library -----------------------------------------------------------------------------------------------------


class Origin(StrEnum):
    DOWNLOADED = "downloaded"  # in the library folder; removing the model deletes its files
    IN_PLACE = "in place"  # in another folder; removing the model keeps its files


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """One model of the library. ``missing``: its files do not exist."""

    name: str  # unique in the library
    files: tuple[Path, ...]  # in order; the first is loaded
    kind: FileKind
    origin: Origin
    quantization: str = ""
    size_bytes: int = 0
    repo_id: str = ""
    licence: str = ""
    draft: str = ""  # the name of its draft model
    added: datetime | None = None
    last_used: datetime | None = None
    missing: bool = False
    source: str = ""  # the source of the bytes, if that is not the repository

    @property
    def path(self) -> Path:
        """The file to load."""
        return self.files[0]
