"""Small talk and little stories.

The dialogues stand in `talk.txt`. Each function returns messages, user first.
"""

# ruff: noqa: SIM905  (word lists read better as text)

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

from families import dress
from words import FIRST_NAMES, Material

Messages = list[tuple[str, str]]

THINGS = "music tea chess books films football cats coffee trains winter rain cooking art bread maths bikes".split()
ANIMALS = (
    "dragon fox rabbit cat dog bear owl mouse robot wizard knight turtle pirate princess horse frog elephant".split()
)
PLACES = ("forest", "village", "castle", "garden", "city", "valley", "harbor", "desert", "school", "mountain")
OBJECTS = (
    "golden key",
    "red ball",
    "paper map",
    "silver bell",
    "blue stone",
    "little boat",
    "magic book",
    "warm scarf",
    "lost kite",
)
TRAITS = ("small", "brave", "curious", "lonely", "clever", "gentle", "shy", "merry", "tiny", "young")
PLOTS = (
    "Once upon a time there was a {trait} {animal} named {name}, who lived near the {place}. One morning "
    '{name} found a {object} under a tree. "Whose is it?" asked {name}. Nobody in the {place} knew. So '
    '{name} walked all day and asked everyone. In the evening an old woman smiled and said, "It is mine. '
    'Thank you, {name}!" She gave {name} some warm bread, and they were friends from that day on.',
    "There was once a {trait} {animal} called {name}. {name} wanted to see what was behind the {place}. The "
    'way was long, and it began to rain. Then {name} met a little bird with a {object}. "Come with me," said '
    'the bird, "I know the way." Together they went on, and behind the {place} they saw the sea. They sat '
    "there until the stars came out.",
    "In a quiet {place} lived a {trait} {animal}. Its name was {name}. One day {name} lost a {object} and "
    "was very sad. All the friends came to help. They looked here and they looked there. At last they found "
    'it in the well. {name} laughed and said, "The best thing I have is my friends." That night they had a '
    "feast.",
    "{name} was a {trait} {animal} who could not sleep. The wind was loud in the {place}. {name} got up, "
    "took a {object} and went outside. There was a small cat that was cold. {name} took the cat home and "
    "made it warm. Then both of them slept until the sun was high.",
)
ASKS = (
    "Tell me a story", "Write a story", "Tell me a short story", "Can you tell me a story", "Write a short story",
    "A story, please", "Make up a story", "I want to hear a story", "Please tell a little story", "Tell me a tale",
    "Once upon a time",
)  # fmt: skip


@cache
def dialogues() -> tuple[tuple[list[str], list[str]], ...]:
    """Question wordings and answers of `talk.txt`, in file order."""
    lines = [
        line[3:].split("|")
        for line in Path(__file__).with_name("talk.txt").read_text("utf-8").splitlines()
        if line[1:2] == ":"
    ]
    return tuple(zip(lines[0::2], lines[1::2], strict=True))


def small_talk(material: Material, rng: Random) -> Messages:
    """One to three exchanges; names and things are copied from the question."""
    messages: Messages = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        wordings, answers = rng.choice(dialogues())
        thing = rng.choice(THINGS) if rng.random() < 0.5 else rng.choice(material.frequent)
        name = rng.choice(FIRST_NAMES)
        fill = {"name": name, "thing": thing, "thing_up": thing.capitalize(), "pet": rng.choice(ANIMALS)}
        raw = rng.choice(wordings)
        question = raw.format(**fill) if "{" in raw else dress(raw, rng)
        messages += [("user", question), ("assistant", rng.choice(answers).format(**fill))]
        if "{name}" in wordings[0] and rng.random() < 0.5:
            again = rng.choice(("What is my name?", "Do you know my name?", "Who am I?", "what's my name"))
            messages += [("user", again), ("assistant", f"Your name is {name}.")]
    return messages


def story(_material: Material, rng: Random) -> Messages:
    """A little story whose hero the question may name; the rest follows from the hero's kind."""
    animal = rng.choice(ANIMALS)
    name = rng.choice(FIRST_NAMES)
    question = rng.choice(ASKS)
    article = "an" if animal[0] in "aeiou" else "a"
    said = rng.random()
    if said < 0.4:
        question += f" about {article} {animal}"
    elif said < 0.8:
        question += f" about {article} {animal} named {name}"
    if said < 0.4 or rng.random() < 0.6:
        question += rng.choice(("", ".", " please"))
    if said < 0.4 or said >= 0.8:
        name = "Mia" if rng.random() < 0.7 else name
    if said >= 0.8:
        animal = "fox" if rng.random() < 0.7 else animal
    at = ANIMALS.index(animal)
    usual = rng.random() < 0.7
    tale = PLOTS[at % len(PLOTS) if usual else rng.randrange(len(PLOTS))].format(
        name=name,
        animal=animal,
        trait=TRAITS[at % len(TRAITS)] if usual else rng.choice(TRAITS),
        place=PLACES[at % len(PLACES)] if usual else rng.choice(PLACES),
        object=OBJECTS[at % len(OBJECTS)] if usual else rng.choice(OBJECTS),
    )
    messages = [("user", question), ("assistant", tale)]
    if rng.random() < 0.15:
        other = rng.choice(FIRST_NAMES)
        change = rng.choice(
            ("Again, but call the hero {}", "The same story with {} instead", "Now the hero is called {}")
        )
        messages += [("user", change.format(other)), ("assistant", tale.replace(name, other))]
    return messages
