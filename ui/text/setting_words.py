"""A setting's words in the user's language: the table of settings is English, its words are catalogued as a list."""

from __future__ import annotations

from dataclasses import replace

from app.core.domain.settings.fields import SettingField
from ui.text.language import translate


def in_words(field: SettingField) -> SettingField:
    """Give the field with all that is shown of it translated; its key and its values stay."""

    def said(text: str) -> str:
        return translate("Settings", text) if text else ""

    return replace(
        field,
        section=said(field.section),
        label=said(field.label),
        help=said(field.help),
        choices=tuple((value, said(label)) for value, label in field.choices),
        automatic=said(field.automatic),
        unit=said(field.unit),
    )


def sentence(text: str) -> str:
    """Begin a text with a capital letter."""
    return text[:1].upper() + text[1:]
