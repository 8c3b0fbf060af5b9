"""What the hub, the downloads and the library tell the rest of the app, as plain data.

Every text in here that came from the hub was checked: bounded, without control characters, and no path leads out of a
folder. ``None`` (or an empty text) always means: the hub did not say.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from app.core.domain.models import FileKind, RepoModel


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
class RepoDetails:
    """One repository with its models."""

    summary: RepoSummary
    commit: str  # 40 hex digits, or empty
    models: tuple[RepoModel, ...] = ()
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
