"""Raw material for copying: English words, made-up words, letters, numbers, sentences.

Words come from a built-in list, widened by the data folder.
"""

# ruff: noqa: SIM905  (word lists read better as text)

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass, field
from random import Random

COMMON = (
    "apple river table green window music paper garden silver morning bridge yellow doctor winter candle "
    "market planet forest pencil summer dragon island coffee mirror engine button castle ladder rocket "
    "basket camera dinner family guitar hammer jacket kitten lemon magnet needle orange pepper rabbit "
    "saddle ticket valley walnut zebra anchor butter circle desert eleven finger ground hunter insect "
    "jungle kettle letter monkey narrow office pocket quiet road sand tree under violin water box you "
    "the of and a to in is it that was for on are with as his they at be this from have or by one had not "
    "but what all were when we there can an your which their said if do will each about how up out them "
    "then she many some so these would other into has more her two like him see time could no make than "
    "first been its who now people my made over did down only way find use may long little very after "
    "words called just where most know get through back much before go good new write our used me man too "
    "any day same right look think also around another came come work three word must because does part"
).split()
CONSONANTS = ("b c d f g h j k l m n p r s t v w z br ch cl dr fl gr kn pl pr sh sk sl sp st th tr qu").split()
VOWELS = ("a e i o u ai ea ee oo ou y").split()
CODAS = ("", "", "", "n", "r", "l", "s", "t", "m", "nd", "st", "x", "ck", "ng")
FIRST_NAMES = (
    "Anna Ben Clara David Emma Felix Grace Henry Ida Jack Karen Leo Mia Noah Olga Paul Rosa Sam Tina Victor "
    "Wendy Zoe Alex Bella Carl Diana Eric Fiona George Hannah Ivan Julia Kim Lucas Maria Nina Oscar Petra "
    "Quinn Ruth Simon Tom Uma Vera Will Yuki Ahmed Fatima Chen Priya Diego Lena Marco Sofia Omar Lucy"
).split()


@dataclass(frozen=True)
class Material:
    """What tasks draw from: distinct English words, and clean sentences."""

    words: tuple[str, ...] = tuple(COMMON)
    sentences: tuple[str, ...] = ()
    frequent: tuple[str, ...] = field(default=tuple(COMMON))


def gather(texts: list[str], max_sentences: int = 60_000) -> Material:
    """Words (all frequencies) and sentences of 3 to 30 words found in `texts`, in a fixed order."""
    counts: Counter[str] = Counter()
    sentences: dict[str, None] = {}
    for text in texts:
        counts.update(word.lower() for word in re.findall(r"[A-Za-z]{2,14}", text))
        if len(sentences) < max_sentences:
            for sentence in re.split(r"(?<=[.!?])\s+|\n+", text):
                if 3 <= len(sentence.split()) <= 30 and sentence.isascii() and len(sentence) < 200:
                    sentences[sentence.strip()] = None
    known = {word for word, count in counts.items() if count >= 2} | set(COMMON)
    frequent = [word for word, _ in counts.most_common(3000) if len(word) > 2]
    return Material(tuple(sorted(known)), tuple(sentences), tuple(frequent or COMMON))


def pseudo_word(rng: Random) -> str:
    """A pronounceable word that does not exist."""
    count = rng.choice((1, 2, 2, 3))
    return "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(count)) + rng.choice(CODAS)


def odd_string(rng: Random) -> str:
    """Letters, digits or both without sense."""
    kind = rng.random()
    if kind < 0.4:
        return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(2, 7)))
    if kind < 0.7:
        return str(rng.randrange(10 ** rng.randint(1, 5)))
    return "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(3, 8)))


def pick_word(material: Material, rng: Random) -> str:
    """One word: mostly any English one, often a frequent or common one, at times made up."""
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(material.words)
    if kind < 0.75:
        return rng.choice(material.frequent)
    if kind < 0.9:
        return rng.choice(COMMON)
    return pseudo_word(rng)


def pick_words(material: Material, rng: Random, low: int = 3, high: int = 60) -> list[str]:
    """A list of words of one kind or mixed; short lists are more frequent than long ones."""
    count = round(low * (high / low) ** rng.random())
    kind = rng.random()
    if kind < 0.62:
        words = [pick_word(material, rng) for _ in range(count)]
    elif kind < 0.72:
        words = [rng.choice(COMMON) for _ in range(count)]
    elif kind < 0.82:
        words = [pseudo_word(rng) for _ in range(count)]
    elif kind < 0.88:
        words = [odd_string(rng) for _ in range(min(count, 25))]
    else:
        words = [
            rng.choice((pick_word(material, rng), odd_string(rng), pick_word(material, rng))) for _ in range(count)
        ]
    if rng.random() < 0.12:
        words = [word.capitalize() for word in words]
    return words


def pick_sentence(material: Material, rng: Random) -> str:
    """A real sentence where there are any, otherwise a line of words."""
    if material.sentences and rng.random() < 0.9:
        return rng.choice(material.sentences)
    return " ".join(pick_words(material, rng, 4, 14)).capitalize() + "."
