"""The question families of `answers.txt`: their wordings, answers and key phrases.

Frames make whole questions of a noun or a verb phrase; some wordings are held out of training for the evaluation.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random

NOUN_FRAMES = (
    "what is {}",
    "what's {}",
    "what are {}",
    "explain {}",
    "please explain {}",
    "can you explain {}",
    "could you explain {} to me",
    "what does {} mean",
    "what do you mean by {}",
    "tell me about {}",
    "can you tell me what {} is",
    "tell me more about {}",
    "define {}",
    "what is meant by {}",
    "I do not understand {}",
    "explain {} in simple words",
    "explain {} to a beginner",
    "in one sentence, what is {}",
    "give me a short definition of {}",
    "I have a question about {}",
    "how would you describe {}",
    "describe {}",
    "what exactly is {}",
    "help me understand {}",
    "I want to learn about {}",
    "what should I know about {}",
    "{}, what is that",
    "{}",
    "say something about {}",
    "do you know what {} is",
)
VERB_FRAMES = (
    "how do I {}",
    "how can I {}",
    "how to {}",
    "can I {}",
    "where can I {}",
    "I want to {}",
    "I would like to {}",
    "is it possible to {}",
    "show me how to {}",
    "tell me how to {}",
    "what do I do to {}",
    "what is the way to {}",
    "am I able to {}",
    "how could I {} here",
    "please help me {}",
    "explain how to {}",
)
HELD_OUT_EVERY = 6
OPENINGS = ("hi, ", "hello, ", "ok, ", "so ", "and ", "please, ", "one question: ", "tell me, ", "I wonder, ", "well, ")
ENDINGS = (" please", ", please", " exactly", " in Paceline", " here", " again", ", in short")


@dataclass
class Family:
    """One thing that can be asked: wordings, right answers, and what a right answer must contain."""

    name: str
    keys: list[list[str]] = field(default_factory=list)
    wordings: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def is_held_out(self, wording: str) -> bool:
        """Whether `wording` is kept from training; by hash, so it never depends on order."""
        return zlib.crc32(f"{self.name}/{wording}".encode()) % HELD_OUT_EVERY == 0

    def trained(self) -> list[str]:
        """Wordings that training may show."""
        return [wording for wording in self.wordings if not self.is_held_out(wording)]

    def held_out(self) -> list[str]:
        """Wordings that only the evaluation sees."""
        return [wording for wording in self.wordings if self.is_held_out(wording)]

    def is_answered_by(self, answer: str) -> bool:
        """Whether each group of key phrases occurs in `answer`, in any case."""
        lowered = answer.lower()
        return all(any(key in lowered for key in group) for group in self.keys)


@cache
def load_families() -> tuple[Family, ...]:
    """All families in file order."""
    families: list[Family] = []
    for line in Path(__file__).with_name("answers.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            families.append(Family(line[3:].strip()))
        elif line and not line.startswith("#"):
            kind, _, text = line.partition(": ")
            _add_line(families[-1], kind, text.strip())
    return tuple(families)


def _add_line(family: Family, kind: str, text: str) -> None:
    if kind == "k":
        family.keys = [[key.strip().lower() for key in group.split("|")] for group in text.split(";")]
    elif kind == "n":
        family.wordings += [frame.format(text) for frame in NOUN_FRAMES]
    elif kind == "v":
        family.wordings += [frame.format(text) for frame in VERB_FRAMES]
    elif kind == "q":
        family.wordings.append(text)
    elif kind == "a":
        family.answers.append(text.replace("\\n", "\n"))
    else:
        raise ValueError(f"answers.txt: unknown line kind {kind!r}")


def dress(wording: str, rng: Random) -> str:
    """A wording as somebody might type it: with or without capital, mark, opening, ending or slip."""
    if rng.random() < 0.15:
        wording = rng.choice(OPENINGS) + wording
    if rng.random() < 0.1:
        wording += rng.choice(ENDINGS)
    if rng.random() < 0.05 and len(wording) > 12:
        at = rng.randrange(3, len(wording) - 2)
        wording = wording[:at] + rng.choice(("", wording[at] * 2, wording[at + 1])) + wording[at + 1 :]
    if rng.random() < 0.7:
        wording = wording[0].upper() + wording[1:]
    if rng.random() < 0.03:
        wording = wording.upper()
    return wording + rng.choice(("?", "?", "?", "?", "", "", ".", "??", "!"))


def plain(wording: str) -> str:
    """A wording in its tidy form, capital and question mark, as the evaluation asks it."""
    return wording[0].upper() + wording[1:] + "?"
