"""Finds passages of a project's files for one question, for commands. The window keeps its index open instead."""

from app.core.domain.attachments import Attachment
from app.core.domain.projects import fitting_passages, passages_attachment
from app.core.paths import Paths
from app.core.projects.index import DocumentIndex
from app.core.projects.projects import ProjectError, Projects
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
        found = index.find(project.sources, question) or index.beginning(project.sources)
        return passages_attachment(fitting_passages(found, MAX_FOUND_CHARS))
    finally:
        index.close()
