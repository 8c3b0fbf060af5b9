"""Titles of models by file name, as read from the files' headers; and the note on the built-in models."""

from ui.text.language import mark

_TITLES: dict[str, str] = {}  # by the name that stored statistics and answers contain; only known models
TINY_NOTE = mark(
    "Header",
    "The quick demo uses two tiny models. It shows how speculative decoding works, not how "
    "good or fast a large model is.",
)


def note_title(name: str, title: str) -> bool:
    """Set a model's title; returns whether it is new."""
    if not name or not title or _TITLES.get(name) == title:
        return False
    _TITLES[name] = title
    return True


def title_of(name: str) -> str:
    """A model's title, else the name."""
    return _TITLES.get(name, name)
