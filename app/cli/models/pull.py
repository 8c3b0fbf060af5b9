"""`paceline models pull`: downloads a model, or a pair, with progress on stderr; interrupted, it keeps the part.

The downloads themselves are `app.core.hub.downloads.download_queue`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence

from app.cli.models.output import as_dict, progress_line, size_words
from app.cli.models.small import NAME as SMALL_NAME
from app.cli.models.small import pull_small
from app.cli.output import INTERRUPTED, fail, run_hint
from app.core.domain.models import Download, DownloadRequest, DownloadStatus, RepoModel
from app.core.hub.client import HubClient
from app.core.hub.downloads.download_queue import DownloadQueue
from app.core.hub.errors import HubNotFoundError, LibraryError
from app.core.hub.file_names import short
from app.core.hub.library.library import Library
from app.core.hub.link_header import judge_link
from app.core.hub.links import request_of
from app.core.hub.opening import open_library
from app.core.hub.records import RepoDetails
from app.core.paths import find_paths
from engine.records import Problem

LOOK_EVERY_S = 0.2
LINE_EVERY_S = 10.0  # where stderr is no terminal
MAX_NAMED = 8


def pull(options: argparse.Namespace) -> int:
    """Download what the options name; exit code 0 when all of it is in the library.

    Raises:
        AppError: something could not be found, or not be fetched.
        EngineError: a link's file is no model that can be used.
    """
    is_link = options.file is None and "://" in options.repo and options.draft is None
    if options.file is None and not is_link:
        return _pull_alone(options)
    client = HubClient()
    try:
        library = open_library(find_paths())
        requests = [_judged(options.repo)] if is_link else _requests(client, options)
        downloads = DownloadQueue(client, library)
        downloads.start()
        try:
            ended = _watched(downloads, [downloads.add(request) for request in requests])
        except KeyboardInterrupt:
            words = "Stopped. What is here is kept: the same command goes on from there"
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
    _print_done(library, requests, as_json=options.json)
    return 0


def _pull_alone(options: argparse.Namespace) -> int:
    if options.repo == SMALL_NAME and options.draft is None:
        return pull_small(options)
    raise LibraryError(
        f"Which model of {short(options.repo)} is not said.", f"See `paceline models show {options.repo}` and name one."
    )


def _judged(link: str) -> DownloadRequest:
    """Read what a link asks for, and judge it by the header of its file."""
    request = request_of(link)
    known, hosts = judge_link(request)
    size = size_words(known.size_bytes) + (f" in the first of {known.num_parts} parts" if known.num_parts > 1 else "")
    print(f"paceline: {known.header.architecture} model, {size}, from {' by way of '.join(hosts)}", file=sys.stderr)
    return request


def chosen_model(details: RepoDetails, file: str) -> RepoModel:
    """The one model that is meant by a path, a file name, a model's name or a quantization.

    Raises:
        LibraryError: several may be meant, or the one is incomplete on the hub.
        HubNotFoundError: there is none.
    """
    alone = [model for model in details.models if model.kind.runs_alone]
    found: Sequence[RepoModel] = ()
    ways: tuple[tuple[Sequence[RepoModel], Callable[[RepoModel], set[str]]], ...] = (
        (details.models, lambda model: {each.path for each in model.files}),
        (details.models, lambda model: {each.path.rsplit("/", 1)[-1] for each in model.files}),
        (details.models, lambda model: {model.name}),
        (alone, lambda model: {model.quantization}),
    )
    for models, names in ways:
        found = found or [model for model in models if file in names(model)]
        # Two names may differ in nothing but capitals: those that were typed decide, where they are of one of them.
        found = found or [model for model in models if file.lower() in {name.lower() for name in names(model)}]
    if not found:
        offered = ", ".join(model.files[0].path for model in details.models[:MAX_NAMED]) or "none"
        raise HubNotFoundError(f"{details.summary.repo_id} has no model {short(file)}.", f"Its models: {offered}.")
    if len(found) > 1:
        named = ", ".join(model.files[0].path for model in found[:MAX_NAMED])
        raise LibraryError(f"{short(file)} may be one of {len(found)} models.", f"Name one: {named}.")
    if found[0].missing_shards:
        raise LibraryError(f"{found[0].name} is incomplete on the hub: parts are missing.", "Choose another.")
    return found[0]


def _requests(client: HubClient, options: argparse.Namespace) -> list[DownloadRequest]:
    wanted = [(options.repo, options.file), *([tuple(options.draft)] if options.draft else [])]
    requests: list[DownloadRequest] = []
    for typed, file in wanted:
        details = client.details(typed)
        named = details.summary.repo_id
        repo_id = named if named.lower() == typed.lower() else typed  # one folder for it, in whatever capitals it came
        model = chosen_model(details, file)
        if not model.kind.runs_alone:
            print(f"paceline: {model.name} is no model that runs alone, but {model.kind.value}.", file=sys.stderr)
        target = f"{requests[0].repo_id}/{requests[0].model.name}" if requests else ""
        requests.append(DownloadRequest(repo_id, model, draft_of=target, licence=details.summary.licence))
    return requests


def _watched(downloads: DownloadQueue, ids: list[str]) -> list[Download]:
    """Show progress until all have ended."""
    on_terminal = sys.stderr.isatty()
    last_lines, last_s = "", 0.0
    while True:
        states = [state for state in downloads.snapshot() if state.key in ids]
        ended = all(state.status in (DownloadStatus.DONE, DownloadStatus.FAILED) for state in states)
        lines = "  |  ".join(progress_line(state) for state in states)
        due = on_terminal or ended or time.monotonic() - last_s >= LINE_EVERY_S
        if lines != last_lines and due:
            print(f"\r\033[K{lines}" if on_terminal else lines, file=sys.stderr, end="" if on_terminal else "\n")
            sys.stderr.flush()
            last_lines, last_s = lines, time.monotonic()
        if ended:
            if on_terminal:
                print(file=sys.stderr)
            return states
        time.sleep(LOOK_EVERY_S)


def _print_done(library: Library, requests: list[DownloadRequest], *, as_json: bool) -> None:
    # By their files, as other models may have had their names before.
    models = [library.find(str(library.place_for(one.repo_id, one.model.files[0].path))) for one in requests]
    if as_json:
        facts = {"model": as_dict(models[0]), "draft": as_dict(models[1]) if len(models) > 1 else None}
        print(json.dumps(facts, ensure_ascii=False))
        return
    for model in models:
        print(f"{model.name}, {size_words(model.size_bytes)}: {model.path}")
    print(run_hint(models[0].name))
