"""Which day it is, asked in one place."""

from __future__ import annotations

from datetime import date, datetime


def today() -> date:
    """The day of here."""
    return datetime.now().astimezone().date()
