"""Lets a child process run a target together with its heads first: what llama.cpp cannot do with them ends it there.

Good verdicts are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from engine.gguf.model_parts import all_parts
from engine.sandbox.probe import SLOWEST_BYTES_PER_S, START_LIMIT_S, ask_child
from engine.storage.json_store import JsonStore, with_latest

CACHE_FILE = "probed-heads.json"
_FORMAT, _MOST_KEPT = 1, 200

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
    parts = [part for path in files for part in all_parts(path.absolute())]
    store = JsonStore(cache, helper, _FORMAT) if cache is not None else None
    known = store.read(_is_good) if store is not None else {}
    key = _key(parts)
    if known.get(key):
        return
    limit_s = START_LIMIT_S + sum(part.stat().st_size for part in parts) / SLOWEST_BYTES_PER_S
    ask_child(helper, files, limit_s, should_stop)
    if store is not None and _key(parts) == key:
        with store.locked():
            store.write(with_latest(known, store.read(_is_good), key, entry=True, most=_MOST_KEPT))


def head_inspector(cache_dir: Path | None) -> InspectHead:
    """A look at heads before they are opened in this process."""
    return lambda target, head, should_stop: probe_head(target, head, cache_dir, should_stop)


def _is_good(entry: Any) -> bool:  # noqa: ANN401  (JSON)
    return entry is True


def _key(parts: list[Path]) -> str:
    """What makes these files these very files: place, size, time, inode; and who judged them."""
    try:
        version = metadata.version("llama-cpp-python")
    except metadata.PackageNotFoundError:  # a frozen program may carry no package metadata
        version = "unknown"
    facts = [(part.resolve(), part.stat()) for part in parts]
    reported = [f"{path}|{fact.st_size}|{fact.st_mtime_ns}|{fact.st_ino}" for path, fact in facts]
    return "|".join((*reported, version))
