"""The current day, in one place."""

from __future__ import annotations

from datetime import date, datetime


def today() -> date:
    return datetime.now().astimezone().date()
