"""The settings: a valid value for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.core.domain.settings.fields import SettingValue
from app.core.domain.settings.table import DEFAULTS, FIELD_BY_KEY, normalised, value_problem
from engine.sentences import i18n


@dataclass(frozen=True, slots=True)
class Settings:
    """The values, and the parsed TOML document, so that saving keeps unknown keys."""

    values: Mapping[str, SettingValue] = field(default_factory=lambda: dict(DEFAULTS))
    document: Mapping[str, Any] = field(default_factory=dict)

    def changed(self, changes: Mapping[str, SettingValue]) -> tuple[Settings, tuple[str, ...]]:
        """A copy with ``changes``, and a sentence for each invalid value."""
        values, complaints = dict(self.values), []
        for key, value in changes.items():
            row = FIELD_BY_KEY.get(key)
            sentence = i18n("There is no setting {key}.", key=key) if row is None else value_problem(row, value)
            if row is None or sentence:
                complaints.append(sentence)
            else:
                values[key] = normalised(row, value)
        return Settings(values, self.document), tuple(complaints)

    def text(self, key: str) -> str:
        return str(self.values[key])

    def number(self, key: str) -> float:
        value = self.values[key]
        if value is None:
            raise KeyError(f"{key} is automatic")
        return float(value)

    def integer(self, key: str) -> int | None:
        """The value of an integer field; None if it is automatic."""
        value = self.values[key]
        return None if value is None else int(value)
