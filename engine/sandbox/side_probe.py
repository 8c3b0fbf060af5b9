"""Lets a child process show a picture to a target with its side file first: a crash there is an error here.

Good verdicts are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.sandbox.head_probe import probe_together

CACHE_FILE = "probed-side-files.json"

InspectSide = Callable[[Path, Path, Callable[[], bool]], None]


def probe_side(
    target: Path, side: Path, cache_dir: Path | None = None, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Try a side file with its target, unless these files were good before.

    Raises:
        ModelFileError: they cannot be used together; the sentence names the side file.
        NotEnoughMemoryError: they do not fit the free memory.
    """
    cache = cache_dir / CACHE_FILE if cache_dir is not None else None
    probe_together("sides", [side, target], cache, should_stop)


def side_inspector(cache_dir: Path | None) -> InspectSide:
    """A look at side files before they are opened in this process."""
    return lambda target, side, should_stop: probe_side(target, side, cache_dir, should_stop)
