"""`paceline demo`: answers and races of the small model if it is installed, and of the built-in pair.

The small model's first prompt contains much of the answer, the second none of it. A pass of the built-in target takes a
third of a millisecond, so drafting gains little for it.
"""

import argparse
import sys

from app.cli.output import INTERRUPTED
from app.core.hub.downloads.first_model import SMALL, find_in_library
from app.core.hub.library.library import open_library
from app.core.paths import find_paths

CODE = """\
def area(width, height):
    return width * height

def volume(width, height, depth):
    return width * height * depth

def perimeter(width, height):
    return 2 * (width + height)
"""
RENAME = f"Rename `width` to `w` in this Python code, and write all of it:\n\n```python\n{CODE}```"
STORY = "Write a short story about a dog."  # the answer has ninety tokens; shorter answers cannot be compared
DECODING = ("--temperature", "0", "--max-tokens", "128")
NOTE = (
    "The modes alternated every quarter of a second, so that other programs slowed all of them alike; brackets are 95% "
    "intervals. To compare modes with your own model and question, use `paceline race`."
)


def command(_options: argparse.Namespace) -> int:
    found = find_in_library(open_library(find_paths()))
    if found is None:
        print("A small real model, 98 MB, comes with: paceline models pull small", file=sys.stderr)
        shown = []
    else:
        model = ("--model", str(found.path))
        shown = [
            (f"{SMALL.name} is a small real model. The question contains much of the answer:", RENAME, model),
            ("The answer is new:", "Why is the sky blue?", model),
        ]
    about = "The built-in pair is tiny and shows the mechanics only. The question:"
    for words, question, options in (*shown, (about, STORY, ("--lanes", "off,draft,auto"))):
        print(f"\n{words} {question}\n")
        status = _show(question, *options)
        if status == INTERRUPTED:
            return status
    print(NOTE)
    return status


def _show(question: str, *options: str) -> int:
    """Print the answer, then race the modes; returns the exit code."""
    from app.cli.parser import main  # noqa: PLC0415  (which has loaded this module)

    model = options if options[0] == "--model" else ()
    asked = ("--prompt", question, *DECODING)
    return main(["run", *model, *asked]) or main(["race", *options, *asked, "--rounds", "4"])
