"""Stores measured costs of passes for the next start in a small JSON file. A damaged file counts as missing."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.gguf.model_parts import all_parts
from engine.storage.json_store import JsonStore

FILE_NAME = "pass-costs.json"
_FORMAT = 1  # version of the format; files of other versions are dropped
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


class CostStore(JsonStore[SavedCosts]):
    """Costs by key, in memory, or in ``folder`` if given."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder, FILE_NAME, "costs", _FORMAT, _costs, _to_json)


def _to_json(costs: SavedCosts) -> dict[str, object]:
    bands = {
        band: {num_tokens: float(f"{ms:.4g}") for num_tokens, ms in points.items()}
        for band, points in costs.bands.items()
    }
    return {"threads": costs.threads, "bands": bands}


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
