"""Saved prompts in a TOML file; without the file, the app's built-in prompts."""

from collections.abc import Callable, Iterable
from pathlib import Path
from unicodedata import combining, normalize

from app.core.domain.settings.layers import MAX_PROMPT_CHARS, MAX_PROMPT_NAME_CHARS, SavedPrompt
from app.core.storage.toml_file import TableFile, TomlFile
from engine.records import Problem
from engine.sentences import i18n

MAX_PROMPTS = 500


class Prompts(TableFile):
    """The saved prompts. ``builtin``: used until the user has saved a list."""

    def __init__(self, path: Path, builtin: Iterable[SavedPrompt], on_problem: Callable[[Problem], None]) -> None:
        super().__init__(TomlFile(path, i18n("prompts"), i18n("the built-in prompts")), "prompts", on_problem)
        if self.tables is not None:
            builtin = (SavedPrompt(str(table.get("name", "")), str(table.get("text", ""))) for table in self.tables)
        self.all = valid_prompts(builtin)

    def replace(self, prompts: Iterable[SavedPrompt]) -> None:
        self.all = valid_prompts(prompts)
        self.save_tables([{"name": prompt.name, "text": prompt.text} for prompt in self.all])


def valid_prompts(prompts: Iterable[SavedPrompt]) -> tuple[SavedPrompt, ...]:
    """The prompts that have a text and a name within limits; of prompts with the same name only the first."""
    found: dict[str, SavedPrompt] = {}
    for prompt in prompts:
        name = "-".join(prompt.name.strip().strip("/").split())
        if 0 < len(name) <= MAX_PROMPT_NAME_CHARS and prompt.text.strip() and len(prompt.text) <= MAX_PROMPT_CHARS:
            found.setdefault(name.casefold(), SavedPrompt(name, prompt.text))
    return tuple(sorted(found.values(), key=lambda prompt: _sort_key(prompt.name)))[:MAX_PROMPTS]


def _sort_key(name: str) -> tuple[str, str]:
    """A sort key that ignores diacritics: ``übersetzen`` is sorted under U."""
    folded = name.casefold()
    return "".join(letter for letter in normalize("NFKD", folded) if not combining(letter)), folded
