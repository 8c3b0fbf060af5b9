"""The library: models in the library folder, and models that are used in other folders.

Only files inside the library folder are ever deleted.
"""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from app.core.domain.model_name import printable
from app.core.domain.models import DownloadRequest, Offer, SkippedModel
from app.core.domain.settings.values import Settings
from app.core.hub.errors import LibraryError, UnsafeNameError
from app.core.hub.file_names import (
    LOCKS,
    all_shards,
    check_repo_id,
    is_gguf,
    kind_of,
    model_name,
    path_inside,
    quantization_of,
    safe_parts,
    short,
)
from app.core.hub.library import ollama
from app.core.hub.library.other_folders import MAX_ENTRIES, MAX_OFFERS, is_model_file, known_places, offer_of, offers_in
from app.core.hub.records import LibraryModel, Origin, moment_of
from app.core.paths import Paths
from app.core.storage.atomic import write_atomically
from app.core.storage.settings_file import read_settings
from engine.errors import EngineError
from engine.gguf.title import model_title
from engine.sentences import i18n

LOCK_WAIT_S = 20.0
MAX_INDEX_BYTES = 16 << 20
MAX_FILES = 1000
MAX_SIZE_BYTES = 1 << 50
_TEXT_FIELDS = ("repo_id", "licence", "draft", "added", "last_used", "source")
PART_ENDINGS = (".part", ".part.json")
log = logging.getLogger(__name__)


# The library's index is JSON, written atomically by one process at a time. Every field is checked when it is read.


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """The index entry of one model. ``files``: relative to the library folder if downloaded, else absolute."""

    name: str
    files: tuple[str, ...]
    is_downloaded: bool
    repo_id: str = ""
    licence: str = ""
    draft: str = ""
    size_bytes: int = 0  # size at the last check
    added: str = ""  # ISO 8601
    last_used: str = ""
    source: str = ""  # where the file came from, if not from the repository


@dataclass(frozen=True, slots=True)
class Index:
    entries: dict[str, IndexEntry] = field(default_factory=dict)

    def with_entry(self, entry: IndexEntry) -> Index:
        return Index({**self.entries, entry.name: entry})

    def without(self, name: str) -> Index:
        """The index without this entry and its pairs."""
        kept = {other: entry for other, entry in self.entries.items() if other != name}
        return Index({key: replace(entry, draft="") if entry.draft == name else entry for key, entry in kept.items()})


class IndexFile:
    """The index file, with a lock."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Index:
        """The index on the disk; empty if the file is missing or invalid."""
        return self._parse() or Index()

    def change(self, change: Callable[[Index], Index]) -> Index:
        """Read, change and write the index under the lock. An unreadable file is renamed and replaced.

        Raises:
            LibraryError: the index cannot be written.
        """
        import filelock  # noqa: PLC0415 (startup time)

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(self._path.with_name(self._path.name + ".lock"), timeout=LOCK_WAIT_S):
                before = self._parse()
                if before is None and self._path.exists():
                    self._path.replace(self._path.with_name(self._path.name + ".damaged"))
                after = change(before or Index())
                if after != before:
                    content = {"version": 1, "models": [asdict(entry) for entry in after.entries.values()]}
                    write_atomically(self._path, json.dumps(content, indent=1).encode())
                return after
        except filelock.Timeout as error:
            raise LibraryError("Another Paceline is using the library's index.", "Try again in a moment.") from error
        except OSError as error:
            raise LibraryError(
                i18n("{path} could not be written: {reason}.", path=self._path, reason=error.strerror or error)
            ) from error

    def _parse(self) -> Index | None:
        """The index on the disk; None if the file is missing or invalid."""
        try:
            with self._path.open("rb") as file:
                entries = map(_entry_of, json.loads(file.read(MAX_INDEX_BYTES))["models"])
                return Index({entry.name: entry for entry in entries if entry is not None})
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            log.warning("The library's index cannot be read, so it is built anew: %s", type(error).__name__)
            return None


def _entry_of(facts: Any) -> IndexEntry | None:  # noqa: ANN401 (whatever the file holds)
    files = facts.get("files") if isinstance(facts, dict) else None
    if not isinstance(files, list) or not 0 < len(files) <= MAX_FILES:
        return None
    good_files = tuple(file for file in files if isinstance(file, str) and file and "\0" not in file)
    name, is_downloaded, size = facts.get("name"), facts.get("is_downloaded"), facts.get("size_bytes")
    if len(good_files) != len(files) or not isinstance(name, str) or not name or not isinstance(is_downloaded, bool):
        return None
    texts = {key: facts[key] for key in _TEXT_FIELDS if isinstance(facts.get(key), str)}
    good_size = size if isinstance(size, int) and 0 <= size <= MAX_SIZE_BYTES else 0
    texts["draft"] = printable(texts.get("draft", ""))
    return IndexEntry(printable(name), good_files, is_downloaded, size_bytes=good_size, **texts)


class Library:
    """The index of the models. Safe for several threads and processes; every call uses the disk."""

    def __init__(self, folder: Path, index_file: Path) -> None:
        """``folder``: for downloads. ``index_file``: JSON in the app's data folder."""
        self.folder = folder
        self._index = IndexFile(index_file)

    @property
    def lock_folder(self) -> Path:
        """The folder of the transfers' locks."""
        return self.folder / LOCKS

    def models(self) -> tuple[LibraryModel, ...]:
        """All models, sorted by name; includes missing models, and files that the user put into the folder."""
        index = self._index.read()
        unknown_offers = self._unknown_models(index)
        if unknown_offers:
            index = self._index.change(lambda now: _with_new(now, unknown_offers))
        return tuple(self._model(entry) for entry in sorted(index.entries.values(), key=lambda e: e.name.lower()))

    def models_near(self, target: Path) -> tuple[LibraryModel, ...]:
        """All models, plus models in the target's folder: a draft beside a target is meant for it."""
        models = self.models()
        known = {file.resolve() for model in models for file in model.files}
        try:
            files = sorted(file for file in islice(target.parent.iterdir(), MAX_ENTRIES) if is_gguf(file.name))
        except OSError:  # the folder is missing or unreadable
            return models
        offers = (offer_of("", file) for file in files if file.resolve() not in known)
        near = (
            LibraryModel(each.name, each.files, each.kind, Origin.IN_PLACE, each.quantization, each.size_bytes)
            for each in offers
            if each is not None
        )
        return (*models, *near)

    def find(self, name: str) -> LibraryModel:
        """Find a model by name, file name, path, repository/file, or title in the window.

        Raises:
            LibraryError: no model matches, or several do.
        """
        models = self.models()
        ways: tuple[Callable[[LibraryModel], bool], ...] = (
            lambda model: model.name == name,
            lambda model: name in self._other_names(model),
            lambda model: name == f"{model.repo_id}/{model_name(model.path.name)}",  # before the library renamed it
            lambda model: model.name.lower() == name.lower().removesuffix(".gguf"),
            lambda model: _title(model).lower() == name.lower(),
        )
        found = next((named for matches in ways if (named := [one for one in models if matches(one)])), [])
        if len(found) > 1:
            names = ", ".join(model.name for model in found)
            raise LibraryError(
                i18n("{name} matches several models: {names}.", name=short(name), names=names), "Name one."
            )
        if not found:
            message = i18n("The library has no model {name}.", name=short(name))
            raise LibraryError(message, i18n("See `paceline models list`."))
        return found[0]

    def add(self, path: Path) -> LibraryModel:
        """Add a GGUF file with all its shards; nothing is copied or moved.

        Raises:
            LibraryError: the file does not exist, or is no GGUF file.
        """
        files = all_shards(path.expanduser().absolute())
        for file in files:
            if not file.exists():
                raise LibraryError(
                    i18n("{file} does not exist.", file=file),
                    "Check the path; a model in several parts needs all of them.",
                )
            if not file.is_file():
                raise LibraryError(i18n("{file} is not a regular file.", file=file), "Name the model's own file.")
        if not is_model_file(files[0]):
            raise LibraryError(
                i18n("{file} is not a GGUF file.", file=files[0]), "Paceline runs models in the GGUF format only."
            )
        known = [model for model in self.models() if _is_same_file(model.path, files[0])]
        if known:
            return known[0]
        name = ollama.name_of_blob(files[0]) or model_name(path.name)
        entry = IndexEntry(name, tuple(map(str, files)), is_downloaded=False, size_bytes=_size(files))
        return self._add(entry)

    def add_downloaded(self, request: DownloadRequest, source: str = "") -> LibraryModel:
        """Add a finished download. ``source``: where it came from, if not from the repository.

        Raises:
            LibraryError: the index cannot be written.
            UnsafeNameError: a name would lead out of the library folder.
        """
        files = tuple(self.path_for(request.repo_id, file.path) for file in request.model.files)
        entry = IndexEntry(
            name=request.model.name,
            files=tuple(file.relative_to(self.folder).as_posix() for file in files),
            is_downloaded=True,
            repo_id="" if request.url else request.repo_id,
            licence=request.licence,
            size_bytes=_size(files),
            source=source,
        )
        return self._add(entry)

    def path_for(self, repo_id: str, path: str) -> Path:
        """The path of a repository's file, whether it exists or not.

        Raises:
            UnsafeNameError: the path would be outside the library folder.
        """
        return path_inside(self.folder, (*safe_parts(check_repo_id(repo_id)), *safe_parts(path)))

    def remove(self, name: str) -> int:
        """Remove a model. Only files in the library folder are deleted; returns the freed bytes.

        Raises:
            LibraryError: no model matches, or a file cannot be deleted.
        """
        model = self.find(name)
        freed = 0
        if model.origin is Origin.DOWNLOADED:
            # Files outside the library folder stay.
            freed = sum(self._delete(file) for file in model.files if file.is_relative_to(self.folder))
        self._index.change(lambda index: index.without(model.name))
        return freed

    def set_draft(self, target: str, draft: str) -> None:
        """Pair two models; an empty ``draft`` removes the pairing.

        Raises:
            LibraryError: one of them is not in the library.
        """
        target = self.find(target).name
        draft = self.find(draft).name if draft else ""
        if draft == target:
            raise LibraryError(
                i18n("{target} cannot draft for itself.", target=short(target)), "Choose a smaller model."
            )
        self._change_entry(target, lambda entry: replace(entry, draft=draft))

    def mark_used(self, path: Path, when: datetime) -> None:
        """Record that the model was loaded; files outside the library are ignored."""
        moment = when.astimezone(UTC).isoformat()
        for name in [model.name for model in self.models() if _is_same_file(model.path, path)]:
            self._change_entry(name, lambda entry: replace(entry, last_used=moment))

    def find_offers(self) -> tuple[tuple[Offer, ...], tuple[SkippedModel, ...]]:
        """Find models of other programs that the library lacks, and models that cannot be used.

        Searches the Hugging Face cache and the folders of LM Studio, Jan, llama.cpp and Ollama.
        """
        skipped: list[SkippedModel] = []
        offers = self.without_known(self._offers_of_programs(skipped))
        return offers, tuple(skipped)

    def without_known(self, offers: Iterable[Offer]) -> tuple[Offer, ...]:
        """The offers that the library lacks, each file once."""
        known = {model.path.resolve() for model in self.models()}
        found: dict[Path, Offer] = {}
        for offer in offers:
            real = offer.files[0].resolve()
            if real not in known and len(found) < MAX_OFFERS:
                found.setdefault(real, offer)
        return tuple(found.values())

    # ---- inside --------------------------------------------------------------------------------------------------

    @staticmethod
    def _offers_of_programs(skipped: list[SkippedModel]) -> Iterator[Offer]:
        for program, folder in known_places(os.environ, Path.home()):
            yield from offers_in(program, folder)
        for store in ollama.stores(os.environ, Path.home()):
            for model in ollama.models_in(store):
                if isinstance(model, Offer):
                    yield model
                else:
                    skipped.append(model)

    def _change_entry(self, name: str, changed: Callable[[IndexEntry], IndexEntry]) -> None:
        def change(index: Index) -> Index:
            entry = index.entries.get(name)  # None if another process removed it meanwhile
            return index if entry is None else index.with_entry(changed(entry))

        self._index.change(change)

    def _add(self, entry: IndexEntry) -> LibraryModel:
        entry = replace(entry, added=datetime.now(UTC).isoformat())
        index = self._index.change(lambda now: _with_new(now, [entry]))
        return self._model(next(one for one in index.entries.values() if one.files == entry.files))

    def _model(self, entry: IndexEntry) -> LibraryModel:
        files = self._paths(entry)
        missing = not files or not all(_is_there(file) for file in files)
        shown = files or (Path(entry.files[0]),)
        return LibraryModel(
            name=entry.name,
            files=shown,
            kind=kind_of(shown[0].name),
            origin=Origin.DOWNLOADED if entry.is_downloaded else Origin.IN_PLACE,
            quantization=quantization_of(entry.files[0] if entry.is_downloaded else shown[0].name)
            or quantization_of(entry.name.replace(":", "-")),
            size_bytes=entry.size_bytes if missing else _size(shown),
            repo_id=entry.repo_id,
            licence=entry.licence,
            draft=entry.draft,
            added=moment_of(entry.added),
            last_used=moment_of(entry.last_used),
            missing=missing,
            source=entry.source,
        )

    def _paths(self, entry: IndexEntry) -> tuple[Path, ...]:
        """The files of an entry; none if an edited index leads out of the library folder."""
        if not entry.is_downloaded:
            return tuple(map(Path, entry.files))
        try:
            return tuple(path_inside(self.folder, safe_parts(file)) for file in entry.files)
        except UnsafeNameError as error:
            log.warning("The library's index names a file outside its folder: %s", error.message)
            return ()

    def _other_names(self, model: LibraryModel) -> set[str]:
        names = {model.path.name, str(model.path)}
        if model.repo_id:
            names |= {f"{model.repo_id}/{model.path.name}", f"{model.repo_id}/{model.name}"}
        return names

    def _unknown_models(self, index: Index) -> list[IndexEntry]:
        """Complete models in the folder that the index lacks: the user put them there, or the index was lost."""
        known = {file for entry in index.entries.values() for file in entry.files}
        strays = []
        for offer in offers_in("", self.folder, follows_links=False):  # linked folders do not belong to the library
            try:
                files = tuple(file.relative_to(self.folder).as_posix() for file in offer.files)
                places = [path_inside(self.folder, safe_parts(file)) for file in files]
            except UnsafeNameError:  # not a valid name of the hub: add it like a file in another folder
                names = tuple(map(str, offer.files))
                if names[0] not in known:
                    strays.append(IndexEntry(offer.name, names, is_downloaded=False, size_bytes=offer.size_bytes))
                continue
            if files[0] in known or not places:
                continue
            owner_and_name = "/".join(files[0].split("/")[:2]) if files[0].count("/") >= 2 else ""
            strays.append(
                IndexEntry(offer.name, files, is_downloaded=True, repo_id=owner_and_name, size_bytes=_size(places))
            )
        return strays

    def _delete(self, file: Path) -> int:
        """Delete one file, its partial file, and folders that become empty; returns the freed bytes."""
        place = path_inside(self.folder, file.relative_to(self.folder).parts)
        if not is_gguf(place.name):
            raise LibraryError(i18n("{place} is not a model, so it is not deleted.", place=place))
        freed = 0
        try:
            for path in (place, *(place.with_name(place.name + ending) for ending in PART_ENDINGS)):
                if path.is_symlink() or path.exists():
                    facts = path.lstat()
                    freed += facts.st_size if stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1 else 0
                    path.unlink()
        except OSError as error:
            raise LibraryError(
                i18n("{place} could not be deleted: {reason}.", place=place, reason=error.strerror or error)
            ) from error
        for folder in place.parents:
            if folder == self.folder or not folder.is_relative_to(self.folder) or any(folder.iterdir()):
                break
            folder.rmdir()
        return freed


def open_library(paths: Paths, settings: Settings | None = None) -> Library:
    """Open the library; ``settings`` None: read the settings file."""
    settings = read_settings(paths.settings_file).settings if settings is None else settings
    chosen = settings.text("models_dir").strip()
    folder = Path(chosen).expanduser() if chosen else paths.models
    return Library(folder if folder.is_absolute() else paths.data / folder, paths.library_file)


def _with_new(index: Index, entries: Iterable[IndexEntry]) -> Index:
    """Add entries under unique names. An entry with the same files is replaced; the user's choices in it are kept."""
    for entry in entries:
        before = next((old for old in index.entries.values() if old.files == entry.files), None)
        if before is not None:
            kept = replace(before, size_bytes=entry.size_bytes, repo_id=entry.repo_id or before.repo_id)
            kept = replace(kept, source=entry.source or before.source)
            index = index.with_entry(replace(kept, licence=entry.licence or before.licence))
        else:
            index = index.with_entry(replace(entry, name=_free_name(entry, index)))
    return index


def _free_name(entry: IndexEntry, index: Index) -> str:
    owner = entry.repo_id.split("/")[0]
    for name in (entry.name, f"{entry.name} ({owner})" if owner else entry.name):
        if name not in index.entries:
            return name
    number = 2
    while f"{entry.name} ({number})" in index.entries:
        number += 1
    return f"{entry.name} ({number})"


def _is_there(file: Path) -> bool:
    try:
        return file.is_file()
    except OSError:  # for example a name that is too long, in an edited index
        return False


def _size(files: Iterable[Path]) -> int:
    return sum(file.stat().st_size for file in files if file.is_file())


def _is_same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()


def _title(model: LibraryModel) -> str:
    """The model's title in the window; empty if the file cannot be read."""
    from engine.gguf.header import read_header  # noqa: PLC0415  (NumPy: the start does not wait for it)

    try:
        header = read_header(model.path)
    except (EngineError, OSError):
        return ""
    return model_title(header.metadata, model.path.stem if is_gguf(model.path.name) else model.name, header.num_params)
