"""Detects the reading direction of a text. Pure, no Qt."""

import re
import unicodedata

RIGHT_TO_LEFT_DIRECTIONS = re.compile(
    "[\u0590-\u08ff\u200f\u202b\u202e\u2067\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff]"
)


def is_right_to_left(text: str) -> bool:
    """Whether the first strong letter is right-to-left (Unicode rule P2)."""
    for letter in text:
        direction = unicodedata.bidirectional(letter)
        if direction in ("R", "AL"):
            return True
        if direction == "L":
            return False
    return False
