"""The user's settings and their file: TOML, written atomically, keys of other versions kept, never fatal.

Knows the table of fields (`app.settings_table`); knows no widget and no engine.
"""

from __future__ import annotations

import os
import tempfile
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tomli_w

from app.errors import SettingsWriteError
from app.settings_table import DEFAULTS, FIELD_BY_KEY, FIELDS, complaint, normal
from engine.records import Problem
from ui.records import SettingField, SettingValue

SCHEMA = 1
SCHEMA_KEY = "schema"


@dataclass(frozen=True, slots=True)
class Settings:
    """A good value for every field, and the document they came from, so that what is unknown here is kept."""

    values: Mapping[str, SettingValue] = field(default_factory=lambda: dict(DEFAULTS))
    document: Mapping[str, Any] = field(default_factory=dict)

    def changed(self, changes: Mapping[str, SettingValue]) -> tuple[Settings, tuple[str, ...]]:
        """Return these settings with ``changes``, and a sentence for each value that was not taken."""
        values, complaints = dict(self.values), []
        for key, value in changes.items():
            row = FIELD_BY_KEY.get(key)
            sentence = f"There is no setting {key}." if row is None else complaint(row, value)
            if row is None or sentence:
                complaints.append(sentence)
            else:
                values[key] = normal(row, value)
        return Settings(values, self.document), tuple(complaints)

    def text(self, key: str) -> str:
        """Return the value of a text, choice or file field."""
        return str(self.values[key])

    def number(self, key: str) -> float:
        """Return the value of a field of numbers that is never automatic."""
        value = self.values[key]
        if value is None:
            raise KeyError(f"{key} is automatic")
        return float(value)

    def whole(self, key: str) -> int | None:
        """Return the value of a field of whole numbers; None where it is automatic."""
        value = self.values[key]
        return None if value is None else int(value)


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """What reading the file gave: always usable settings, and what a person should be told."""

    settings: Settings
    notices: tuple[str, ...] = ()
    problem: Problem | None = None


def read_settings(path: Path) -> LoadedSettings:
    """Read the file; a missing one gives the defaults, a broken one is set aside and gives a problem, too."""
    try:
        document = tomllib.loads(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return LoadedSettings(Settings())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        return LoadedSettings(Settings(), problem=_set_aside(path, str(error)))
    except OSError as error:
        advice = "Paceline goes on with the usual settings; check the file's permissions."
        message = f"{path}: {error.strerror or error}."
        return LoadedSettings(Settings(), problem=Problem("The settings could not be read", message, advice))
    return _from_document(document)


def write_settings(path: Path, settings: Settings) -> None:
    """Write the file so that a crash leaves either the old or the new one.

    Raises:
        SettingsWriteError: the folder or the disk does not take it; the old file is as it was.
    """
    text = tomli_w.dumps(_to_document(settings)).encode("utf-8")
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
            temporary = Path(file.name)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise SettingsWriteError(f"{path}: {error.strerror or error}.") from error


def _set_aside(path: Path, why: str) -> Problem:
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    aside = path.with_name(f"{path.stem}.broken-{stamp}{path.suffix}")
    try:
        path.rename(aside)
    except OSError as error:
        kept = f"It could not be renamed ({error.strerror or error}) and is overwritten at the next change."
    else:
        kept = f"It is kept as {aside.name}."
    reason = why.splitlines()[0][:200] if why else "it is no TOML"
    return Problem(
        "The settings file is broken",
        f"{path.name} could not be read: {reason}. {kept}",
        "Paceline goes on with the usual settings; set yours again, or repair the kept file.",
    )


def _from_document(document: dict[str, Any]) -> LoadedSettings:
    values, notices = dict(DEFAULTS), []
    for row in FIELDS:
        section = document.get(section_name(row))
        if not isinstance(section, dict) or row.key not in section:
            continue
        value = section[row.key]
        sentence = complaint(row, value)
        if sentence:
            notices.append(f"{sentence} The settings file says otherwise; the usual value is taken.")
        else:
            values[row.key] = normal(row, value)
    schema = document.get(SCHEMA_KEY, SCHEMA)
    if isinstance(schema, int) and schema > SCHEMA:
        notices.append("The settings are from a newer Paceline; what this one does not know is kept.")
    return LoadedSettings(Settings(values, document), tuple(notices))


def _to_document(settings: Settings) -> dict[str, Any]:
    """Put the known values into the read document. Automatic is a missing key: TOML has no null."""
    document: dict[str, Any] = deepcopy(dict(settings.document))
    if not isinstance(document.get(SCHEMA_KEY), int):
        document = {SCHEMA_KEY: SCHEMA, **{key: item for key, item in document.items() if key != SCHEMA_KEY}}
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
    """Name the TOML table in which a setting lies."""
    return row.section.lower().replace(" ", "_")
