"""Finds passages of a project's files for one question, for commands. The window keeps its index open instead."""

from contextlib import suppress

from app.core.domain.attachments import Attachment
from app.core.domain.projects import Passage, Project, fitting_passages, passages_attachment
from app.core.paths import Paths
from app.core.projects.index import DocumentIndex
from app.core.projects.meaning import PassageEmbedder
from app.core.projects.projects import ProjectError, Projects
from app.core.storage.settings_file import read_settings
from engine.errors import EngineError
from engine.sentences import i18n

MAX_FOUND_CHARS = 4_000  # maximum characters of passages for a question: about four passages


def passages_for(paths: Paths, name: str, question: str) -> Attachment:
    """Find the passages of a project that match a question.

    Raises:
        ProjectError: no project has this name, or the project has no files.
        StorageError: the index cannot be used.
    """
    project = Projects(paths.projects_file).find(name)
    if not project.sources:
        advice = i18n("Add some: paceline projects add {name} FOLDER", name=project.name)
        raise ProjectError(i18n("The project {name} has no files.", name=project.name), advice)
    index = DocumentIndex(paths.documents_file)
    try:
        found = find_passages(index, project, question, paths) or index.beginning(project.sources)
        return passages_attachment(fitting_passages(found, MAX_FOUND_CHARS))
    finally:
        index.close()


def find_passages(index: DocumentIndex, project: Project, question: str, paths: Paths) -> list[Passage]:
    """The passages of a project for a question, by words, and by meaning if the settings name an embedding model.

    Raises:
        StorageError: the index cannot be read.
    """
    embedder, meaning = embedder_of(paths), None
    if embedder is not None:
        with suppress(EngineError):  # search by words only
            meaning = embedder.embed_question(question)
        embedder.close()
    return index.find(project.sources, question, meaning)


def embedder_of(paths: Paths) -> PassageEmbedder | None:
    """The embedding model of the settings; None without one."""
    path = read_settings(paths.settings_file).settings.text("embedding_path")
    return PassageEmbedder(path) if path else None
