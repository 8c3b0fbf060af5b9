"""Settings for single models: a TOML file with a table for each model file.

A model is identified by its path; a moved model by its name, if the name is unique and the old file missing.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from app.core.domain.engines import is_remote
from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.layers import as_toml_values, valid_values
from app.core.storage.toml_file import TableFile, TomlFile
from engine.records import Problem
from engine.sentences import i18n

MAX_MODELS = 1_000


class ModelSettings(TableFile):
    """The values of models."""

    def __init__(self, path: Path, on_problem: Callable[[Problem], None]) -> None:
        file = TomlFile(path, i18n("model settings"), i18n("the default settings for every model"))
        super().__init__(file, "models", on_problem)
        self.tables = [table for table in self.tables or () if isinstance(table.get("file"), str)][:MAX_MODELS]

    def values(self, model: str) -> dict[str, SettingValue]:
        table = self._table(model)
        return {} if table is None else valid_values(table)

    def set_values(self, model: str, values: Mapping[str, SettingValue]) -> None:
        before = self._table(model)
        tables = [table for table in self.tables or () if table is not before]
        if values:
            tables = tables[-(MAX_MODELS - 1) :]
            tables.append({"file": _full_name(model), **as_toml_values(valid_values(values))})
        self.save_tables(tables)

    def begin(self, model: str, values: Mapping[str, SettingValue]) -> None:
        """Set the first values of a new model, unless it has values."""
        if self._table(model) is None:
            self.set_values(model, values)

    def _table(self, model: str) -> dict[str, Any] | None:
        tables, whole, name = self.tables or [], _full_name(model), Path(model).name
        same = [table for table in tables if table["file"] == whole]
        moved = [table for table in tables if Path(table["file"]).name == name and not is_remote(model)]
        if not same and len(moved) == 1 and not Path(moved[0]["file"]).exists():
            same = moved
        return same[0] if same else None


def _full_name(model: str) -> str:
    return model if is_remote(model) else str(Path(model).absolute())
