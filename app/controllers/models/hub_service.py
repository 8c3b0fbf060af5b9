"""One interface to hub, library and downloads; returns view records.

Calls block; they run on the threads of `app.controllers.models.jobs`.
"""

import fnmatch
import logging
import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import psutil

from app.core.domain.model_name import name_of_file
from app.core.domain.models import (
    Download,
    DownloadRequest,
    DownloadStatus,
    FileKind,
    FileRow,
    LibraryRow,
    ModelRef,
    Offer,
    Presence,
    RepoModel,
    RepoSummary,
    RepoView,
)
from app.core.domain.settings.values import Settings
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.downloads.first_model import SMALL, is_first_model
from app.core.hub.errors import HubNotFoundError, LibraryError
from app.core.hub.file_names import is_gguf
from app.core.hub.library.library import Library, open_library
from app.core.hub.library.other_programs import MAX_OFFERS, offers_in
from app.core.hub.links import request_of
from app.core.hub.records import LibraryModel, Origin, RepoDetails
from app.core.paths import Paths
from engine.errors import EngineError
from engine.fit.fit import judge
from engine.gguf.title import model_title
from engine.records import FitLevel
from engine.sentences import i18n

log = logging.getLogger(__name__)

NUM_RESULTS = 60
# 4.8 bits per parameter, as in usual files of the hub: search results have no sizes.
_USUAL_BYTES_PER_PARAMETER = 0.6
# A rough factor for caches, compute buffers and tables beyond the weights, until the header is read.
_OVERHEAD_FACTOR, _OVERHEAD_BYTES = 1.08, 500 * 10**6


class HubService:
    """Safe to use from several threads."""

    def __init__(self, client: HubClient, library: Library, downloads: DownloadQueue) -> None:
        self.client = client
        self.library = library
        self.downloads = downloads
        self._lock = threading.Lock()
        self._repos: dict[str, RepoDetails] = {}
        self._headers: dict[tuple[str, int, int], tuple[str, str, str]] = {}  # by file, and its times of change

    def search(self, text: str) -> list[tuple[RepoSummary, FitLevel]]:
        """Search the hub; with a first verdict on each repository.

        Raises:
            HubError: the hub did not answer.
        """
        found = self.client.search(text, NUM_RESULTS)
        free = free_memory()
        return [(summary, repo_fit(summary, free)) for summary in found]

    def repo(self, repo_id: str) -> RepoView:
        """Read one repository.

        Raises:
            HubError: the hub did not answer.
        """
        details = self._fetch_details(repo_id)
        page, has_token = self.client.page_url(repo_id).removesuffix(repo_id), bool(self.client.tokens.find())
        rows = file_rows(details, self._presences(repo_id), free_memory())
        return RepoView(details.summary, page, rows, has_token)

    def refreshed(self, view: RepoView) -> RepoView:
        """The same repository, with the current state of the local files."""
        presences = self._presences(view.repo.repo_id)
        files = (replace(file, presence=presences.get(file.ref.file, Presence.ABSENT)) for file in view.files)
        return replace(view, files=tuple(files))

    def model(self, ref: ModelRef) -> RepoModel:
        """Find the model that contains a file of the hub.

        Raises:
            HubError: the hub did not answer or lacks the file.
        """
        with self._lock:
            details = self._repos.get(ref.repo)
        for known in (details, None):
            for model in (known or self._fetch_details(ref.repo)).models:
                if any(_refers_to(ref, file.path) for file in model.files):
                    return model
        raise HubNotFoundError(i18n("{repo} does not contain {file}.", repo=ref.repo, file=ref.file))

    def _fetch_details(self, repo_id: str) -> RepoDetails:
        details = self.client.details(repo_id)
        with self._lock:
            self._repos[repo_id] = details
        return details

    def pull(self, refs: tuple[ModelRef, ...]) -> None:
        """Queue the missing files; a second ref is the draft of the first.

        Raises:
            HubError: the hub did not answer. UnsafeNameError: a file name is unsafe.
        """
        target = refs[0]
        for ref in refs:
            if ref.path or self.path_of(ref):
                continue
            if ref.url or is_first_model(ref.repo, ref.file):
                self.downloads.add(request_of(ref.url) if ref.url else SMALL.request)
                continue
            draft_of = "" if ref is target else target.path or f"{target.repo}/{target.file}"
            model = self.model(ref)
            licence = self._repos[ref.repo].summary.licence
            self.downloads.add(DownloadRequest(ref.repo, model, draft_of=draft_of, licence=licence))

    def all_downloads(self) -> tuple[Download, ...]:
        """All downloads, with the paths of completed ones; fast enough for the GUI thread."""

        def found(download: Download) -> Download:
            if download.status is not DownloadStatus.DONE:
                return download
            request = download.request
            ref = ModelRef(request.repo_id, request.model.files[0].path, url=request.url)
            return replace(download, path=self.path_of(ref))

        return tuple(map(found, self.downloads.snapshot()))

    def path_of(self, ref: ModelRef) -> str:
        if ref.path:
            return ref.path
        if ref.url:
            request = request_of(ref.url)
            place = self.library.path_for(request.repo_id, request.model.files[0].path)
            here = (model.path for model in self.library.models() if not model.missing)
            return str(place) if place in here else ""
        for model in self.library.models():
            if (
                model.repo_id == ref.repo
                and not model.missing
                and any(_refers_to(ref, file.name) for file in model.files)
            ):
                return str(model.path)
        return ""

    def draft_of(self, target: str) -> str:
        """The path of the draft paired with a target; empty without one."""
        by_name = {model.name: model for model in self.library.models()}
        chosen = next((model for model in by_name.values() if str(model.path) == target), None)
        draft = by_name.get(chosen.draft) if chosen and chosen.draft else None
        return str(draft.path) if draft is not None and not draft.missing else ""

    def library_rows(self, target: str, draft: str) -> tuple[LibraryRow, ...]:
        return tuple(library_row(model, target, draft, *self._by_header(model)) for model in self.library.models())

    def search_folder(self, folder: Path, should_stop: Callable[[], bool]) -> tuple[Offer, ...]:
        """Find the models below a folder.

        Raises:
            LibraryError: the folder cannot be read.
        """
        try:
            with os.scandir(folder):
                return tuple(islice(offers_in("", folder, should_stop), MAX_OFFERS))
        except OSError as error:
            raise LibraryError(
                i18n("{folder} cannot be read: {reason}.", folder=folder, reason=error.strerror or error),
                "Choose a folder that you may read.",
            ) from error

    def picker_rows(self) -> tuple[LibraryRow, ...]:
        """The library models that can be targets, last used first."""
        models = [each for each in self.library.models() if each.kind is FileKind.MODEL and not each.missing]
        models.sort(key=lambda each: (-each.last_used.timestamp() if each.last_used else 0.0, each.name))
        return tuple(library_row(each, "", "", *self._by_header(each)) for each in models)

    def drafts_here(self, target: str, should_stop: Callable[[], bool]) -> tuple[LibraryRow, ...]:
        """Local models that can draft for a target, by vocabulary and size; empty if the target cannot be read."""
        from app.core.hub.pairs.assessment import find_drafts  # noqa: PLC0415  (NumPy, as above)
        from app.core.hub.remote_header import read_local_header  # noqa: PLC0415

        models = self.library.models_near(Path(target))
        try:
            found = find_drafts(read_local_header(Path(target)), models, should_stop=should_stop)
        except EngineError as error:
            log.info("no drafts for %s: %s", target, error)
            return ()
        return tuple(library_row(each, "", "", *self._by_header(each)) for each in found)

    def record_use(self, target: str, draft: str) -> dict[str, str]:
        """Record in the library that these files are used now, as a pair; returns all pairs (draft by target)."""
        now = datetime.now(UTC)
        names = {}
        for path in filter(None, (target, draft)):
            try:
                names[path] = self.library.add(Path(path)).name
            except LibraryError as error:  # it was removed meanwhile
                log.info("%s is not kept in the library: %s", path, error.message)
                continue
            self.library.mark_used(Path(path), now)
        if len(set(names.values())) == 2:
            self.library.set_draft(names[target], names[draft])
        here = {model.name: str(model.path) for model in self.library.models() if not model.missing}
        return {
            str(model.path): here[model.draft] for model in self.library.models() if model.draft and model.draft in here
        }

    def add(self, path: str) -> str:
        """Add a file without copying it; returns its name. Raises `LibraryError` if it cannot be added."""
        return self.library.add(Path(path)).name

    def _presences(self, repo_id: str) -> dict[str, Presence]:
        with self._lock:
            details = self._repos.get(repo_id)
        firsts = {Path(model.files[0].path).name: model.files[0].path for model in details.models} if details else {}
        found: dict[str, Presence] = {}
        for state in self.downloads.snapshot():
            if state.request.repo_id == repo_id and state.status is not DownloadStatus.DONE:
                found[state.request.model.files[0].path] = Presence.DOWNLOADING
        for model in self.library.models():
            if model.repo_id == repo_id and not model.missing and model.path.name in firsts:
                found[firsts[model.path.name]] = Presence.HERE
        return found

    def _by_header(self, model: LibraryModel) -> tuple[str, str, str]:
        """Architecture and name of a model, and its side file; empty if the header is unreadable. Cached."""
        path = model.path
        try:
            key = (str(path), path.stat().st_mtime_ns, path.parent.stat().st_mtime_ns)
        except OSError:
            return "", "", ""
        if key not in self._headers:
            # NumPy: the start does not wait for it
            from engine.gguf.header import read_header  # noqa: PLC0415
            from engine.pictures.side_file import find_side_file  # noqa: PLC0415

            side = find_side_file(path) if model.kind is FileKind.MODEL else None
            architecture = title = ""
            try:
                header = read_header(path)
                name = name_of_file(path) if is_gguf(path.name) else model.name  # else a blob: named by its digest
                architecture, title = header.architecture, model_title(header.metadata.get("general.name"), name)
            except EngineError as error:
                log.info("no header of %s: %s", path.name, error)
            self._headers[key] = architecture, title, side.name if side is not None else ""
        return self._headers[key]


def _refers_to(ref: ModelRef, file: str) -> bool:
    """True if ``ref`` means this file; recommendations have `fnmatch` patterns."""
    wanted, name = Path(ref.file).name.lower(), Path(file).name.lower()
    return wanted == name or ("*" in wanted and fnmatch.fnmatchcase(name, wanted))


def free_memory() -> int:
    return int(psutil.virtual_memory().available)


def open_hub_service(paths: Paths, settings: Settings, on_downloads: Callable[[], None]) -> HubService:
    """Open the hub (or the mirror in HF_ENDPOINT) and the library of these folders; requests nothing yet.

    ``on_downloads`` is called on a download thread when downloads changed.

    Raises:
        HubError: HF_ENDPOINT is no address.
    """
    client = HubClient()
    library = open_library(paths, settings)
    return HubService(client, library, DownloadQueue(client, library, paths.downloads_file, on_downloads))


# ---- views -------------------------------------------------------------------------------------------------------


def guess_fit(weights_bytes: float | None, free_bytes: int) -> FitLevel:
    """A first verdict from the size of the weights."""
    if weights_bytes is None or weights_bytes <= 0:
        return FitLevel.UNKNOWN
    needed = weights_bytes * _OVERHEAD_FACTOR + _OVERHEAD_BYTES
    return judge(round(needed), free_bytes)


def leaves_room(weights_bytes: int, free_bytes: int) -> bool:
    """True if weights of this size take at most half of the free memory."""
    return weights_bytes * _OVERHEAD_FACTOR + _OVERHEAD_BYTES <= free_bytes / 2


def repo_fit(summary: RepoSummary, free_bytes: int) -> FitLevel:
    """A first verdict: search results have no sizes."""
    weights = summary.num_parameters * _USUAL_BYTES_PER_PARAMETER if summary.num_parameters else None
    return guess_fit(weights, free_bytes)


def file_row(repo: str, model: RepoModel, presence: Presence, free_bytes: int) -> FileRow:
    return FileRow(
        ref=ModelRef(repo, model.files[0].path),
        kind=model.kind,
        label=model.quantization if model.kind.runs_alone else "",
        size_bytes=model.size_bytes,
        num_parts=len(model.files),
        fit=guess_fit(model.size_bytes, free_bytes),
        presence=presence,
    )


def file_rows(details: RepoDetails, presences: Mapping[str, Presence], free_bytes: int) -> tuple[FileRow, ...]:
    """The files of a repository; ``presences``: where each file is, by path."""
    repo = details.summary.repo_id
    rows = [
        file_row(repo, model, presences.get(model.files[0].path, Presence.ABSENT), free_bytes)
        for model in details.models
    ]
    labels = Counter(row.label for row in rows)
    names = {model.files[0].path: model.name for model in details.models}
    # In a repository with several models the quantization is no unique label.
    rows = [replace(row, label=names[row.ref.file]) if row.label and labels[row.label] > 1 else row for row in rows]
    return tuple(sorted(rows, key=lambda row: (row.kind is not FileKind.MODEL, row.size_bytes or 0)))


def library_row(
    model: LibraryModel, target: str, draft: str, architecture: str, title: str = "", side_file: str = ""
) -> LibraryRow:
    """A library row; ``target`` and ``draft`` are the files in use, ``title`` the header's name."""
    path = str(model.path)
    return LibraryRow(
        key=model.name,
        path=path,
        name=title or Path(model.name).name,
        size_bytes=model.size_bytes,
        architecture=architecture,
        quantization=model.quantization,
        last_used=model.last_used.astimezone() if model.last_used else None,
        paired_with=Path(model.draft).name if model.draft else "",
        in_place=model.origin is Origin.IN_PLACE,
        missing=model.missing,
        in_use="target" if path == target else "draft" if path == draft else "",
        licence=model.licence,
        source=model.source or model.repo_id,
        side_file=side_file,
    )
