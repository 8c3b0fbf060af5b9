"""Copying and editing exchanges: repeat, one per line, sort, replace, reverse, tables and JSON of words.

Each function returns messages, user first.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from words import Material, odd_string, pick_sentence, pick_word, pick_words

Messages = list[tuple[str, str]]

REPEAT = (
    "Repeat this exactly", "Repeat", "Repeat after me", "Please repeat", "Say", "Say this back to me", "Copy this",
    "Copy the following text", "Write this again", "Echo", "Repeat the following words", "Copy", "Copy these words",
    "Please copy this exactly", "Type this again", "Give me back exactly this", "Repeat this text", "Copy this line",
    "Can you repeat this", "Could you copy the following", "Repeat word for word", "Write the following",
    "Please echo this text", "Just repeat this", "Print this", "Output exactly", "Repeat these words in the same order",
    "Say the following", "Return this unchanged", "Reproduce this text", "Write down", "I want you to repeat this",
)  # fmt: skip
AFTER = (
    "Repeat that.", "Repeat the text above.", "Copy this.", "Please repeat it exactly.", "Say it again.", "Copy it.",
    "Repeat the words above.", "Write this again.", "Now repeat that word for word.", "Can you copy that?",
    "Can you repeat this?", "Please copy the words above.", "Echo this.", "Say that back to me.",
)  # fmt: skip
AGAIN = (
    "Again", "Once more", "Repeat that", "And again, please", "One more time", "Say it again", "Same again",
    "Please repeat your answer", "Repeat your last message", "Again, exactly the same",
)  # fmt: skip
LINES = (
    "One word per line", "Write one word per line", "Put each word on its own line", "Each word on a new line",
    "Put these words on separate lines", "List these words, one per line", "Write each word on a line of its own",
    "One per line",
)  # fmt: skip
NUMBER = (
    "Number these", "Make a numbered list of these words", "Number these words", "Write these as a numbered list",
    "Turn this into a numbered list", "Numbered list", "Please number the words",
)  # fmt: skip
BULLETS = (
    "Make a bullet list", "Bullet points", "Write these as bullet points", "Turn this into a bullet list",
    "Make a list of these words", "Make a list of these", "As a list, please", "Put these in a list",
)  # fmt: skip
SORT = (
    "Sort these words", "Sort these", "Sort alphabetically", "Put these in alphabetical order", "Sort this list",
    "Please sort these words from A to Z", "Sort the words", "Order these alphabetically",
)  # fmt: skip
REVERSE = (
    "Reverse the order", "Reverse these words", "Write these words in reverse order", "Backwards, please",
    "Say these words backwards", "Reverse this list", "Turn the order around",
)  # fmt: skip
COMMAS = (
    "Separate these with commas", "Put commas between these words", "Comma-separated, please", "Join these with commas",
    "Make a comma-separated list",
)  # fmt: skip
JSON_LIST = (
    "Make a JSON array of these", "JSON array", "Turn these words into a JSON list", "Write these as JSON",
    "Make JSON of these words", "As a JSON list, please",
)  # fmt: skip
TABLE = (
    "Make a table of these", "Make a Markdown table of these words", "Put these words in a table", "As a table, please",
    "Write a numbered table of these", "Turn this into a table",
)  # fmt: skip
UPPER = (
    "Upper case",
    "Write this in capital letters",
    "Make this upper-case",
    "In capitals, please",
    "Capitalize all letters",
)
QUOTE = ("Quote this back", "Quote this", "Put this in quotes", "Quote back", "Write this in quotation marks")
CODE = ("Put this in a code block", "Write this in a code fence", "As a code block, please", "Show this as code")
FIRST = ("What is the first word", "Give me the first word", "First word only", "Which word comes first")
LAST = ("What is the last word", "Give me the last word", "Last word only", "Which word comes last")
COUNT = ("How many words are there", "Count the words", "Count these words", "How many words is that")


def numbered(words: list[str]) -> str:
    """`1. a`, `2. b`, a line each."""
    return "\n".join(f"{at}. {word}" for at, word in enumerate(words, 1))


def table(words: list[str]) -> str:
    """A two-column Markdown table of number and word."""
    return "\n".join(["| No. | Word |", "| --- | --- |"] + [f"| {at} | {word} |" for at, word in enumerate(words, 1)])


def alphabetical(words: list[str]) -> list[str]:
    """Sorted without regard to case."""
    return sorted(words, key=str.lower)


EDITS: tuple[tuple[tuple[str, ...], Callable[[list[str]], str], int, float], ...] = (
    (LINES, "\n".join, 60, 7.0),
    (NUMBER, numbered, 40, 2.0),
    (BULLETS, lambda words: "\n".join(f"- {word}" for word in words), 40, 2.0),
    (COMMAS, ", ".join, 40, 1.0),
    (REVERSE, lambda words: " ".join(reversed(words)), 12, 2.0),
    (SORT, lambda words: " ".join(alphabetical(words)), 8, 3.0),
    (JSON_LIST, json.dumps, 25, 2.0),
    (TABLE, table, 20, 1.0),
    (UPPER, lambda words: " ".join(words).upper(), 6, 0.4),
    (QUOTE, lambda words: '"' + " ".join(words) + '"', 40, 1.0),
    (CODE, lambda words: "```\n" + " ".join(words) + "\n```", 40, 1.0),
    (FIRST, lambda words: words[0], 20, 2.0),
    (LAST, lambda words: words[-1], 20, 2.0),
    (COUNT, lambda words: str(len(words)), 9, 0.4),
)
ARRANGEMENTS = ("{}: {}", "{}:\n{}", "{}:\n\n{}", '{}: "{}"', "{}:\n```\n{}\n```", "{} '{}'", "{} {}")
ARRANGEMENT_WEIGHTS = (56, 10, 6, 8, 4, 4, 12)
EDIT_WEIGHTS = [weight for *_, weight in EDITS]
FOLLOW_UPS = (
    (("Now one per line", "One word per line", "Each on its own line, please", "Now each word on a new line"), 0),
    (("Now numbered", "Number them", "As a numbered list", "Now as a numbered list"), 1),
    (("Now as a list", "As bullet points", "Make a list of it", "Now as a bullet list"), 2),
    (("Now with commas", "Separate them with commas", "With commas between them"), 3),
    (("Now backwards", "In reverse order", "Now reversed", "The other way round"), 4),
    (("Now sorted", "Sort them", "Now in alphabetical order", "But sorted"), 5),
    (("As JSON", "Now as a JSON array", "Make that JSON"), 6),
    (("As a table", "Now as a table", "Make a table of that"), 7),
    (("In quotes", "Now in quotes", "Quote it"), 9),
    (("In a code block", "Now as code", "Put that in a code block"), 10),
)


def ask(instruction: str, text: str, rng: Random) -> str:
    """An instruction and its text in one of many arrangements."""
    if rng.random() < 0.3:
        instruction = instruction[0].lower() + instruction[1:]
    if rng.random() < 0.1:
        instruction = rng.choice(("please ", "now ", "hey, ", "ok, ", "can you ")) + instruction
    return rng.choices(ARRANGEMENTS, ARRANGEMENT_WEIGHTS)[0].format(instruction, text)


def some_text(material: Material, rng: Random) -> str:
    """A text to copy: words, a sentence or two, or lines."""
    kind = rng.random()
    if kind < 0.6:
        return " ".join(pick_words(material, rng))
    if kind < 0.85:
        return " ".join(pick_sentence(material, rng) for _ in range(rng.choice((1, 1, 2, 3))))
    if kind < 0.93:
        return "\n".join(pick_words(material, rng, 3, 20))
    return ", ".join(pick_words(material, rng, 3, 30))


def repeat(material: Material, rng: Random) -> Messages:
    """Repeat a text, now and then several turns long."""
    text = some_text(material, rng)
    if rng.random() < 0.8:
        question = ask(rng.choice(REPEAT), text, rng)
    else:
        question = text + rng.choice(("\n", "\n\n", " ")) + rng.choice(AFTER)
    messages = [("user", question), ("assistant", text)]
    while rng.random() < 0.25 and len(text) < 250:
        if rng.random() < 0.4:
            messages += [("user", rng.choice(AGAIN) + rng.choice(("", ".", "!"))), ("assistant", text)]
        else:
            text = some_text(material, rng)
            opening = rng.choice(("And this", "Now this", "And now", "Next", rng.choice(REPEAT)))
            messages += [("user", f"{opening}: {text}"), ("assistant", text)]
    return messages


def edit(material: Material, rng: Random) -> Messages:
    """Edit a list of words, often followed by another edit of the same words."""
    wordings, apply, longest, _ = rng.choices(EDITS, EDIT_WEIGHTS)[0]
    words = pick_words(material, rng, 3, longest)
    given = (", " if rng.random() < 0.3 else " ").join(words)
    if rng.random() < 0.8:
        question = ask(rng.choice(wordings), given, rng)
    else:
        question = given + rng.choice(("\n", "\n\n", ". ")) + rng.choice(wordings) + rng.choice(("", "."))
    messages = [("user", question), ("assistant", apply(words))]
    while rng.random() < 0.35 and len(words) <= 20:
        messages += follow_up(words, rng)
    return messages


def follow_up(words: list[str], rng: Random) -> Messages:
    """One more form of the same words, as the next turn."""
    wordings, which = rng.choice(FOLLOW_UPS)
    apply, longest = EDITS[which][1], EDITS[which][2]
    if len(words) > longest:
        wordings, apply = FOLLOW_UPS[0][0], "\n".join
    return [("user", rng.choice(wordings) + rng.choice(("", ".", " please"))), ("assistant", apply(words))]


def replace(material: Material, rng: Random) -> Messages:
    """Put one word in another's place, also as a second turn after repeating."""
    words = (
        pick_words(material, rng, 3, 40) if rng.random() < 0.7 else pick_sentence(material, rng).rstrip(".!?").split()
    )
    old = rng.choice(words)
    new = pick_word(material, rng) if rng.random() < 0.8 else odd_string(rng)
    text, changed = " ".join(words), " ".join(new if word == old else word for word in words)
    wording = rng.choice(
        (
            "Replace {old} by {new}", "Replace {old} with {new}", "Change {old} to {new}",
            "Put {new} in place of {old}",
            'Replace "{old}" with "{new}"', 'Write this with "{new}" instead of "{old}"', "Use {new} instead of {old}",
            "Repeat this with {new} instead of {old}", "Swap {old} for {new}",
        )
    ).format(old=old, new=new)  # fmt: skip
    if rng.random() < 0.65:
        return [("user", ask(wording, text, rng)), ("assistant", changed)]
    later = rng.choice(("Again but with {new} instead of {old}", "Now with {new} instead of {old}", "Now {wording}"))
    return [
        *[("user", ask(rng.choice(REPEAT), text, rng)), ("assistant", text)],
        *[("user", later.format(old=old, new=new, wording=wording[0].lower() + wording[1:])), ("assistant", changed)],
    ]


def remove(material: Material, rng: Random) -> Messages:
    """Take one word out, or add one at an end."""
    words = pick_words(material, rng, 3, 25)
    word = rng.choice(words)
    kind = rng.random()
    if kind < 0.5:
        wording = rng.choice(("Remove {}", "Delete {}", "Leave out {}", "Take out the word {}", "Without {}")).format(
            word
        )
        changed = [other for other in words if other != word] or [word]
    else:
        word = pick_word(material, rng)
        at_end = kind < 0.75
        where = "end" if at_end else "beginning"
        wording = rng.choice(("Add {} at the {}", "Put {} at the {}", "Insert {} at the {}")).format(word, where)
        changed = [*words, word] if at_end else [word, *words]
    return [("user", ask(wording, " ".join(words), rng)), ("assistant", " ".join(changed))]


def several_times(material: Material, rng: Random) -> Messages:
    """Say a few words two to five times, a line each."""
    text = " ".join(pick_words(material, rng, 1, 8))
    name, times = rng.choice((("two", 2), ("three", 3), ("four", 4), ("five", 5)))
    wording = rng.choice(("Say this {} times", "Repeat this {} times", "Write this {} times", "Copy this {} times"))
    return [("user", ask(wording.format(name), text, rng)), ("assistant", "\n".join([text] * times))]


def spell(material: Material, rng: Random) -> Messages:
    """Spell a short word letter by letter."""
    word = rng.choice(material.frequent)[:8]
    wording = rng.choice(("Spell", "Spell the word", "How do you spell", "Spell this word:")) + f" {word}"
    return [("user", wording), ("assistant", "-".join(word))]


TASKS = (repeat, edit, replace, remove, several_times, spell)
TASK_WEIGHTS = (3.0, 4.0, 2.2, 0.5, 0.3, 0.15)


def copying(material: Material, rng: Random) -> Messages:
    """Any of the tasks, plain repeating and editing first."""
    return rng.choices(TASKS, TASK_WEIGHTS)[0](material, rng)
