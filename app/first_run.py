"""Whether somebody is here for the first time, and the note that they were greeted. Knows no widget."""

from __future__ import annotations

import logging

from app.paths import Paths

log = logging.getLogger(__name__)

WELCOMED_FILE = "welcomed"


def is_first_run(paths: Paths) -> bool:
    """Whether nothing was set and nobody was greeted yet."""
    return not paths.settings_file.exists() and not (paths.config / WELCOMED_FILE).exists()


def note_welcomed(paths: Paths) -> None:
    """Do not greet again; where that cannot be noted, the next start does."""
    try:
        (paths.config / WELCOMED_FILE).touch()
    except OSError as error:
        log.warning("the first run could not be noted: %s", error)
