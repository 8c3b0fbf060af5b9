"""What there is to try with a model: its own demo's messages, questions, code, or beginnings of texts."""

from __future__ import annotations

import re

from engine.records import ModelInfo
from ui.text.language import mark

Example = tuple[str, str, str]  # icon, title, message

BUILTIN: tuple[Example, ...] = (
    (
        "copy",
        mark("EmptyState", "Repeat a text"),
        mark("EmptyState", "Repeat this text exactly: The quiet river runs past the old stone bridge."),
    ),
    (
        "list",
        mark("EmptyState", "Make a table"),
        mark("EmptyState", "Make a Markdown table of these words: river, stone, lamp, boat, apple, bell."),
    ),
    (
        "circle-question-mark",
        mark("EmptyState", "Ask about drafting"),
        mark("EmptyState", "What is speculative decoding?"),
    ),
    ("feather", mark("EmptyState", "Hear a story"), mark("EmptyState", "Write a short story about a fox.")),
)
CHAT: tuple[Example, ...] = (
    (
        "circle-question-mark",
        mark("EmptyState", "Have something explained"),
        mark("EmptyState", "Explain how a refrigerator works, in five short sentences."),
    ),
    (
        "list",
        mark("EmptyState", "Make a plan"),
        mark("EmptyState", "Plan a weekend in a city that I do not know yet, as a table with times."),
    ),
    (
        "pencil",
        mark("EmptyState", "Improve a text"),
        mark(
            "EmptyState",
            "Correct this text and list what you changed: Yesterday me and my brother has went to the libary, "
            "because they're books was overdue.",
        ),
    ),
    ("feather", mark("EmptyState", "Hear a story"), mark("EmptyState", "Write a short story about a fox.")),
)
CODE: tuple[Example, ...] = (
    (
        "file-code",
        mark("EmptyState", "Write a function"),
        mark("EmptyState", "Write a Python function that finds all prime numbers up to n, with a docstring and tests."),
    ),
    (
        "pencil",
        mark("EmptyState", "Add types"),
        mark(
            "EmptyState",
            "Add type annotations to this function and return all of it:\n\n```python\ndef mean(values):\n"
            "    total = 0\n    for value in values:\n        total += value\n    return total / len(values)\n```",
        ),
    ),
    (
        "list",
        mark("EmptyState", "Turn data into JSON"),
        mark("EmptyState", "Turn this into JSON: Ada, 36, London; Grace, 45, New York; Alan, 41, Manchester."),
    ),
    (
        "circle-question-mark",
        mark("EmptyState", "Understand an error"),
        mark("EmptyState", "What does “IndexError: list index out of range” mean, and how do I find its cause?"),
    ),
)
TEXT: tuple[Example, ...] = (
    (
        "feather",
        mark("EmptyState", "A story"),
        mark("EmptyState", "Once upon a time, in a small village by the sea, there lived"),
    ),
    (
        "list",
        mark("EmptyState", "An article"),
        mark("EmptyState", "The three most important inventions of the nineteenth century were"),
    ),
    ("file-code", mark("EmptyState", "A function"), "def fibonacci(n):\n    "),
    ("pencil", mark("EmptyState", "A letter"), mark("EmptyState", "Dear Ms Miller,\n\nthank you for your letter of")),
)
_CODE_NAME = re.compile(
    r"\b(?:cod(?:er|e|estral|egemma|ellama)|starcoder\d*|devstral|deepseek[- ]coder)\b", re.IGNORECASE
)


def examples_for(model: ModelInfo | None, *, builtin: bool, completes: bool) -> tuple[Example, ...]:
    """What suits a model: the built-in pair knows little, a coder writes code, a text model goes on with texts."""
    if builtin:
        return BUILTIN
    if completes:
        return TEXT
    return CODE if model is not None and _CODE_NAME.search(model.name) else CHAT
