"""How fast caches are kept, brought back and decoded anew, by model: measured, and remembered for the next start."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.storage.json_store import JsonStore

FILE_NAME = "speeds.json"
_FORMAT, _MAX_KEPT = 1, 64
_NEW_SHARE = 0.5  # of a new figure in the remembered one
_RELAX = 1.1  # each time that a figure decides against it, it is doubted a little, so that it is tried again

PROMPT, SAVE, MEMORY, DISK = "prompt", "save", "memory", "disk"  # tokens per second; bytes per second
_KINDS = (PROMPT, SAVE, MEMORY, DISK)


class StateSpeeds:
    """Figures by model and kind. A file that is damaged or cannot be written is as good as none."""

    def __init__(self, folder: Path | None) -> None:
        self._file = JsonStore(folder / FILE_NAME, "speeds", _FORMAT) if folder is not None else None
        self._kept = self._file.read(_speeds) if self._file is not None else {}
        self._changed = False

    def seconds(self, identity: str, kind: str, amount: float) -> float | None:
        """How long this takes by what is known; None where nothing is."""
        speed = self._kept.get(identity, {}).get(kind)
        return None if speed is None else amount / speed

    def note(self, identity: str, kind: str, amount: float, seconds: float) -> None:
        """Take in a measurement."""
        figures = self._kept.pop(identity, {})
        speed = amount / max(seconds, 1e-6)
        figures[kind] = speed if kind not in figures else _NEW_SHARE * speed + (1.0 - _NEW_SHARE) * figures[kind]
        self._kept[identity] = figures
        for old in list(self._kept)[:-_MAX_KEPT]:
            del self._kept[old]
        self._changed = True

    def relax(self, identity: str, kind: str) -> None:
        """Raise a figure a little that has decided against something, so that it is tried again."""
        if kind in self._kept.get(identity, {}):
            self._kept[identity][kind] *= _RELAX

    def save(self) -> None:
        """Write what has changed."""
        if not self._changed or self._file is None:
            return
        self._changed = False
        kept = {identity: {k: float(f"{v:.4g}") for k, v in speeds.items()} for identity, speeds in self._kept.items()}
        self._file.write(kept)


def _speeds(entry: dict[str, Any]) -> dict[str, float]:
    """Read one entry; whatever is not as it should be makes the file count as none."""
    speeds = {kind: float(speed) for kind, speed in entry.items() if kind in _KINDS}
    if not all(1.0 < speed < 1e13 for speed in speeds.values()):
        raise ValueError("a figure is outside its range")
    return speeds
