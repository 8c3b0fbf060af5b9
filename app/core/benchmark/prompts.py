"""Reads the prompts of a workload from JSONL files."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from engine.records import Message

_ROLES = ("system", "user", "assistant")


@dataclass(frozen=True, slots=True)
class BenchmarkPrompt:
    """One prompt as a conversation."""

    id: str
    category: str
    messages: tuple[Message, ...]


def read_prompts(path: Path) -> list[BenchmarkPrompt]:
    """Read one prompt per line: ``{"id", "category", "prompt"}`` or ``{"id", "category", "messages"}``.

    Raises:
        ValueError: a line is invalid; the message names file and line.
        OSError: the file cannot be read.
    """
    prompts = []
    # `splitlines` would also split at U+2028 and U+0085, which JSON text may contain.
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        if not line.strip():
            continue
        try:
            prompts.append(_prompt(json.loads(line)))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path.name}, line {number} is not a prompt: {_reason(error)}.") from error
    if not prompts:
        raise ValueError(f"{path.name} holds no prompts.")
    return prompts


def prompt_files(source: Path) -> list[Path]:
    """The file itself, or the JSONL files of the folder (not of its subfolders), sorted by name.

    Raises:
        ValueError: the folder has no JSONL files.
        OSError: the folder cannot be read.
    """
    if not source.is_dir():
        return [source]
    # `glob` would return nothing for an unreadable folder. Hidden files belong to the system.
    inside = [path for path in source.iterdir() if path.suffix == ".jsonl" and not path.name.startswith(".")]
    if files := sorted(path for path in inside if path.is_file()):
        return files
    raise ValueError(f"The folder {source} holds no prompts: it has no file that ends in .jsonl.")


def distinct(prompts: Iterable[BenchmarkPrompt]) -> list[BenchmarkPrompt]:
    """Make the ids unique: answers are compared by id, and files may repeat ids."""
    taken: set[str] = set()
    result = []
    for prompt in prompts:
        name, number = prompt.id, 1
        while name in taken:
            number += 1
            name = f"{prompt.id} ({number})"
        taken.add(name)
        result.append(replace(prompt, id=name))
    return result


def _prompt(record: object) -> BenchmarkPrompt:
    if not isinstance(record, dict):
        raise TypeError("it is not a JSON object")
    messages = record.get("messages")
    if messages is None:
        return BenchmarkPrompt(str(record["id"]), str(record["category"]), (Message("user", _text(record["prompt"])),))
    if not isinstance(messages, list) or not messages:
        raise ValueError("messages must be a list with at least one message")
    return BenchmarkPrompt(str(record["id"]), str(record["category"]), tuple(_message(message) for message in messages))


def _message(record: object) -> Message:
    if not isinstance(record, dict):
        raise TypeError("a message is not a JSON object")
    if record["role"] not in _ROLES:
        raise ValueError(f"a role must be one of {', '.join(_ROLES)}")
    return Message(str(record["role"]), _text(record["content"]))


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a text is missing or empty")
    return value


def _reason(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error).rstrip(".")
