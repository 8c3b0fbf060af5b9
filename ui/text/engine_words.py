"""Which of the engine's decisions says why tokens were drafted in an answer, or why not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ui.text.problem_words import in_language

# The English beginnings, which every decision has, also one that was stored as plain text.
_OF_DRAFTING = re.compile(r"(token \d+: )?(draft|n-gram on|text lookup|plain decoding)")


def drafting_reason(decisions: Sequence[str]) -> str:
    """The newest of an answer's decisions that is about drafting, in the user's language; empty where none is."""
    return in_language(next((each for each in reversed(decisions) if _OF_DRAFTING.match(each)), ""))
