"""Scans a folder for models, with progress and cancellation.

Links to folders are followed. Each folder is visited once, so circles of links end. Nothing is written.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from app.core.domain.models import FolderScan, Offer
from app.core.hub.errors import LibraryError
from app.core.hub.library import ollama
from app.core.hub.library.other_folders import MAX_OFFERS, is_folder, offer_of, walk
from engine.sentences import i18n

REPORT_EVERY_S = 0.1
MAX_FILES = 2_000_000


def scan_folder(
    folder: Path,
    report: Callable[[FolderScan], None] = lambda _scan: None,
    should_stop: Callable[[], bool] = lambda: False,
) -> FolderScan:
    """Find the models below a folder. ``report`` is called ten times a second.

    Raises:
        LibraryError: the folder itself cannot be read.
    """
    folder = folder.expanduser().absolute()
    scan = FolderScan(folder)
    try:
        with os.scandir(folder) as listed:
            next(listed, None)
    except OSError as error:
        raise LibraryError(
            i18n("{folder} cannot be read: {reason}.", folder=folder, reason=error.strerror or error),
            "Choose a folder that you may read.",
        ) from error
    seen: set[Path] = set()
    reported_s = time.monotonic()
    for path in _files(scan):
        if should_stop() or scan.num_files >= MAX_FILES or len(scan.offers) >= MAX_OFFERS:
            scan.is_running = False
            return scan
        offer = offer_of(str(path.parent), path) if path is not None else None
        if offer is not None and (real := offer.files[0].resolve()) not in seen:
            seen.add(real)
            scan.offers.append(offer)
        if time.monotonic() - reported_s >= REPORT_EVERY_S:
            reported_s = time.monotonic()
            report(scan)
    scan.is_running, scan.is_complete = False, True
    return scan


def _files(scan: FolderScan) -> Iterator[Path | None]:
    """Yield every file, and None for every folder, so that the caller can stop among folders without files."""
    for folder, entries in walk(scan.folder):
        yield None
        if entries is None:
            scan.num_unreadable += 1
            continue
        if ollama.is_store(folder):
            for model in ollama.models_in(folder):
                if isinstance(model, Offer):
                    scan.offers.append(model)
                else:
                    scan.skipped.append(model)
        for entry in entries:
            if not is_folder(entry):
                scan.num_files += 1
                yield Path(entry.path)
