"""The training mixture: conversations of many exchanges, and rows of tokens made of them.

With the share of each kind of text, and which tokens carry loss.
"""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from bpe import BOS, IM_END, IM_START, Tokenizer
from copying import copying
from families import dress, load_families
from outside import outside
from season import Season, load_season
from talk import small_talk, story
from tasks import tasks
from words import Material, gather

Messages = list[tuple[str, str]]

SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are the built-in model of Paceline.",
    "Answer briefly.",
    "Be friendly and short.",
    "You are a helpful, concise assistant. Answer in plain words.",
    "You are Paceline.",
    "Be precise.",
    "Follow the instructions of the user exactly.",
)
MORE = ("Say that again", "Repeat your answer", "Can you repeat that?", "Once more, please", "What did you say?")
SHARES = {"copying": 0.48, "about": 0.16, "tasks": 0.22, "talk": 0.04, "story": 0.02, "outside": 0.05, "season": 0.03}
MAKERS = {"copying": copying, "tasks": tasks, "talk": small_talk, "story": story}
TYPICAL_TOKENS = {"copying": 90, "about": 75, "tasks": 75, "talk": 45, "story": 130, "outside": 60, "season": 100}


@dataclass(frozen=True)
class Sources:
    """What a mixture draws from."""

    material: Material
    season: Season

    @classmethod
    def load(cls, folder: Path | None) -> Sources:
        """Read the data folder; without one only generated text and a small word list."""
        season = load_season(folder)
        return cls(gather(list(season.texts)) if season.texts else Material(), season)


def about(rng: Random) -> Messages:
    """A question about the app, its model or speculation; sometimes the answer is asked for again."""
    family = rng.choice(load_families())
    answer = rng.choice(family.answers)
    messages = [("user", dress(rng.choice(family.trained()), rng)), ("assistant", answer)]
    if rng.random() < 0.08:
        messages += [("user", rng.choice(MORE)), ("assistant", answer)]
    elif rng.random() < 0.04:
        lines = answer.split(". ")
        if len(lines) > 1:
            items = "\n".join(f"- {line.rstrip('.')}." for line in lines)
            messages += [
                ("user", rng.choice(("As bullet points", "As a list", "Make a list of it"))),
                ("assistant", items),
            ]
    return messages


def exchange(sources: Sources, rng: Random) -> Messages:
    """One exchange (two or more messages) of a kind drawn by its share of tokens."""
    kinds = [kind for kind in SHARES if kind != "season" or sources.season.chats]
    kind = rng.choices(kinds, [SHARES[kind] / TYPICAL_TOKENS[kind] for kind in kinds])[0]
    if kind == "about":
        return about(rng)
    if kind == "outside":
        return outside(sources.material, rng, sources.season.questions)
    if kind == "season":
        return sources.season.chat(rng)
    return MAKERS[kind](sources.material, rng)


def render(messages: Messages) -> str:
    """ChatML, as the chat template writes it."""
    return "".join(f"{IM_START}{role}\n{content}{IM_END}\n" for role, content in messages)


def answer_mask(ids: np.ndarray, tokenizer: Tokenizer) -> np.ndarray:
    """True where `ids` belongs to an assistant's answer, its closing token included."""
    mask = np.zeros(len(ids), dtype=bool)
    opening = tokenizer.assistant_opening
    starts = np.flatnonzero(ids[: len(ids) - len(opening) + 1] == opening[0])
    ends = np.flatnonzero(ids == tokenizer.im_end)
    for start in starts:
        begin = start + len(opening)
        if list(ids[start:begin]) == opening:
            later = ends[ends >= begin]
            mask[begin : later[0] + 1 if len(later) else len(ids)] = True
    return mask


def conversation_ids(sources: Sources, tokenizer: Tokenizer, num_tokens: int, rng: Random) -> np.ndarray:
    """One conversation of at least `num_tokens` ids, of as many exchanges as that needs; it starts with BOS."""
    text = BOS if rng.random() < 0.92 else ""
    if rng.random() < 0.2:
        text += render([("system", rng.choice(SYSTEM_PROMPTS))])
    ids: list[int] = tokenizer.encode(text)
    while len(ids) < num_tokens:
        ids += tokenizer.encode(render(exchange(sources, rng)))
    return np.array(ids[:num_tokens], dtype=np.int64)


def echo_ids(tokenizer: Tokenizer, num_tokens: int, rng: Random) -> tuple[np.ndarray, np.ndarray]:
    """Random tokens said again and again, and the mask of the repetitions: the bare form of copying."""
    source = np.random.default_rng(rng.getrandbits(32))
    stretch = source.integers(3, tokenizer.size, size=rng.randint(8, max(9, min(100, num_tokens // 3))))
    ids = np.concatenate(([tokenizer.bos], np.tile(stretch, num_tokens // len(stretch) + 1)))[:num_tokens]
    mask = np.arange(num_tokens) > len(stretch)
    return ids.astype(np.int64), mask


def make_batch(
    sources: Sources, tokenizer: Tokenizer, size: tuple[int, int], echo: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of ids and the mask of tokens to learn, both (rows, tokens); a share `echo` of rows is bare repetition."""
    rng = Random(seed)
    rows, masks = [], []
    for _ in range(size[0]):
        if rng.random() < echo:
            ids, mask = echo_ids(tokenizer, size[1], rng)
        else:
            ids = conversation_ids(sources, tokenizer, size[1], rng)
            mask = answer_mask(ids, tokenizer)
        rows.append(ids)
        masks.append(mask)
    return np.stack(rows), np.stack(masks)
