"""The openly licensed chats and instructions that season the mixture, read from a folder.

With the folder's file names, cleaning and weights.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from outside import is_held_out

Messages = list[tuple[str, str]]

CHAT_WEIGHTS = {
    "small_chat": 1.0,
    "chatterbot_en": 0.5,
    "synthetic_persona_chat": 1.5,
    "self_dialogue": 1.5,
    "taskmaster4_coffee": 0.7,
}
QUESTION_FILES = ("gsm8k", "small_instructions")


@dataclass(frozen=True)
class Season:
    """Chats by file, questions beyond the model (trained and unseen), all texts (for words and the tokenizer)."""

    chats: dict[str, tuple[Messages, ...]]
    questions: tuple[str, ...]
    unseen: tuple[str, ...]
    texts: tuple[str, ...]

    def chat(self, rng: Random) -> Messages:
        """A stretch of two to eight messages of one chat; raises ValueError when there are none."""
        if not self.chats:
            raise ValueError("no chats in the data folder")
        names = tuple(self.chats)
        name = rng.choices(names, [CHAT_WEIGHTS[name] for name in names])[0]
        messages = rng.choice(self.chats[name])
        start = 2 * rng.randrange(max(1, len(messages) // 2 - 3)) if rng.random() < 0.5 else 0
        stretch = messages[start : start + 2 * rng.randint(1, 4)]
        return stretch[: len(stretch) // 2 * 2]


def read_records(path: Path) -> list[Messages]:
    """Every record of a packed JSONL file as messages, user first."""
    records = []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if "messages" in record:
                records.append([(message["role"], message["content"].strip()) for message in record["messages"]])
            else:
                question = "\n".join(part for part in (record["instruction"].strip(), record["input"].strip()) if part)
                records.append([("user", question), ("assistant", record["output"].strip())])
    return records


def is_clean(messages: Messages) -> bool:
    """Short turns in plain ASCII without leftovers of markup or another product's name."""
    text = " ".join(content for _, content in messages)
    turns_fit = all(1 < len(content) < 500 for _, content in messages)
    return (
        len(messages) >= 2
        and turns_fit
        and text.isascii()
        and not any(mark in text for mark in ("<", "http", "@", "OpenAI"))
    )


@cache
def load_season(folder: Path | None) -> Season:
    """Everything known by name in `folder`; an empty season for None or for files that are absent."""
    chats: dict[str, tuple[Messages, ...]] = {}
    questions: list[str] = []
    texts: list[str] = []
    for name in (*CHAT_WEIGHTS, *QUESTION_FILES):
        path = folder / f"{name}.jsonl.xz" if folder else None
        if path is None or not path.is_file():
            continue
        records = read_records(path)
        texts += [content for messages in records for _, content in messages]
        if name in CHAT_WEIGHTS:
            chats[name] = tuple(messages for messages in records if is_clean(messages))
        else:
            questions += [messages[0][1] for messages in records if 8 < len(messages[0][1]) < 400]
    trained = tuple(question for question in questions if not is_held_out(question))
    return Season(chats, trained, tuple(question for question in questions if is_held_out(question)), tuple(texts))
