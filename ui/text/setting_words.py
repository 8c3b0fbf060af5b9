"""A setting's texts in the user's language; the table of settings is English."""

from dataclasses import replace

from app.core.domain.settings.fields import SettingField
from ui.text.language import translate


def in_words(field: SettingField) -> SettingField:
    """A field with translated texts; its key and values stay."""

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
    return text[:1].upper() + text[1:]
