"""Lets a child process run a target together with its heads first: what llama.cpp cannot do with them ends it there.

Good verdicts are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engine.sandbox.probe import SLOWEST_BYTES_PER_S, START_LIMIT_S, ask_child, remembered
from engine.storage.json_store import JsonStore

CACHE_FILE = "probed-heads.json"
_FORMAT = 1

InspectHead = Callable[[Path, Path | None, Callable[[], bool]], None]


def probe_head(
    target: Path, head: Path | None, cache_dir: Path | None = None, should_stop: Callable[[], bool] = lambda: False
) -> None:
    """Try a target with its own next-token layers, or with a head in a file, unless these files were good before.

    Raises:
        ModelFileError: they cannot be used together; the sentence names the file that has the head.
        NotEnoughMemoryError: they do not fit the free memory.
    """
    files = [target] if head is None else [head, target]
    probe_together("heads", files, cache_dir / CACHE_FILE if cache_dir is not None else None, should_stop)


def probe_together(helper: str, files: Sequence[Path], cache: Path | None, should_stop: Callable[[], bool]) -> None:
    """Let the helper process try files together, unless ``cache`` says that these very files were good before.

    Raises:
        ModelFileError: they cannot be used together; the sentence names the first.
        NotEnoughMemoryError: they do not fit the free memory.
    """

    def ask(num_bytes: int) -> bool:
        ask_child(helper, files, START_LIMIT_S + num_bytes / SLOWEST_BYTES_PER_S, should_stop)
        return True

    store = JsonStore(cache, helper, _FORMAT) if cache is not None else None
    remembered(files, store, _checked, ask)


def head_inspector(cache_dir: Path | None) -> InspectHead:
    """A look at heads before they are opened in this process."""
    return lambda target, head, should_stop: probe_head(target, head, cache_dir, should_stop)


def _checked(entry: Any) -> bool:  # noqa: ANN401  (JSON)
    if entry is not True:
        raise ValueError("bad verdicts are not kept")
    return True
