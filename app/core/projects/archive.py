"""Exports and imports a project as one zip file with its settings, files and chats. The file is untrusted."""

import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from app.core.domain.conversations import one_line
from app.core.domain.projects import Project
from app.core.domain.settings.layers import LAYERED_KEYS, as_toml_values, valid_values
from app.core.projects.indexing import files_of
from app.core.projects.projects import ProjectError, Projects, with_sources
from app.core.storage.atomic import exported_file
from app.core.storage.chats.store import ChatStore
from app.core.storage.exchange.file_names import file_name
from app.core.storage.exchange.own_format import to_json
from app.core.storage.exchange.reading import MAX_DIRECTORY_BYTES, directory_bytes
from app.core.storage.exchange.transfer import import_chats, stored_chats
from engine.sentences import i18n

FORMAT, VERSION = "paceline-project", 1
_HEAD_NAME, _CHATS_NAME, _FILES_FOLDER = "project.json", "chats.json", "files/"
_MAX_HEAD_BYTES = 1 << 20
MAX_FILES, MAX_BYTES = 10_000, 4 << 30  # limits for the unpacked files of a project
# Settings that are not imported: a foreign project must not enable tools or allow calls.
_NOT_IMPORTED = {"tools", "built_in_tools", "unused_servers", "allowed_tools"}
_ARCHIVE_ERRORS = (OSError, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error, LookupError)
_CHOOSE_FOLDER, _REEXPORT = i18n("Choose another folder."), i18n("Export the project again.")


def is_project(file: Path) -> bool:
    """True if a file is an exported project."""
    try:
        with zipfile.ZipFile(file) as archive:
            return _HEAD_NAME in archive.namelist()
    except _ARCHIVE_ERRORS:
        return False


def export_project(project: Project, store: ChatStore, file: Path) -> tuple[str, ...]:
    """Export a project with its files and chats. An existing file is replaced only when the export is complete.

    Returns:
        The paths of files that were left out because they could not be read.

    Raises:
        ProjectError: the file cannot be written.
        StorageError: the chats cannot be read.
    """
    head = {"format": FORMAT, "version": VERSION, "name": project.name, "values": as_toml_values(project.values)}
    chats = [row.id for row in store.conversations() if project.folder_id and row.folder_id == project.folder_id]
    left_out: list[str] = []
    with (
        exported_file(file, lambda words: ProjectError(words, _CHOOSE_FOLDER)) as handle,
        zipfile.ZipFile(handle, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        archive.writestr(_HEAD_NAME, json.dumps(head, ensure_ascii=False))
        if chats:
            with archive.open(_CHATS_NAME, "w", force_zip64=True) as written:
                for text in to_json(stored_chats(store, chats)):
                    written.write(text.encode("utf-8", "replace"))
        for path, name in _files_with_names(project.sources):
            try:
                archive.write(path, _FILES_FOLDER + name)
            except (FileNotFoundError, PermissionError, ValueError):  # missing, locked, older than 1980
                left_out.append(path)
    return tuple(left_out)


def _files_with_names(sources: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the path of each indexed file and its unique name in the archive."""
    used = set[str]()
    for source in sources:
        root, number = Path(source), 1
        name = first = root.name.encode(errors="replace").decode() or "files"
        while name.casefold() in used:
            number += 1
            name = f"{number} {first}"
        used.add(name.casefold())
        for found in files_of(source):
            inner = Path(found.path).relative_to(root).as_posix().encode(errors="replace").decode()
            yield found.path, name if inner == "." else f"{name}/{inner}"


def import_project(projects: Projects, store: ChatStore, file: Path, folder: Path) -> Project:
    """Import a project: its files into a new folder in ``folder``, its chats into a folder of chats with its name.

    Raises:
        ProjectError: the file is no exported project, the name is taken, or its files cannot be written.
        ChatsImportError: the project was imported, but its chats are invalid.
        StorageError: the chats cannot be written.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            if directory_bytes(file) > MAX_DIRECTORY_BYTES:
                raise ProjectError(i18n("{file} contains too many files for a project.", file=file.name))
            head = json.loads(archive.open(_HEAD_NAME).read(_MAX_HEAD_BYTES))
            name = _name(head, projects, file.name)
            kept = _extract(archive, file.name, folder, name)
            project = projects.add(name)
            values = valid_values(head.get("values"), [key for key in LAYERED_KEYS if key not in _NOT_IMPORTED])
            project = replace(with_sources(project, kept), values=values)
            projects.update(project)
            if _CHATS_NAME in archive.namelist():
                _import_chats(archive.open(_CHATS_NAME), store, name)
    except _ARCHIVE_ERRORS as error:
        reason = getattr(error, "strerror", None) or error
        raise ProjectError(i18n("{file} cannot be read ({error}).", file=file.name, error=reason), _REEXPORT) from error
    folder_id = next((row.id for row in store.library.folders() if row.name == name), 0)
    project = replace(project, folder_id=folder_id or store.library.create_folder(name))
    projects.update(project)
    return project


def _name(head: Any, projects: Projects, file_name: str) -> str:  # noqa: ANN401  (JSON)
    """The name of the project in the file.

    Raises:
        ProjectError: the file has another version, or a project has this name.
    """
    if not isinstance(head, dict) or head.get("format") != FORMAT or head.get("version") != VERSION:
        raise ProjectError(i18n("{file} was written by another version of Paceline.", file=file_name), _REEXPORT)
    name = one_line(str(head.get("name")))
    if any(one.name.casefold() == name.casefold() for one in projects.all()):
        raise ProjectError(i18n("There is a project called {name} already.", name=name), i18n("Rename or remove it."))
    return name


def _extract(archive: zipfile.ZipFile, file_name_: str, folder: Path, name: str) -> list[str]:
    """Extract the files of an archive; returns the paths of the project's sources.

    Raises:
        ProjectError: the files are too many or too large.
    """
    entries = [one for one in archive.infolist() if one.filename.startswith(_FILES_FOLDER) and not one.is_dir()]
    num_bytes = sum(one.file_size for one in archive.infolist())  # of the chats, too
    if len(entries) > MAX_FILES or num_bytes > MAX_BYTES:
        raise ProjectError(i18n("{file} contains too many files for a project.", file=file_name_))
    if not entries:
        return []
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    wanted = folder / file_name(name, "files").removesuffix(".files")
    number = 1
    while wanted.exists():
        number += 1
        wanted = wanted.with_name(f"{file_name(name, 'files').removesuffix('.files')} {number}")
    part = Path(tempfile.mkdtemp(dir=folder, prefix=".import-"))
    try:
        for entry in entries:
            archive.extract(entry, part)  # ignores "..", drives and roots in names, and creates no links
        (part / _FILES_FOLDER).rename(wanted)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return sorted(str(path) for path in wanted.iterdir())


def _import_chats(chats: IO[bytes], store: ChatStore, name: str) -> None:
    """Import the chats of a project into the folder of chats with its name."""
    with tempfile.TemporaryDirectory() as folder, chats:
        file = Path(folder) / _CHATS_NAME
        with file.open("wb") as written:
            shutil.copyfileobj(chats, written)
        import_chats(store, file, into=name)
