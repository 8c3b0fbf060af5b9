"""`paceline models search, show, list, remove, import, pull`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.cli.models.output import as_dict, list_text, progress_line, repo_row, show_text, side_name, size_words
from app.cli.output import INTERRUPTED, fail, notify, run_hint, table, warn
from app.core.domain.models import Download, DownloadRequest, DownloadStatus, RepoModel
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.downloads.first_model import SMALL
from app.core.hub.errors import HubError, HubNotFoundError, LibraryError
from app.core.hub.file_names import short
from app.core.hub.library.library import Library, open_library
from app.core.hub.links import request_of
from app.core.hub.records import RepoDetails, SortBy
from app.core.hub.remote_header import judge_link, read_remote_header
from app.core.paths import find_paths
from app.core.storage.model_settings import ModelSettings
from engine.errors import EngineError
from engine.gguf.head_files import own_heads_sentence
from engine.gguf.header import read_header
from engine.records import Problem

SMALL_MODEL_NAME = "small"  # never a repository's name: those contain an owner
POLL_S = 0.2
PROGRESS_LINE_S = 10.0  # seconds between lines if stderr is no terminal
MAX_LISTED = 8
_SORT_ORDERS = {
    "downloads": SortBy.DOWNLOADS,
    "likes": SortBy.LIKES,
    "updated": SortBy.UPDATED,
    "trending": SortBy.TRENDING,
}


def pull(options: argparse.Namespace) -> int:
    """Download the named models; exit code 0 if the library has them all afterwards.

    Raises:
        AppError: a model could not be found or downloaded.
        EngineError: the file of a link cannot be used as a model.
    """
    is_link = "://" in options.repo
    client = HubClient()
    try:
        library = open_library(find_paths())
        requests = _requests(client, options)
        downloads = DownloadQueue(client, library)
        downloads.start()
        try:
            ended = _show_until_done(downloads, [downloads.add(request) for request in requests])
        except KeyboardInterrupt:
            words = "Stopped. The downloaded part is kept: the same command continues"
            print(f"\npaceline: {words}{' if the server can' if is_link else ''}.", file=sys.stderr)
            return INTERRUPTED
        finally:
            downloads.close()
    finally:
        client.close()
    for state in ended:
        if state.status is DownloadStatus.FAILED:
            title = f"{state.request.model.name} could not be downloaded"
            return fail(Problem(title, state.message, state.advice), as_json=options.json)
    if options.repo == SMALL_MODEL_NAME:
        settings = ModelSettings(find_paths().model_settings_file, warn)
        settings.begin(str(library.path_for(SMALL.repo_id, SMALL.file)), dict(SMALL.own))
    _print_done(library, requests, as_json=options.json)
    return 0


def _request_of_link(link: str) -> DownloadRequest:
    """Read the header of the file behind a link, and make its download request."""
    request = request_of(link)
    known, hosts = judge_link(request)
    size = size_words(known.size_bytes) + (f" in the first of {known.num_parts} parts" if known.num_parts > 1 else "")
    print(f"paceline: {known.header.architecture} model, {size}, from {' by way of '.join(hosts)}", file=sys.stderr)
    return request


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


def _requests(client: HubClient, options: argparse.Namespace) -> list[DownloadRequest]:
    if options.file is None:
        if options.repo == SMALL_MODEL_NAME and options.draft is None:
            return [SMALL.request]
        if "://" in options.repo and options.draft is None:
            return [_request_of_link(options.repo)]
        advice = f"Choose one of `paceline models show {options.repo}`."
        raise LibraryError(f"The command names no model of {short(options.repo)}.", advice)
    wanted = [(options.repo, options.file), *([tuple(options.draft)] if options.draft else [])]
    requests: list[DownloadRequest] = []
    for typed, file in wanted:
        details = client.details(typed)
        named = details.summary.repo_id
        repo_id = named if named.lower() == typed.lower() else typed  # the hub's spelling: one folder per repository
        model = chosen_model(details, file)
        if not model.kind.runs_alone:
            print(f"paceline: {model.name} cannot run alone; it is {model.kind.value}.", file=sys.stderr)
        target = f"{requests[0].repo_id}/{requests[0].model.name}" if requests else ""
        requests.append(DownloadRequest(repo_id, model, draft_of=target, licence=details.summary.licence))
    return requests


def _show_until_done(downloads: DownloadQueue, ids: list[str]) -> list[Download]:
    """Show progress until all downloads have ended."""
    on_terminal = sys.stderr.isatty()
    last_lines, last_s = "", 0.0
    while True:
        states = [state for state in downloads.snapshot() if state.key in ids]
        ended = all(state.status in (DownloadStatus.DONE, DownloadStatus.FAILED) for state in states)
        lines = "  |  ".join(progress_line(state) for state in states)
        due = on_terminal or ended or time.monotonic() - last_s >= PROGRESS_LINE_S
        if lines != last_lines and due:
            print(f"\r\033[K{lines}" if on_terminal else lines, file=sys.stderr, end="" if on_terminal else "\n")
            sys.stderr.flush()
            last_lines, last_s = lines, time.monotonic()
        if ended:
            if on_terminal:
                print(file=sys.stderr)
            return states
        time.sleep(POLL_S)


def _print_done(library: Library, requests: list[DownloadRequest], *, as_json: bool) -> None:
    # Look models up by file: their names may have belonged to other models before.
    models = [library.find(str(library.path_for(one.repo_id, one.model.files[0].path))) for one in requests]
    if as_json:
        facts = {"model": as_dict(models[0]), "draft": as_dict(models[1]) if len(models) > 1 else None}
        print(json.dumps(facts, ensure_ascii=False))
        return
    for model in models:
        print(f"{model.name}, {size_words(model.size_bytes)}: {model.path}")
    print(run_hint(models[0].name))


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
    client = HubClient()
    try:
        found = client.search(options.query, _SORT_ORDERS[options.sort], options.limit)
    finally:
        client.close()
    if options.json:
        _print_json({"models": [as_dict(summary) for summary in found]})
    elif found:
        print(table([("repository", "downloads", "licence", "updated", "quantizations"), *map(repo_row, found)]))
    else:
        print("The hub has no GGUF repository for these words.")
    return 0


def _show(options: argparse.Namespace) -> int:
    client = HubClient()
    try:
        details, url = client.details(options.repo), client.page_url(options.repo)
        heads = _own_heads(client, details) if options.heads else ""
    finally:
        client.close()
    if options.json:
        _print_json({**as_dict(details), "url": url, "own_heads": heads or None})
    else:
        print("\n".join(filter(None, (show_text(details, url), heads))))
    return 0


def _own_heads(client: HubClient, details: RepoDetails) -> str:
    """A sentence about heads in a repository's models, by the header of the smallest; empty without heads."""
    whole = [model for model in details.models if model.kind.runs_alone and not model.missing_shards]
    if not whole:
        return ""
    smallest = min(whole, key=lambda model: model.size_bytes or 0)
    try:
        known = read_remote_header(client, details.summary.repo_id, smallest)
    except (HubError, EngineError) as error:
        return f"It is not known whether {smallest.name} has draft heads: {error.message}"
    return own_heads_sentence(known.header, known.name)


def _list(options: argparse.Namespace) -> int:
    library = open_library(find_paths())
    models, (offers, skipped) = library.models(), library.find_offers()
    if options.json:
        _print_json(
            {
                "folder": str(library.folder),
                "models": [{**as_dict(model), "side_file": side_name(model) or None} for model in models],
                "offers": [as_dict(offer) for offer in offers],
                "skipped": [as_dict(model) for model in skipped],
            }
        )
    else:
        print(list_text(models, offers, library.folder))
        for model in skipped:
            print(f"Not offered: {model.name}. {model.reason}")
    return 0


def _remove(options: argparse.Namespace) -> int:
    library = open_library(find_paths())
    model = library.find(options.name)
    freed = library.remove(options.name)
    if options.json:
        _print_json({"name": model.name, "origin": model.origin.value, "freed_bytes": freed})
    elif freed:
        print(f"{model.name} was deleted; {size_words(freed)} are free again.")
    else:
        print(f"{model.name} was removed from the list; no file was deleted.")
    return 0


def _import(options: argparse.Namespace) -> int:
    model = open_library(find_paths()).add(Path(options.path))
    if options.json:
        _print_json(as_dict(model))
    else:
        print(f"{model.name} is in the library, in place: {model.path}")
    try:
        read_header(model.path)
    except EngineError as error:  # the lock stays: another program may still be downloading
        notify(f"It cannot be used as it is: {error.problem.message} {error.problem.advice}")
    return 0


def _print_json(facts: Mapping[str, Any]) -> None:
    print(json.dumps(facts, ensure_ascii=False))


_ACTIONS: Mapping[str, Callable[[argparse.Namespace], int]] = {
    "search": _search,
    "show": _show,
    "pull": pull,
    "list": _list,
    "remove": _remove,
    "import": _import,
}
