"""Translations: Qt's catalogues, asked in one place.

`lupdate` finds the calls by the functions' names; so the text is always a literal; its fields are filled afterwards.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QCoreApplication, QLocale


def translate(context: str, text: str, comment: str | None = None, n: int = -1) -> str:
    """Give ``text`` in the language in use, or as it is; ``n`` chooses the plural form and replaces ``%n``.

    ``comment`` tells two uses of the same English words apart; it is None for nearly all.
    """
    return QCoreApplication.translate(context, text, comment, n)


def mark(context: str, text: str) -> str:  # noqa: ARG001 (lupdate reads the context)
    """Mark a text that is written down before its language is known; give it to `translate` where it is shown."""
    return text


def locale() -> QLocale:
    """How numbers and dates are written: Qt's default locale, and English where that is the one without a country.

    It is shared: who wants other options of it takes a copy.
    """
    return _with_country(QLocale())


@lru_cache(maxsize=4)
def _with_country(default: QLocale) -> QLocale:
    """Kept, for the statistics write fifty numbers with each update."""
    if default.language() is QLocale.Language.C:
        return QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
    return default
