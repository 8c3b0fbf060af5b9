"""`paceline projects`: manage projects of files, search them and ask questions about them, without a window."""

import argparse
import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from app.cli.interrupts import stop_on_interrupt
from app.cli.output import INTERRUPTED, ProgressLine, counted_text, fail, table
from app.core.domain.projects import MAX_FILES, FileState, Project
from app.core.paths import find_paths
from app.core.projects.index import DocumentIndex
from app.core.projects.indexing import Progress, update
from app.core.projects.projects import ProjectError, Projects, with_sources
from app.core.projects.search import embedder_of, find_passages
from engine.errors import EngineError
from engine.sentences import i18n

_LOWEST_PRIORITY = 19
MOST_FOUND = 5


def command(options: argparse.Namespace) -> int:
    """Run the action of the options; the exit code is 0, or 1 after printing why it failed."""
    paths = find_paths()
    projects, index = Projects(paths.projects_file), DocumentIndex(paths.documents_file)
    try:
        paths.cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        return _ACTIONS[options.action](options, projects, index)
    finally:
        index.close()


def _list(_options: argparse.Namespace, projects: Projects, index: DocumentIndex) -> int:
    rows = [("project", "files", "passages", "not read", "from")]
    for project in projects.all():
        files = index.files(project.sources)
        failed = sum(file.state is FileState.FAILED for file in files)
        passages = sum(file.num_passages for file in files)
        rows.append((project.name, f"{len(files)}", f"{passages:,}", f"{failed}", ", ".join(project.sources)))
    print(table(rows) if len(rows) > 1 else "No projects yet: paceline projects add NAME FOLDER")
    return 0


def _add(options: argparse.Namespace, projects: Projects, index: DocumentIndex) -> int:
    missing = [path for path in options.paths if not Path(path).exists()]
    if missing:
        raise ProjectError(i18n("{path} does not exist.", path=missing[0]), i18n("Check the spelling."))
    try:
        project = projects.find(options.name)
    except ProjectError:
        project = projects.add(options.name)
    project = with_sources(project, options.paths)
    projects.update(project)
    return _read(project, index)


def _remove(options: argparse.Namespace, projects: Projects, index: DocumentIndex) -> int:
    project = projects.find(options.name)
    if options.paths:
        gone = {str(Path(path).absolute()) for path in options.paths}
        projects.update(replace(project, sources=tuple(one for one in project.sources if one not in gone)))
    else:
        projects.remove(project.id)
    index.keep_only({source for one in projects.all() for source in one.sources})
    return 0


def _update(options: argparse.Namespace, projects: Projects, index: DocumentIndex) -> int:
    if options.id:
        chosen = [one for one in projects.all() if one.id == options.id]
    else:
        chosen = [projects.find(options.name)] if options.name else list(projects.all())
    if options.json:
        with suppress(AttributeError, OSError):  # Windows has no os.nice
            os.nice(_LOWEST_PRIORITY)
    return max((_read(project, index, as_json=options.json) for project in chosen), default=0)


def _find(options: argparse.Namespace, projects: Projects, index: DocumentIndex) -> int:
    project = projects.find(options.name)
    found = find_passages(index, project, options.question, find_paths())[:MOST_FOUND]
    for passage in found:
        print(f"{passage.place}\n{passage.text}\n")
    if not found:
        print("Nothing in the files of this project fits the question.")
    return 0


def _ask(options: argparse.Namespace, _projects: Projects, _index: DocumentIndex) -> int:
    from app.cli.parser import main  # noqa: PLC0415  (which has loaded this module)

    return main(["run", "--project", options.name, "--prompt", options.question, *options.rest])


def _read(project: Project, index: DocumentIndex, *, as_json: bool = False) -> int:
    """Index new and changed files of a project. After Ctrl+C the files read so far stay indexed."""
    line = ProgressLine()

    def show(progress: Progress) -> None:
        if as_json:
            print(json.dumps({"done": progress.done, "total": progress.total, "name": progress.name}), flush=True)
        elif progress.total:
            line.show(progress.name, progress.done / progress.total)

    with stop_on_interrupt() as interrupted:
        update(index, project.sources, interrupted.is_set, show)
        _embed_passages(project, index, interrupted.is_set, show)
        line.close()
        if interrupted.is_set():
            return INTERRUPTED
    if as_json:
        return 0
    files = index.files(project.sources)
    for file in files:
        if file.problem:
            print(file.problem, file=sys.stderr)
    for source in project.sources:
        if len(index.files([source])) >= MAX_FILES:
            print(f"{source}: only the first {MAX_FILES:,} files are read. Add its folders instead.", file=sys.stderr)
    passages = sum(file.num_passages for file in files)
    print(
        f"{project.name}: {counted_text(len(files), 'file', 'files')}, {counted_text(passages, 'passage', 'passages')}."
    )
    return 0


def _embed_passages(
    project: Project, index: DocumentIndex, should_stop: Callable[[], bool], show: Callable[[Progress], None]
) -> None:
    """Embed new passages if the settings name an embedding model. If it fails, search by words still works."""
    embedder = embedder_of(find_paths())
    if embedder is None or should_stop():
        return
    name = "by meaning"
    try:
        embedder.load()
        embedder.fill_vectors(index, project.sources, should_stop, lambda done, num: show(Progress(done, num, name)))
    except EngineError as error:
        fail(error.problem)
    finally:
        embedder.close()


_ACTIONS = {
    "list": _list,
    "add": _add,
    "remove": _remove,
    "update": _update,
    "find": _find,
    "ask": _ask,
}
