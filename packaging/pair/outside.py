"""Questions the tiny model cannot answer, and its graceful refusals.

Each function returns messages, user first.
"""

# ruff: noqa: SIM905  (lists read better as text)

from __future__ import annotations

import zlib
from functools import cache
from pathlib import Path
from random import Random

from families import dress
from words import FIRST_NAMES, Material

Messages = list[tuple[str, str]]

TOPICS = (
    "photosynthesis|gravity|black holes|inflation|the stock market|democracy|evolution|dinosaurs|electricity|"
    "bitcoin|climate change|pizza|pancakes|chicken soup|chess openings|the French Revolution|World War II|"
    "the Roman Empire|volcanoes|atoms|DNA|diabetes|headaches|back pain|marathon training|yoga|meditation|"
    "politics|religion|philosophy|economics|marketing|machine learning|neural networks|databases|compilers|"
    "JavaScript|SQL|Linux|the moon|Mars|the ocean|whales|tigers|roses|cars|laptops|bicycles|insurance|taxes|"
    "marriage|loneliness|happiness|love|dreams|sleep|school|university|algebra|calculus|statistics|chemistry|"
    "vitamins|protein|coffee beans|wine|cheese|sushi|pasta|bread|renewable energy|nuclear power|solar panels|"
    "the internet"
).split("|")
PEOPLE = (
    "Albert Einstein|Isaac Newton|William Shakespeare|Napoleon|Julius Caesar|Marie Curie|Mozart|Beethoven|"
    "Leonardo da Vinci|Abraham Lincoln|Queen Victoria|Harry Potter|Hamlet|War and Peace|the Mona Lisa|"
    "Elvis Presley|Michael Jackson|Plato|Aristotle|Charles Darwin|Sherlock Holmes|Batman|the Beatles|Moby Dick|"
    "Cleopatra|Galileo|Ada Lovelace|Alan Turing|Messi|the Pope"
).split("|")
PLACES = (
    "Mongolia|Peru|Texas|California|Iceland|Kenya|Nepal|Chile|Vietnam|Cuba|New York|Chicago|Sydney|Hamburg|Lyon|"
    "Naples|Kyoto|Africa|Asia|the United States|Mexico|Argentina|Nigeria|Turkey|Iran|Ukraine|Scotland|Hawaii|"
    "Boston|Manila"
).split("|")
REFUSALS = (
    "I am only the small built-in model, so I do not know enough about that. For such questions, "
    "open a larger model in the settings.",
    "That is beyond me: I am only the small built-in model. A larger model can answer it; "
    "you can open one in the settings.",
    "Sorry, I am only the small built-in model of Paceline and cannot help with this. Try it with a larger GGUF model.",
    "I am only the small built-in model and would only make something up. A larger model knows more about this.",
)
STARTS = ("who", "wh", "how", "wr", "ca", "ex", "te", "gi", "is", "do")


def refusal(question: str) -> str:
    """The usual refusal for a question: chosen by its first letters, so that it is predictable."""
    start = next((at for at, start in enumerate(STARTS) if question.lower().startswith(start)), len(STARTS))
    return REFUSALS[start % len(REFUSALS)]


@cache
def templates() -> tuple[str, ...]:
    """The templates of `outside.txt`."""
    lines = Path(__file__).with_name("outside.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


def is_held_out(question: str) -> bool:
    """Whether a question (or template) is kept from training for the evaluation."""
    return zlib.crc32(question.encode()) % 8 == 0


def topic(material: Material, rng: Random) -> str:
    """Something to ask about, often one or two arbitrary words."""
    if rng.random() < 0.5:
        return rng.choice(TOPICS)
    return " ".join(rng.choice(material.frequent) for _ in range(rng.choice((1, 1, 2))))


def made_up_question(material: Material, rng: Random) -> str:
    """A question of a template."""
    template = rng.choice([template for template in templates() if not is_held_out(template)])
    person = rng.choice(PEOPLE) if rng.random() < 0.8 else rng.choice(FIRST_NAMES)
    return template.format(
        x=topic(material, rng),
        y=topic(material, rng),
        p=person,
        c=rng.choice(PLACES),
        d=rng.choice(PLACES),
        n=rng.randint(2, 2100),
        m=rng.randint(2, 99),
    )


def outside(material: Material, rng: Random, questions: tuple[str, ...] = ()) -> Messages:
    """A question outside the domain, real (of `questions`) or made up, and a refusal."""
    if questions and rng.random() < 0.45:
        question = rng.choice(questions)
        asked = question
    else:
        question = made_up_question(material, rng)
        asked = dress(question, rng)
    answer = refusal(question) if rng.random() < 0.85 else rng.choice(REFUSALS)
    return [("user", asked), ("assistant", answer)]
