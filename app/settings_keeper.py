"""The settings in use: changed in one place, saved at once, the trouble told. Knows no widget."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path

from app.errors import SettingsWriteError
from app.settings import Settings, write_settings
from engine.records import Problem
from ui.records import SettingValue

log = logging.getLogger(__name__)


class SettingsKeeper:
    """Holds the current settings and their file."""

    def __init__(self, path: Path, settings: Settings, on_problem: Callable[[Problem], None]) -> None:
        self._path = path
        self._on_problem = on_problem
        self._save_failed = False
        self.current = settings

    def change(self, changes: Mapping[str, SettingValue]) -> frozenset[str]:
        """Take and save ``changes``; return the keys whose value is now another."""
        before = self.current.values
        self.current, complaints = self.current.changed(changes)
        for sentence in complaints:
            self._on_problem(Problem("This setting was not taken", sentence, "Give a value in its range."))
        changed = frozenset(key for key, value in self.current.values.items() if value != before[key])
        if changed:
            self._save()
        return changed

    def _save(self) -> None:
        try:
            write_settings(self._path, self.current)
        except SettingsWriteError as error:
            log.warning("The settings could not be saved: %s", error)
            # Once is enough: in a folder that cannot be written every change would say it again.
            if not self._save_failed:
                self._on_problem(error.problem)
            self._save_failed = True
        else:
            self._save_failed = False
