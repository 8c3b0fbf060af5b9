"""Translation by Qt's catalogues.

`lupdate` finds the calls by function name, so texts are literals and fields are filled afterwards.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QCoreApplication, QLocale


def translate(context: str, text: str, comment: str | None = None, n: int = -1) -> str:
    """``text`` in the current language; ``n`` selects the plural form and replaces ``%n``.

    ``comment`` distinguishes equal English texts; nearly always None.
    """
    return QCoreApplication.translate(context, text, comment, n)


def mark(context: str, text: str) -> str:  # noqa: ARG001 (lupdate reads the context)
    """Mark a text for translation where it is defined; `translate` it where it is shown."""
    return text


def locale() -> QLocale:
    """The locale of numbers and dates: Qt's default, or English without a country.

    Shared: copy it before changing its options.
    """
    return _with_country(QLocale())


@lru_cache(maxsize=4)
def _with_country(default: QLocale) -> QLocale:
    """Cached: the statistics format fifty numbers per update."""
    if default.language() is QLocale.Language.C:
        return QLocale(QLocale.Language.English, QLocale.Country.UnitedStates)
    return default
