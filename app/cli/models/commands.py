"""`paceline models search, show, list, remove, import, pull`."""

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

from app.cli.output import (
    INTERRUPTED,
    ProgressLine,
    counted_text,
    fail,
    notify,
    print_json,
    size_words,
    table,
    warn,
)
from app.core.domain.models import Download, DownloadRequest, DownloadStatus, FileKind, RepoModel, RepoSummary
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.downloads.first_model import SMALL
from app.core.hub.errors import HubNotFoundError, LibraryError
from app.core.hub.file_names import short
from app.core.hub.library.library import Library, open_library
from app.core.hub.links import LinkSource, request_of
from app.core.hub.records import LibraryModel, RepoDetails
from app.core.paths import find_paths
from app.core.storage.model_settings import ModelSettings
from engine.errors import EngineError
from engine.gguf.header import read_header
from engine.pictures.side_file import find_side_file
from engine.records import Problem

SMALL_MODEL_NAME = "small"  # never a repository's name: those contain an owner
POLL_S = 0.2
PROGRESS_LINE_S = 10.0  # seconds between lines if stderr is no terminal
MAX_LISTED = 8
MAX_FOUND = 20
NO_MODEL = "There is no model in it yet. `paceline models pull small` gets a small one; see also `search` and `import`."


def command(options: argparse.Namespace) -> int:
    """Run one of the commands; returns 0, or 1 after printing the error."""
    try:
        return _ACTIONS[options.action](options)
    except KeyboardInterrupt:
        print("\npaceline: Stopped.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        problem = Problem("The disk reported an error", f"{error.strerror or error}.", "Check the library folder.")
        return fail(problem, as_json=options.json)


def _search(options: argparse.Namespace) -> int:
    with closing(HubClient()) as client:
        found = client.search(options.query, MAX_FOUND)
    if options.json:
        print_json({"models": found})
    elif found:
        print(table([("repository", "downloads", "licence", "updated", "quantizations"), *map(_repo_row, found)]))
    else:
        print("The hub has no GGUF repository for these words.")
    return 0


def _repo_row(summary: RepoSummary) -> tuple[str, ...]:
    more = ["…"] if len(summary.quantizations) > MAX_LISTED else []
    return (
        summary.repo_id + (" (gated)" if summary.gated else ""),
        "-" if summary.downloads is None else f"{summary.downloads:,}",
        summary.licence or "-",
        "-" if summary.updated is None else summary.updated.date().isoformat(),
        " ".join([*summary.quantizations[:MAX_LISTED], *more]) or "-",
    )


def _show(options: argparse.Namespace) -> int:
    with closing(HubClient()) as client:
        details, url = client.details(options.repo), client.page_url(options.repo)
    if options.json:
        print_json({**_facts(details), "url": url})
        return 0
    summary = details.summary
    downloads = "" if summary.downloads is None else counted_text(summary.downloads, "download", "downloads")
    about = (summary.architecture, f"licence {summary.licence or 'not named'}", downloads)
    print(f"{summary.repo_id}  {url}\n{' · '.join(filter(None, about))}")
    if summary.gated:
        print("Gated: accept its terms, or request access, on its page first.")
    rows = [("model", "kind", "quantization", "size", "files"), *map(_model_row, details.models)]
    print(f"\n{table(rows)}" if details.models else "\nThere is no GGUF file in it.")
    return 0


def _model_row(model: RepoModel) -> tuple[str, ...]:
    files = f"{len(model.files)}" + (f", {model.missing_shards} missing" if model.missing_shards else "")
    return model.name, model.kind.value, model.quantization or "-", size_words(model.size_bytes), files


def _list(options: argparse.Namespace) -> int:
    library = open_library(find_paths())
    models, offers = library.models(), library.find_offers()
    if options.json:
        listed = [{**_facts(model), "side_file": _side_name(model) or None} for model in models]
        print_json({"folder": library.folder, "models": listed, "offers": offers})
        return 0
    print(f"Library: {library.folder}\n{table(map(_library_row, models)) if models else NO_MODEL}")
    if offers:
        print("\nFound in other programs, to be added with `paceline models import PATH`:")
        print(table((o.name, size_words(o.size_bytes), o.found_in, str(o.files[0])) for o in offers))
    return 0


def _library_row(model: LibraryModel) -> tuple[str, ...]:
    side = _side_name(model)
    return (
        model.name,
        model.kind.value,
        size_words(model.size_bytes),
        "missing" if model.missing else model.source or model.repo_id or model.origin.value,
        model.draft and f"draft: {model.draft}",
        side and f"sees pictures with {side}",
    )


def _side_name(model: LibraryModel) -> str:
    """The name of the vision side file (mmproj); empty if there is none."""
    side = find_side_file(model.path) if model.kind is FileKind.MODEL and not model.missing else None
    return side.name if side is not None else ""


def _facts(record: Any) -> dict[str, object]:  # noqa: ANN401 (any record)
    return {each.name: getattr(record, each.name) for each in fields(record)}


def _remove(options: argparse.Namespace) -> int:
    library = open_library(find_paths())
    model = library.find(options.name)
    freed = library.remove(options.name)
    if options.json:
        print_json({"name": model.name, "origin": model.origin, "freed_bytes": freed})
    elif freed:
        print(f"{model.name} was deleted; {size_words(freed)} are free again.")
    else:
        print(f"{model.name} was removed from the list; no file was deleted.")
    return 0


def _import(options: argparse.Namespace) -> int:
    model = open_library(find_paths()).add(Path(options.path))
    if options.json:
        print_json(model)
    else:
        print(f"{model.name} is in the library, in place: {model.path}")
    try:
        read_header(model.path)
    except EngineError as error:  # the lock stays: another program may still be downloading
        notify(f"It cannot be used as it is: {error.problem.message} {error.problem.advice}")
    return 0


def _pull(options: argparse.Namespace) -> int:
    """Download the named models; exit code 0 if the library has them all afterwards.

    Raises:
        AppError: a model could not be found or downloaded.
        EngineError: the file of a link cannot be used as a model.
    """
    with closing(HubClient()) as client:
        library = open_library(find_paths())
        requests = _requests(client, options)
        downloads = DownloadQueue(client, library)
        downloads.start()
        try:
            ended = _show_until_done(downloads, [downloads.add(request) for request in requests])
        except KeyboardInterrupt:
            condition = " if the server can" if "://" in options.repo else ""
            print("\npaceline: Stopped. The downloaded part is kept: ", file=sys.stderr, end="")
            print(f"the same command continues{condition}.", file=sys.stderr)
            return INTERRUPTED
        finally:
            downloads.close()
    for state in ended:
        if state.status is DownloadStatus.FAILED:
            title = f"{state.request.model.name} could not be downloaded"
            return fail(Problem(title, state.message, state.advice), as_json=options.json)
    if options.repo == SMALL_MODEL_NAME:
        settings = ModelSettings(find_paths().model_settings_file, warn)
        settings.begin(str(library.path_for(SMALL.repo_id, SMALL.file)), dict(SMALL.own))
    _print_pulled(library, requests, as_json=options.json)
    return 0


def _print_pulled(library: Library, requests: Sequence[DownloadRequest], *, as_json: bool) -> None:
    # Look models up by file: their names may have belonged to other models before.
    models = [library.find(str(library.path_for(one.repo_id, one.model.files[0].path))) for one in requests]
    if as_json:
        print_json({"model": models[0], "draft": models[1] if len(models) > 1 else None})
        return
    for model in models:
        print(f"{model.name}, {size_words(model.size_bytes)}: {model.path}")
    print(f"Try it: paceline run --model {shlex.quote(models[0].name)} --prompt TEXT")


def _requests(client: HubClient, options: argparse.Namespace) -> list[DownloadRequest]:
    if options.file is None:
        if options.repo == SMALL_MODEL_NAME and options.draft is None:
            return [SMALL.request]
        if "://" in options.repo and options.draft is None:
            link = request_of(options.repo)
            with closing(LinkSource(link.url)) as source:
                source.locate(link.repo_id, link.model.files[0].path)  # a wrong link fails now, without retries
            return [link]
        advice = f"Choose one of `paceline models show {options.repo}`."
        raise LibraryError(f"The command names no model of {short(options.repo)}.", advice)
    requests: list[DownloadRequest] = []
    for typed, file in ((options.repo, options.file), *([options.draft] if options.draft else [])):
        details = client.details(typed)
        named = details.summary.repo_id
        repo_id = named if named.lower() == typed.lower() else typed  # the hub's spelling: one folder per repository
        model = chosen_model(details, file)
        if not model.kind.runs_alone:
            print(f"paceline: {model.name} cannot run alone; it is {model.kind.value}.", file=sys.stderr)
        target = f"{requests[0].repo_id}/{requests[0].model.name}" if requests else ""
        requests.append(DownloadRequest(repo_id, model, draft_of=target, licence=details.summary.licence))
    return requests


def chosen_model(details: RepoDetails, file: str) -> RepoModel:
    """Find a model of the repository by path, file name, model name or quantization.

    Raises:
        LibraryError: several models match, or the hub has only a part of the model.
        HubNotFoundError: no model matches.
    """
    wanted = file.lower()
    ways: tuple[Callable[[RepoModel], bool], ...] = (
        lambda model: file in {each.path for each in model.files},  # paths may differ in capitals only
        lambda model: wanted in {each.path.lower() for each in model.files},
        lambda model: wanted in {each.path.rsplit("/", 1)[-1].lower() for each in model.files},
        lambda model: wanted in {model.name.lower(), model.quantization.lower() if model.kind.runs_alone else ""},
    )
    found = next((named for matches in ways if (named := [one for one in details.models if matches(one)])), [])
    if not found:
        offered = ", ".join(model.files[0].path for model in details.models[:MAX_LISTED]) or "none"
        raise HubNotFoundError(f"{details.summary.repo_id} has no model {short(file)}.", f"Its models: {offered}.")
    if len(found) > 1:
        names = ", ".join(model.files[0].path for model in found[:MAX_LISTED])
        raise LibraryError(f"{short(file)} may be one of {len(found)} models.", f"Name one: {names}.")
    if found[0].missing_shards:
        raise LibraryError(f"{found[0].name} is incomplete on the hub: parts are missing.", "Choose another.")
    return found[0]


def _show_until_done(downloads: DownloadQueue, ids: list[str]) -> list[Download]:
    """Show progress until all downloads have ended: in one line of a terminal, else a line every ten seconds."""
    last_s = 0.0
    with closing(ProgressLine()) as progress:
        while True:
            states = [state for state in downloads.snapshot() if state.key in ids]
            ended = all(state.status in (DownloadStatus.DONE, DownloadStatus.FAILED) for state in states)
            lines = "  |  ".join(map(_progress_words, states))
            progress.show(lines)
            if ended or (not sys.stderr.isatty() and time.monotonic() - last_s >= PROGRESS_LINE_S):
                progress.close()
                print(lines, file=sys.stderr, flush=True)
                last_s = time.monotonic()
            if ended:
                return states
            time.sleep(POLL_S)


def _progress_words(state: Download) -> str:
    name = state.request.model.name
    if state.status is DownloadStatus.WAITING:
        return f"{name}: {state.message} Attempt {state.attempt + 1} follows."
    if state.status is not DownloadStatus.RUNNING:
        return f"{name}: {state.status.value}"
    parts = [f"{size_words(state.done_bytes)} of {size_words(state.size_bytes)}"]
    if state.bytes_per_s:
        parts.append(f"{size_words(int(state.bytes_per_s))}/s")
    if state.seconds_left is not None:
        minutes, seconds = divmod(round(state.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02d} left")
    return f"{name}: {' · '.join(parts)}"


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "search": _search,
    "show": _show,
    "pull": _pull,
    "list": _list,
    "remove": _remove,
    "import": _import,
}
