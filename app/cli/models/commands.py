"""`paceline models search, show, list, remove, import`; `pull` has a module of its own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.cli.models.output import as_dict, list_text, repo_row, show_text, side_name, size_words
from app.cli.models.pull import pull
from app.cli.output import INTERRUPTED, fail, notify, table
from app.core.domain.errors import AppError
from app.core.hub.client import HubClient
from app.core.hub.errors import HubError
from app.core.hub.opening import open_library
from app.core.hub.records import RepoDetails, SortBy
from app.core.hub.remote_header import read_remote_header
from app.core.paths import find_paths
from engine.errors import EngineError
from engine.gguf.head_files import own_heads_sentence
from engine.gguf.header import read_header
from engine.records import Problem

_ORDERS = {
    "downloads": SortBy.DOWNLOADS,
    "likes": SortBy.LIKES,
    "updated": SortBy.UPDATED,
    "trending": SortBy.TRENDING,
}


def command(options: argparse.Namespace) -> int:
    """Run one of the commands; exit code 0 when done, 1 with one sentence."""
    try:
        return _ACTIONS[options.action](options)
    except KeyboardInterrupt:
        print("\npaceline: Stopped.", file=sys.stderr)
        return INTERRUPTED
    except (AppError, EngineError) as error:
        return fail(error.problem, as_json=options.json)
    except OSError as error:
        problem = Problem("The disk refused", f"{error.strerror or error}.", "Check the library folder.")
        return fail(problem, as_json=options.json)


def _search(options: argparse.Namespace) -> int:
    client = HubClient()
    try:
        found = client.search(options.query, _ORDERS[options.sort], options.limit)
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
    """Whether its models draft for themselves, by the header of the smallest; a sentence, empty where there is none."""
    whole = [model for model in details.models if model.kind.runs_alone and not model.missing_shards]
    if not whole:
        return ""
    smallest = min(whole, key=lambda model: model.size_bytes or 0)
    try:
        known = read_remote_header(client, details.summary.repo_id, smallest)
    except (HubError, EngineError) as error:
        return f"Whether {smallest.name} drafts for itself is not known: {error.message}"
    return own_heads_sentence(known.header, known.name)


def _list(options: argparse.Namespace) -> int:
    library = open_library(find_paths())
    models, (offers, skipped) = library.models(), library.look()
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
        print(f"{model.name} is gone; {size_words(freed)} are free again.")
    else:
        print(f"{model.name} is forgotten; no file was deleted.")
    return 0


def _import(options: argparse.Namespace) -> int:
    model = open_library(find_paths()).add(Path(options.path))
    if options.json:
        _print_json(as_dict(model))
    else:
        print(f"{model.name} is in the library, in place: {model.path}")
    try:
        read_header(model.path)
    except EngineError as error:  # it stays: another program may be downloading it still
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
