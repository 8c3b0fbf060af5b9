"""The current day, in one place."""

from datetime import date, datetime


def today() -> date:
    return datetime.now().astimezone().date()
