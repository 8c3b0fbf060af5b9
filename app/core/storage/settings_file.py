"""Reads and writes the settings file: TOML with the fields of `app.core.domain.settings.table`.

Reading never fails: an invalid value becomes its default, with a notice. Keys of other versions are kept.
"""

from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.core.domain.settings.fields import SettingField
from app.core.domain.settings.table import DEFAULTS, FIELDS, normalised, value_problem
from app.core.domain.settings.values import Settings
from app.core.storage.toml_file import SCHEMA, TomlFile
from engine.records import Problem
from engine.sentences import i18n, joined

_OLD_TABLE_NAMES = {"Appearance": "look"}


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Valid settings, notices, and a problem to show."""

    settings: Settings
    notices: tuple[str, ...] = ()
    problem: Problem | None = None


def read_settings(path: Path) -> LoadedSettings:
    """Read the file. A missing file gives the defaults; a damaged file is renamed and reported."""
    read = settings_file(path).read()
    if read.problem is not None:
        return LoadedSettings(Settings(), problem=read.problem)
    return _from_document(read.document)


def write_settings(path: Path, settings: Settings) -> None:
    """Write the file atomically.

    Raises:
        SettingsWriteError: the file cannot be written; the old file is unchanged.
    """
    settings_file(path).write(settings_document(settings))


def settings_file(path: Path) -> TomlFile:
    return TomlFile(path, i18n("settings"), i18n("the default settings"))


def _from_document(document: dict[str, Any]) -> LoadedSettings:
    values, notices = dict(DEFAULTS), []
    for row in FIELDS:
        section = document.get(section_name(row))
        if not isinstance(section, dict) or row.key not in section:
            continue
        value = section[row.key]
        sentence = value_problem(row, value)
        if sentence:
            notices.append(
                joined([sentence, i18n("The value in the settings file is not valid; the default is used.")])
            )
        else:
            values[row.key] = normalised(row, value)
    schema = document.get("schema", SCHEMA)
    if isinstance(schema, int) and schema > SCHEMA:
        notices.append(i18n("The settings are from a newer Paceline; those unknown to this one are kept."))
    return LoadedSettings(Settings(values, document), tuple(notices))


def settings_document(settings: Settings) -> dict[str, Any]:
    """The document to write. Automatic values are omitted, since TOML has no null."""
    document: dict[str, Any] = deepcopy(dict(settings.document))
    if not isinstance(document.get("schema"), int):
        document = {**document, "schema": SCHEMA}
    for row in FIELDS:
        name = section_name(row)
        if not isinstance(document.get(name), dict):
            document[name] = {}
        value = settings.values[row.key]
        if value is None:
            document[name].pop(row.key, None)
        else:
            document[name][row.key] = value
    return document


def section_name(row: SettingField) -> str:
    """The TOML table of a setting, which stays the same if its section is renamed."""
    return _OLD_TABLE_NAMES.get(row.section, row.section.lower().replace(" ", "_"))
