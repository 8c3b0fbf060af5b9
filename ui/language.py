"""The words of the window in the user's language: Qt's catalogues, asked in one place. Knows no catalogue's file.

`lupdate` finds the calls by the functions' names; so the text is always a literal; its fields are filled afterwards.
"""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication


def translate(context: str, text: str, n: int = -1) -> str:
    """Give ``text`` in the language in use, or as it is; ``n`` chooses the plural form and replaces ``%n``."""
    return QCoreApplication.translate(context, text, None, n)


def mark(context: str, text: str) -> str:  # noqa: ARG001 (lupdate reads the context)
    """Mark a text that is written down before its language is known; give it to `translate` where it is shown."""
    return text
