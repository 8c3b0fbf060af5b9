"""What a person reads of a model known by the name of its file: the title in its header, a note on built-in ones."""

from __future__ import annotations

from ui.text.language import mark

_TITLES: dict[str, str] = {}  # by the name that figures and answers are kept under; of models that were seen
TINY_NOTE = mark(
    "Header",
    "The quick demo uses two tiny models: it shows how speculative decoding works, not what a large model knows or "
    "gains by it.",
)


def note_title(name: str, title: str) -> bool:
    """A model of this name is called so; whether that is new."""
    if not name or not title or _TITLES.get(name) == title:
        return False
    _TITLES[name] = title
    return True


def title_of(name: str) -> str:
    """Its title; the name itself where nothing is known of it."""
    return _TITLES.get(name, name)
