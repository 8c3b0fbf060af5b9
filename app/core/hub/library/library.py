"""The library: models in the library folder, and models that are used in other folders.

Only files inside the library folder are ever deleted.
"""

import json
import logging
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from app.core.domain.model_name import printable
from app.core.domain.models import DownloadRequest, Offer, sum_if_all_known
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
from app.core.hub.library.other_programs import (
    MAX_FILES,
    MAX_OFFERS,
    is_model_file,
    known_places,
    name_of_blob,
    offer_of,
    offers_in,
)
from app.core.hub.records import LibraryModel, Origin, moment_of
from app.core.paths import Paths
from app.core.storage.atomic import write_atomically
from app.core.storage.settings_file import read_settings
from engine.sentences import i18n

LOCK_WAIT_S = 20.0
MAX_INDEX_BYTES = 16 << 20
MAX_PARTS = 1000
MAX_SIZE_BYTES = 1 << 50
_TEXT_FIELDS = ("repo_id", "licence", "draft", "source")
PART_ENDINGS = (".part", ".part.json")
log = logging.getLogger(__name__)


Index = dict[str, LibraryModel]


class Library:
    """The models, and their index: JSON, written atomically by one process at a time.

    Safe for several threads and processes; every call uses the disk.
    """

    def __init__(self, folder: Path, index_file: Path) -> None:
        """``folder``: for downloads. ``index_file``: in the app's data folder."""
        self.folder = folder
        self._index_file = index_file

    @property
    def lock_folder(self) -> Path:
        """The folder of the transfers' locks."""
        return self.folder / LOCKS

    def models(self) -> tuple[LibraryModel, ...]:
        """All models, sorted by name; includes missing models, and files that the user put into the folder."""
        index = self._read() or {}
        if strays := self._strays(index):
            index = self._change(lambda now: _with_new(now, strays))
        return tuple(sorted(index.values(), key=lambda model: model.name.lower()))

    def models_near(self, target: Path) -> tuple[LibraryModel, ...]:
        """All models, plus models in the target's folder: a draft beside a target is meant for it."""
        models = self.models()
        known = {file.resolve() for model in models for file in model.files}
        try:
            files = sorted(file for file in islice(target.parent.iterdir(), MAX_FILES) if is_gguf(file.name))
        except OSError:  # the folder is missing or unreadable
            return models
        offers = (offer_of("", file) for file in files if file.resolve() not in known)
        return (*models, *(self._model(each.name, each.files) for each in offers if each is not None))

    def find(self, name: str) -> LibraryModel:
        """Find a model by name, file name, path, or repository/file.

        Raises:
            LibraryError: no model matches, or several do.
        """
        models = self.models()
        ways: tuple[Callable[[LibraryModel], bool], ...] = (
            lambda model: model.name == name,
            lambda model: name in (model.path.name, str(model.path)),
            lambda model: name in (f"{model.repo_id}/{model.path.name}", f"{model.repo_id}/{model.name}"),
            lambda model: name == f"{model.repo_id}/{model_name(model.path.name)}",  # before the library renamed it
            lambda model: model.name.lower() == name.lower().removesuffix(".gguf"),
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
        return self._add(self._model(name_of_blob(files[0]) or model_name(path.name), files))

    def add_downloaded(self, request: DownloadRequest, source: str = "") -> LibraryModel:
        """Add a finished download. ``source``: where it came from, if not from the repository.

        Raises:
            LibraryError: the index cannot be written.
            UnsafeNameError: a name would lead out of the library folder.
        """
        files = tuple(self.path_for(request.repo_id, file.path) for file in request.model.files)
        texts = {"repo_id": "" if request.url else request.repo_id, "licence": request.licence, "source": source}
        return self._add(self._model(request.model.name, files, Origin.DOWNLOADED, **texts))

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

        def without(index: Index) -> Index:
            kept = (one for one in index.values() if one.name != model.name)
            return {one.name: replace(one, draft="") if one.draft == model.name else one for one in kept}

        self._change(without)
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
        for name in [model.name for model in self.models() if _is_same_file(model.path, path)]:
            self._change_entry(name, lambda entry: replace(entry, last_used=when.astimezone(UTC)))

    def find_offers(self, more: Iterable[Offer] = ()) -> tuple[Offer, ...]:
        """Find models of other programs; returns them and ``more`` without those of the library, each file once."""
        known = {model.path.resolve() for model in self.models()}
        found: dict[Path, Offer] = {}
        places = known_places(os.environ, Path.home())
        for offer in chain(more, *(offers_in(program, folder) for program, folder in places)):
            real = offer.files[0].resolve()
            if real not in known and len(found) < MAX_OFFERS:
                found.setdefault(real, offer)
        return tuple(found.values())

    # ---- inside --------------------------------------------------------------------------------------------------

    def _read(self) -> Index | None:
        """The index on the disk; None if the file is missing or invalid."""
        try:
            with self._index_file.open("rb") as file:
                models = map(self._model_of, json.loads(file.read(MAX_INDEX_BYTES))["models"])
                return {model.name: model for model in models if model is not None}
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
            log.warning("The library's index cannot be read, so it is built anew: %s", type(error).__name__)
            return None

    def _change(self, change: Callable[[Index], Index]) -> Index:
        """Read, change and write the index under its lock. An unreadable file is renamed and replaced.

        Raises:
            LibraryError: the index cannot be written.
        """
        import filelock  # noqa: PLC0415 (startup time)

        path = self._index_file
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with filelock.FileLock(path.with_name(path.name + ".lock"), timeout=LOCK_WAIT_S):
                before = self._read()
                if before is None and path.exists():
                    path.replace(path.with_name(path.name + ".damaged"))
                after = change(before or {})
                if after != before:
                    content = {"version": 1, "models": [self._facts(model) for model in after.values()]}
                    write_atomically(path, json.dumps(content, indent=1).encode())
                return after
        except filelock.Timeout as error:
            raise LibraryError("Another Paceline is using the library's index.", "Try again in a moment.") from error
        except OSError as error:
            raise LibraryError(
                i18n("{path} could not be written: {reason}.", path=path, reason=error.strerror or error)
            ) from error

    def _facts(self, model: LibraryModel) -> dict[str, Any]:
        """A model in the index. Files in the library folder are relative to it."""
        is_downloaded = model.origin is Origin.DOWNLOADED
        files = [file.relative_to(self.folder).as_posix() if is_downloaded else str(file) for file in model.files]
        facts = {"name": model.name, "files": files, "is_downloaded": is_downloaded, "size_bytes": model.size_bytes}
        times = {key: moment.isoformat() if (moment := getattr(model, key)) else "" for key in ("added", "last_used")}
        return {**facts, **times, **{key: getattr(model, key) for key in _TEXT_FIELDS}}

    def _model_of(self, facts: Any) -> LibraryModel | None:  # noqa: ANN401 (whatever the file holds)
        """Read one model; None if it is invalid, or a file of an edited index is outside the library folder."""
        try:
            name, listed, is_downloaded, size = (
                facts.get(key) for key in ("name", "files", "is_downloaded", "size_bytes")
            )
            is_good = isinstance(name, str) and name and isinstance(is_downloaded, bool) and isinstance(listed, list)
            if not is_good or not 0 < len(listed) <= MAX_PARTS or not all(file and "\0" not in file for file in listed):
                return None
            files = [path_inside(self.folder, safe_parts(file)) if is_downloaded else Path(file) for file in listed]
        except (AttributeError, TypeError, OSError, RuntimeError, UnsafeNameError) as error:
            log.warning("A model in the library's index cannot be used: %s", type(error).__name__)
            return None
        texts = {key: facts[key] for key in _TEXT_FIELDS if isinstance(facts.get(key), str)}
        texts["draft"] = printable(texts.get("draft", ""))
        model = self._model(
            printable(name), tuple(files), Origin.DOWNLOADED if is_downloaded else Origin.IN_PLACE, **texts
        )
        if model.missing and isinstance(size, int) and 0 <= size <= MAX_SIZE_BYTES:
            model = replace(model, size_bytes=size)
        return replace(model, added=moment_of(facts.get("added")), last_used=moment_of(facts.get("last_used")))

    def _model(
        self, name: str, files: tuple[Path, ...], origin: Origin = Origin.IN_PLACE, **texts: str
    ) -> LibraryModel:
        """The model of these files, as they are on the disk now."""
        size = sum_if_all_known(map(_size_of, files))
        shown = files[0].relative_to(self.folder).as_posix() if origin is Origin.DOWNLOADED else files[0].name
        quantization = quantization_of(shown) or quantization_of(name.replace(":", "-"))
        facts: dict[str, Any] = {"size_bytes": size or 0, "missing": size is None, **texts}
        return LibraryModel(name, files, kind_of(files[0].name), origin, quantization, **facts)

    def _change_entry(self, name: str, changed: Callable[[LibraryModel], LibraryModel]) -> None:
        def change(index: Index) -> Index:  # another process may have removed it meanwhile
            return {**index, name: changed(index[name])} if name in index else index

        self._change(change)

    def _add(self, model: LibraryModel) -> LibraryModel:
        index = self._change(lambda now: _with_new(now, [replace(model, added=datetime.now(UTC))]))
        return next(one for one in index.values() if one.files == model.files)

    def _strays(self, index: Index) -> list[LibraryModel]:
        """Complete models in the folder that the index lacks: the user put them there, or the index was lost."""
        known = {file for model in index.values() for file in model.files}
        strays = []
        for offer in offers_in("", self.folder, follows_links=False):  # linked folders do not belong to the library
            if offer.files[0] in known or not is_gguf(offer.files[0].name):
                continue
            parts = offer.files[0].relative_to(self.folder).parts
            try:
                for file in offer.files:
                    path_inside(self.folder, safe_parts(file.relative_to(self.folder).as_posix()))
            except UnsafeNameError:  # not a valid name of the hub: add it like a file in another folder
                strays.append(self._model(offer.name, offer.files))
            else:
                repo_id = "/".join(parts[:2]) if len(parts) > 2 else ""
                strays.append(self._model(offer.name, offer.files, Origin.DOWNLOADED, repo_id=repo_id))
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


def _with_new(index: Index, models: Iterable[LibraryModel]) -> Index:
    """Add models under unique names. A model with the same files is replaced; the user's choices in it are kept."""
    index = dict(index)
    for model in models:
        before = next((old for old in index.values() if old.files == model.files), None)
        if before is not None:
            new = {key: getattr(model, key) or getattr(before, key) for key in ("repo_id", "licence", "source")}
            index[before.name] = replace(before, size_bytes=model.size_bytes, missing=model.missing, **new)
        else:
            owner = model.repo_id.split("/")[0]
            names = (model.name, *([f"{model.name} ({owner})"] if owner else []))
            numbered = (f"{model.name} ({number})" for number in count(2))
            name = next(name for name in chain(names, numbered) if name not in index)
            index[name] = replace(model, name=name)
    return index


def _size_of(file: Path) -> int | None:
    """The size of a regular file; None if there is none."""
    try:
        facts = file.stat()
    except OSError:  # also for a name that is too long, in an edited index
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


def _is_same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
