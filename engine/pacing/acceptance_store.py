"""Stores counts of accepted tokens for the next start in a small JSON file without any text.

A damaged file counts as missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.pacing.learning import AcceptanceStats, SavedStats
from engine.storage.json_store import JsonStore, merge_latest

FILE_NAME = "experience.json"
_FORMAT = 2
MAX_PAIRS, MAX_KINDS = 32, 12
Kinds = dict[str, SavedStats]  # counts by kind of answer


class AcceptanceStore:
    """Statistics by pair of models and kind of answer, in memory, and also in ``folder`` if given."""

    def __init__(self, folder: Path | None) -> None:
        self._file = JsonStore(folder / FILE_NAME, "pairs", _FORMAT) if folder is not None else None
        kept = self._file.read(_kinds) if self._file is not None else {}
        self._kept = dict(list(kept.items())[-MAX_PAIRS:])

    def get(self, key: str) -> Kinds:
        """Return the statistics under ``key``; empty if there are none."""
        return self._kept.get(key, {})

    def put(self, key: str, kinds: Mapping[str, SavedStats]) -> None:
        """Store ``kinds``, merged with the file's other entries; the oldest entries are dropped.

        The file has at most `MAX_PAIRS` pairs with at most `MAX_KINDS` kinds each.
        """
        ours = {
            kind: {noun: [float(f"{one:.4g}") for one in values] for noun, values in numbers.items()}
            for kind, numbers in kinds.items()
        }
        if self._file is None or not ours:
            self._keep({}, key, ours)
            return
        with self._file.locked():
            self._keep(self._file.read(_kinds), key, ours)
            self._file.write(self._kept)

    def _keep(self, there: dict[str, Kinds], key: str, ours: Kinds) -> None:
        before = {**self.get(key), **there.get(key, {})}
        kinds = {kind: numbers for kind, numbers in before.items() if kind not in ours} | ours
        self._kept = merge_latest(self._kept, there, key, dict(list(kinds.items())[-MAX_KINDS:]), MAX_PAIRS)


def _kinds(entry: Any) -> Kinds:  # noqa: ANN401  (any JSON)
    """Parse an entry of the file, and check it so that `AcceptanceStats.restore` cannot fail."""
    kinds: Kinds = {}
    for kind, numbers in list(entry.items())[-MAX_KINDS:]:
        kinds[str(kind)] = {str(noun): [float(one) for one in values] for noun, values in numbers.items()}
        AcceptanceStats(greedy=True).restore(kinds[str(kind)])
    return kinds
