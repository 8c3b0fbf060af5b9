"""Answers of an exported target to prompts of the mixture, at several temperatures, for the draft to learn from.

Written as JSON lines of ids and the prompt's length. Needs llama-cpp-python, no PyTorch.
"""

# ruff: noqa: S311  (seeded, repeatable draws are the point here)

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from random import Random

from corpus import SYSTEM_PROMPTS, Sources, exchange
from model_file import ModelFile

TEMPERATURES = (0.0, 0.0, 0.8, 1.0)


def sample(model: ModelFile, sources: Sources, rng: Random) -> tuple[list[int], int]:
    """Ids of one conversation whose last answer the model wrote, and how many of them are its prompt."""
    messages = exchange(sources, rng)
    turn = rng.randrange(0, len(messages), 2)
    system = [("system", rng.choice(SYSTEM_PROMPTS))] if rng.random() < 0.15 else []
    prompt = model.chat([*system, *messages[: turn + 1]])
    answer = model.answer(prompt, 200, rng.choice(TEMPERATURES), rng.getrandbits(30))
    return prompt + answer, len(prompt)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--tokens", type=int, default=500_000, help="end after so many tokens of answers")
    parser.add_argument("--seconds", type=float, default=1e9, help="or after so long")
    parser.add_argument("--seed", type=int, default=77)
    options = parser.parse_args()
    model, sources, rng = ModelFile(options.target), Sources.load(options.data), Random(options.seed)
    started, tokens = time.monotonic(), 0
    with options.out.open("w", encoding="utf-8") as file:
        while tokens < options.tokens and time.monotonic() - started < options.seconds:
            ids, prompt = sample(model, sources, rng)
            tokens += len(ids) - prompt
            file.write(json.dumps({"ids": ids, "prompt": prompt}) + "\n")
    print(f"{tokens:,} tokens in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
