"""Saved prompts in a TOML file; without the file, the app's built-in prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from unicodedata import combining, normalize

from app.core.domain.settings.layers import MAX_PROMPT_CHARS, MAX_PROMPT_NAME_CHARS, SavedPrompt
from app.core.storage.toml_file import DocumentSaver, TomlFile
from engine.records import Problem
from engine.sentences import i18n

SCHEMA = 1
MAX_PROMPTS = 500


class Prompts:
    """The saved prompts. ``builtin``: used until the user has saved a list."""

    def __init__(self, file: TomlFile, builtin: Iterable[SavedPrompt], on_problem: Callable[[Problem], None]) -> None:
        self._saver = DocumentSaver(file, on_problem)
        read = file.read()
        self.problem = read.problem
        self._document = read.document
        tables = self._document.get("prompts")
        self.all = valid_prompts(_from_tables(tables)) if isinstance(tables, list) else valid_prompts(builtin)

    def replace(self, prompts: Iterable[SavedPrompt]) -> None:
        self.all = valid_prompts(prompts)
        rest = {key: item for key, item in self._document.items() if key not in ("schema", "prompts")}
        tables = [{"name": prompt.name, "text": prompt.text} for prompt in self.all]
        self._saver.save({"schema": self._document.get("schema", SCHEMA), **rest, "prompts": tables})


def prompts_file(path: Path) -> TomlFile:
    return TomlFile(path, i18n("prompts"), i18n("the built-in prompts"))


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


def _from_tables(tables: Iterable[object]) -> Iterable[SavedPrompt]:
    for table in tables:
        fields: Mapping[str, Any] = table if isinstance(table, dict) else {}
        name, text = fields.get("name"), fields.get("text")
        if isinstance(name, str) and isinstance(text, str):
            yield SavedPrompt(name, text)
