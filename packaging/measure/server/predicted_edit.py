"""An edit of a file of 150 lines: plain, auto, and auto with the old file as the request's prediction.

    python packaging/measure/server/predicted_edit.py --target T.gguf [--draft D.gguf] [--rounds 3] [--max-tokens 1700]

The file is made here, and stands in the question, too, as editors send it. Each variant answers in turn, in an order
that turns round. Printed are tokens per pass, speed over plain with its 95% interval (paired by round), and how much
of the prediction was kept.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from engine.records import ChatRequest, Finished, LoadRequest, Message, Mode, RunStats, SamplingParams
from engine.session.session import Session

VARIANTS = ("plain", "auto", "predicted")
_UNITS = (
    "length",
    "width",
    "height",
    "weight",
    "volume",
    "price",
    "tax",
    "discount",
    "speed",
    "distance",
    "time",
    "age",
)


def old_file(num_lines: int = 150) -> str:
    """Python functions that are alike, but not the same."""
    lines = ['"""Checks of what was typed into a form."""', "", "from forms import FormError", ""]
    number = 0
    while len(lines) < num_lines:
        unit, limit = _UNITS[number % len(_UNITS)], 10 * (number + 3)
        name = f"check_{unit}" if number < len(_UNITS) else f"check_{unit}_{number // len(_UNITS) + 1}"
        lines += [
            "",
            f"def {name}(text: str) -> float:",
            f'    """Read the {unit}, at most {limit}."""',
            "    value = float(text)",
            f"    if value > {limit}:",
            f'        raise FormError("the {unit} is above {limit}")',
            "    return value",
            "",
        ]
        number += 1
    return "\n".join(lines[:num_lines]) + "\n"


def measure(session: Session, variant: str, max_tokens: int) -> RunStats:
    """One answer's counters."""
    text = old_file()
    question = (
        "In this file, rename the exception FormError to InputError everywhere, and change nothing else. "
        f"Answer with the whole file only, without an explanation.\n\n```python\n{text}```"
    )
    request = ChatRequest(
        (Message("user", question), Message("assistant", "```python\n")),
        Mode.OFF if variant == "plain" else Mode.AUTO,
        sampling=SamplingParams(temperature=0.0),
        max_tokens=max_tokens,
        stop=("```",),
        predicted=text if variant == "predicted" else "",
    )
    for event in session.generate(request):
        if isinstance(event, Finished):
            return event.stats
    raise RuntimeError("the answer has no end")


def main() -> int:
    """Answer in turn, print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", required=True)
    parser.add_argument("--draft")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--max-tokens", type=int, default=1700)
    options = parser.parse_args()
    session = Session()
    session.load(LoadRequest(options.target, options.draft, n_ctx=6144))
    session.measure(3.0)
    found: dict[str, list[RunStats]] = {name: [] for name in VARIANTS}
    for number in range(options.rounds):
        for name in VARIANTS[number % 3 :] + VARIANTS[: number % 3]:
            found[name].append(measure(session, name, options.max_tokens))
            last = found[name][-1]
            print(f"round {number}: {name}: {last.tokens} tokens, {last.tokens_per_second or 0:.1f} tok/s", flush=True)
    for name, answers in found.items():
        tokens, passes = sum(one.tokens for one in answers), sum(one.passes for one in answers)
        pairs = zip(answers, found["plain"], strict=True)
        ratios = np.log([(one.tokens_per_second or 0.0) / (plain.tokens_per_second or 1.0) for one, plain in pairs])
        spread = 1.96 * ratios.std(ddof=1) / np.sqrt(len(ratios)) if len(ratios) > 1 else float("nan")
        kept, proposed = (
            sum(getattr(one, f"predicted_{what}") for one in answers) for what in ("accepted", "proposed")
        )
        print(
            f"{name}: {tokens / passes:.2f} tokens per pass, {np.exp(ratios.mean()):.2f}x plain "
            f"({np.exp(ratios.mean() - spread):.2f} to {np.exp(ratios.mean() + spread):.2f}), "
            f"{kept} of {proposed} predicted tokens kept"
        )
    session.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
