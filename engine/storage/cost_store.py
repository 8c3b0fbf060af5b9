"""Stores measured costs of passes for the next start in a small JSON file. A damaged file counts as missing."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.gguf.model_parts import all_parts
from engine.storage.json_store import JsonStore, merge_latest

FILE_NAME = "pass-costs.json"
_FORMAT = 1  # version of the format; files of other versions are dropped
MAX_ENTRIES = 64
_MIN_MS, _MAX_MS = 1e-4, 3_600_000.0
_MAX_THREADS = 512  # llama.cpp aborts with more threads
_MAX_TOKENS = 1 << 31  # limit of token counts


@dataclass(frozen=True, slots=True)
class SavedCosts:
    """Costs with this number of threads. ``bands``: band of cache fill -> tokens of a pass -> milliseconds."""

    threads: int
    bands: dict[int, dict[int, float]]


def key_of(*facts: object) -> str:
    """Hash everything that affects the costs."""
    reported = "\n".join(map(str, facts))
    return hashlib.sha256(reported.encode("utf-8", "surrogatepass")).hexdigest()[:32]  # names may be invalid UTF-8


def file_facts(path: str) -> tuple[object, ...]:
    """Name, size and time stamp of a model's files as its identity; only the path if a file cannot be read."""
    try:
        facts = [(part.name, part.stat()) for part in all_parts(Path(path))]
    except OSError:
        return (path,)
    return tuple(fact for name, stat in facts for fact in (name, stat.st_size, stat.st_mtime_ns))


class CostStore:
    """Costs by key, in memory, and also in ``folder`` if given."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = JsonStore(folder / FILE_NAME, "costs", _FORMAT) if folder is not None else None
        kept = self._file.read(_costs) if self._file is not None else {}
        self._kept = dict(list(kept.items())[-MAX_ENTRIES:])

    def get(self, key: str) -> SavedCosts | None:
        return self._kept.get(key)

    def put(self, key: str, costs: SavedCosts) -> None:
        """Store ``costs``, merged with those of other processes; beyond `MAX_ENTRIES` entries the oldest is dropped.

        An unwritable folder is only logged.
        """
        costs = SavedCosts(
            costs.threads,
            {
                band: {num_tokens: float(f"{ms:.4g}") for num_tokens, ms in points.items()}
                for band, points in costs.bands.items()
            },
        )
        if self._file is None:
            self._kept = merge_latest(self._kept, {}, key, costs, MAX_ENTRIES)
            return
        with self._file.locked():
            there = self._file.read(_costs)
            latest = _merged(self._kept.get(key), there.get(key), costs)
            self._kept = merge_latest(self._kept, there, key, latest, MAX_ENTRIES)
            self._file.write({key: asdict(costs) for key, costs in self._kept.items()})


def _costs(entry: dict[str, Any]) -> SavedCosts:
    threads = entry["threads"]
    bands = {
        int(band): {int(num_tokens): float(ms) for num_tokens, ms in points.items()}
        for band, points in entry["bands"].items()
    }
    points = [point for points in bands.values() for point in points.items()]
    good = all(_MIN_MS < ms < _MAX_MS and 0 < num_tokens < _MAX_TOKENS for num_tokens, ms in points)
    good = good and all(0 <= band < _MAX_TOKENS for band in bands) and all(1 in points for points in bands.values())
    if not (type(threads) is int and 1 <= threads <= _MAX_THREADS and good and bands):
        raise ValueError("a figure is outside its range")
    return SavedCosts(threads, bands)


def _merged(before: SavedCosts | None, there: SavedCosts | None, ours: SavedCosts) -> SavedCosts:
    """Add to ``ours`` the bands that another process has stored since ``before``."""
    if there is None or there.threads != ours.threads:
        return ours
    known = before.bands if before is not None else {}
    theirs = {band: points for band, points in there.bands.items() if points != known.get(band)}
    used = {band: points for band, points in ours.bands.items() if points != known.get(band) or band not in theirs}
    return SavedCosts(ours.threads, theirs | used)
