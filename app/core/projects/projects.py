"""The projects, stored in a TOML file: name, folder of chats, sources and settings."""

import os
import threading
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

from app.core.domain.conversations import one_line
from app.core.domain.errors import AppError, SettingsWriteError
from app.core.domain.projects import Project
from app.core.domain.settings.layers import as_toml_values, valid_values
from app.core.storage.toml_file import TomlFile
from engine.records import Problem
from engine.sentences import i18n

SCHEMA = 1
MAX_PROJECTS, MAX_SOURCES = 500, 200


class ProjectError(AppError):
    """A project cannot be used or stored."""

    title = "The project could not be used"
    default_advice = "Choose another one; “paceline projects list” names them."


class Projects:
    """All projects. Each method reads the file again, since another process may have changed it. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._file = TomlFile(path, i18n("projects"), i18n("no projects"))
        self._lock = threading.Lock()
        self.problem: Problem | None = None

    def all(self) -> tuple[Project, ...]:
        """All projects, in the order in which they were added."""
        with self._lock:
            return tuple(self._read())

    def find(self, name: str) -> Project:
        """Find a project by name, ignoring case.

        Raises:
            ProjectError: no project has this name.
        """
        found = next((one for one in self.all() if one.name.casefold() == name.strip().casefold()), None)
        if found is None:
            raise ProjectError(i18n("There is no project called {name}.", name=name))
        return found

    def of_folder(self, folder_id: int | None) -> Project | None:
        """The project of a folder of chats; None if it has none."""
        return next((one for one in self.all() if one.folder_id and one.folder_id == folder_id), None)

    def add(self, name: str, folder_id: int = 0) -> Project:
        """Add a project. With ``folder_id`` 0 the window makes its folder of chats later.

        Raises:
            ProjectError: there are too many projects, the name is empty or taken, or the file cannot be written.
        """
        project = Project(uuid.uuid4().hex, one_line(name), folder_id)
        if not project.name:
            raise ProjectError(i18n("A project needs a name."), i18n("Give one."))

        def change(projects: list[Project]) -> list[Project]:
            if len(projects) >= MAX_PROJECTS:
                raise ProjectError(i18n("There are too many projects."), i18n("Remove one first."))
            return [*projects, project]

        self._change(change)
        return project

    def update(self, project: Project) -> None:
        """Store a changed project; a removed project is not added again.

        Raises:
            ProjectError: the file cannot be written.
        """
        self._change(lambda projects: [project if one.id == project.id else one for one in projects])

    def remove(self, project_id: str) -> None:
        """Remove a project; its files are not touched.

        Raises:
            ProjectError: the file cannot be written.
        """
        self._change(lambda projects: [one for one in projects if one.id != project_id])

    def _change(self, change: Callable[[list[Project]], list[Project]]) -> None:
        with self._lock:
            try:
                self._file.write({"schema": SCHEMA, "projects": list(map(_table, change(self._read())))})
            except SettingsWriteError as error:
                message = i18n("The projects could not be saved: {reason}", reason=error.message)
                raise ProjectError(message, "Check the free space and the folder's permissions.") from error

    def _read(self) -> list[Project]:
        read = self._file.read()
        self.problem = read.problem or self.problem
        entries = read.document.get("projects")
        found = map(_project, entries[:MAX_PROJECTS] if isinstance(entries, list) else ())
        return [one for one in found if one is not None]


def with_sources(project: Project, paths: list[str]) -> Project:
    """Add files and folders, each once."""
    sources = tuple(dict.fromkeys((*project.sources, *(str(Path(path).absolute()) for path in paths))))
    return replace(project, sources=sources[:MAX_SOURCES])


def _table(project: Project) -> dict[str, Any]:
    return {
        "id": project.id,
        "name": project.name,
        "folder": project.folder_id,
        "sources": [Path(source).as_uri() for source in project.sources],  # names need not be UTF-8
        "values": as_toml_values(project.values),
        **({"model": Path(project.model_path).as_uri()} if project.model_path else {}),
    }


def _project(table: Any) -> Project | None:  # noqa: ANN401  (TOML)
    """Parse an entry of the file; None if it is invalid."""
    try:
        sources = tuple(map(_path, table["sources"]))
        name = one_line(str(table["name"]))
        model = _path(table["model"]) if "model" in table else ""
        values = valid_values(table.get("values"))
        project = Project(str(table["id"]), name, int(table["folder"]), sources, values, model)
    except (LookupError, TypeError, ValueError):
        return None
    return project if project.id and project.name else None


def _path(uri: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        raise ValueError(uri)
    if os.name != "nt":
        return os.fsdecode(unquote_to_bytes(parts.path))
    from urllib.request import url2pathname  # noqa: PLC0415  (the first paint does not wait for it)

    return url2pathname(parts.path)
