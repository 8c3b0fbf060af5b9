"""The settings in use: changed in one place, saved at once; a failure is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.values import Settings
from app.core.storage.settings_file import settings_document, settings_file
from app.core.storage.toml_file import DocumentSaver
from engine.records import Problem


class SettingsKeeper:
    """Holds the current settings and their file."""

    def __init__(self, path: Path, settings: Settings, on_problem: Callable[[Problem], None]) -> None:
        self._on_problem = on_problem
        self._saver = DocumentSaver(settings_file(path), on_problem)
        self.current = settings

    def change(self, changes: Mapping[str, SettingValue]) -> frozenset[str]:
        """Take and save ``changes``; return the keys whose value is now another."""
        before = self.current.values
        self.current, complaints = self.current.changed(changes)
        for sentence in complaints:
            self._on_problem(Problem("This setting was not accepted", sentence, "Enter a value in its range."))
        changed = frozenset(key for key, value in self.current.values.items() if value != before[key])
        if changed:
            self._saver.save(settings_document(self.current))
        return changed
