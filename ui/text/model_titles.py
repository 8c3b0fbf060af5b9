"""What a person reads of a model that is known by the name of its file: the title that its header has."""

from __future__ import annotations

_TITLES: dict[str, str] = {}  # by the name that figures and answers are kept under; of models that were seen


def note_title(name: str, title: str) -> bool:
    """A model of this name is called so; whether that is new."""
    if not name or not title or _TITLES.get(name) == title:
        return False
    _TITLES[name] = title
    return True


def title_of(name: str) -> str:
    """Its title; the name itself where nothing is known of it."""
    return _TITLES.get(name, name)
