"""Settings for single models: a TOML file with a table for each model file.

A model is identified by its path; a moved model by its name, if the name is unique and the old file missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from app.core.domain.engines import is_remote
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import LAYERED_KEYS, as_toml_values, valid_values
from app.core.storage.toml_file import DocumentSaver, TomlFile
from engine.records import Problem
from engine.sentences import i18n

SCHEMA = 1
MAX_MODELS = 1_000


class ModelSettings:
    """The values of models; keys of other versions are kept."""

    def __init__(self, file: TomlFile, on_problem: Callable[[Problem], None]) -> None:
        self._saver = DocumentSaver(file, on_problem)
        read = file.read()
        self.problem = read.problem
        self._document = read.document
        tables = self._document.get("models")
        self._tables: list[dict[str, Any]] = [
            table
            for table in (tables if isinstance(tables, list) else [])
            if isinstance(table, dict) and isinstance(table.get("file"), str)
        ][:MAX_MODELS]

    def values(self, model: str) -> dict[str, SettingValue]:
        table = self._table(model)
        return {} if table is None else valid_values(table)

    def set_values(self, model: str, values: Mapping[str, SettingValue]) -> None:
        table = self._table(model)
        foreign = {key: item for key, item in (table or {}).items() if key not in (*LAYERED_KEYS, "file")}
        if table is not None:
            self._tables.remove(table)
        if values or foreign:
            kept = {"file": _full_name(model), **foreign, **as_toml_values(valid_values(values))}
            self._tables = [*self._tables[-(MAX_MODELS - 1) :], kept]
        document = deepcopy({key: item for key, item in self._document.items() if key not in ("schema", "models")})
        schema = self._document.get("schema", SCHEMA)
        self._saver.save({"schema": schema, **document, "models": self._tables})

    def begin(self, model: str, values: Mapping[str, SettingValue]) -> None:
        """Set the first values of a new model, unless it has values."""
        if self._table(model) is None:
            self.set_values(model, values)

    def _table(self, model: str) -> dict[str, Any] | None:
        whole, name = _full_name(model), Path(model).name
        if is_remote(model):
            return next((table for table in self._tables if table["file"] == model), None)
        same = [table for table in self._tables if table["file"] == whole]
        moved = [table for table in self._tables if Path(table["file"]).name == name]
        if not same and len(moved) == 1 and not Path(moved[0]["file"]).exists():
            same = moved
        return same[0] if same else None


def model_settings_file(path: Path) -> TomlFile:
    return TomlFile(path, i18n("model settings"), i18n("the default settings for every model"))


def _full_name(model: str) -> str:
    return model if is_remote(model) else str(Path(model).absolute())
